"""Lanes: an ordered graph as one row of text per vertex, in the manner of `git log --graph`, in O(V + E).

A lane leads to one vertex: whoever precedes it joins its lane, and the lane ends where the vertex stands.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Ink:
    """The letters that lanes are drawn with."""

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
    """One row: the vertex and its lane, the lanes that pass, and those that it opens and joins."""

    vertex: int
    column: int
    passing: frozenset[int] = frozenset()
    opened: tuple[int, ...] = ()
    joined: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        return max((self.column, *self.passing, *self.opened, *self.joined)) + 1


@dataclass(slots=True)
class _Columns:
    """Which lane leads where, and which columns are free (the leftmost is taken first)."""

    taken: dict[int, int] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)
    count: int = 0

    def take(self) -> int:
        if self.free:
            return heapq.heappop(self.free)
        self.count += 1
        return self.count - 1


def lanes(successors: Sequence[Sequence[int]]) -> Iterator[Lane]:
    """One row for each vertex, in the order of their numbers; every edge must lead to a higher number.

    >>> [(row.column, row.opened, row.joined) for row in lanes([[1, 2], [2], []])]
    [(0, (1,), ()), (0, (), (1,)), (1, (), ())]
    """
    columns = _Columns()
    for vertex, following in enumerate(successors):
        column = columns.taken.pop(vertex, -1)
        if column < 0:
            column = columns.take()
        passing = frozenset(columns.taken.values())
        opened, joined, own = [], [], False
        for after in following:
            if after in columns.taken:
                joined.append(columns.taken[after])
            elif not own:
                columns.taken[after], own = column, True
            else:
                columns.taken[after] = columns.take()
                opened.append(columns.taken[after])
        if not own:
            heapq.heappush(columns.free, column)
        yield Lane(vertex, column, passing, tuple(opened), tuple(joined))


def draw(row: Lane, ink: Ink, most: int) -> str:
    """A row as text of two letters per lane, without trailing blanks; lanes from `most` on are folded into their
    number.

    >>> [draw(row, Ink(), 9) for row in lanes([[1, 2], [2], []])]
    ['●─╮', '●─┤', '  ●']
    """
    reached = (*row.opened, *row.joined)
    left, right = min((row.column, *reached)), max((row.column, *reached))
    text = []
    for column in range(min(row.width, most)):
        spans = left <= column < right
        text.append(_letter(row, column, ink, inside=left < column < right))
        text.append(ink.across if spans else " ")
    line = "".join(text).rstrip()
    hidden = row.width - most
    return f"{line:<{2 * most}}{ink.folded}+{hidden}" if hidden > 0 else line


def _letter(row: Lane, column: int, ink: Ink, *, inside: bool) -> str:
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
