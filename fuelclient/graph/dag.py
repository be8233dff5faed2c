"""Orders of a directed graph whose vertices are numbered from 0: generations and shortest cycles.

Vertices from `real` on are barriers: they carry order from many predecessors to many successors, take no
place of their own, and never appear in a result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MOST_STEPS = 5_000_000


@dataclass(frozen=True, slots=True)
class Order:
    """The vertices in a topological order, and the generation of each real vertex: the number of real vertices
    on the longest way to it. `stuck` are the vertices that no order can reach, because of cycles."""

    topological: list[int]
    generation: list[int]
    stuck: list[int]


def order(successors: Sequence[Sequence[int]], real: int) -> Order:
    """Order a graph with Kahn's algorithm, in O(V + E).

    >>> order([[1], [2], []], real=3).generation
    [0, 1, 2]
    >>> order([[2], [], [1]], real=2).generation
    [0, 1]
    """
    waiting = [0] * len(successors)
    for following in successors:
        for vertex in following:
            waiting[vertex] += 1
    generation = [0] * len(successors)
    queue = [vertex for vertex, count in enumerate(waiting) if not count]
    for vertex in queue:
        rank = generation[vertex] + (vertex < real)
        for after in successors[vertex]:
            if generation[after] < rank:
                generation[after] = rank
            waiting[after] -= 1
            if not waiting[after]:
                queue.append(after)
    stuck = [vertex for vertex, count in enumerate(waiting) if count] if len(queue) < len(successors) else []
    return Order(queue, generation[:real], stuck)


def on_cycles(successors: Sequence[Sequence[int]], stuck: Iterable[int]) -> list[int]:
    """The vertices of `stuck` that lie on cycles or on ways between cycles: those that lead nowhere else are
    merely behind one."""
    left = set(stuck)
    predecessors: dict[int, list[int]] = {vertex: [] for vertex in left}
    leaving = dict.fromkeys(left, 0)
    for vertex in left:
        for after in successors[vertex]:
            if after in left:
                predecessors[after].append(vertex)
                leaving[vertex] += 1
    queue = [vertex for vertex in left if not leaving[vertex]]
    for vertex in queue:
        left.discard(vertex)
        for before in predecessors[vertex]:
            leaving[before] -= 1
            if not leaving[before]:
                queue.append(before)
    return sorted(left)


def shortest_cycle(successors: Sequence[Sequence[int]], real: int, stuck: Iterable[int]) -> list[int]:
    """One cycle with the fewest real vertices, in the direction of the edges, from its lowest vertex on.

    Barriers are passed but left out. Empty when `stuck` has no cycle. The search stops after some seconds' worth
    of steps on a graph with very many long cycles, and answers with the shortest one found so far.

    >>> shortest_cycle([[1], [2], [0, 3], []], real=4, stuck=[0, 1, 2, 3])
    [0, 1, 2]
    """
    candidates = on_cycles(successors, stuck)
    inside = set(candidates)
    best: list[int] = []
    steps = 0
    for start in candidates:
        if start >= real:
            continue
        limit = len(best) if best else len(candidates) + 1
        found, visited = _shortest_way_round(successors, real, inside, start, limit)
        steps += visited
        best = found or best
        if len(best) == 2 or (best and steps > _MOST_STEPS):
            break
    if not best:
        return []
    first = best.index(min(best))
    return best[first:] + best[:first]


def _shortest_way_round(
    successors: Sequence[Sequence[int]], real: int, inside: set[int], start: int, limit: int
) -> tuple[list[int], int]:
    """The shortest way from `start` back to it with fewer than `limit` real vertices (barriers cost nothing),
    and how many vertices were looked at."""
    parent: dict[int, int] = {start: -1}
    distance = {start: 1}
    queue = deque([start])
    while queue:
        vertex = queue.popleft()
        for after in successors[vertex]:
            if after == start and distance[vertex] > 1:
                return _way(parent, vertex, real), len(parent)
            cost = distance[vertex] + (after < real)
            if after not in inside or cost >= limit or distance.get(after, limit) <= cost:
                continue
            distance[after], parent[after] = cost, vertex
            if after < real:
                queue.append(after)
            else:
                queue.appendleft(after)
    return [], len(parent)


def _way(parent: dict[int, int], vertex: int, real: int) -> list[int]:
    way = []
    while vertex >= 0:
        if vertex < real:
            way.append(vertex)
        vertex = parent[vertex]
    return way[::-1]
