"""Slots: which of the instances that could run are started, and on which nodes, under all limits.

One instance per node, so many nodes at the same time, so many instances of one task at the same time. Nodes are
asked in their order; each starts the most urgent of its instances whose task is below its limit.
"""

from __future__ import annotations

from heapq import heappop, heappush

from fuelclient.plan.weights import most_urgent_first
from fuelclient.plan.work import NO_KEY, Work

_FREE = -1
_NOBODY = -1


class Slots:
    """The places where instances run, and the instances that wait for one.

    Every event costs O(log V). An instance whose task is at its limit is parked with the limit; when the limit has
    room again, the parked ones return to their nodes one by one, until it has none.
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
        """What runs now, by node."""
        return [vertex for vertex in self._on if vertex != _FREE]

    def offer(self, vertex: int) -> None:
        """The instance may start as soon as there is a place for it."""
        node = self._work.node_of[vertex]
        heappush(self._waiting[node], self._rank[vertex])
        self._ask(node)

    def _ask(self, node: int) -> None:
        if self._on[node] == _FREE and not self._is_asked[node]:
            self._is_asked[node] = 1
            heappush(self._asked, node)

    def start(self) -> list[int]:
        """Fill the free places; the instances that were started, in the order of their nodes."""
        started: list[int] = []
        while self.busy < self._work.max_busy:
            node = self._next_node()
            if node == _NOBODY:
                break
            if self._on[node] != _FREE or self._closed[node]:
                continue
            vertex = self._most_urgent(node)
            if vertex != _NOBODY:
                self.occupy(vertex)
                started.append(vertex)
        return started

    def occupy(self, vertex: int) -> None:
        """The instance runs."""
        self._on[self._work.node_of[vertex]] = vertex
        self.busy += 1
        key = self._work.limit_of[vertex]
        if key != NO_KEY:
            self._used[key] += 1

    def release(self, vertex: int) -> None:
        """The instance runs no more."""
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
        """Nothing is started on the node any more."""
        self._closed[node] = 1

    def _next_node(self) -> int:
        """The first node, in their order, on which something may have become possible."""
        node = self._asked[0] if self._asked else _NOBODY
        if self._with_room:
            node = self._unparked(node)
        if self._asked and node == self._asked[0]:
            heappop(self._asked)
            self._is_asked[node] = 0
        return node

    def _unparked(self, node: int) -> int:
        """The first of `node` and the nodes of parked instances whose limits have room; these return to it."""
        limits = self._work.limits
        self._with_room = [key for key in self._with_room if self._parked[key] and self._used[key] < limits[key]]
        for key in self._with_room:
            first = self._parked[key][0][0]
            if node == _NOBODY or first < node:
                node = first
        for key in self._with_room:
            if self._parked[key][0][0] == node:
                heappush(self._waiting[node], heappop(self._parked[key])[1])
        return node

    def _most_urgent(self, node: int) -> int:
        """Take the node's most urgent instance that no limit holds back; park those that one does."""
        waiting = self._waiting[node]
        while waiting:
            rank = heappop(waiting)
            vertex = self._by_rank[rank]
            key = self._work.limit_of[vertex]
            if key == NO_KEY or self._used[key] < self._work.limits[key]:
                return vertex
            heappush(self._parked[key], (node, rank))
        return _NOBODY
