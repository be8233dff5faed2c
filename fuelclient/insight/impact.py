"""What one task holds up: every task instance that runs after it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fuelclient.graph.dag import distances, reachable, search
from fuelclient.insight.relation import reverse
from fuelclient.plan.expand import Expansion


@dataclass(frozen=True, slots=True)
class Held:
    """A task that runs after another: the fewest edges between instances of the two, and how many instances wait."""

    index: int
    distance: int
    instances: int
    only: bool
    """Whether every path to it, from whatever has nothing before it, leads through the other task."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What a task holds up: the tasks by distance and position in the merge, and how many are placed at all."""

    held: tuple[Held, ...]
    instances: int
    placed_tasks: int
    placed_instances: int


def impact(expansion: Expansion, tasks: Collection[int]) -> Impact:
    """Return what merged tasks (the variants of one id) hold up; in O(V + E)."""
    successors, task_of = expansion.edges.successors(), expansion.task_of
    starts = [vertex for vertex, task in enumerate(task_of) if task in tasks]
    distance = distances(search(successors, starts, real=expansion.size), expansion.size)
    others = [vertex for vertex in distance if vertex < expansion.size and task_of[vertex] not in tasks]
    free = _avoiding(expansion, successors, set(starts))
    held: dict[int, list[int]] = {}
    for vertex in sorted(others):
        held.setdefault(task_of[vertex], []).append(vertex)
    rows = [
        Held(index, min(map(distance.__getitem__, own)), len(own), free.isdisjoint(own)) for index, own in held.items()
    ]
    rows.sort(key=lambda row: (row.distance, row.index))
    return Impact(tuple(rows), len(others), len(set(task_of)), expansion.size)


def _avoiding(expansion: Expansion, successors: list[list[int]], starts: set[int]) -> set[int]:
    """Return what can be reached from vertices with nothing before them, without passing `starts`."""
    predecessors = reverse(successors)
    roots = [vertex for vertex in range(expansion.size) if not predecessors[vertex] and vertex not in starts]
    without = [[after for after in following if after not in starts] for following in successors]
    return reachable(without, roots)
