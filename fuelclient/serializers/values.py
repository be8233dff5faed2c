"""Convert what a YAML reader makes to plain JSON types; say where it was read, and what it is."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from fuelclient.errors import nearest
from fuelclient.model.document import Marked, MarkedList


def plain(value: Any) -> Any:
    """Return a copy of `value` in the types of JSON. Dates and infinity become strings, and so do keys.

    >>> plain({1: (True, None)})
    {'1': [True, None]}
    """
    if isinstance(value, Mapping):
        return {key_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return f".{value}".replace(".-", "-.")
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def deep_merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return `below` with `above` over it: mappings merge, everything else is replaced.

    >>> deep_merged({"a": {"x": 1, "y": [1]}}, {"a": {"y": [2]}, "b": 3})
    {'a': {'x': 1, 'y': [2]}, 'b': 3}
    """
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[name] = deep_merged(old, value) if both and isinstance(old, Mapping) else value
    return merged


def beyond(stated: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of `stated` that differs from `known`: over `known` it gives `stated` again, and what else
    `known` has.

    >>> beyond({"a": {"x": 1, "y": 2}, "b": {}}, {"a": {"x": 1, "y": 3}})
    {'a': {'y': 2}, 'b': {}}
    """
    result: dict[str, Any] = {}
    for name, value in stated.items():
        if name not in known:
            result[name] = value
            continue
        old = known[name]
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            rest = beyond(value, old)
            if rest:
                result[name] = rest
        elif value != old or isinstance(value, bool) != isinstance(old, bool):
            result[name] = value
    return result


def key_text(key: Any) -> str:
    """Return the text of a mapping's key, as JSON spells it.

    >>> key_text(True), key_text(None), key_text(7)
    ('true', 'null', '7')
    """
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)


def in_words(value: Any) -> str:
    """Return what `value` is, in words for a message.

    >>> in_words([]), in_words(7), in_words({})
    ('a list', 'the number 7', 'a mapping')
    """
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return f"the string {_short(value)!r}" if value else "an empty string"
    if isinstance(value, int | float):
        return f"the number {_short(str(value))}"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple | Set) else f"the {type(value).__name__} {_short(str(value))}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def line_of(value: Any, key: str = "") -> int:
    """Return the line of a mapping read from a file, or of one of its keys; 0 if it is not known."""
    if not isinstance(value, Marked):
        return 0
    return value.lines.get(key, value.line) if key else value.line


def items_of(values: Sequence[Any], line: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield the items of a list with their lines, or with `line` if an item's own is not known."""
    lines = values.lines if isinstance(values, MarkedList) else []
    for index, item in enumerate(values):
        yield item, (lines[index] if index < len(lines) else line)


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    """Return a hint that names the nearest of `known`, or all of them."""
    close = nearest(word, known)
    return f"Did you mean {close}?" if close else f"Known: {', '.join(known)}."
