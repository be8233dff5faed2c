"""Colours of what people read on a terminal: the severity of messages, layers, changed rows, statuses.

Pipes and files get none, unless `--color always` asks for them; NO_COLOR (https://no-color.org) and `--color never`
turn them off. Colours only repeat what the words say.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import pairwise
from typing import TextIO

_RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN, _BOLD = "31", "32", "33", "34", "35", "36", "1"

_LEVELS = {logging.ERROR: _RED, logging.WARNING: _YELLOW}

_WORDS = {
    "error": _RED, "interrupted": _RED, "update_error": _RED, "warning": _YELLOW, "stopped": _YELLOW,
    "unavailable": _YELLOW, "partially_deployed": _YELLOW, "info": _BLUE, "running": _CYAN, "deploying": _CYAN,
    "deployment": _CYAN, "provisioning": _CYAN, "skipped": _MAGENTA, "ready": _GREEN, "operational": _GREEN,
}  # fmt: skip
"""The colours of words in the columns of `_OF_WORDS`; other words have none."""

_OF_WORDS = ("severity", "status", "state", "verdict")
_OF_CHANGES = ("task", "layer", "overrides")
"""Columns that have the colour of the layer that changes a row of a preview."""


def is_wanted(choice: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether a stream gets colours: `choice` is auto, always or never.

    >>> import io
    >>> is_wanted("auto", io.StringIO(), {}), is_wanted("always", io.StringIO(), {"NO_COLOR": "1"})
    (False, True)
    """
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def message(text: str, level: int) -> str:
    """Return a message on stderr in the colour of its level.

    >>> message("No such file", logging.ERROR), message("Created.", logging.INFO)
    ('\\x1b[31mNo such file\\x1b[0m', 'Created.')
    """
    return _painted(text, _LEVELS.get(level, ""))


def table(text: str) -> str:
    """Return a finished table with colours in it. Lines that are not a row of cells stay as they are.

    Colours come after the layout, because they would count as characters when long cells are wrapped.

    >>> print(table("+--------+\\n| status |\\n+--------+\\n| ready  |\\n+--------+").replace(chr(27), "ESC"))
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
        words = {"Value": _word_style(words["Field"], words["Value"])}
        styles = [words.get(column, "") for column in columns]
    else:
        changed = _layer_style(words)
        styles = [
            _word_style(column, words[column]) or (changed if column in _OF_CHANGES else "") for column in columns
        ]
    painted = [_painted(cell, style) for cell, style in zip(cells, styles, strict=True)]
    return f"| {' | '.join(painted)} |"


def _word_style(column: str, word: str) -> str:
    return _WORDS.get(word, "") if column in _OF_WORDS else ""


def _layer_style(words: Mapping[str, str]) -> str:
    """Return the colour of a row of a preview that a plugin or the environment changes, else an empty string."""
    layer = words.get("layer", "")
    if layer.startswith("plugin "):
        return _CYAN
    return _YELLOW if layer == "cluster" else _BOLD if words.get("overrides") else ""


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text.strip() else text
