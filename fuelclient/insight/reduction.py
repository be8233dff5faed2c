"""Reduction: of all edges between some vertices, only those that say something, told with bit sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST = 10_000
"""Above so many vertices nothing is reduced: the bit sets of 10 000 take 12 MB, those of 100 000 would take 1.2 GB."""


class Reach:
    """Which vertices of a graph can be reached from which. Vertices are numbered in an order that its edges respect;
    edges against it are left out, and counted in `against`."""

    def __init__(self, successors: Sequence[Iterable[int]]) -> None:
        self.forward = [sorted(after for after in following if after > vertex) for vertex, following in
                        enumerate(successors)]  # fmt: skip
        self.against = sum(len(set(following)) for following in successors) - sum(map(len, self.forward))
        self._bits: list[int] = []
        if len(self.forward) <= MOST:
            self._bits = _closure(self.forward)

    def ancestors(self, vertex: int) -> int:
        """How many vertices reach `vertex`."""
        if self._bits:
            return sum(bits >> vertex & 1 for bits in self._bits[:vertex])
        return len(_walk(_backwards(self.forward), vertex))

    def descendants(self, vertex: int) -> int:
        """How many vertices `vertex` reaches."""
        return self._bits[vertex].bit_count() if self._bits else len(_walk(self.forward, vertex))

    def reduced(self, kept: Sequence[int] | None = None) -> list[list[int]]:
        """For each of the `kept` vertices (ascending; None: all), those of them that follow it with none between.

        What lies outside `kept` is contracted: order that goes through it stays. In a graph above `MOST` only its
        own edges between kept vertices are told.

        >>> Reach([{1, 2}, {2}, set()]).reduced()
        [[1], [2], []]
        >>> Reach([{1}, {2}, set()]).reduced([0, 2])
        [[2], []]
        """
        vertices = range(len(self.forward)) if kept is None else kept
        if not self._bits:
            inside = set(vertices)
            return [[after for after in self.forward[vertex] if after in inside] for vertex in vertices]
        mask = sum(1 << vertex for vertex in vertices) if kept is not None else -1
        return [self._nearest(vertex, mask) for vertex in vertices]

    def _nearest(self, vertex: int, mask: int) -> list[int]:
        left = self._bits[vertex] & mask
        found = []
        while left:
            first = (left & -left).bit_length() - 1
            found.append(first)
            left &= ~(self._bits[first] | 1 << first)
        return found


def _closure(forward: Sequence[Sequence[int]]) -> list[int]:
    bits = [0] * len(forward)
    for vertex in range(len(forward) - 1, -1, -1):
        reached = 0
        for after in forward[vertex]:
            reached |= bits[after] | 1 << after
        bits[vertex] = reached
    return bits


def _backwards(forward: Sequence[Sequence[int]]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in forward]
    for vertex, following in enumerate(forward):
        for after in following:
            found[after].append(vertex)
    return found


def _walk(successors: Sequence[Sequence[int]], start: int) -> set[int]:
    seen: set[int] = set()
    stack = [start]
    while stack:
        for after in successors[stack.pop()]:
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return seen
