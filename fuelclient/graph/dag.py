"""Order a directed graph whose vertices are numbered from 0: generations and shortest cycles.

Vertices from `real` on are barriers. They replace many-to-many order by few edges, count for no generation, and
never appear in a result.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_MOST_STEPS = 5_000_000
"""Where the search for a shorter cycle stops, after some seconds."""

_MOST_BITS = 1 << 29
"""The most bits that the search for many paths at once keeps: 64 MB."""


@dataclass(frozen=True, slots=True)
class Order:
    """The vertices in topological order, and the generation of each real vertex: the number of real vertices on the
    longest path to it. `stuck` are the vertices that cycles keep out of any order."""

    topological: list[int]
    generation: list[int]
    stuck: list[int]


def order(successors: Sequence[Sequence[int]], real: int) -> Order:
    """Order a graph by Kahn's algorithm, in O(V + E).

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
    """The strongly connected components of more than one vertex; every cycle lies inside one of them.

    Kosaraju's algorithm in O(V + E), without recursion, because a graph may be deeper than Python's stack.

    >>> components([[1], [0, 2], [3], [2]], range(4))
    [[0, 1], [2, 3]]
    """
    return sorted(sorted(component) for component in _in_order(successors, set(within)) if len(component) > 1)


def reverse(successors: Sequence[Iterable[int]]) -> list[list[int]]:
    """The predecessors of every vertex.

    >>> reverse([[1], []])
    [[], [0]]
    """
    predecessors: list[list[int]] = [[] for _ in successors]
    for vertex, following in enumerate(successors):
        for after in following:
            predecessors[after].append(vertex)
    return predecessors


def neighbours(edges: Sequence[Iterable[int]], vertex: int, real: int) -> Iterator[int]:
    """Yield the real vertices that `edges` lead to from one, also through a barrier, each as often as it is reached.

    >>> list(neighbours([[2, 1], [], [1]], 0, real=2))
    [1, 1]
    """
    for other in edges[vertex]:
        yield from (other,) if other < real else edges[other]


def _in_order(successors: Sequence[Iterable[int]], inside: set[int]) -> list[list[int]]:
    """All strongly connected components, each before those it leads to."""
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
        found.append(component)
    return found


def _finished(successors: Sequence[Iterable[int]], inside: set[int]) -> list[int]:
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
    """A cycle with the fewest real vertices, along its edges, beginning with its lowest vertex.

    Barriers are passed but left out. The result is empty if `stuck` has no cycle. Only strongly connected components
    are searched, so that vertices which merely lie between two cycles cost nothing. On a graph with very many long
    cycles the search stops after `_MOST_STEPS` and returns the shortest cycle seen so far.

    >>> shortest_cycle([[1], [2], [0, 3], []], real=4, stuck=[0, 1, 2, 3])
    [0, 1, 2]
    """
    home = {vertex: inside for inside in map(set, components(successors, stuck)) for vertex in inside}
    trim = _Trim(successors, home)
    best: list[int] = []
    steps = 0
    for start in sorted(vertex for vertex in home if vertex < real):
        if start not in home[start]:
            continue
        limit = len(best) if best else len(home[start]) + 1
        cycle, visited = _shortest_cycle_through(successors, real, home[start], start, limit)
        steps += visited
        best = cycle or best
        if len(best) == 2 or (best and steps > _MOST_STEPS):
            break
        trim.remove(start)  # a shorter cycle does not pass through it
    if not best:
        return []
    first = best.index(min(best))
    return best[first:] + best[:first]


class _Trim:
    """Takes vertices out of components, and with each those that are in no cycle without it.

    `home` has the component of each vertex; the sets shrink. All removals together take O(V + E).
    """

    def __init__(self, successors: Sequence[Sequence[int]], home: Mapping[int, set[int]]) -> None:
        self._home = home
        self._after = {vertex: [after for after in successors[vertex] if after in home[vertex]] for vertex in home}
        self._before: dict[int, list[int]] = {vertex: [] for vertex in home}
        for vertex, following in self._after.items():
            for after in following:
                self._before[after].append(vertex)
        self._left = [{vertex: len(others) for vertex, others in side.items()} for side in (self._before, self._after)]

    def remove(self, vertex: int) -> None:
        inside = self._home[vertex]
        inside.discard(vertex)
        gone = [vertex]
        while gone:
            last = gone.pop()
            for neighbours, left in zip((self._after, self._before), self._left, strict=True):
                for other in neighbours[last]:
                    left[other] -= 1
                    if not left[other] and other in inside:
                        inside.discard(other)
                        gone.append(other)


