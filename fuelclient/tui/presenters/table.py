"""Tables as plain data: columns, rows that are never copied, and the texts that filters look into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar, overload

from fuelclient.insight.query import Query, Rows, Term
from fuelclient.printing import one_line


class Tone(StrEnum):
    """The meaning of a text's colour. A sign or a word always repeats it: colours may be turned off."""

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
    """A column: its key in queries, its title, how wide it may be. If not all columns fit, those with the highest
    `rank` go first; one of rank 0 stays. A column that `grows` takes the room that is left; one with `tail` is cut at
    its beginning."""

    key: str
    title: str
    least: int = 4
    most: int = 40
    rank: int = 0
    right: bool = False
    grows: bool = False
    tail: bool = False


Distinct = tuple[Sequence[str], Sequence[int]]
"""The values of a field, in lower case, and the number of the value of each row."""


class Table:
    """Columns and rows. `ids` are what `y` copies, row by row; `empty` is shown instead of no rows. If rows are tasks,
    or not `are_tasks` but about some, `tasks` has the index of the merged task of each, or -1.

    `rows` may be any sequence, even one that makes its rows on demand: a table looks only at those that it shows, at
    some hundred more to find its widths, and at all of them for the first filter or sort.
    """

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
        """The fields of a query."""
        self._texts: list[str] = []

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[str]:
        """All rows for the filter: their columns, line by line."""
        return ["\n".join(map(str, row)).lower() for row in self.rows]

    def field(self, row: int, key: str) -> str:
        return str(self.rows[row][self.keys.index(key)]).lower()

    def distinct(self, key: str) -> Distinct | None:  # noqa: ARG002 (for subclasses)
        """The values of a field and the number of each row's value, if they are far fewer than rows; else None."""
        return None

    def select(self, query: Query) -> list[int]:
        return query.keep(range(len(self.rows)), self._matching)

    def _matching(self, term: Term, rows: Sequence[int]) -> list[int]:
        """The rows that a term of a query keeps. Each of `distinct` values is tested once."""
        if self.tasks is not None and (wanted := term.tasks) is not None:
            return [row for row in rows if self.tasks[row] in wanted]
        holds = term.test()
        if not term.name:
            if len(self._texts) != len(self.rows):
                self._texts = self.texts()
            return [row for row in rows if holds(self._texts[row])]
        distinct = self.distinct(term.name)
        if distinct is None:
            return [row for row in rows if holds(self.field(row, term.name))]
        values, value_of = distinct
        places = {place for place, value in enumerate(values) if holds(value)}
        return [row for row in rows if value_of[row] in places]

    def sorted(self, order: Sequence[int], column: int, *, descending: bool) -> list[int]:
        """Sort `order` by one column: numbers by their value and before words, blanks last either way."""
        keys = {row: _sort_key(str(self.rows[row][column])) for row in order}
        blank = [row for row in order if keys[row] is None]
        filled = sorted(
            (row for row in order if keys[row] is not None), key=lambda row: keys[row] or (), reverse=descending
        )
        return filled + blank


def _sort_key(text: str) -> tuple[int, float, str] | None:
    """None for a blank cell.

    >>> sorted(["10", "9-12", "b", "a"], key=_sort_key)
    ['9-12', '10', 'a', 'b']
    """
    stripped = text.strip().lower()
    if not stripped:
        return None
    number = stripped[1:].partition("-")[0] if stripped.startswith("-") else stripped.partition("-")[0]
    try:
        value = float(number)
    except ValueError:
        return 1, 0.0, stripped
    return 0, -value if stripped.startswith("-") else value, stripped


_SAMPLE = 1000


def widths(table: Table, available: int, gap: int = 2) -> list[int]:
    """The width of each column in `available` cells; 0 for one that is left out.

    Widths follow from the contents of at most a thousand rows, spread over the table. An empty column without a title
    is left out too.
    """
    step = max(1, len(table.rows) // _SAMPLE)
    sample = [table.rows[row] for row in range(0, len(table.rows), step)]  # a row may be made each time
    natural = []
    for place, column in enumerate(table.columns):
        longest = max((len(one_line(str(row[place]))) for row in sample), default=0)
        natural.append(min(max(longest, len(column.title)), max(column.most, len(column.title))))
    return _fitted(table.columns, natural, available, gap)


def _fitted(columns: Sequence[Column], natural: list[int], available: int, gap: int) -> list[int]:
    shown = list(natural)
    ranks = sorted({column.rank for column in columns if column.rank}, reverse=True)
    while _total(shown, gap) > available:
        over = _total(shown, gap) - available
        slack = {place: shown[place] - columns[place].least for place in range(len(columns)) if shown[place]}
        widest = max(slack, key=lambda place: (slack[place], columns[place].grows, place), default=-1)
        room = sum(value for value in slack.values() if value > 0)
        if widest >= 0 and slack[widest] > 0 and (room >= over or not ranks):
            shown[widest] -= 1
        elif ranks:
            rank = ranks.pop(0)
            shown = [0 if column.rank == rank else width for column, width in zip(columns, shown, strict=True)]
        else:
            break
    left = available - _total(shown, gap)
    growing = [place for place, column in enumerate(columns) if column.grows and shown[place]]
    if left > 0 and growing:
        shown[growing[-1]] += left
    return shown


def _total(shown: Sequence[int], gap: int) -> int:
    visible = [width for width in shown if width]
    return sum(visible) + gap * max(0, len(visible) - 1)


Item = TypeVar("Item")


class Lazy(Sequence[Item], Generic[Item]):
    """A sequence of `size` items, each made by `make` from its place and not kept.

    >>> squares = Lazy(4, lambda place: place * place)
    >>> squares[-1], squares[1:3], len(squares)
    (9, [1, 4], 4)
    """

    def __init__(self, size: int, make: Callable[[int], Item]) -> None:
        self._places, self._make = range(size), make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        places = self._places[place]
        return self._make(places) if isinstance(places, int) else [self._make(item) for item in places]
