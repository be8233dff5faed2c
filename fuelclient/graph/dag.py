"""Order a directed graph whose vertices are numbered from 0: generations and shortest cycles.

Vertices numbered `real` and above are barriers, which stand for edges from each of many vertices to each of many
others. They do not count in a generation, and never appear in a result.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_MAX_CYCLE_STEPS = 5_000_000
"""How many vertices the search for a shorter cycle may visit, which takes some seconds."""

_MAX_PATH_BITS = 1 << 29
"""The most bits that `connected` keeps in memory: 64 MB."""


@dataclass(frozen=True, slots=True)
class Order:
    """The vertices in topological order, and the generation of each real vertex: the number of real vertices on the
    longest path to it. `stuck` are the vertices on cycles and behind them, which have no order."""

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
    for targets in successors:
        for vertex in targets:
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
    return sorted(sorted(component) for component in _all_components(successors, set(within)) if len(component) > 1)


def reverse(successors: Sequence[Iterable[int]]) -> list[list[int]]:
    """The predecessors of every vertex.

    >>> reverse([[1], []])
    [[], [0]]
    """
    predecessors: list[list[int]] = [[] for _ in successors]
    for vertex, targets in enumerate(successors):
        for after in targets:
            predecessors[after].append(vertex)
    return predecessors


def neighbours(edges: Sequence[Iterable[int]], vertex: int, real: int) -> Iterator[int]:
    """Yield the real vertices to which `vertex` has edges, directly or through a barrier, once for each way.

    >>> list(neighbours([[2, 1], [], [1]], 0, real=2))
    [1, 1]
    """
    for other in edges[vertex]:
        yield from (other,) if other < real else edges[other]


def _all_components(successors: Sequence[Iterable[int]], inside: set[int]) -> list[list[int]]:
    """All strongly connected components, in topological order."""
    predecessors: dict[int, list[int]] = {vertex: [] for vertex in inside}
    for vertex in inside:
        for after in successors[vertex]:
            if after in inside:
                predecessors[after].append(vertex)
    found = []
    unassigned = set(inside)
    for root in reversed(_postorder(successors, inside)):
        if root not in unassigned:
            continue
        unassigned.discard(root)
        component = [root]
        for vertex in component:
            for before in predecessors[vertex]:
                if before in unassigned:
                    unassigned.discard(before)
                    component.append(before)
        found.append(component)
    return found


def _postorder(successors: Sequence[Iterable[int]], inside: set[int]) -> list[int]:
    """The vertices in the order in which a depth-first search leaves them (postorder)."""
    seen: set[int] = set()
    finished: list[int] = []
    for root in sorted(inside):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            vertex, targets = stack[-1]
            for after in targets:
                if after in inside and after not in seen:
                    seen.add(after)
                    stack.append((after, iter(successors[after])))
                    break
            else:
                stack.pop()
                finished.append(vertex)
    return finished


def shortest_cycle(successors: Sequence[Sequence[int]], real: int, stuck: Iterable[int]) -> list[int]:
    """The vertices of a cycle with the fewest real vertices, in the order of its edges, from the lowest number.

    Barriers on the cycle are left out. The result is empty if `stuck` has no cycle. Only strongly connected components
    are searched, so vertices that merely lie between two cycles cost nothing. In a graph with very many long cycles,
    the search stops after `_MAX_CYCLE_STEPS` and returns the shortest cycle found so far.

    >>> shortest_cycle([[1], [2], [0, 3], []], real=4, stuck=[0, 1, 2, 3])
    [0, 1, 2]
    """
    members = {vertex: inside for inside in map(set, components(successors, stuck)) for vertex in inside}
    trimmer = _Trimmer(successors, members)
    best: list[int] = []
    steps = 0
    for start in sorted(vertex for vertex in members if vertex < real):
        if start not in members[start]:
            continue
        limit = len(best) if best else len(members[start]) + 1
        cycle, visited = _shortest_cycle_through(successors, real, members[start], start, limit)
        steps += visited
        best = cycle or best
        if len(best) == 2 or (best and steps > _MAX_CYCLE_STEPS):
            break
        trimmer.remove(start)  # a shorter cycle does not pass through it
    if not best:
        return []
    first = best.index(min(best))
    return best[first:] + best[:first]


class _Trimmer:
    """Removes vertices from components, and then all that have no predecessor or no successor left there.

    `members` has the vertices of each vertex's component. These sets shrink. All removals together take O(V + E).
    """

    def __init__(self, successors: Sequence[Sequence[int]], members: Mapping[int, set[int]]) -> None:
        self._members = members
        self._after = {vertex: [v for v in successors[vertex] if v in members[vertex]] for vertex in members}
        self._before: dict[int, list[int]] = {vertex: [] for vertex in members}
        for vertex, targets in self._after.items():
            for after in targets:
                self._before[after].append(vertex)
        self._count = [{vertex: len(others) for vertex, others in side.items()} for side in (self._before, self._after)]

    def remove(self, vertex: int) -> None:
        inside = self._members[vertex]
        inside.discard(vertex)
        removed = [vertex]
        while removed:
            last = removed.pop()
            for neighbours, count in zip((self._after, self._before), self._count, strict=True):
                for other in neighbours[last]:
                    count[other] -= 1
                    if not count[other] and other in inside:
                        inside.discard(other)
                        removed.append(other)


def _shortest_cycle_through(
    successors: Sequence[Sequence[int]], real: int, inside: set[int], start: int, limit: int
) -> tuple[list[int], int]:
    """The shortest cycle through `start` with fewer than `limit` real vertices, and the number of vertices visited.
    Barriers cost nothing, so they go to the front of the queue."""
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
    """Search breadth first from `starts` along at most `most` edges, not counting edges to barriers. The result maps
    each vertex reached, nearest first, to the vertex before it (-1 for a start). The search stops at the first of
    `ends`, which is then the last vertex of the result.

    >>> search([[1], [2, 3], [], [0]], [1]), search([[3], [], [], [1, 2]], [0], real=3, most=1, ends=[1])
    ({1: -1, 2: 1, 3: 1, 0: 3}, {0: -1, 3: 0, 1: 3})
    """
    parent = dict.fromkeys(starts, -1)
    frontier = list(parent)
    while frontier and most > 0:
        most -= 1
        next_frontier: list[int] = []
        for vertex in frontier:
            for after in edges[vertex]:
                if after not in parent:
                    parent[after] = vertex
                    if after in ends:
                        return parent
                    (next_frontier if after < real else frontier).append(after)
        frontier = next_frontier
    return parent


def distances(parent: Mapping[int, int], real: int = sys.maxsize) -> dict[int, int]:
    """The number of edges from a start to each vertex that `search` reached, not counting edges to barriers.

    >>> distances({1: -1, 3: 1, 0: 3}, real=3)
    {1: 0, 3: 0, 0: 1}
    """
    distance: dict[int, int] = {-1: -1}
    for vertex, before in parent.items():
        distance[vertex] = distance[before] + (vertex < real or before < 0)
    del distance[-1]
    return distance


def reachable(edges: Sequence[Iterable[int]], starts: Iterable[int]) -> set[int]:
    """The vertices that can be reached from `starts` along `edges`, including `starts`.

    >>> sorted(reachable([[1], [2], [], [0]], [1]))
    [1, 2]
    """
    return set(search(edges, starts))


def connected(
    edges: Sequence[Iterable[int]], pairs: Iterable[tuple[int, int]], most_bits: int = _MAX_PATH_BITS
) -> set[tuple[int, int]]:
    """Those of `pairs` whose second vertex can be reached from the first along `edges`, or is the same.

    All pairs are computed together: every vertex has a set of bits for the goals it can reach, the union of its
    successors' sets. `most_bits` limits the memory for them. The vertices of a cycle share a set.

    >>> connected([[1], [2], [], [0]], [(0, 2), (2, 0), (3, 1)]) == {(0, 2), (3, 1)}
    True
    """
    wanted = set(pairs)
    goals = sorted({goal for _, goal in wanted})
    last_first = _all_components(edges, set(range(len(edges))))[::-1] if wanted else []
    width = max(most_bits // max(len(edges), 1), 64)
    found: set[tuple[int, int]] = set()
    for low in range(0, len(goals), width):
        bit = {goal: 1 << number for number, goal in enumerate(goals[low : low + width])}
        goals_of = [bit.get(vertex, 0) for vertex in range(len(edges))]
        for component in last_first:
            reached = 0
            for vertex in component:
                reached |= goals_of[vertex]
                for other in edges[vertex]:
                    reached |= goals_of[other]
            for vertex in component:
                goals_of[vertex] = reached
        found |= {pair for pair in wanted if goals_of[pair[0]] & bit.get(pair[1], 0)}
    return found
