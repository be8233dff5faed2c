"""The graph of tasks as Fuel's role-based engine saw it: what its pictures and its subgraphs are made of.

Vertices are task ids, those of tasks that nobody defines among them; edges come from `requires`, `required_for`,
`stage`, `groups` and the `tasks` of groups, and from nothing else. A graph in which any task is of version 2.0.0 or
later is not run by this order. Source: Nailgun `orchestrator/orchestrator_graph.py`, without the mistake that a group
that one pattern took is lost to the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from fuelclient.graph.dag import components
from fuelclient.graph.match import matching
from fuelclient.model.task import Task, TaskType

INTERNAL = (TaskType.GROUP, TaskType.STAGE, TaskType.SKIPPED)
"""Tasks that no node executes."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The graph: the task of each id (None where nobody defines it), and the successors of each."""

    tasks: Mapping[str, Task | None]
    successors: Mapping[str, Sequence[str]]

    def predecessors(self) -> dict[str, list[str]]:
        """The ids that precede each id."""
        found: dict[str, list[str]] = {one: [] for one in self.tasks}
        for before, following in self.successors.items():
            for after in following:
                found[after].append(before)
        return found

    @property
    def is_task_based(self) -> bool:
        """Whether any task is of a version that this order is not meant for."""
        return any(task is not None and task.version_tuple >= (2, 0, 0) for task in self.tasks.values())


def solved(tasks: Iterable[Task]) -> Solved:
    """The graph of some tasks; of several with one id the last one counts, with the edges of all."""
    known: dict[str, Task | None] = {}
    edges: dict[str, dict[str, None]] = {}
    given = list(tasks)
    for task in given:
        known[task.id] = task
        for before, after in _stated(task):
            known.setdefault(before, None)
            known.setdefault(after, None)
            edges.setdefault(before, {})[after] = None
    groups = [task.id for task in given if task.type == TaskType.GROUP]
    for task in given:
        for before, after in _grouped(task, groups):
            known.setdefault(before, None)
            known.setdefault(after, None)
            edges.setdefault(before, {})[after] = None
    return Solved(known, {one: tuple(edges.get(one, ())) for one in known})


def _stated(task: Task) -> Iterator[tuple[str, str]]:
    for after in task.names("required_for"):
        yield task.id, after
    for before in task.names("requires"):
        yield before, task.id
    stage = task.attributes.get("stage")
    if isinstance(stage, str) and stage:
        yield task.id, stage


def _grouped(task: Task, groups: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A task precedes its groups, and a group comes after its tasks."""
    for word in task.names("groups"):
        try:
            found = matching(word, groups)
        except re.error:
            found = ()
        for group in found or (word,):
            if group != task.id:
                yield task.id, group
    if task.type == TaskType.GROUP:
        for before in task.names("tasks"):
            yield before, task.id


def subgraph(graph: Solved, start: str, end: str) -> set[str]:
    """What follows `start` and precedes `end`, both included; an empty one is open.

    Raises `KeyError` with an id that the graph does not have, or with `end` when it does not follow `start`.
    """
    kept = set(graph.tasks)
    if start:
        kept &= _reached(graph.successors, start)
    if end:
        if end not in graph.tasks or end not in kept:
            raise KeyError(end)
        kept &= _reached(graph.predecessors(), end)
    return kept


def filtered(graph: Solved, kept: Set[str], include: Iterable[str] = ()) -> list[Task]:
    """The tasks of a subgraph that nodes execute, and those of `include`, in the order of the graph."""
    wanted = set(include)
    return [
        task
        for name, task in graph.tasks.items()
        if task is not None and name in kept and (name in wanted or not _is_left_out(task))
    ]


def _is_left_out(task: Task) -> bool:
    return task.type in INTERNAL or bool(task.attributes.get("skipped"))


def _reached(edges: Mapping[str, Sequence[str]], start: str) -> set[str]:
    if start not in edges:
        raise KeyError(start)
    seen, queue = {start}, [start]
    for name in queue:
        for other in edges[name]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return seen


def complaint(graph: Solved) -> str:
    """What the role-based engine would say of the graph: cycles, or else tasks that nobody defines. Empty for a
    good one. Cycles that share tasks are told as one."""
    cycles = ", ".join(map(repr, _cycles(graph)))
    if cycles:
        return f"Graph cannot be processed because it contains cycles in it:{cycles}\n"
    missing = sorted(name for name, task in graph.tasks.items() if task is None)
    if not missing:
        return ""
    before = graph.predecessors()
    users = sorted({other for name in missing for other in (*graph.successors[name], *before[name])} - set(missing))
    return (
        f"Tasks '{', '.join(missing)}' can't be in requires|required_for|groups|tasks for [{', '.join(users)}]"
        " because they don't exist in the graph"
    )


def _cycles(graph: Solved) -> list[list[str]]:
    names = list(graph.tasks)
    number = {name: index for index, name in enumerate(names)}
    successors = [[number[after] for after in graph.successors[name]] for name in names]
    rings = [sorted(names[index] for index in ring) for ring in components(successors, range(len(names)))]
    inside = {name for ring in rings for name in ring}
    return sorted([*rings, *([name] for name in names if name in graph.successors[name] and name not in inside)])
