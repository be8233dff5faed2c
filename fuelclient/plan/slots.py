"""Slots: which of the waiting instances start, and on which nodes, under all limits.

A node runs one instance at a time. The number of busy nodes is limited, and so is the number of instances of one task
that run at the same time. Nodes are asked in their order; each starts the most urgent of its instances whose task is
below its limit.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

from fuelclient.errors import CycleDetected
from fuelclient.graph.dag import order, shortest_cycle
from fuelclient.plan.work import NO_KEY, Work

_FREE = -1
_NONE = -1

SAME_NODE = 1
OTHER_NODE = 10
CEILING = 1 << 256
"""The largest weight; see `weights`."""


def weights(work: Work) -> list[int]:
    """Return the weight of every instance: for each direct follower, its weight plus 1 if it is on the same node or 10
    if it is on another.

    Such a weight counts paths through the graph and grows exponentially with its depth: the graph of a real release
    exceeds 64 bits on five nodes. These are Python's integers, exact up to `CEILING` and equal to it beyond, so
    that a graph of any depth takes O(V + E) steps and memory. A follower that is reached both directly and through a
    barrier counts once for each path. Raise `CycleDetected` if the graph has a cycle. Source: Astute
    `fuel_deployment/task.rb`.
    """
    result = order(work.successors, work.size)
    if result.stuck:
        names = [work.name(vertex) for vertex in shortest_cycle(work.successors, work.size, result.stuck)]
        ring = " -> ".join((*names, names[0]))
        raise CycleDetected(f"The graph has a cycle of {len(names)} task instances: {ring}.", cycle=names)
    total = [0] * len(work.successors)
    behind: dict[int, Counter[int]] = {}  # by barrier: how many followers are on each node
    for vertex in reversed(result.topological):
        following = work.successors[vertex]
        if vertex >= work.size:
            behind[vertex] = Counter(work.node_of[after] for after in following)
            total[vertex] = sum(total[after] for after in following) + OTHER_NODE * len(following)
            continue
        node, weight = work.node_of[vertex], 0
        for after in following:
            if after >= work.size:
                weight += total[after] - (OTHER_NODE - SAME_NODE) * behind[after][node]
            else:
                weight += total[after] + (SAME_NODE if work.node_of[after] == node else OTHER_NODE)
        total[vertex] = min(weight, CEILING)
    return total[: work.size]


def most_urgent_first(work: Work) -> list[int]:
    """Return all instances, the heaviest first. Numbers break all ties, even at the ceiling, so the order is total.

    Raise `CycleDetected` if the graph has a cycle.
    """
    weight = weights(work)
    return sorted(range(work.size), key=lambda vertex: -weight[vertex])


class Slots:
    """The places where instances run, and the instances that wait for one.

    Every event costs O(log V). An instance whose task is at its limit is parked with the limit. When the limit has
    room again, parked instances return to their nodes one by one until the limit is reached.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._by_rank = most_urgent_first(work)
        self._rank = [0] * work.size
        for rank, vertex in enumerate(self._by_rank):
            self._rank[vertex] = rank
        nodes = len(work.nodes)
        self._waiting: list[list[int]] = [[] for _ in range(nodes)]
        self._on = [_FREE] * nodes
        self._closed = bytearray(nodes)
        self._asked: list[int] = []
        self._is_asked = bytearray(nodes)
        self._used = [0] * len(work.limits)
        self._parked: list[list[tuple[int, int]]] = [[] for _ in work.limits]
        self._with_room: list[int] = []
        self.busy = 0

    @property
    def running(self) -> list[int]:
        """The instances that run now, in the order of their nodes."""
        return [vertex for vertex in self._on if vertex != _FREE]

    def offer(self, vertex: int) -> None:
        """Let an instance start as soon as there is a place for it."""
        node = self._work.node_of[vertex]
        heappush(self._waiting[node], self._rank[vertex])
        self._ask(node)

    def _ask(self, node: int) -> None:
        if self._on[node] == _FREE and not self._is_asked[node]:
            self._is_asked[node] = 1
            heappush(self._asked, node)

    def start(self) -> list[int]:
        """Fill the free places. Return the instances that start, in the order of their nodes."""
        started: list[int] = []
        while self.busy < self._work.max_busy:
            node = self._next_node()
            if node == _NONE:
                break
            if self._on[node] != _FREE or self._closed[node]:
                continue
            vertex = self._most_urgent(node)
            if vertex != _NONE:
                self.occupy(vertex)
                started.append(vertex)
        return started

    def occupy(self, vertex: int) -> None:
        """Count an instance as running."""
        self._on[self._work.node_of[vertex]] = vertex
        self.busy += 1
        key = self._work.limit_of[vertex]
        if key != NO_KEY:
            self._used[key] += 1

    def release(self, vertex: int) -> None:
        """Give back the place of an instance that has ended."""
        node = self._work.node_of[vertex]
        self._on[node] = _FREE
        self.busy -= 1
        if self._waiting[node]:
            self._ask(node)
        key = self._work.limit_of[vertex]
        if key != NO_KEY:
            self._used[key] -= 1
            if self._parked[key] and key not in self._with_room:
                self._with_room.append(key)

    def close(self, node: int) -> None:
        """Start nothing more on a node."""
        self._closed[node] = 1

    def _next_node(self) -> int:
        """Return the first node on which something may have become possible, or `_NONE`."""
        node = self._asked[0] if self._asked else _NONE
        if self._with_room:
            node = self._unparked(node)
        if self._asked and node == self._asked[0]:
            heappop(self._asked)
            self._is_asked[node] = 0
        return node

    def _unparked(self, node: int) -> int:
        """Return the first of `node` and the nodes of parked instances whose limits have room; those return to it."""
        limits = self._work.limits
        self._with_room = [key for key in self._with_room if self._parked[key] and self._used[key] < limits[key]]
        for key in self._with_room:
            first = self._parked[key][0][0]
            if node == _NONE or first < node:
                node = first
        for key in self._with_room:
            if self._parked[key][0][0] == node:
                heappush(self._waiting[node], heappop(self._parked[key])[1])
        return node

    def _most_urgent(self, node: int) -> int:
        """Take the node's most urgent instance that no limit holds back, and park the more urgent ones."""
        waiting = self._waiting[node]
        while waiting:
            rank = heappop(waiting)
            vertex = self._by_rank[rank]
            key = self._work.limit_of[vertex]
            if key == NO_KEY or self._used[key] < self._work.limits[key]:
                return vertex
            heappush(self._parked[key], (node, rank))
        return _NONE