def _shortest_cycle_through(
    successors: Sequence[Sequence[int]], real: int, inside: set[int], start: int, limit: int
) -> tuple[list[int], int]:
    """The shortest cycle through `start` with fewer than `limit` real vertices, and the number of vertices looked at.
    Barriers cost nothing, hence the queue with two ends."""
    parent: dict[int, int] = {start: -1}
    distance = {start: 1}
    queue = deque([start])
    while queue:
        vertex = queue.popleft()
        for after in successors[vertex]:
            if after == start and distance[vertex] > 1:
                return path_to(parent, vertex, real), len(parent)
            cost = distance[vertex] + (after < real)
            if after not in inside or cost >= limit or distance.get(after, limit) <= cost:
                continue
            distance[after], parent[after] = cost, vertex
            if after < real:
                queue.append(after)
            else:
                queue.appendleft(after)
    return [], len(parent)


def path_to(parent: Mapping[int, int], vertex: int, real: int) -> list[int]:
    """The real vertices on the path from the start (whose parent is -1) to `vertex`; barriers are left out.

    >>> path_to({0: -1, 5: 0, 2: 5}, 2, real=5)
    [0, 2]
    """
    path = []
    while vertex >= 0:
        if vertex < real:
            path.append(vertex)
        vertex = parent[vertex]
    return path[::-1]


def search(
    edges: Sequence[Iterable[int]],
    starts: Iterable[int],
    *,
    real: int = sys.maxsize,
    most: int = sys.maxsize,
    ends: Container[int] = (),
) -> dict[int, int]:
    """Search breadth first from `starts` along at most `most` edges. The result has each vertex, the nearest first,
    with the one before it: -1 for a start. Barriers count for no edge. The search stops at the first of `ends`, which
    is then the last vertex of the result.

    >>> search([[1], [2, 3], [], [0]], [1]), search([[3], [], [], [1, 2]], [0], real=3, most=1, ends=[1])
    ({1: -1, 2: 1, 3: 1, 0: 3}, {0: -1, 3: 0, 1: 3})
    """
    parent = dict.fromkeys(starts, -1)
    ring = list(parent)
    while ring and most > 0:
        most -= 1
        beyond: list[int] = []
        for vertex in ring:
            for after in edges[vertex]:
                if after not in parent:
                    parent[after] = vertex
                    if after in ends:
                        return parent
                    (beyond if after < real else ring).append(after)
        ring = beyond
    return parent


def distances(parent: Mapping[int, int], real: int = sys.maxsize) -> dict[int, int]:
    """How many edges lead to each vertex that `search` has found.

    >>> distances({1: -1, 3: 1, 0: 3}, real=3)
    {1: 0, 3: 0, 0: 1}
    """
    distance: dict[int, int] = {-1: -1}
    for vertex, before in parent.items():
        distance[vertex] = distance[before] + (vertex < real or before < 0)
    del distance[-1]
    return distance


def reachable(edges: Sequence[Iterable[int]], starts: Iterable[int]) -> set[int]:
    """The vertices that `edges` lead to from `starts`, with these.

    >>> sorted(reachable([[1], [2], [], [0]], [1]))
    [1, 2]
    """
    return set(search(edges, starts))


def connected(
    edges: Sequence[Iterable[int]], pairs: Iterable[tuple[int, int]], most_bits: int = _MOST_BITS
) -> set[tuple[int, int]]:
    """The pairs of vertices of which `edges` lead from the first to the second, or that are one vertex.

    All pairs are answered together, by sets of bits that every vertex takes over from those it leads to; `most_bits`
    bounds their memory, and changes nothing else. The vertices of a cycle lead to the same ones, and share a set.

    >>> connected([[1], [2], [], [0]], [(0, 2), (2, 0), (3, 1)]) == {(0, 2), (3, 1)}
    True
    """
    asked = set(pairs)
    goals = sorted({goal for _, goal in asked})
    last_first = _in_order(edges, set(range(len(edges))))[::-1] if asked else []
    width = max(most_bits // max(len(edges), 1), 64)
    found: set[tuple[int, int]] = set()
    for low in range(0, len(goals), width):
        bit = {goal: 1 << place for place, goal in enumerate(goals[low : low + width])}
        ahead = [bit.get(vertex, 0) for vertex in range(len(edges))]
        for component in last_first:
            everything = 0
            for vertex in component:
                everything |= ahead[vertex]
                for other in edges[vertex]:
                    everything |= ahead[other]
            for vertex in component:
                ahead[vertex] = everything
        found |= {pair for pair in asked if ahead[pair[0]] & bit.get(pair[1], 0)}
    return found
