"""The matrix of a run: a line for each node, a column for each task, a sign for each task instance."""

from __future__ import annotations

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.run import node_name, sign
from fuelclient.tui.presenters.run import status as told
from fuelclient.tui.presenters.table import Cell
from fuelclient.tui.watched import Watched


class Grid:
    """What a matrix shows of a run. With `only`, nodes and tasks of these instances."""

    def __init__(
        self, watched: Watched, glyphs: Glyphs, names_of: dict[int, str], only: list[int] | None = None
    ) -> None:
        self.watched, self._glyphs, self._names_of = watched, glyphs, names_of
        chosen = None if only is None else [watched.cell[number] for number in only]
        self.lines = sorted({line for line, _ in chosen}) if chosen is not None else range(len(watched.nodes))
        self.columns = sorted({column for _, column in chosen}) if chosen is not None else range(len(watched.tasks))
        self._signs = {word: Cell(sign(word, glyphs), told(word, glyphs).tone) for word in
                       ("ready", "running", "pending", "skipped", "error", "not reached")}  # fmt: skip

    @property
    def labels(self) -> list[str]:
        """The names of all lines."""
        return [self.label(line) for line in range(len(self.lines))]

    def label(self, line: int) -> str:
        """The node of a line."""
        name = node_name(self.watched.nodes[self.lines[line]], self._names_of)
        return "sync points" if name == "sync point" else name

    def share(self, line: int) -> str:
        """How much of a node is done."""
        place = self.lines[line]
        size = self.watched.sizes[place]
        return f"{100 * self.watched.finished[place] // size:3} %" if size else ""

    def head(self, column: int) -> str:
        """The task of a column."""
        return self.watched.tasks[self.columns[column]][1]

    def number(self, line: int, column: int) -> int:
        """The instance in a cell, or -1."""
        if not (0 <= line < len(self.lines) and 0 <= column < len(self.columns)):
            return -1
        return self.watched.grid[self.lines[line]][self.columns[column]]

    def cell(self, line: int, column: int) -> Cell | None:
        """The sign of a cell; None where the task has no instance on the node."""
        number = self.watched.grid[self.lines[line]][self.columns[column]]
        return self._signs[self.watched.word(number)] if number >= 0 else None

    def place(self, number: int) -> tuple[int, int] | None:
        """The line and the column of an instance, where it is shown."""
        if not 0 <= number < len(self.watched.cell):
            return None
        line, column = self.watched.cell[number]
        try:
            return self.lines.index(line), self.columns.index(column)
        except ValueError:
            return None
