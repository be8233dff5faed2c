"""Fit tables and texts into a terminal: which columns are shown, which lists are shortened, where texts are wrapped.

Nothing is left out without a word, and a word is never broken: one that is too long is shortened in its middle.
"""

from __future__ import annotations

import logging
import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain, zip_longest
from typing import Any, TextIO

from fuelclient.printing import one_line, ranges

_LEAST = 60
"""The width that is assumed for narrower terminals: still narrower tables would say too little."""

_WHOLE = 20
"""A text of at most this many characters is not wrapped."""

_NARROW = 8
"""A column that was asked for has at least this width."""

_WORD = 32
"""A word of at most this many characters is not shortened, unless it is a path, which may have only `_WHOLE`."""

_KEPT = 3
"""Of how many columns, the first by weight, words are shortened to `_WHOLE` rather than the column left out."""

_PASTED = re.compile(
    r"`[^`]+`|'fuel2 [^']+'|(?:(?<=: )|^ +|^\$ )(?:fuel2|export|pipx|uv|\S+/python[^\s/]*) .*?(?=[.,;]?$|[.,;] )"
    r"|(?<=[:,] )[a-z-]+ [a-z-]+(?=,)"
)
"""A command in a text: quoted, after a colon, or on a line of its own; or one of two words in a list."""

_TIED = "\0"
"""Stands for a blank where no line may end."""

_FRAME = 3
"""The width of a column besides its cells: two blanks and a border. The table has one more border."""


def terminal_width(stdout: TextIO, max_width: int = 0) -> int:
    """The width to fit into: `max_width` if it is above 0, else that of the terminal, which COLUMNS overrides. It is 0
    if `stdout` is no terminal, or one that does not know its width."""
    if not stdout.isatty():
        return 0
    if max_width > 0:
        return max_width
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 0
    with suppress(OSError):
        width = width or os.get_terminal_size(stdout.fileno()).columns
    return max(_LEAST, width) if width else 0


def shortened(names: Sequence[Any], width: int) -> str:
    """As many of `names` as fit into `width`, at least the first, and the number of the others. Numbers are ranges.

    >>> shortened(["primary-controller", "controller", "compute", "cinder"], 35)
    'primary-controller, controller, +2'
    >>> shortened(["compute", "cinder"], 0), shortened([1, 2, 3, 7], 10)
    ('compute, +1', '1-3, 7')
    """
    whole = ranges(names)
    if len(whole) <= width or len(names) < 2:
        return whole
    best = f"{names[0]}, +{len(names) - 1}"
    for number in range(2, len(names)):
        text = f"{ranges(names[:number])}, +{len(names) - number}"
        best = text if len(text) <= width else best
        if len(text) > width + _WHOLE:  # a range may be shorter than its beginning
            break
    return best


