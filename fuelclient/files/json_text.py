"""Read JSON text into a `Document` with line marks.

The standard library's decoder makes the values. It does not report lines, so a pass over the tokens finds them first;
objects close in the same order for both.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.files.limits import DOCUMENT, Limits, repeated_key, require_few, too_deep, too_many, unreadable
from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import Finding

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|[][{},:\n]')
"""Possessive, and satisfied with a string that is never closed, so that the time is linear for any text."""

_HINT = "Check it with a JSON validator, or save it as YAML under a name that does not end in .json."
_WRITE_NUMBERS = "Write a finite number, or a string in quotes."


class _Endless(float):
    """A number that JSON cannot hold (infinite, or NaN), as it is written."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word if len(word) <= 40 else f"{word[:37]}..."


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
                require_few(file, at, findings)
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
    """Decode `text`. Raise `InvalidDocument`, with its place, for a number that is not finite."""
    endless: list[_Endless] = []

    def odd(word: str) -> float:
        endless.append(_Endless(word))
        return endless[-1]

    def number(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else odd(digits)

    data = json.loads(text, object_pairs_hook=mapping, parse_constant=odd, parse_float=number)
    for line, path, word in _endless(data, 0, "") if endless else ():
        where = f"the value of {path}" if path else "the document"
        raise unreadable(file, line, f"{where} is {word}, which JSON cannot hold", _WRITE_NUMBERS)
    return data


def _endless(data: Any, line: int, path: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, path and spelling of every number of `data` that is not finite."""
    if isinstance(data, _Endless):
        yield line, path, data.word
    elif isinstance(data, Marked):
        for key, value in data.items():
            yield from _endless(value, data.lines.get(key, data.line), f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _endless(value, value.line if isinstance(value, Marked) else line, f"{path}[{index}]")


def _marks(text: str, file: str, limits: Limits) -> Iterator[tuple[int, list[int]]]:
    """Yield the line of every object and the lines of its keys, in the order in which the objects close."""
    line, values, last = 1, 0, 1
    stack: list[tuple[int, list[int]]] = []
    for match in _TOKEN.finditer(text):
        sign = match[0]
        if sign == "\n":
            line += 1
        elif sign == ":" and stack:
            stack[-1][1].append(last)
        elif sign in ("{", "["):
            stack.append((line, []))
            if len(stack) > limits.depth:
                raise too_deep(file, line, limits)
        elif sign in ("}", "]") and stack:
            opened = stack.pop()
            if sign == "}":
                yield opened
        elif sign == ",":
            values += 1
            if values > limits.values:
                raise too_many(file, line, limits)
        else:
            last = line
