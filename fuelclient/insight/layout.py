"""Place the vertices of a picture: columns by rank, one band of rows for each group, few crossings, no library.

Sugiyama's method. An edge that spans several columns has a bend in each of them, which takes part in everything as a
thin vertex does. The order in a column follows the means of the neighbours, first from left to right, then back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SWEEPS = 6
_BEND = 0.3
"""The height of a bend, in rows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The column and the row of each vertex; the rows at which each edge passes the columns between its ends; the first
    row and the height of each band."""

    columns: tuple[int, ...]
    rows: tuple[float, ...]
    bends: tuple[tuple[float, ...], ...]
    bands: tuple[tuple[float, float], ...]


def layout(edges: Sequence[tuple[int, int]], bands: Sequence[int]) -> Layout:
    """Place a vertex for each of `bands`, which are numbered from 0; every edge leads to a higher number.

    >>> layout([(0, 1), (1, 2), (0, 2)], [0, 0, 0]).columns
    (0, 1, 2)
    """
    drawing = _Drawing(edges, bands)
    for sweep in range(_SWEEPS):
        drawing.order(forward=sweep % 2 == 0)
    count = max(bands, default=-1) + 1
    heights = [max(map(drawing.height, drawing.cells[band::count])) for band in range(count)]
    starts = [float(sum(heights[:band]) + band) for band in range(count)]
    for sweep in range(_SWEEPS):
        drawing.straighten(starts, heights, forward=sweep % 2 == 0)
    size = len(bands)
    return Layout(
        tuple(drawing.column[:size]),
        tuple(round(row, 2) for row in drawing.row[:size]),
        tuple(tuple(round(drawing.row[bend], 2) for bend in route) for route in drawing.routes),
        tuple(zip(starts, heights, strict=True)),
    )


class _Drawing:
    """Vertices, then bends, by number. `cells` has those of each column and band, from top to bottom."""

    def __init__(self, edges: Sequence[tuple[int, int]], bands: Sequence[int]) -> None:
        size, self.band = len(bands), list(bands)
        self.column = [0] * size
        for before, after in sorted(edges):
            self.column[after] = max(self.column[after], self.column[before] + 1)
        self.heights = [1.0] * size
        self.before: list[list[int]] = [[] for _ in range(size)]
        self.after: list[list[int]] = [[] for _ in range(size)]
        self.routes = [self._route(*edge) for edge in edges]
        self.row = [0.0] * len(self.band)
        self.bands = max(self.band, default=-1) + 1
        self.cells: list[list[int]] = [[] for _ in range(self.bands * (max(self.column, default=-1) + 1))]
        for vertex in range(len(self.band)):
            self.cells[self.column[vertex] * self.bands + self.band[vertex]].append(vertex)
        for cell in self.cells:
            self._number(cell)

    def _route(self, before: int, after: int) -> list[int]:
        bends = []
        last = before
        for column in range(self.column[before] + 1, self.column[after]):
            bends.append(len(self.band))
            self.band.append(self.band[before])
            self.column.append(column)
            self.heights.append(_BEND)
            self.before.append([last])
            self.after.append([])
            self.after[last].append(bends[-1])
            last = bends[-1]
        self.after[last].append(after)
        self.before[after].append(last)
        return bends

    def height(self, cell: Iterable[int]) -> float:
        return sum(self.heights[vertex] for vertex in cell)

    def _number(self, cell: Sequence[int]) -> None:
        top = 0.0
        for vertex in cell:
            self.row[vertex] = top + self.heights[vertex] / 2
            top += self.heights[vertex]

    def _wanted(self, vertex: int, forward: bool) -> float:
        """Return the mean row of the neighbours on the side that is already placed, or else its own."""
        near = (self.before if forward else self.after)[vertex]
        return sum(self.row[other] for other in near) / len(near) if near else self.row[vertex]

    def order(self, *, forward: bool) -> None:
        for cell in self.cells if forward else reversed(self.cells):
            wanted = {vertex: self._wanted(vertex, forward) for vertex in cell}
            cell.sort(key=wanted.__getitem__)
            self._number(cell)

    def straighten(self, starts: Sequence[float], heights: Sequence[float], *, forward: bool) -> None:
        """Move what is in each cell as near to its neighbours as its order and its band allow."""
        numbered = list(enumerate(self.cells))
        for number, cell in numbered if forward else reversed(numbered):
            start, room = starts[number % self.bands], heights[number % self.bands]
            offsets, top = [], 0.0
            for vertex in cell:
                offsets.append(top + self.heights[vertex] / 2)
                top += self.heights[vertex]
            wanted = [self._wanted(vertex, forward) - offset for vertex, offset in zip(cell, offsets, strict=True)]
            for vertex, offset, moved in zip(cell, offsets, _ascending(wanted), strict=True):
                self.row[vertex] = offset + min(max(moved, start), start + room - top)


def _ascending(wanted: Sequence[float]) -> list[float]:
    """Return the nearest values (by least squares) that never descend.

    >>> _ascending([3.0, 1.0, 5.0])
    [2.0, 2.0, 5.0]
    """
    blocks: list[tuple[float, int]] = []
    for value in wanted:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, many), (other, more) = blocks[-2:]
            blocks[-2:] = [((one * many + other * more) / (many + more), many + more)]
    return [mean for mean, count in blocks for _ in range(count)]
