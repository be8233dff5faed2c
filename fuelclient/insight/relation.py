"""Why one task precedes another: the shortest chain of dependencies between them, with the statements that make each
edge, or the stage that both name; and the total order, with the reason for the position of each task.

Vertices are numbered from 0, and `successors` has the edges. Nothing here enumerates paths between two vertices: their
number can be exponential.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from fuelclient.graph.dag import neighbours, order, path_to, reachable, search
from fuelclient.graph.match import matches, pattern_error
from fuelclient.graph.stage import author, chains, parse_stage
from fuelclient.model.graph import Level, MergedTask
from fuelclient.plan.expand import OF_SUCCESSORS, Expansion, Statement, named_dependencies
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.study import Study

MAX_CUT_EDGES = 64
"""Larger cuts are not searched: nobody would remove so many edges, and the time grows with the number of edges."""


def count_paths(successors: Sequence[Sequence[int]], start: int, end: int) -> int | None:
    """Count the paths from `start` to `end` by adding up, in O(V + E); None if the graph has a cycle.

    >>> count_paths([[1, 2], [3], [3], []], 0, 3)
    2
    """
    ordered = order(successors, len(successors))
    if ordered.stuck:
        return None
    paths = [0] * len(successors)
    paths[start] = 1
    for vertex in ordered.topological:
        for after in successors[vertex]:
            paths[after] += paths[vertex]
    return paths[end]


def waypoints(successors: Sequence[Sequence[int]], path: Sequence[int]) -> list[int]:
    """The inner vertices of `path` that every path between its ends passes, in their order; in O(V + E).

    Follow the path, and from each of its vertices search through the vertices off the path: a vertex is on every path
    unless a detour leaves before it and returns after it. The graph may have cycles.

    >>> waypoints([[1], [2, 3], [4], [4], [5], []], [0, 1, 2, 4, 5])
    [1, 4]
    """
    position = {vertex: index for index, vertex in enumerate(path)}
    seen: set[int] = set()
    found, farthest = [], 0
    for index, start in enumerate(path[:-1]):
        if index and farthest == index:
            found.append(start)
        stack = [start]
        while stack:
            for after in successors[stack.pop()]:
                if after in position:
                    farthest = max(farthest, position[after])
                elif after not in seen:
                    seen.add(after)
                    stack.append(after)
    return found


def minimum_cut(
    successors: Sequence[Sequence[int]], start: int, end: int, max_edges: int = MAX_CUT_EDGES
) -> list[tuple[int, int]] | None:
    """The fewest edges whose removal leaves no path from `start` to `end`; of several cuts, the nearest to `start`.

    None if it takes more than `max_edges` edges. Uses shortest augmenting paths (Edmonds and Karp), each edge once.

    >>> minimum_cut([[1, 2], [3], [3], [4], []], 0, 4)
    [(3, 4)]
    """
    # An edge that carries flow can be passed backwards only.
    forward = [set(following) - {vertex} for vertex, following in enumerate(successors)]
    backward: list[set[int]] = [set() for _ in successors]
    for _ in range(max_edges + 1):
        following = [(*sorted(ahead), *sorted(back)) for ahead, back in zip(forward, backward, strict=True)]
        parent = search(following, [start], ends=[end])
        if end not in parent:
            reached = set(parent)
            return [
                (vertex, after)
                for vertex in sorted(reached)
                for after in sorted(set(successors[vertex]))
                if after not in reached
            ]
        for before, vertex in itertools.pairwise(path_to(parent, end, len(successors))):
            if vertex in forward[before]:
                forward[before].discard(vertex)
                backward[vertex].add(before)
            else:
                backward[before].discard(vertex)
                forward[vertex].add(before)
    return None


@dataclass(frozen=True, slots=True)
class Step:
    """An edge of a chain: its two instances by name, by the index of their merged task, and by vertex."""

    before: str
    after: str
    before_task: int
    after_task: int
    statements: tuple[Statement, ...]
    start: int
    end: int


def chain(expansion: Expansion, before: int, after: int) -> tuple[Step, ...]:
    """The shortest chain from an instance of merged task `before` to one of `after`, in O(V + E).

    Empty if no instance of `after` waits for one of `before`. Barriers do not count as steps.
    """
    if before == after:
        return ()
    starts, ends = ([vertex for vertex, task in enumerate(expansion.task_of) if task == end] for end in (before, after))
    return chain_between(expansion, starts, set(ends))


def chain_between(expansion: Expansion, starts: Iterable[int], ends: set[int]) -> tuple[Step, ...]:
    """The shortest chain from one of the instances `starts` to one of `ends`; see `chain`."""
    parent = search(expansion.successors, starts, real=expansion.size, ends=ends)
    last = next(reversed(parent), -1)
    path = path_to(parent, last, expansion.size) if last in ends else []
    name, task_of, statements = expansion.name, expansion.task_of, expansion.statements_between
    return tuple(
        Step(name(first), name(second), task_of[first], task_of[second], statements(first, second), first, second)
        for first, second in itertools.pairwise(path)
    )


def stated(before: MergedTask, after: MergedTask) -> tuple[Statement, ...]:
    """The statements by which the first of two tasks directly precedes the second, or else their stage.

    The cost does not depend on the size of the graph.
    """
    statements = tuple(
        Statement(task.id, attribute, name, task.place(attribute))
        for task, other, names_other in ((after, before.id, False), (before, after.id, True))
        for attribute, name, _ in named_dependencies(task.task)
        if (attribute in OF_SUCCESSORS) is names_other
        and (name == other or (not pattern_error(name) and matches(name, other)))
    )
    if statements:
        return statements
    with_stage = after if after.task.stage else before
    return (Statement(with_stage.id, "stage", with_stage.task.stage, with_stage.place("stage")),)


class Because(StrEnum):
    DEPENDENCY = "dependency"
    """A chain of dependencies in the definitions of tasks."""
    PRIORITY = "priority"
    """The numbers after the name of their common stage."""
    LEVEL = "level"
    """Same stage and priority: the release's tasks come before those of plugins, the environment's come last."""
    PLUGIN = "plugin"
    """Same stage and priority: a tie, which the names of the plugins break."""
    FILE = "file"
    """Same stage, priority and plugin: a tie, which the order in the file breaks."""
    NONE = "none"
    """Neither waits for the other."""
    NOWHERE = "nowhere"
    """One of them runs on no node."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Two tasks, one of which directly precedes the other."""

    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Paths:
    """All paths between two task instances, counted among tasks.

    `count` is None if tasks of different nodes wait for each other in a circle. `waypoints` are on every path, in their
    order. `minimum_cut` are the fewest edges whose removal leaves no path; None if more than `MAX_CUT_EDGES`.
    """

    count: int | None
    tasks: int
    edges: int
    waypoints: tuple[str, ...]
    minimum_cut: tuple[Edge, ...] | None