def elided(word: str, width: int) -> str:
    """`word`, shortened in its middle if it is longer than `width`.

    >>> elided("a/long/path.yaml:12", 13), elided("short", 13)
    ('a/lon...ml:12', 'short')
    """
    if len(word) <= width:
        return word
    half = max(1, (width - 3) // 2)
    return f"{word[: max(1, width - 3 - half)]}...{word[-half:]}"


class Row(str):
    """A line of aligned columns. A terminal that is too narrow gets the last cells below it."""

    __slots__ = ("cells", "ends")
    cells: Sequence[str]
    ends: Sequence[int]
    """Where the columns end, with the blanks that follow."""

    def wrapped(self, width: int) -> list[str]:
        """The lines for a terminal: the last cell wrapped in its column, or all that do not fit below the others."""
        if len(self) <= width:
            return [self]
        last = self.ends[-2] if len(self.ends) > 1 else 0
        if last <= width // 2:
            return wrapped(self, width, " " * last)
        if not (kept := max((number for number, end in enumerate(self.ends, 1) if end - 2 <= width), default=0)):
            return wrapped(self, width)
        hang = " " * (len(self) - len(self.lstrip()) + 4)
        rest = hang + "  ".join(filter(None, self.cells[kept:]))
        return [self[: self.ends[kept - 1]].rstrip(), *wrapped(rest, width, hang)]


def indented(line: str) -> str:
    """A line two columns further to the right; a row stays one.

    >>> indented(align([("one", "the second", "file.yaml:12")])[0]).wrapped(18)
    ['  one  the second', '      file.yaml:12']
    """
    if not isinstance(line, Row):
        return f"  {line}"
    moved = Row(f"  {line}")
    moved.cells, moved.ends = line.cells, [end + 2 for end in line.ends]
    return moved


def align(rows: Iterable[Sequence[str]], indent: str = "") -> Sequence[Row]:
    """Align the columns of rows of cells. The last column is not padded.

    >>> align([("a", "bb", "c"), ("aaa", "b", "")])
    ['a    bb  c', 'aaa  b']
    >>> align([("one", "the second", "file.yaml:12")])[0].wrapped(16)
    ['one  the second', '    file.yaml:12']
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        line = Row((indent + "  ".join(map(str.ljust, row, widths))).rstrip())
        line.cells, line.ends = row, [len(indent) + end for end in accumulate(width + 2 for width in widths)]
        lines.append(line)
    return lines


def wrapped(text: str, width: int, hang: str | None = None) -> list[str]:
    """`text` wrapped at blanks; words and commands are never broken, but a line number may stand below its path. Later
    lines begin with `hang`, by default two blanks more.

    >>> wrapped("  three words here", 12), wrapped("Use `fuel2 env list`.", 12), wrapped("in a/path.yaml:7", 14)
    (['  three', '    words', '    here'], ['Use', '  `fuel2 env list`.'], ['in', '  a/path.yaml:', '  7'])
    >>> wrapped("a/path.yaml:7: error: no", 12)
    ['a/path.yaml:', '  7: error:', '  no']
    """
    if hang is None:
        hang = " " * (len(text) - len(text.lstrip()) + 2)
    tied = _PASTED.sub(lambda command: command[0].replace(" ", _TIED), text.rstrip(" "))
    words = (_of_place(word, width - len(hang) * bool(at)) for at, word in enumerate(tied.split(" ")))
    return [line.replace(_TIED, " ") for line in _at_blanks(" ".join(words), width, hang)]


def _at_blanks(text: str, width: int, hang: str) -> list[str]:
    bare = text.lstrip(f" {_TIED}")
    indent = text[: len(text) - len(bare)]
    return textwrap.wrap(
        bare, width, initial_indent=indent, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    ) or [""]


def _of_place(word: str, width: int) -> str:
    """A place that is too wide, such as `a/path.yaml:7` or `a/path.yaml:7:`, with a blank before its line number, if
    that helps."""
    path, _, number = word.rstrip(":").rpartition(":")
    helps = len(path) < width < len(word) and "/" in path and number.isdecimal()
    return f"{path}: {word[len(path) + 1 :]}" if helps else word


@dataclass(frozen=True, slots=True)
class Columns:
    """A table in a text, aligned without borders. A terminal gets the columns that fit, the first `by_weight` first."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    by_weight: Sequence[str] = ()
    indent: str = ""

    def lines(self, width: int) -> Sequence[str]:
        """The lines for a terminal of `width` columns, or for a file if that is 0."""
        if not width:
            return align([self.header, *self.rows], self.indent)
        rows = [list(map(one_line, row)) for row in self.rows]
        fitted = fit(self.header, rows, width - len(self.indent), by_weight=self.by_weight, frame=2, border=-2)
        fitted.tell()
        parts = [zip_longest(*(cell.split("\n") for cell in row), fillvalue="") for row in fitted.rows]
        return align([fitted.columns, *chain.from_iterable(parts)], self.indent)


def answer_lines(line: str | Columns, width: int) -> Sequence[str]:
    """A line or table of an answer as lines for a terminal of `width` columns, or for a file if that is 0."""
    if isinstance(line, Columns):
        return line.lines(width)
    if isinstance(line, Row):
        return line.wrapped(width) if width else [line]
    return [part for each in line.split("\n") for part in wrapped(each, width)] if width else [line]


def fitted_message(text: str, stream: TextIO) -> str:
    """A message as it is written to a stream, wrapped if that is a terminal."""
    return "\n".join(answer_lines(text, terminal_width(stream)))


def fitted_text(text: str, width: int) -> str:
    """The text of a cell, wrapped; of several lines, each keeps its indentation. Words that do not fit are elided."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())] if "\n" in text else ""
        words = " ".join(elided(word, max(4, width - len(indent))) for word in line.split(" "))
        lines += _at_blanks(words, width, indent) if len(line) > width else [line]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table for a terminal of `width` columns, and the columns that were dropped because they are empty or too wide,
    or that have shortened words."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    width: int
    empty: tuple[str, ...] = ()
    too_wide: tuple[str, ...] = ()
    elided: tuple[str, ...] = ()

    def tell(self) -> None:
        """Say on stderr what is missing."""
        reasons = ((self.too_wide, f"{self.width} columns are too few"), (self.empty, "empty"))
        missing = "; ".join(f"{', '.join(names)} ({why})" for names, why in reasons if names)
        parts = (("Not shown", missing), ("Shortened", ", ".join(self.elided)))
        if told := " ".join(f"{what}: {names}." for what, names in parts if names):
            logging.getLogger("fuelclient").info("%s --format json has everything.", told)


@dataclass(slots=True, eq=False)
class _Column:
    """A column with the widths at which it is as wide as wanted, at which no word is shortened, and the least one."""

    name: str
    cells: list[Any]
    full: int = field(init=False)
    whole: int = field(init=False)
    width: int = field(init=False)
    has_paths: bool = False

    def __post_init__(self) -> None:
        self.full = self.whole = self.width = len(self.name)
        for cell in self.cells:
            for line in [ranges(cell)] if isinstance(cell, list) else str(cell).split("\n"):
                self._measure(line, shortened(cell, 0) if isinstance(cell, list) else "")

    def _measure(self, line: str, shortest: str) -> None:
        """Find room for a line, which may be wrapped, unless it is a list with a `shortest` text."""
        self.full = max(self.full, len(line))
        indent = len(line) - len(line.lstrip())
        for word in [shortest] if shortest else line.split() if len(line) > _WHOLE else [line]:
            is_path = "/" in word and len(word) > _WHOLE
            self.has_paths |= is_path
            self.whole = max(self.whole, indent + len(word))
            self.width = max(self.width, min(indent + len(word), _WHOLE if is_path else _WORD))
        self.width = max(self.width, 0 if shortest else min(len(line), _WHOLE))

    @property
    def is_empty(self) -> bool:
        return bool(self.cells) and all(cell in (None, "", []) for cell in self.cells)

    def fitted_cell(self, cell: Any) -> Any:
        if isinstance(cell, list):
            return elided(shortened(cell, self.width), self.width)
        return fitted_text(cell, self.width) if isinstance(cell, str) else cell


def fit(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int, *, by_weight: Sequence[str] = (),
    asked: bool = False, frame: int = _FRAME, border: int = 1,
) -> Fitted:  # fmt: skip
    """Fit a table into `width`: lists are shortened, texts wrapped, and columns dropped, those last in `by_weight`
    first; by default, the last ones. The first by weight stays, the next two are shortened if that keeps them. If the
    columns were `asked` for, all of them stay, and the widest are shortened.

    >>> fit(("order", "task", "roles", "type"), [(1, "netconfig", ["compute", "cinder"], "")], 36)
    Fitted(columns=('order', 'task', 'roles'), rows=[(1, 'netconfig', 'compute, +1')], width=36, empty=('type',), \
too_wide=(), elided=())
    """
    table = [_Column(name, [row[index] for row in rows]) for index, name in enumerate(columns)]
    room, kept, empty = width - border, table, []
    if sum(frame + column.full for column in table) > room:
        empty = [column.name for column in table if column.is_empty and not asked]
        ranks = {name: rank for rank, name in enumerate(dict.fromkeys((*by_weight, *columns)))}
        ranked = sorted((column for column in table if column.name not in empty), key=lambda each: ranks[each.name])
        while asked and sum(frame + column.width for column in table) > room:
            # headers shrink last
            widest = max(table, key=lambda each: (each.width > max(_NARROW, len(each.name)), each.width))
            if widest.width <= _NARROW:
                break
            widest.width -= 1
        chosen: list[_Column] = []
        for column in ranked:
            if not asked and frame + column.whole <= room and not column.has_paths:
                column.width = column.whole
            if not asked and 0 < len(chosen) < _KEPT and column.width > room - frame >= _WHOLE:
                column.width = room - frame
            is_short = len(chosen) < _KEPT or column.full <= 6 * (room - frame)  # more lines hide the other columns
            if asked or not chosen or (frame + column.width <= room and is_short):
                chosen.append(column)
                room -= frame + column.width
        for column in chosen:
            room -= _widen(column, column.whole, room)
        for number, column in enumerate(sorted(chosen, key=lambda each: each.full - each.width)):
            room -= _widen(column, column.full, room // (len(chosen) - number))
        kept = [column for column in table if column in chosen]
    else:
        for column in table:
            column.width = column.full
    names = tuple(column.name for column in kept)
    too_wide = tuple(name for name in columns if name not in names and name not in empty)
    short = tuple(column.name for column in kept if column.width < column.whole)
    cells = [tuple(map(column.fitted_cell, column.cells)) for column in kept]
    names = tuple(elided(column.name, column.width) for column in kept)
    return Fitted(names, list(zip(*cells, strict=True)), width, tuple(empty), too_wide, short)


def _widen(column: _Column, wanted: int, room: int) -> int:
    """Give a column what it wants of the `room`, and return how much that is."""
    more = max(0, min(wanted - column.width, room))
    column.width += more
    return more
