"""Orders of a directed graph whose vertices are numbered from 0: generations and shortest cycles.

Vertices from `real` on are barriers: they carry order from many predecessors to many successors, take no
place of their own, and never appear in a result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
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


def components(successors: Sequence[Sequence[int]], within: Iterable[int]) -> list[list[int]]:
    """The strongly connected components of more than one vertex, in O(V + E): every cycle lies inside one of them.

    Kosaraju's algorithm, without recursion: a graph may be deeper than a stack.

    >>> components([[1], [0, 2], [3], [2]], range(4))
    [[0, 1], [2, 3]]
    """
    inside = set(within)
    predecessors: dict[int, list[int]] = {vertex: [] for vertex in inside}
    for vertex in inside:
        for after in successors[vertex]:
            if after in inside:
                predecessors[after].append(vertex)
    found = []
    left = set(inside)
    for root in reversed(_finished(successors, inside)):
        if root not in left:
            continue
        left.discard(root)
        component = [root]
        for vertex in component:
            for before in predecessors[vertex]:
                if before in left:
                    left.discard(before)
                    component.append(before)
        if len(component) > 1:
            found.append(sorted(component))
    return sorted(found)


def _finished(successors: Sequence[Sequence[int]], inside: set[int]) -> list[int]:
    """The vertices in the order in which a depth-first search leaves them."""
    seen: set[int] = set()
    finished: list[int] = []
    for root in sorted(inside):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            vertex, following = stack[-1]
            for after in following:
                if after in inside and after not in seen:
                    seen.add(after)
                    stack.append((after, iter(successors[after])))
                    break
            else:
                stack.pop()
                finished.append(vertex)
    return finished


def shortest_cycle(successors: Sequence[Sequence[int]], real: int, stuck: Iterable[int]) -> list[int]:
    """One cycle with the fewest real vertices, in the direction of the edges, from its lowest vertex on.

    Barriers are passed but left out. Empty when `stuck` has no cycle. Only strongly connected components are
    searched, so that what merely lies between two cycles costs nothing; the search stops after some seconds' worth of
    steps on a graph with very many long cycles, and answers with the shortest one found so far.

    >>> shortest_cycle([[1], [2], [0, 3], []], real=4, stuck=[0, 1, 2, 3])
    [0, 1, 2]
    """
    home = {vertex: inside for one in components(successors, stuck) for inside in [set(one)] for vertex in one}
    best: list[int] = []
    steps = 0
    for start in sorted(vertex for vertex in home if vertex < real):
        limit = len(best) if best else len(home[start]) + 1
        found, visited = _shortest_way_round(successors, real, home[start], start, limit)
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
                return way_back(parent, vertex, real), len(parent)
            cost = distance[vertex] + (after < real)
            if after not in inside or cost >= limit or distance.get(after, limit) <= cost:
                continue
            distance[after], parent[after] = cost, vertex
            if after < real:
                queue.append(after)
            else:
                queue.appendleft(after)
    return [], len(parent)


def way_back(parent: Mapping[int, int], vertex: int, real: int) -> list[int]:
    """The real vertices (below `real`) from a start, which has the parent -1, to `vertex`; barriers are left out.

    >>> way_back({0: -1, 5: 0, 2: 5}, 2, real=5)
    [0, 2]
    """
    way = []
    while vertex >= 0:
        if vertex < real:
            way.append(vertex)
        vertex = parent[vertex]
    return way[::-1]
