"""Compare what two clients printed: tables, documents and sentences, without what only looks different."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import yaml


def values(text: str) -> Any:
    """Return what an output says: the rows of a table in no particular order, a document, or lines.

    A cell without a value may be empty, `-`, `None`, `[]` or `{}`; a list may be Python's, JSON or have commas; the
    items of a document may have any order.
    """
    text = text.strip()
    if text.startswith("+-"):
        return _table(text.splitlines())
    if text.startswith(("[", "{")):
        return _ordered(json.loads(text))
    document = yaml.safe_load(text) if text.startswith(("- ", "---")) else None
    return _ordered(document) if document is not None else text.splitlines()


def _table(lines: Sequence[str]) -> Any:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    head, *rows = cells
    if head == ["Field", "Value"]:
        return {row[0]: _cell(row[1]) for row in _whole(rows)}
    return sorted((dict(zip(head, map(_cell, row), strict=True)) for row in _whole(rows)), key=repr)


def _whole(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Join the lines of rows that take several: the later ones have no first cell."""
    whole: list[list[str]] = []
    for row in rows:
        if row[0] or not whole:
            whole.append(list(row))
        else:
            whole[-1] = [f"{before} {more}".strip() for before, more in zip(whole[-1], row, strict=True)]
    return whole


def _cell(text: str) -> str:
    """Return a cell in one spelling; a value of Python is spelled as ours.

    >>> _cell("None"), _cell("['a', 'b']"), _cell("{u'x': 1}")
    ('', 'a, b', 'x: 1')
    """
    value: Any = text
    for read in (ast.literal_eval, json.loads) if text[:1] in ("[", "{") else ():
        with suppress(ValueError, SyntaxError):
            value = read(text)
            break
    spelled = _spelled(value)
    return "" if spelled in ("None", "-") else spelled


def _spelled(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_spelled(item)}" for key, item in sorted(value.items()))
    if isinstance(value, list):
        return ", ".join(map(_spelled, value))
    return str(value)


def _ordered(document: Any) -> Any:
    if isinstance(document, Mapping):
        return {key: _ordered(value) for key, value in document.items()}
    if isinstance(document, list):
        return sorted(map(_ordered, document), key=repr)
    return document
