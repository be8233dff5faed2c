"""Columns and output formats: the names that `-c` takes, cells for people and programs, cliff's formats and tabulate's.

cliff shows a `FormattableColumn` as text only in a table. Our formats also do so in `-f value` and `-f csv`, which then
print what the original client printed; JSON and YAML have the structure. Formats are listed here, because cliff would
look them up in the metadata of all installed packages at every start.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, TextIO

from cliff.columns import FormattableColumn
from cliff.formatters.base import Formatter, ListFormatter, SingleFormatter
from cliff.formatters.commaseparated import CSVLister
from cliff.formatters.json_format import JSONFormatter
from cliff.formatters.shell import ShellFormatter
from cliff.formatters.table import TableFormatter
from cliff.formatters.value import ValueFormatter
from cliff.formatters.yaml_format import YAMLFormatter
from stevedore.extension import Extension, ExtensionManager

from fuelclient.commands.fitting import Fitted, fit, fitted_text, terminal_width
from fuelclient.errors import UsageError, nearest
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.model.finding import Finding


Rows = Iterable[Sequence[Any]]


def column_name(word: str) -> str:
    """The name of the column that a word after `-c` means."""
    return word.lower().strip().replace(" ", "_")


def check_columns(words: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `UsageError` for an unknown column after `-c` or `--sort-column`, which cliff would ignore."""
    for word in words:
        if (name := column_name(word)) not in columns:
            close = nearest(name, columns)
            hint = f"Did you mean '{close}'?" if close else f"Columns: {', '.join(columns)}."
            raise UsageError(f"There is no column '{word}'.", hint=hint)


class Shown(FormattableColumn[Any]):
    """Data for programs, with the text that people read."""

    def __init__(self, value: Any, shown: str) -> None:
        super().__init__(value)
        self._shown = shown

    def human_readable(self) -> str:
        return self._shown


class Names(FormattableColumn[list[Any]]):
    """A list of names or numbers; as text, joined by commas.

    >>> Names(["a", "b"]).human_readable()
    'a, b'
    """

    def __init__(self, value: Sequence[Any]) -> None:
        super().__init__(list(value))

    def human_readable(self) -> str:
        return ", ".join(str(item) for item in self._value)


class Lines(FormattableColumn[list[str]]):
    """Some lines of text; in a table one after another.

    >>> Lines(["1 - ready", "2 - error"]).human_readable()
    '1 - ready\\n2 - error'
    """

    def human_readable(self) -> str:
        return "\n".join(self._value)


class Fields(FormattableColumn[Any]):
    """Nested data; as text, one line of JSON, or nothing if it is empty.

    >>> Fields({"min": 1}).human_readable(), Fields({}).human_readable()
    ('{"min": 1}', '')
    """

    def human_readable(self) -> str:
        if isinstance(self._value, str):
            return self._value
        return json.dumps(self._value, ensure_ascii=False, default=str) if self._value not in (None, {}, []) else ""


def finding_fields(finding: Finding) -> dict[str, str]:
    return {
        "severity": str(finding.severity), "code": finding.code, "message": finding.message,
        "place": str(finding.place), "hint": finding.hint,
    }  # fmt: skip


