"""The graph of tasks as Fuel's role-based engine saw it: its subgraphs, its errors and its picture.

Vertices are task ids, including ids that no task defines. Edges come from `requires`, `required_for`, `stage`, `groups`
and the `tasks` of groups, and from nothing else. A graph with a task of version 2.0.0 or later does not run in this
order. Source: Nailgun's `orchestrator/orchestrator_graph.py`, without its bug that a group which matched one pattern
is lost to the next.
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
    """The task of each id (None if no task defines it), whose position is its vertex, and the successors of each."""

    tasks: Mapping[str, Task | None]
    successors: Sequence[Sequence[int]]

    def edges(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of each task and of each of its successors."""
        names = list(self.tasks)
        return ((name, names[after]) for name, ends in zip(names, self.successors, strict=True) for after in ends)

    @property
    def is_task_based(self) -> bool:
        """Whether any task has a version for which this order is not meant."""
        return any(task is not None and task.version_tuple >= (2, 0, 0) for task in self.tasks.values())


def role_based(tasks: Iterable[Task]) -> RoleBasedGraph:
    """Order some tasks. If several share an id, the last one counts, with the edges of all."""
    known: dict[str, Task | None] = {}
    successors: dict[str, dict[str, None]] = {}
    tasks = list(tasks)

    def connect(edges: Iterator[tuple[str, str]]) -> None:
        for before, after in edges:
            known.setdefault(before, None)
            known.setdefault(after, None)
            successors.setdefault(before, {})[after] = None

    for task in tasks:
        known[task.id] = task
        connect(_own_edges(task))
    groups = Names(task.id for task in tasks if task.type == TaskType.GROUP)
    for task in tasks:
        connect(_group_edges(task, groups))
    vertex = {name: position for position, name in enumerate(known)}
    return RoleBasedGraph(known, [[vertex[after] for after in successors.get(name, ())] for name in known])


def _own_edges(task: Task) -> Iterator[tuple[str, str]]:
    for after in task.names("required_for"):
        yield task.id, after
    for before in task.names("requires"):
        yield before, task.id
    stage = task.attributes.get("stage")
    if isinstance(stage, str) and stage:
        yield task.id, stage


def _group_edges(task: Task, groups: Names) -> Iterator[tuple[str, str]]:
    for word in task.names("groups"):
        matches = () if pattern_error(word) else groups.matching(word)
        for group in matches or (word,):
            if group != task.id:
                yield task.id, group
    if task.type == TaskType.GROUP:
        for before in task.names("tasks"):
            yield before, task.id


def subgraph(graph: RoleBasedGraph, start: str, end: str) -> set[str]:
    """What follows `start` and precedes `end`, both included; an empty one sets no limit.

    Raise `KeyError` with an id that the graph does not have, or with `end` if it does not follow `start`.
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


def complaint(graph: RoleBasedGraph) -> str:
    """The role-based engine's error about the graph: its cycles, or else undefined tasks; empty if it is valid.

    Cycles that share tasks count as one.
    """
    cycles = ", ".join(map(repr, _cycles(graph)))
    if cycles:
        return f"Graph cannot be processed because it contains cycles in it:{cycles}\n"
    missing = sorted(name for name, task in graph.tasks.items() if task is None)
    if not missing:
        return ""
    touching = [edge for edge in graph.edges() if not set(missing).isdisjoint(edge)]
    users = sorted({name for edge in touching for name in edge} - set(missing))
    return (
        f"Tasks '{', '.join(missing)}' can't be in requires|required_for|groups|tasks for [{', '.join(users)}]"
        " because they don't exist in the graph"
    )


def _cycles(graph: RoleBasedGraph) -> list[list[str]]:
    names = list(graph.tasks)
    rings = [sorted(names[vertex] for vertex in ring) for ring in components(graph.successors, range(len(names)))]
    inside = {name for ring in rings for name in ring}
    return sorted([*rings, *([name] for name, after in graph.edges() if name == after and name not in inside)])


def dot(graph: RoleBasedGraph, *, only: Collection[str] = (), kept: Collection[str]) -> str:
    """Draw the vertices `kept` in the DOT language, letter by letter as Nailgun draws them.

    With `only`, all other tasks are grey. Ids that DOT would read as something else (`node`, `a:b`) are quoted, which
    Nailgun forgets.
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