@dataclass(frozen=True, slots=True)
class Common:
    """The number of tasks that precede (or follow) both of two tasks, and the nearest ones."""

    count: int = 0
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """The order of two tasks.

    If they have one, `chain` is the shortest chain from an instance of `before` to one of `after`, on the same node if
    there is such a chain. Otherwise `preceding` and `following` are their common predecessors and successors,
    and `same_node` is whether a node has both; a new dependency between them cannot close a cycle, because no instance
    of the one leads to an instance of the other.
    """

    before: str
    after: str
    ordered: bool
    because: Because
    same_node: bool = False
    chain: tuple[Step, ...] = ()
    paths: Paths | None = None
    preceding: Common = Common()
    following: Common = Common()


def relation(expansion: Expansion, first: Collection[int], second: Collection[int]) -> Relation:
    """Relate merged tasks `first` and `second`, each with all variants of one id; in O(V + E).

    Nodes with the same tags behave alike, so only one of each kind is examined. In the result, `before` and `after` are
    the variants at the ends of the chain.
    """
    instances = [[v for v, task in enumerate(expansion.task_of) if task in tasks] for tasks in (first, second)]
    one, other = (expansion.tasks[min(tasks)].id for tasks in (first, second))
    if not all(instances):
        return Relation(one, other, False, Because.NOWHERE)
    for starts, ends, same_node in _candidates(expansion, *instances):
        if steps := chain_between(expansion, starts, set(ends)):
            end_tasks = steps[0].before_task, steps[-1].after_task
            before, after = (expansion.tasks[index] for index in end_tasks)
            in_stage = any(set(end_tasks) <= set(chain.entries) for chain in chains(expansion.tasks))
            because = stage_rule(before, after) if in_stage else Because.DEPENDENCY
            return Relation(before.id, after.id, True, because, same_node, steps, _paths(expansion, steps))
    shared = next(_pairs(expansion, *instances), None)
    start, end = shared or (instances[0][0], instances[1][0])
    return Relation(
        one, other, False, Because.NONE, shared is not None,
        preceding=_common(expansion, start, end, forward=False),
        following=_common(expansion, start, end, forward=True),
    )  # fmt: skip


