"""Tables as plain data: columns, rows, which are never copied, and the texts that filters search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar, overload

from fuelclient.insight.query import Query, Rows, Term
from fuelclient.printing import one_line


class Tone(StrEnum):
    """The meaning of a text's colour. Signs or words always express it too: colours may be turned off."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    ACCENT = "accent"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text and its tone; a plain `str` is a cell too."""

    text: str
    tone: Tone = Tone.PLAIN

    def __str__(self) -> str:
        return self.text


Value = str | Cell
Line = tuple[Value, ...]
"""A line of text, in pieces of different tones."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in queries, its title, its `least` and `most` width in cells, whether it is aligned to the
    `right`. If not all columns fit, those with the highest `rank` are dropped first, and those of rank 0 never. One
    that `grows` gets the remaining width. Texts that are too long are cut at the end; with `tail`, at the beginning."""

    key: str
    title: str
    least: int = 4
    most: int = 40
    rank: int = 0
    right: bool = False
    grows: bool = False
    tail: bool = False


Distinct = tuple[Sequence[str], Sequence[int]]
"""The distinct values of a field, in lower case, and for each row the index of its value."""


class Table:
    """Columns and rows. `ids` has the text that `y` copies for each row; `empty` is shown if there are no rows. If rows
    are tasks (`are_tasks`), or are about tasks, `tasks` has the index of each row's merged task, or -1.

    `rows` may be any sequence, even one that makes rows on demand: a table reads only the rows that it shows, at most
    2000 others to compute widths, and all of them for a filter or sort.
    """

    waits = False
    """Whether a filter needs values that are still being read."""

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Value]] = (),
        ids: Sequence[str] | None = None,
        empty: Sequence[str] = ("Nothing here.",),
        tasks: Sequence[int] | None = None,
        *,
        are_tasks: bool = True,
    ) -> None:
        self.columns = tuple(columns)
        self.rows = rows
        self.ids = ids if ids is not None else [str(row[0]) for row in rows]
        self.empty = tuple(empty)
        self.tasks = tasks
        self.about = Rows.OTHERS if tasks is None else Rows.TASKS if are_tasks else Rows.ABOUT_TASKS
        self.keys = tuple(column.key for column in self.columns)
        """The field names that a query may use."""
        self._texts: list[str] = []

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[str]:
        """The text of each row for filters without a field: its cells in lines."""
        return ["\n".join(map(str, row)).lower() for row in self.rows]

    def field(self, row: int, key: str) -> str:
        return str(self.rows[row][self.keys.index(key)]).lower()

    def distinct(self, key: str) -> Distinct | None:  # noqa: ARG002 (for subclasses)
        """The distinct values of a field, if they are far fewer than the rows; else None."""
        return None

    def sample(self) -> list[Sequence[Value]]:
        """About a thousand rows, spread over the table, from which the widths of columns are computed."""
        return [self.rows[row] for row in range(0, len(self.rows), max(1, len(self.rows) // _SAMPLE_ROWS))]

    def select(self, query: Query) -> Sequence[int]:
        every = range(len(self.rows))
        return every if query.is_empty else query.keep(every, self._matching)

    def _matching(self, term: Term, rows: Sequence[int]) -> list[int]:
        """The rows that match a term of a query. Each distinct value is tested once."""
        if self.tasks is not None and (wanted := term.tasks) is not None:
            return [row for row in rows if self.tasks[row] in wanted]
        matches = term.test()
        if not term.name:
            if len(self._texts) != len(self.rows):
                self._texts = self.texts()
            return [row for row in rows if matches(self._texts[row])]
        if (distinct := self.distinct(term.name)) is None:
            return [row for row in rows if matches(self.field(row, term.name))]
        values, value_of = distinct
        indices = {index for index, value in enumerate(values) if matches(value)}
        return [row for row in rows if value_of[row] in indices]

    def sorted(self, order: Sequence[int], column: int, *, descending: bool) -> list[int]:
        """Sort `order` by one column: numbers by value and before words. Blank cells are last in both directions."""
        key_of = self.sort_keys(order, column)
        blank = [row for row in order if key_of(row) is None]
        filled = sorted(
            (row for row in order if key_of(row) is not None), key=lambda row: key_of(row) or (), reverse=descending
        )
        return filled + blank

    def sort_keys(self, order: Sequence[int], column: int) -> Callable[[int], tuple[int, float, str] | None]:
        """For each row of `order`, the key by which it is sorted; None for a blank cell."""
        return {row: sort_key(str(self.rows[row][column])) for row in order}.__getitem__


def sort_key(text: str) -> tuple[int, float, str] | None:
    """None for a blank cell.

    >>> sorted(["10", "9-12", "b", "a"], key=sort_key)
    ['9-12', '10', 'a', 'b']
    """
    if not (stripped := text.strip().lower()):
        return None
    number = stripped[1:].partition("-")[0] if stripped.startswith("-") else stripped.partition("-")[0]
    try:
        value = float(number)
    except ValueError:
        return 1, 0.0, stripped
    return 0, -value if stripped.startswith("-") else value, stripped


_SAMPLE_ROWS = 1000


def widths(table: Table, available: int, gap: int = 2) -> list[int]:
    """The width of each column, in cells, so that all fit into `available` cells; 0 for a column that is left out.

    Widths depend on the contents of a sample of about a thousand rows, spread over the table. An empty column without a
    title is left out too.
    """
    sample = table.sample()  # once: reading a row may make it
    natural = []
    for index, column in enumerate(table.columns):
        longest = max((len(one_line(str(row[index]))) for row in sample), default=0)
        natural.append(min(max(longest, len(column.title)), max(column.most, len(column.title))))
    return _fitted(table.columns, natural, available, gap)


def _fitted(columns: Sequence[Column], natural: list[int], available: int, gap: int) -> list[int]:
    shown = list(natural)
    ranks = sorted({column.rank for column in columns if column.rank}, reverse=True)
    while _total(shown, gap) > available:
        over = _total(shown, gap) - available
        slack = {index: shown[index] - columns[index].least for index in range(len(columns)) if shown[index]}
        widest = max(slack, key=lambda index: (slack[index], columns[index].grows, index), default=-1)
        room = sum(value for value in slack.values() if value > 0)
        if widest >= 0 and slack[widest] > 0 and (room >= over or not ranks):
            shown[widest] -= 1
        elif ranks:
            rank = ranks.pop(0)
            shown = [0 if column.rank == rank else width for column, width in zip(columns, shown, strict=True)]
        else:
            break
    left = available - _total(shown, gap)
    growing = [index for index, column in enumerate(columns) if column.grows and shown[index]]
    if left > 0 and growing:
        shown[growing[-1]] += left
    return shown


def _total(shown: Sequence[int], gap: int) -> int:
    visible = [width for width in shown if width]
    return sum(visible) + gap * max(0, len(visible) - 1)


Item = TypeVar("Item")


class Lazy(Sequence[Item], Generic[Item]):
    """A sequence of `size` items. `make` makes an item from its index each time it is read.

    >>> squares = Lazy(4, lambda place: place * place)
    >>> squares[-1], squares[1:3], len(squares)
    (9, [1, 4], 4)
    """

    def __init__(self, size: int, make: Callable[[int], Item]) -> None:
        self._places, self._make = range(size), make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        indices = self._places[index]
        return self._make(indices) if isinstance(indices, int) else [self._make(item) for item in indices]