def some(items: Iterable[Any], limit: int = 3) -> str:
    """The first items, and how many more there are.

    >>> some(["a", "b"]), some("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    words = [str(item) for item in items]
    more = len(words) - limit
    return f"{', '.join(words[:limit])} and {more} more" if more > 0 else ", ".join(words)


def plain(value: Any) -> Any:
    """`value` in plain dicts and lists, for YAML and JSON; some documents have classes that remember lines.

    >>> plain({"limits": ({"min": 1},)})
    {'limits': [{'min': 1}]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def cells(row: Any, columns: Sequence[str]) -> Sequence[Any]:
    """The cells of a row: its attributes, unless it is a list or a tuple."""
    if isinstance(row, list | tuple):
        return row
    values = [getattr(row, column) for column in columns]
    return [Names(value) if isinstance(value, tuple) else value for value in values]


def text(cell: Any) -> Any:
    """The text for people of a `FormattableColumn`; other cells are returned unchanged."""
    return cell.human_readable() if isinstance(cell, FormattableColumn) else cell


def _flat(cell: Any) -> Any:
    """A cell on one line, because scripts count the lines of a list."""
    shown = text(cell)
    if not isinstance(shown, str):
        return shown
    return printable(" ".join(shown.split()) if "\n" in shown else shown, keep="\t")


def _block(cell: Any) -> Any:
    shown = text(cell)
    return printable(shown, keep="\n\t") if isinstance(shown, str) else shown


class _FlatRows(ListFormatter):
    """Lists with one row on each line."""

    _cell = staticmethod(_flat)

    def emit_list(self, column_names: Sequence[str], data: Rows, stdout: TextIO, parsed_args: Any) -> None:
        rows = [[self._cell(cell) for cell in row] for row in data]
        super().emit_list(column_names, rows, stdout, parsed_args)  # type: ignore[safe-super]  # of cliff's class


class _TextValues(SingleFormatter):
    """Objects with their values as text, including line breaks, for programs."""

    def emit_one(self, column_names: Sequence[str], data: Sequence[Any], stdout: TextIO, parsed_args: Any) -> None:
        values = [text(cell) for cell in data]
        super().emit_one(column_names, values, stdout, parsed_args)  # type: ignore[safe-super]  # of cliff's class


class Table(_FlatRows, TableFormatter):
    """A table with borders, fitted to the width if stdout is a terminal, and with colours if it is `coloured`. Each row
    is one line, unless a cell has several `Lines`, or had to be wrapped."""

    _cell = staticmethod(lambda cell: _block(cell) if isinstance(cell, Lines) else _flat(cell))

    def emit_list(self, column_names: Sequence[str], data: Rows, stdout: TextIO, parsed_args: Any) -> None:
        if width := terminal_width(stdout, parsed_args.max_width):
            rows = [list(map(_list_or_text, column_names, row, repeat(parsed_args.named))) for row in data]
            weights = (*map(column_name, parsed_args.sort_columns), *parsed_args.by_weight)
            fitted = fit(column_names, rows, width, by_weight=weights, asked=bool(parsed_args.columns))
            column_names, data = fitted.columns, [list(map(_of_lines, row)) for row in fitted.rows]
            parsed_args.max_width = sys.maxsize  # or cliff would break words
            if fitted.rows:
                fitted.tell()
        with _colours(stdout) as target:
            super().emit_list(column_names, data, target, parsed_args)

    def emit_one(self, column_names: Sequence[str], data: Sequence[Any], stdout: TextIO, parsed_args: Any) -> None:
        shown: Sequence[Any] = [_block(cell) for cell in data]
        if width := terminal_width(stdout, parsed_args.max_width):
            room = width - max(map(len, ("Field", *column_names))) - 7  # blanks and borders
            widest = [max(map(len, str(cell).split()), default=0) for cell in shown]
            long = tuple(name for name, least in zip(column_names, widest, strict=True) if least > room)
            shown = [
                fitted_text(cell, room) if isinstance(cell, str) else "" if cell is None else cell for cell in shown
            ]
            parsed_args.max_width = sys.maxsize
            Fitted((), [], width, elided=long).tell()
        with _colours(stdout) as target:
            super().emit_one(column_names, shown, target, parsed_args)


def _list_or_text(column: str, cell: Any, named: Callable[[str], str]) -> Any:
    """A cell as `fit` takes it: a list, or the text of a table. It is empty if there is nothing, such as no node."""
    if text(cell) in (None, "null" if column in ("node", "node_id") else None):
        return ""
    if column in ("node", "node_id"):
        return named(f"node {text(cell)}").removeprefix("node ")
    if isinstance(cell, Names):
        return [_flat(item) for item in cell.machine_readable()]
    if column in ("because", "message", "result") and isinstance(cell, str):
        cell = named(cell)
    return Table._cell(cell)


def _of_lines(cell: Any) -> Any:
    return Lines(cell.split("\n")) if isinstance(cell, str) and "\n" in cell else cell


@contextmanager
def _colours(stdout: TextIO) -> Iterator[TextIO]:
    """Yield the stream for a table: stdout, or a buffer that is coloured before it is written to stdout."""
    if not getattr(stdout, "coloured", False):
        yield stdout
        return
    rendered = io.StringIO()
    yield rendered
    stdout.write(coloured_table(rendered.getvalue()))


RED, _GREEN, YELLOW, _BLUE, _MAGENTA, _CYAN, _BOLD = "31", "32", "33", "34", "35", "36", "1"
"""Terminal codes. Colours only repeat what the words say."""

_WORD_COLOURS = {
    "error": RED, "interrupted": RED, "update_error": RED, "warning": YELLOW, "stopped": YELLOW,
    "unavailable": YELLOW, "partially_deployed": YELLOW, "info": _BLUE, "running": _CYAN, "deploying": _CYAN,
    "deployment": _CYAN, "provisioning": _CYAN, "skipped": _MAGENTA, "ready": _GREEN, "operational": _GREEN,
}  # fmt: skip
"""The colours of words in the columns `_STATUS_COLUMNS`; other words have none."""

_STATUS_COLUMNS = ("severity", "status", "state", "verdict")
_LAYER_COLUMNS = ("task", "layer", "overrides")
"""Columns of a preview that have the colour of the layer that changes the row."""


def coloured_table(text: str) -> str:
    """Colour a finished table. Lines that are not a row of cells stay unchanged.

    Colours come after the layout, because they would count as characters when long cells are wrapped.

    >>> print(coloured_table("+--------+\\n| status |\\n+--------+\\n| ready  |\\n+--------+").replace(chr(27), "ESC"))
    +--------+
    | status |
    +--------+
    | ESC[32mready ESC[0m |
    +--------+
    """
    lines = text.split("\n")
    if len(lines) < 2 or not lines[0].startswith("+"):
        return text
    edges = [index for index, char in enumerate(lines[0]) if char == "+"]
    columns = [cell.strip() for cell in _cells(lines[1], edges)]
    rows = [
        _row(line, edges, columns) if line.startswith("|") and len(line) == len(lines[0]) else line
        for line in lines[2:]
    ]
    return "\n".join([*lines[:2], *rows])


def _cells(line: str, edges: list[int]) -> list[str]:
    return [line[left + 2 : right - 1] for left, right in pairwise(edges)]


def _row(line: str, edges: list[int], columns: list[str]) -> str:
    cells = _cells(line, edges)
    words = {column: cell.strip() for column, cell in zip(columns, cells, strict=True)}
    if columns == ["Field", "Value"]:  # one object: the name of the column is in the first cell
        styles = ["", _word_style(words["Field"], words["Value"])]
    else:
        changed = _layer_style(words)
        styles = [
            _word_style(column, words[column]) or (changed if column in _LAYER_COLUMNS else "") for column in columns
        ]
    return f"| {' | '.join(map(painted, cells, styles))} |"


def _word_style(column: str, word: str) -> str:
    return _WORD_COLOURS.get(word, "") if column in _STATUS_COLUMNS else ""


def _layer_style(words: Mapping[str, str]) -> str:
    """The colour of a row of a preview that a plugin or the environment changes, else an empty string."""
    layer = words.get("layer", "")
    if layer.startswith("plugin "):
        return _CYAN
    return YELLOW if layer == "cluster" else _BOLD if words.get("overrides") else ""


def painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text.strip() else text


class Value(_FlatRows, _TextValues, ValueFormatter):
    """Values only, one row on each line, separated by blanks."""


_FORMULA = re.compile(r"[=+@\t\r]|-(?![0-9.]*\Z)")
"""The beginning of a cell that a spreadsheet takes for a formula, unlike numbers and a lone -."""


class Csv(_FlatRows, CSVLister):
    """Comma separated values with a header. A cell that a spreadsheet would run as a formula begins with a quote."""

    _cell = staticmethod(lambda cell: no_formula(_flat(cell)))


def no_formula(cell: Any) -> Any:
    """A cell of CSV, with a quote before it if a spreadsheet would run it."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


class Shell(_TextValues, ShellFormatter):
    """Assignments for a shell."""


_C1 = re.compile("[\x7f-\x9f]")
"""Control characters that JSON allows unescaped, and that a terminal would obey."""


class _Documents(ListFormatter, SingleFormatter):
    """Documents with characters unescaped, unless stdout cannot encode them. `document` converts the rows of a list to
    a document; the default is a list of objects."""

    def __init__(self, document: Callable[[list[dict[str, Any]]], Any] | None = None) -> None:
        self._document = document

    def emit_list(self, column_names: Sequence[str], data: Rows, stdout: TextIO, parsed_args: Any) -> None:
        rows = [_fields(column_names, row) for row in data]
        self.emit(self._document(rows) if self._document else rows, stdout, parsed_args)

    def emit_one(self, column_names: Sequence[str], data: Sequence[Any], stdout: TextIO, parsed_args: Any) -> None:
        self.emit(_fields(column_names, data), stdout, parsed_args)

    def emit(self, data: Any, stdout: TextIO, parsed_args: Any) -> None:
        raise NotImplementedError


class Json(_Documents, JSONFormatter):
    def emit(self, data: Any, stdout: TextIO, parsed_args: Any) -> None:
        indent = None if parsed_args.noindent else 2
        shown = _C1.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(data, indent=indent, ensure_ascii=False))
        stdout.write(shown if _fits(shown, stdout) else json.dumps(data, indent=indent))
        stdout.write("\n")


class Yaml(_Documents, YAMLFormatter):
    def emit_one(self, column_names: Sequence[str], data: Sequence[Any], stdout: TextIO, parsed_args: Any) -> None:
        for name, value in _fields(column_names, data).items():  # one by one: YAML would sort them
            self.emit({name: value}, stdout, parsed_args)

    def emit(self, data: Any, stdout: TextIO, parsed_args: Any) -> None:  # noqa: ARG002 (there are no options)
        import yaml

        shown = yaml.safe_dump(data, default_flow_style=False, allow_unicode=True)
        stdout.write(shown if _fits(shown, stdout) else yaml.safe_dump(data, default_flow_style=False))


def _fields(column_names: Sequence[str], data: Sequence[Any]) -> dict[str, Any]:
    cells = [cell.machine_readable() if isinstance(cell, FormattableColumn) else cell for cell in data]
    return dict(zip(column_names, cells, strict=True))


def encoding_of(stdout: TextIO) -> str:
    """The encoding of a stream; a stream without one accepts everything."""
    return getattr(stdout, "encoding", None) or "utf-8"


def _fits(shown: str, stdout: TextIO) -> bool:
    try:
        shown.encode(encoding_of(stdout))
    except UnicodeEncodeError:
        return False
    return True


class Tabulated(ListFormatter, SingleFormatter):
    """A table in one of tabulate's formats; tabulate is imported only when it is printed."""

    def __init__(self, style: str) -> None:
        self.style = style

    def add_argument_group(self, parser: argparse.ArgumentParser) -> None:
        """These formats have no options."""

    def emit_list(self, column_names: Sequence[str], data: Rows, stdout: TextIO, _parsed_args: Any) -> None:
        from tabulate import tabulate

        rows = [[self._cell(_flat(cell)) for cell in row] for row in data]
        stdout.write(tabulate(rows, headers=list(column_names), tablefmt=self.style, disable_numparse=True) + "\n")

    def emit_one(self, column_names: Sequence[str], data: Sequence[Any], stdout: TextIO, parsed_args: Any) -> None:
        self.emit_list(("Field", "Value"), list(zip(column_names, data, strict=True)), stdout, parsed_args)

    def _cell(self, cell: Any) -> str:
        """A cell as a string; in Markdown a bar would end the cell."""
        shown = str(cell)
        return shown.replace("|", "\\|") if self.style == "github" else shown


_COMMON_FORMATS: Mapping[str, Callable[[], Formatter]] = {
    "github": lambda: Tabulated("github"),
    "html": lambda: Tabulated("html"),
    "json": Json,
    "markdown": lambda: Tabulated("github"),
    "rst": lambda: Tabulated("rst"),
    "table": Table,
    "value": Value,
    "yaml": Yaml,
}


def formatters(extra: Mapping[str, Callable[[], Formatter]]) -> ExtensionManager[Any]:
    """The formats that lists and single objects share, and those of `extra`, as cliff expects them."""
    extensions = []
    for name, make in sorted({**_COMMON_FORMATS, **extra}.items()):
        formatter = make()
        kind = type(formatter)
        point = EntryPoint(kind.__name__, f"{kind.__module__}:{kind.__qualname__}", "cliff.formatter")  # for messages
        extensions.append(Extension(name, point, kind, formatter))
    return ExtensionManager.make_test_instance(extensions, propagate_map_exceptions=True)
