"""JSON as the store keeps it in text columns: compact, readable, in the author's key order."""

from __future__ import annotations

import json
from typing import Any

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=False).encode
"""The text of a value of plain JSON types; a subclass of `dict` counts as a mapping. One encoder is kept,
because making one costs more than using it."""

decode = json.loads
"""The value of a text that `encode` made."""


def encoded_or_null(value: Any) -> str | None:
    """The text of a value, or None (NULL) for an empty one: empty mappings and lists need no text."""
    return encode(value) if value else None


def mapping(text: str | None) -> dict[str, Any]:
    """The mapping that `encoded_or_null` stored."""
    return decode(text) if text else {}


def names(text: str | None) -> tuple[str, ...]:
    """The names that `encoded_or_null` stored."""
    return tuple(decode(text)) if text else ()
