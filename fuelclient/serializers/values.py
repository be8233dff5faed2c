"""Convert values of a YAML reader to plain JSON types, merge mappings, and describe values and lines for messages."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from fuelclient.model.document import Marked, MarkedList


def plain(value: Any) -> Any:
    """Copy `value` in the types of JSON. Dates and infinity become strings, and so do keys.

    >>> plain({1: (True, None)})
    {'1': [True, None]}
    """
    if value is None or isinstance(value, (str, int)):  # first, because most are, and a mapping takes long to ask for
        return value
    if isinstance(value, (dict, Mapping)):
        return {key_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else f".{value}".replace(".-", "-.")
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=str)
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


def deep_merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `above` over `below`: mappings merge deeply, other values are replaced.

    >>> deep_merged({"a": {"x": 1, "y": [1]}}, {"a": {"y": [2]}, "b": 3})
    {'a': {'x': 1, 'y': [2]}, 'b': 3}
    """
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        merged[name] = deep_merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def beyond(given: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The part of `given` that differs from `known`; merged over `known`, it restores `given`.

    >>> beyond({"a": {"x": 1, "y": 2}, "b": {}}, {"a": {"x": 1, "y": 3}})
    {'a': {'y': 2}, 'b': {}}
    """
    result: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            result[name] = value
            continue
        old = known[name]
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            if difference := beyond(value, old):
                result[name] = difference
        elif value != old or isinstance(value, bool) != isinstance(old, bool):
            result[name] = value
    return result


def rebased(own: Any, before: Any, now: Any) -> Any:
    """Apply to `own` the changes from `before` to `now`, in its own order.

    Mappings are compared by name, and lists of mappings by the fields that identify each; other values as a whole.

    >>> rebased({"b": 2, "a": 1, "own": 0}, {"a": 5, "b": 5, "c": 5}, {"a": 5, "b": 6, "c": 5})
    {'b': 6, 'a': 1, 'own': 0}
    """
    ours, old, new = map(_by_identity, (own, before, now))
    if ours is None or old is None or new is None or isinstance(own, list) != isinstance(now, list):
        return own if before == now and isinstance(before, bool) == isinstance(now, bool) else now
    merged = {
        name: rebased(value, old.get(name), new[name]) if name in new else value
        for name, value in ours.items()
        if name in new or name not in old
    }
    merged.update(
        (name, value) for name, value in new.items() if name not in ours and (name not in old or value != old[name])
    )
    if not isinstance(now, list):
        return merged
    order = merged if [*old] == [*new] else {**{name: None for name in new if name in merged}, **merged}
    return [merged[name] for name in order]


_IDENTITY = ("uid", "role", "id", "name")


def _by_identity(value: Any) -> Mapping[Any, Any] | None:
    """A mapping, or a list of mappings by the fields that identify each; None for anything else."""
    if not isinstance(value, list):
        return value if isinstance(value, Mapping) else None
    if not all(isinstance(item, Mapping) for item in value):
        return None
    by_identity = {tuple(str(item.get(key)) for key in _IDENTITY): item for item in value}
    return by_identity if len(by_identity) == len(value) else None


def key_text(key: Any) -> str:
    """The key of a mapping as JSON spells it.

    >>> key_text(True), key_text(None), key_text(7)
    ('true', 'null', '7')
    """
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)


def in_words(value: Any) -> str:
    """Name a value in a message: its type, and the value itself if it is short.

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
    """The line of a mapping read from a file, or of one of its keys; 0 for other data."""
    if not isinstance(value, Marked):
        return 0
    return value.lines.get(key, value.line) if key else value.line


def items_of(values: Sequence[Any], line: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield the items of a list with their lines, or with `line` for an item without one."""
    lines = values.lines if isinstance(values, MarkedList) else []
    for index, item in enumerate(values):
        yield item, (lines[index] if index < len(lines) else line)


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` if it is a mapping, and else an empty one: malformed data counts as absent."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
