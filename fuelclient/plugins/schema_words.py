"""Violations of a schema in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.errors import nearest
from fuelclient.serializers.values import kind

if TYPE_CHECKING:
    from jsonschema import ValidationError

_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "empty",
}
_WRITE = {
    "string": "Write it in quotes.",
    "integer": "Write a whole number without quotes.",
    "boolean": "Write true or false, without quotes.",
    "array": "Write [a, b], or lines that begin with `- `.",
    "object": "Write its keys below it, indented.",
}
_PLAIN = re.compile(r"[\w*:/-]+")
_LONG = 200


def where(name: str, path: Sequence[str | int]) -> str:
    """The name of a place in a file, as messages give it.

    >>> where("metadata.yaml", ["releases", 0, "os"]), where("tasks.yaml", [2]), where("a.yaml", [])
    ('metadata.yaml:releases[0].os', 'tasks.yaml:[2]', 'a.yaml')
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            shown = step if _PLAIN.fullmatch(step) and len(step) <= _LONG else repr(step[:_LONG])
            text += f".{shown}" if text else shown
    return f"{name}:{text}" if text else name


def sentence(error: ValidationError, place: str) -> str:
    """What is wrong at `place`, in a few words: what is missing, or what belongs there and what stands there.

    The message of an error of ours (see `schema`) is data: the key that is missing or repeated.
    """
    keyword, schema = str(error.validator), _schema(error)
    if keyword == "required":
        return f"{place} lacks {error.message}"
    if keyword == "additionalProperties":
        return f"{place} is no key that is known here"
    if keyword == "uniqueItems":
        return f"{place} repeats {error.message}"
    if keyword in ("minItems", "minProperties") and not error.instance:
        return f"{place} must not be empty"
    belongs = schema.get("x-is") or _belongs(schema)
    why = f": {error.message}" if keyword in ("roleWord", "taskWord") and error.message else ""
    return f"{place} must be {belongs}, not {kind(error.instance)}{why}"


def hint_for(error: ValidationError) -> str:
    """What to do about a violation."""
    keyword, schema = str(error.validator), _schema(error)
    if keyword == "required":
        return f"Add {error.message}: to it."
    if keyword == "additionalProperties":
        close = nearest(error.message, schema.get("properties", {}))
        return f"Did you mean {close}?" if close else "Remove it."
    if keyword == "uniqueItems":
        return "Remove one of the two."
    if schema.get("x-hint"):
        return str(schema["x-hint"])
    if keyword == "enum":
        known = [word for word in schema.get("enum", ()) if isinstance(word, str)]
        close = nearest(error.instance, known) if isinstance(error.instance, str) else ""
        return f"Did you mean {close}?" if close else f"Write {' or '.join(map(_quoted, known))}."
    if keyword == "type":
        types = schema.get("type", "")
        return _WRITE.get(types if isinstance(types, str) else types[0], "Correct it.")
    return "List at least one, or remove the key." if keyword.startswith("min") else "Correct it."


def _quoted(word: str) -> str:
    return "'*'" if word == "*" else word


def _schema(error: ValidationError) -> dict[str, Any]:
    return error.schema if isinstance(error.schema, dict) else {}


def _belongs(schema: dict[str, Any]) -> str:
    types = schema.get("type", ())
    words = [_TYPES.get(word, word) for word in ([types] if isinstance(types, str) else types)]
    return " or ".join(words) or "something else"
