"""The graph of tasks as Fuel's role-based engine built it, with its subgraphs, its errors and its picture.

Vertices are task ids, including ids that no task defines. Edges come from `requires`, `required_for`, `stage`, `groups`
and the `tasks` of groups, and from nothing else. A graph with a task of version 2.0.0 or later does not run in this
order. Source: Nailgun's `orchestrator/orchestrator_graph.py`, but without its bug: there, a group that matched one
pattern is ignored by the next patterns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from fuelclient.graph.dag import components, reachable, reverse
from fuelclient.graph.match import Names, pattern_error
from fuelclient.insight.picture import kind, quoted, style
from fuelclient.model.task import Task, TaskType

INTERNAL = (TaskType.GROUP, TaskType.STAGE, TaskType.SKIPPED)
"""The types of tasks that no node executes."""


@dataclass(frozen=True, slots=True)
class RoleBasedGraph:
    """`tasks` has each id with its task (None if undefined). The position of an id is its vertex number; `successors`
    has the vertices after each vertex."""

    tasks: Mapping[str, Task | None]
    successors: Sequence[Sequence[int]]

    def edges(self) -> Iterator[tuple[str, str]]:
        """Yield an id and the id of one of its successors, for each edge."""
        names = list(self.tasks)
        return ((name, names[after]) for name, ends in zip(names, self.successors, strict=True) for after in ends)

    @property
    def is_task_based(self) -> bool:
        """Whether any task has version 2.0.0 or later."""
        return any(task is not None and task.version_tuple >= (2, 0, 0) for task in self.tasks.values())


def role_based(tasks: Iterable[Task]) -> RoleBasedGraph:
    """Build the graph of some tasks. Of several tasks with one id, it has the last one, with the edges of all."""
    task_by_id: dict[str, Task | None] = {}
    successors: dict[str, dict[str, None]] = {}
    tasks = list(tasks)

    def connect(edges: Iterator[tuple[str, str]]) -> None:
        for before, after in edges:
            task_by_id.setdefault(before, None)
            task_by_id.setdefault(after, None)
            successors.setdefault(before, {})[after] = None

    for task in tasks:
        task_by_id[task.id] = task
        connect(_own_edges(task))
    groups = Names(task.id for task in tasks if task.type == TaskType.GROUP)
    for task in tasks:
        connect(_group_edges(task, groups))
    vertex = {name: position for position, name in enumerate(task_by_id)}
    return RoleBasedGraph(task_by_id, [[vertex[after] for after in successors.get(name, ())] for name in task_by_id])


def _own_edges(task: Task) -> Iterator[tuple[str, str]]:
    for after in task.names("required_for"):
        yield task.id, after
    for before in task.names("requires"):
        yield before, task.id
    stage = task.attributes.get("stage")
    if isinstance(stage, str) and stage:
        yield task.id, stage


def _group_edges(task: Task, groups: Names) -> Iterator[tuple[str, str]]:
    for pattern in task.names("groups"):
        matches = () if pattern_error(pattern) else groups.matching(pattern)
        for group in matches or (pattern,):
            if group != task.id:
                yield task.id, group
    if task.type == TaskType.GROUP:
        for before in task.names("tasks"):
            yield before, task.id


def subgraph(graph: RoleBasedGraph, start: str, end: str) -> set[str]:
    """The ids from `start` to `end`, both included; an empty string sets no limit on that side.

    Raise `KeyError` with the id if the graph does not have it, or if `end` does not follow `start`.
    """
    names = list(graph.tasks)
    kept = set(range(len(names)))
    for name, edges in ((start, graph.successors), (end, reverse(graph.successors))):
        if name:
            if name not in graph.tasks or names.index(name) not in kept:
                raise KeyError(name)
            kept &= reachable(edges, [names.index(name)])
    return {names[vertex] for vertex in kept}


def executed(graph: RoleBasedGraph, kept: Set[str], include: Iterable[str] = ()) -> list[Task]:
    """The tasks of a subgraph that nodes execute, and those of `include`, in the order of the graph."""
    included = set(include)
    return [
        task
        for name, task in graph.tasks.items()
        if task is not None
        and name in kept
        and (name in included or not (task.type in INTERNAL or task.attributes.get("skipped")))
    ]


def error_message(graph: RoleBasedGraph) -> str:
    """The role-based engine's error message for the graph, about its cycles or else undefined tasks; empty if valid.

    Cycles that share tasks are reported as one cycle.
    """
    if cycles := ", ".join(map(repr, _cycles(graph))):
        return f"Graph cannot be processed because it contains cycles in it:{cycles}\n"
    if not (missing := sorted(name for name, task in graph.tasks.items() if task is None)):
        return ""
    incomplete_edges = [edge for edge in graph.edges() if not set(missing).isdisjoint(edge)]
    users = sorted({name for edge in incomplete_edges for name in edge} - set(missing))
    return (
        f"Tasks '{', '.join(missing)}' can't be in requires|required_for|groups|tasks for [{', '.join(users)}]"
        " because they don't exist in the graph"
    )


def _cycles(graph: RoleBasedGraph) -> list[list[str]]:
    names = list(graph.tasks)
    cycles = [sorted(names[vertex] for vertex in cycle) for cycle in components(graph.successors, range(len(names)))]
    on_a_cycle = {name for cycle in cycles for name in cycle}
    return sorted([*cycles, *([name] for name, after in graph.edges() if name == after and name not in on_a_cycle)])


def dot(graph: RoleBasedGraph, *, only: Collection[str] = (), kept: Collection[str]) -> str:
    """Draw the vertices `kept` in the DOT language, character for character as Nailgun does, except for quotes.

    With `only`, all other tasks are grey. Ids that DOT would misread (`node`, `a:b`) are quoted; Nailgun does not quote
    them.
    """
    names = [name for name in graph.tasks if name in kept]
    edges = [edge for edge in graph.edges() if edge[0] in kept and edge[1] in kept]
    loops = any(name == after for name, after in edges)
    lines = ["digraph G {" if loops else "strict digraph G {"]
    lines += [f"{quoted(name)} [{_style(graph.tasks[name], name, only)}];" for name in names]
    lines += [f"{quoted(name)} -> {quoted(after)};" for name, after in edges]
    return "\n".join([*lines, "}", ""])


def _style(task: Task | None, name: str, only: Collection[str]) -> str:
    if task is None:
        return style("skipped" if only and name not in only else "task")
    return style(kind(task, skipped=name not in only if only else None))
