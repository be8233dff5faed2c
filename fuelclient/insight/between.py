"""What lies between two vertices of a directed graph: the paths, the vertices on all of them, the smallest cut.

Vertices are numbered from 0, and `successors` has the edges. Nothing here enumerates paths: there can be more of them
than atoms.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.graph.dag import order, search

MOST_EDGES_CUT = 64
"""Larger cuts are not searched: to remove so many edges is no advice, and the time grows with the number of edges."""


def count_paths(successors: Sequence[Sequence[int]], start: int, end: int) -> int | None:
    """Return how many paths lead from `start` to `end`, by adding up in O(V + E); None if the graph has a cycle.

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
    """Return the inner vertices of `path` that every path between its ends passes, in their order; in O(V + E).

    Go along the path, and from each of its vertices through all others: a vertex is passed by every path unless a
    detour that began before it ends behind it. The graph may have cycles.

    >>> waypoints([[1], [2, 3], [4], [4], [5], []], [0, 1, 2, 4, 5])
    [1, 4]
    """
    position = {vertex: place for place, vertex in enumerate(path)}
    seen: set[int] = set()
    passed, farthest = [], 0
    for place, start in enumerate(path[:-1]):
        if place and farthest == place:
            passed.append(start)
        stack = [start]
        while stack:
            for after in successors[stack.pop()]:
                if after in position:
                    farthest = max(farthest, position[after])
                elif after not in seen:
                    seen.add(after)
                    stack.append(after)
    return passed


def minimum_cut(
    successors: Sequence[Sequence[int]], start: int, end: int, most: int = MOST_EDGES_CUT
) -> list[tuple[int, int]] | None:
    """Return the fewest edges without which no path leads from `start` to `end`: of such cuts, that nearest to `start`.

    None if it takes more than `most` edges. Augmenting paths (Ford and Fulkerson, shortest first), each edge once.

    >>> minimum_cut([[1, 2], [3], [3], [4], []], 0, 4)
    [(3, 4)]
    """
    # An edge that carries flow can be passed backwards only.
    forward = [set(following) - {vertex} for vertex, following in enumerate(successors)]
    backward: list[set[int]] = [set() for _ in successors]
    for _ in range(most + 1):
        following = [(*sorted(there), *sorted(back)) for there, back in zip(forward, backward, strict=True)]
        parent = search(following, [start], ends=[end])
        if end not in parent:
            reached = set(parent)
            return [
                (vertex, after)
                for vertex in sorted(reached)
                for after in sorted(set(successors[vertex]))
                if after not in reached
            ]
        vertex = end
        while vertex != start:
            before = parent[vertex]
            if vertex in forward[before]:
                forward[before].discard(vertex)
                backward[vertex].add(before)
            else:
                backward[before].discard(vertex)
                forward[vertex].add(before)
            vertex = before
    return None