def _pairs(expansion: Expansion, first: Iterable[int], second: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The pairs of instances of two tasks that share a node; a sync point shares every node."""
    node_of = expansion.node_of
    at = {node_of[vertex]: vertex for vertex in second}
    for vertex in first:
        if (other := at.get(node_of[vertex], at.get(SYNC))) is not None:
            yield vertex, other
        elif node_of[vertex] == SYNC:
            yield from ((vertex, other) for other in at.values())


def _candidates(
    expansion: Expansion, first: list[int], second: list[int]
) -> Iterator[tuple[list[int], list[int], bool]]:
    """The possible ends of a chain, and whether they are on one node: both directions, the same node first."""
    seen = set()
    for start, end in _pairs(expansion, first, second):
        kind = tuple(expansion.fleet.nodes[expansion.node_of[vertex]].tags for vertex in (start, end))
        if kind not in seen:
            seen.add(kind)
            yield [start], [end], True
            yield [end], [start], True
    yield first, second, False
    yield second, first, False


def stage_rule(before: MergedTask, after: MergedTask) -> Because:
    priorities = [parse_stage(task.task.stage).priority for task in (before, after)]
    owners = [author(task) for task in (before, after)]
    if priorities[0] != priorities[1]:
        return Because.PRIORITY
    if owners[0].level != owners[1].level:
        return Because.LEVEL
    return Because.PLUGIN if owners[0].level is Level.PLUGIN and owners[0].order != owners[1].order else Because.FILE


def _paths(expansion: Expansion, steps: Sequence[Step]) -> Paths:
    """The paths between the ends of a chain, from the edges between instances that lie on one of them."""
    numbers, successors = _between(expansion, steps[0].start, steps[-1].end)
    tasks = list(numbers)
    path = list(dict.fromkeys(numbers[task] for task in (steps[0].before_task, *(step.after_task for step in steps))))
    start, end = path[0], path[-1]
    cut = minimum_cut(successors, start, end)

    def name(number: int) -> str:
        return expansion.tasks[tasks[number]].id

    return Paths(
        count_paths(successors, start, end),
        len(tasks),
        sum(map(len, successors)),
        tuple(map(name, waypoints(successors, path))),
        None if cut is None else tuple(Edge(name(before), name(after)) for before, after in cut),
    )


def _between(expansion: Expansion, start: int, end: int) -> tuple[dict[int, int], list[list[int]]]:
    """The merged tasks on the paths between two instances, each with a number, and their successors by number.

    Barriers are dissolved, and nodes are not distinguished.
    """
    forward = expansion.successors
    inside = reachable(forward, [start]) & reachable(expansion.predecessors, [end])
    task_of = expansion.task_of
    edges = {
        (task_of[vertex], task_of[after])
        for vertex in inside
        if vertex < expansion.size
        for after in neighbours(forward, vertex, expansion.size)
        if after in inside
    }
    numbers = {task: number for number, task in enumerate(sorted({task for edge in edges for task in edge}))}
    successors: list[list[int]] = [[] for _ in numbers]
    for before, after in sorted(edges):
        if before != after:
            successors[numbers[before]].append(numbers[after])
    return numbers, successors


def _common(expansion: Expansion, start: int, end: int, *, forward: bool) -> Common:
    """The tasks that follow (or precede) both instances, and the nearest of them."""
    edges = expansion.successors, expansion.predecessors
    away, back = edges if forward else reversed(edges)
    shared = reachable(away, [start]) & reachable(away, [end])
    id_of = {vertex: expansion.task(vertex).id for vertex in sorted(shared) if vertex < expansion.size}

    def is_nearest(vertex: int) -> bool:
        barriers = [other for other in back[vertex] if other >= expansion.size]
        return shared.isdisjoint(back[vertex]) and all(shared.isdisjoint(back[barrier]) for barrier in barriers)

    nearest = dict.fromkeys(name for vertex, name in id_of.items() if is_nearest(vertex))
    return Common(len(set(id_of.values())), tuple(nearest))


class PositionReason(StrEnum):
    """Further reasons for a position, besides those of `Because`."""

    NOTHING = "nothing"
    """No task precedes the task."""
    STAGE = "stage"
    """The task is the first of its stage, after the sync point that ends the stage."""
    COMPUTED = "computed"
    """The dependency is computed by an expression."""


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a task, and the reason: it follows `after`, the last of its direct predecessors, because of
    `statements`."""

    index: int
    order: int
    first_generation: int | None
    last_generation: int | None
    stage: str | None
    task: str
    layer: str
    because: Because | PositionReason
    after: str | None = None
    statements: tuple[Statement, ...] = ()


def positions(study: Study) -> Iterator[Position]:
    tasks, task_of = study.merged.tasks, study.expansion.task_of
    before_in_stage = {
        after: before
        for chain in chains(tasks)
        for before, after in itertools.pairwise(
            index for index in chain.entries if study.rows[study.row_of[index]].nodes
        )
    }
    first: dict[int, int] = {}
    for vertex in study.order:
        first.setdefault(task_of[vertex], vertex)
    for row, index in zip(study.rows, study.indices, strict=True):
        after = tasks[index]
        stage = after.task.stage or row.stage or None
        generations = row.first_generation, row.last_generation
        position = partial(Position, index, row.order, *generations, stage, row.task, row.layer)
        last_before = study.held_by(first[index]) if row.nodes else None
        if last_before is None:
            yield position(PositionReason.NOTHING if row.nodes else Because.NOWHERE)
            continue
        before = tasks[task_of[last_before]]
        statements = stated(before, after)
        if before_in_stage.get(index) == task_of[last_before]:
            yield position(stage_rule(before, after), before.id)
        elif statements[0].attribute != "stage":
            yield position(Because.DEPENDENCY, before.id, statements)
        elif statements[0].word:
            yield position(PositionReason.STAGE, before.id, statements)
        else:
            yield position(PositionReason.COMPUTED, before.id)
