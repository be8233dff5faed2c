"""Requests read: the values of query parameters and bodies, or one refusal that says what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from jsonschema import Draft202012Validator, ValidationError

from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.files import json_text
from fuelclient.model.finding import Finding, Severity
from fuelclient.serializers.values import plain
from fuelclient.server.refusals import Refused
from fuelclient.server.routes import Kind, Query, Route
from fuelclient.server.schemas import LARGEST, TEXT, Schema

_TRUTHS = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}
_NUMBER = re.compile(r"[0-9]{1,19}")
_MOST = 20
"""Errors of one body that are told."""


class Texts(Protocol):
    """The texts of query parameters by name, each maybe given several times."""

    def get(self, key: str) -> str | None: ...

    def getlist(self, key: str) -> list[str]: ...


def query(route: Route, given: Texts) -> dict[str, Any]:
    """The query parameters of a route that were given, by name. Those that no route knows are ignored, as in Nailgun.

    Raises `Refused` (400) for a value that cannot be read, and for one that is needed and not given.
    """
    found: dict[str, Any] = {}
    for one in route.query:
        if one.kind is Kind.REPEATED:
            values: Any = [_text(text, one) for text in given.getlist(one.name) if text]
        else:
            text = (given.get(one.name) or "").strip()
            values = _value(one, text) if text else None
        if values not in (None, []):
            found[one.name] = values
        elif one.required:
            raise _wrong(one, f"The query parameter {one.name} is needed")
    return found


def body(route: Route, content: bytes) -> Any:
    """The checked body of a request in plain types, None where there may be none and there is none.

    Raises `Refused` (400) for an absent one, for what is no JSON or beyond the limits of documents, and for what is
    not of the route's schema, with all that is wrong.
    """
    if route.body is None:
        return None
    if not content.strip():
        if not route.body_required:
            return None
        raise Refused(400, "Empty request received", UsageError("The request has no body."))
    try:
        data = plain(json_text.parse(content.decode("utf-8"), "request").data)
    except UnicodeDecodeError as error:
        raise Refused(400, "Invalid json received", UsageError("The body is not UTF-8.")) from error
    except RecursionError as error:
        raise Refused(400, "Invalid json received", UsageError("The body is nested too deeply.")) from error
    except InvalidDocument as error:
        raise Refused(400, f"Invalid json received: {error.message}", error) from error
    check(data, route.body)
    return whole(data, route.body)


def check(data: Any, schema: Schema) -> None:
    """Nothing happens when `data` is of the schema; `Refused` (400) that tells of the first difference in Nailgun's
    words, and of all in its errors."""
    found = sorted(Draft202012Validator(schema).iter_errors(data), key=_order)
    if not found:
        return
    findings = [Finding(Severity.ERROR, "G006", told(one)) for one in found[:_MOST]]
    raise Refused(400, findings[0].message, InvalidDocument(findings[0].message, findings=findings))


def whole(data: Any, schema: Schema) -> Any:
    """`data`, of which the schema holds, with whole numbers where it wants them: JSON knows no difference between 1 and
    1.0, Python does.

    >>> whole({"id": 1.0, "x": 2.0}, {"properties": {"id": {"type": "integer"}}})
    {'id': 1, 'x': 2.0}
    """
    for one in schema.get("anyOf", ()):
        if Draft202012Validator(one).is_valid(data):
            data = whole(data, one)
            break
    if isinstance(data, Mapping):
        below, rest = schema.get("properties", {}), schema.get("additionalProperties")
        other = rest if isinstance(rest, dict) else {}
        return {key: whole(value, below.get(key, other)) for key, value in data.items()}
    if isinstance(data, list):
        return [whole(item, schema.get("items", {})) for item in data]
    wants = schema.get("type", ())
    if isinstance(data, float) and (wants == "integer" or (isinstance(wants, list) and "integer" in wants)):
        return int(data)
    return data


def _order(error: ValidationError) -> list[str]:
    """Where an error stands in its document."""
    return [f"{part:09}" if isinstance(part, int) else part for part in error.path]


def told(error: ValidationError) -> str:
    """An error of a schema in the words that Nailgun has for it, long values cut."""
    message = error.message if len(error.message) <= 500 else f"{error.message[:500]}..."
    return f"deque({list(error.path)!r}): {message}" if error.path else message


def _value(one: Query, text: str) -> Any:
    if one.kind is Kind.TRUTH:
        if text.lower() not in _TRUTHS:
            raise _wrong(one, f"{one.name} is 0 or 1, not {text!r}")
        return _TRUTHS[text.lower()]
    if one.kind is Kind.NUMBER:
        return _number(one, text, f"{one.name} is a whole number from {one.least} to {LARGEST}, not {text!r}")
    if one.kind is Kind.NUMBERS:
        told = "Comma-separated numbers list expected"
        return [_number(one, part.strip(), told) for part in text.split(",") if part.strip()]
    words = [part.strip() for part in _text(text, one).split(",") if part.strip()]
    for word in words if one.words else ():
        if word not in one.words:
            raise _wrong(one, f"{one.name.capitalize()} parameter could be only: {', '.join(one.words)}")
    return words if one.kind is Kind.WORDS else _text(text, one)


def _number(one: Query, text: str, message: str) -> int:
    if not _NUMBER.fullmatch(text) or not one.least <= int(text) <= LARGEST:
        raise _wrong(one, message)
    return int(text)


def _text(text: str, one: Query) -> str:
    """The text, which can be stored."""
    if "\x00" in text:
        raise _wrong(one, f"{one.name} has a character that is none")
    if len(text) > TEXT["maxLength"]:
        raise _wrong(one, f"{one.name} is longer than {TEXT['maxLength']} characters")
    return text


def _wrong(one: Query, message: str) -> Refused:
    return Refused(400, message, UsageError(f"The query parameter {one.name}: {message}."))


def headers(given: Mapping[str, str]) -> dict[str, str]:
    """The headers that change an answer, in lower case."""
    return {name: value for name in ("accept",) if (value := given.get(name))}


__all__ = ["body", "check", "headers", "query", "told"]
