"""Read JSON text into a `Document` with line marks.

The standard library's decoder makes the values, but does not report lines, so a pass over the tokens collects them
first. Both passes see the objects close in the same order.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.files.limits import DOCUMENT, Limits, limit_findings, repeated_key, too_deep, too_many, unreadable
from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import Finding

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|[][{},:\n]')
"""Possessive quantifiers and an optional closing quote keep the time linear for any text."""

_HINT = "Check it with a JSON validator, or save it as YAML under a name that does not end in .json."
_WRITE_NUMBERS = "Write a finite number, or a string in quotes."


class _NonFinite(float):
    """A number that JSON cannot represent (infinity or NaN), with its spelling."""

    __slots__ = ("spelling",)

    def __init__(self, spelling: str) -> None:
        self.spelling = spelling if len(spelling) <= 40 else f"{spelling[:37]}..."


def is_json(text: str) -> bool:
    """Whether `text` is JSON. Text that is nested too deeply counts as JSON, so that `parse` refuses it."""
    try:
        json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def parse(text: str, file: str, limits: Limits = DOCUMENT) -> Document:
    """Read a document. Raise `InvalidDocument` if it is not JSON or exceeds a limit."""
    findings: list[Finding] = []

    def mapping(pairs: list[tuple[str, Any]]) -> Marked:
        line, key_lines = next(marks)
        first: dict[str, int] = {}
        lines: dict[str, int] = {}
        for (key, _), at in zip(pairs, key_lines, strict=True):
            if key in first:
                findings.append(repeated_key(file, at, key, first[key]))
                limit_findings(file, at, findings)
            first.setdefault(key, at)
            lines[key] = at
        return Marked(dict(pairs), line, lines)

    try:
        marks = iter([*_marks(text, file, limits)])
        data = _decoded(text, file, mapping)
        if "\\u" in text:
            json.dumps(data, ensure_ascii=False).encode()  # half of a surrogate pair could not be stored
    except json.JSONDecodeError as error:
        problem = error.msg[:1].lower() + error.msg[1:]
        raise unreadable(file, error.lineno, f"this is not JSON: {problem}", _HINT) from error
    except UnicodeEncodeError as error:
        raise unreadable(file, 0, "a \\u escape is half of a surrogate pair", _HINT) from error
    except InvalidDocument:
        raise
    except ValueError as error:
        problem = "a number has too many digits" if "digits" in str(error) else str(error)
        raise unreadable(file, 0, f"this is not JSON: {problem}", _HINT) from error
    return Document(data, file, tuple(findings))


def _decoded(text: str, file: str, mapping: Callable[[list[tuple[str, Any]]], Marked]) -> Any:
    """Decode `text`. Raise `InvalidDocument`, with its line and path, for a number that is not finite."""
    refused: list[_NonFinite] = []

    def non_finite(spelling: str) -> float:
        refused.append(_NonFinite(spelling))
        return refused[-1]

    def number(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else non_finite(digits)

    data = json.loads(text, object_pairs_hook=mapping, parse_constant=non_finite, parse_float=number)
    for line, path, spelling in _non_finite(data, 0, "") if refused else ():
        where = f"the value of {path}" if path else "the document"
        raise unreadable(file, line, f"{where} is {spelling}, which JSON cannot hold", _WRITE_NUMBERS)
    return data


def _non_finite(data: Any, line: int, path: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, path and spelling of every number of `data` that is not finite."""
    if isinstance(data, _NonFinite):
        yield line, path, data.spelling
    elif isinstance(data, Marked):
        for key, value in data.items():
            yield from _non_finite(value, data.lines.get(key, data.line), f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _non_finite(value, value.line if isinstance(value, Marked) else line, f"{path}[{index}]")


def _marks(text: str, file: str, limits: Limits) -> Iterator[tuple[int, list[int]]]:
    """Yield the line of every object and the lines of its keys, in the order in which the objects close."""
    line, values, string_line = 1, 0, 1
    stack: list[tuple[int, list[int]]] = []
    for match in _TOKEN.finditer(text):
        if (lexeme := match[0]) == "\n":
            line += 1
        elif lexeme == ":" and stack:
            stack[-1][1].append(string_line)
        elif lexeme in ("{", "["):
            stack.append((line, []))
            if len(stack) > limits.depth:
                raise too_deep(file, line, limits)
        elif lexeme in ("}", "]") and stack:
            opened = stack.pop()
            if lexeme == "}":
                yield opened
        elif lexeme == ",":
            values += 1
            if values > limits.values:
                raise too_many(file, line, limits)
        else:
            string_line = line
