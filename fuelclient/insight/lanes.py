"""Draw an ordered graph as one row of text per vertex, like `git log --graph`, without its redundant edges.

A lane leads to one vertex: its predecessors join the lane, and the lane ends at the vertex.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuelclient.graph.dag import reachable, reverse

MAX_REDUCED_VERTICES = 10_000
"""Graphs with more vertices are not reduced: the bit sets of 10 000 take 12 MB, those of 100 000 would take 1.2 GB."""


class Reach:
    """The vertices that each vertex of a graph reaches.

    Edges should lead to higher numbers; other edges are ignored, and counted in `against`.
    """

    def __init__(self, successors: Sequence[Iterable[int]]) -> None:
        self.forward = [
            sorted(after for after in following if after > vertex) for vertex, following in enumerate(successors)
        ]
        self.against = sum(len(set(following)) for following in successors) - sum(map(len, self.forward))
        self._bits = [0] * len(self.forward) if len(self.forward) <= MAX_REDUCED_VERTICES else []
        for vertex in reversed(range(len(self._bits))):
            for after in self.forward[vertex]:
                self._bits[vertex] |= self._bits[after] | 1 << after

    def ancestors(self, vertex: int) -> int:
        if self._bits:
            return sum(bits >> vertex & 1 for bits in self._bits[:vertex])
        return len(reachable(reverse(self.forward), (vertex,))) - 1

    def descendants(self, vertex: int) -> int:
        return self._bits[vertex].bit_count() if self._bits else len(reachable(self.forward, (vertex,))) - 1

    def around(self, vertex: int) -> tuple[frozenset[int], frozenset[int]]:
        """The vertices that reach `vertex`, and those that it reaches.

        >>> before, after = Reach([{1}, {2}, set(), set()]).around(1)
        >>> sorted(before), sorted(after)
        ([0], [2])
        """
        own = {vertex}
        if not self._bits:
            forward = frozenset(reachable(self.forward, own)) - own
            return frozenset(reachable(reverse(self.forward), own)) - own, forward
        after = self._bits[vertex]
        return (
            frozenset(other for other in range(vertex) if self._bits[other] >> vertex & 1),
            frozenset(other for other in range(vertex + 1, len(self.forward)) if after >> other & 1),
        )

    def reduced(self, kept: Sequence[int] | None = None) -> list[list[int]]:
        """For each of the `kept` vertices (ascending; None: all), the kept ones that follow it with none between.

        Order through other vertices is kept, but lost in graphs above `MAX_REDUCED_VERTICES`.

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
        vertices = []
        while left:
            first = (left & -left).bit_length() - 1
            vertices.append(first)
            left &= ~(self._bits[first] | 1 << first)
        return vertices


@dataclass(frozen=True, slots=True)
class Ink:
    vertex: str = "●"
    lane: str = "│"
    across: str = "─"
    cross: str = "┼"
    opens_on: str = "┬"
    opens_right: str = "╮"
    opens_left: str = "╭"
    joins_right: str = "┤"
    joins_left: str = "├"
    folded: str = "⋯"


ASCII = Ink("*", "|", "-", "+", ".", ".", ".", "+", "+", "~")


@dataclass(frozen=True, slots=True)
class Lane:
    """One row: the vertex and its lane, the lanes that pass by, and those that it opens and joins."""

    vertex: int
    column: int
    passing: frozenset[int] = frozenset()
    opened: tuple[int, ...] = ()
    joined: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        return max((self.column, *self.passing, *self.opened, *self.joined)) + 1


def lanes(successors: Sequence[Sequence[int]]) -> Iterator[Lane]:
    """Yield a row for each vertex, by number, in O(V + E). Every edge must lead to a higher number.

    >>> [(row.column, row.opened, row.joined) for row in lanes([[1, 2], [2], []])]
    [(0, (1,), ()), (0, (), (1,)), (1, (), ())]
    """
    taken: dict[int, int] = {}  # the column of each lane, by the vertex that it leads to
    free: list[int] = []  # a heap of columns
    unused = itertools.count()

    def take() -> int:
        return heapq.heappop(free) if free else next(unused)

    for vertex, following in enumerate(successors):
        column = taken.pop(vertex) if vertex in taken else take()
        passing = frozenset(taken.values())
        opened, joined, own = [], [], False
        for after in following:
            if after in taken:
                joined.append(taken[after])
            elif not own:
                taken[after], own = column, True
            else:
                taken[after] = take()
                opened.append(taken[after])
        if not own:
            heapq.heappush(free, column)
        yield Lane(vertex, column, passing, tuple(opened), tuple(joined))


def draw(row: Lane, ink: Ink, max_lanes: int) -> str:
    """Draw a row as text, two characters for each lane, without trailing blanks. A number replaces the lanes
    from `max_lanes` on.

    >>> [draw(row, Ink(), 9) for row in lanes([[1, 2], [2], []])]
    ['●─╮', '●─┤', '  ●']
    """
    reached = (*row.opened, *row.joined)
    left, right = min((row.column, *reached)), max((row.column, *reached))
    text = []
    for column in range(min(row.width, max_lanes)):
        spans = left <= column < right
        text.append(_character(row, column, ink, inside=left < column < right) + (ink.across if spans else " "))
    line = "".join(text).rstrip()
    hidden = row.width - max_lanes
    return f"{line:<{2 * max_lanes}}{ink.folded}+{hidden}" if hidden > 0 else line


def _character(row: Lane, column: int, ink: Ink, *, inside: bool) -> str:
    to_the_right = column > row.column
    if column == row.column:
        return ink.vertex
    if column in row.joined:
        return ink.cross if inside else ink.joins_right if to_the_right else ink.joins_left
    if column in row.opened:
        return ink.opens_on if inside else ink.opens_right if to_the_right else ink.opens_left
    if column in row.passing:
        return ink.cross if inside else ink.lane
    return ink.across if inside else " "
