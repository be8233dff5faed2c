"""JSON as the store keeps it in text columns: compact, readable, in the author's key order."""

from __future__ import annotations

import json
from typing import Any

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=False).encode
"""The text of a value of plain JSON types; a subclass of `dict` counts as a mapping. One encoder is kept,
because making one costs more than using it."""

_scan = json.JSONDecoder().raw_decode


def decode(text: str) -> Any:
    """The value of a text that `encode` made; `ValueError` for another one.

    Such a text has no blanks around its value. Searching for them takes `json.loads` longer than reading what columns
    mostly hold: a graph is thousands of words and short lists.
    """
    value, end = _scan(text)
    if end != len(text):
        raise ValueError(f"more than one value in {text[:80]!r}")
    return value


def encoded_or_null(value: Any) -> str | None:
    """The text of a value, or None (NULL) for an empty one: empty mappings and lists need no text."""
    return encode(value) if value else None


def mapping(text: str | None) -> dict[str, Any]:
    """The mapping that `encoded_or_null` stored."""
    found: dict[str, Any] = decode(text) if text else {}
    return found


def names(text: str | None) -> tuple[str, ...]:
    """The names that `encoded_or_null` stored."""
    return tuple(decode(text)) if text else ()
