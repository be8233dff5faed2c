"""Read and check query parameters and bodies. The `HttpError` for a body lists its errors, up to `_MAX_ERRORS`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from werkzeug.datastructures import MultiDict

from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.files import json_text
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError
from fuelclient.server.routes import Query, QueryType, Route
from fuelclient.server.schemas import LARGEST, TEXT, Schema

_FLAGS = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}
_NUMBER = re.compile(r"[0-9]{1,19}")
_MAX_ERRORS = 20
"""The largest number of errors of one body that are reported."""


def query(route: Route, given: MultiDict[str, str]) -> dict[str, Any]:
    """Read the query parameters of a route, by name. Unknown parameters are ignored, as in Nailgun.

    Raise `HttpError` (400) if a value is invalid, or a required parameter is missing.
    """
    values: dict[str, Any] = {}
    for parameter in route.query:
        name = parameter.name
        if parameter.type is QueryType.REPEATED:
            value: Any = [_check_text(text, parameter) for text in given.getlist(name) if text]
        else:
            text = _check_text(given.get(name) or "", parameter).strip()
            value = _value(parameter, text) if text else None
        if value not in (None, []):
            values[name] = value
        elif parameter.required:
            message = f"The query parameter {name} is required"
            raise HttpError(400, UsageError(f"{message}."), message)
    return values


def body(route: Route, content: bytes) -> Any:
    """Read and check the body, in plain types; None if the route takes no body, or an optional body is missing.

    Raise `HttpError` (400) if a required body is missing, is not JSON, exceeds the limits for documents, or does not
    match the route's schema; the error then has a finding for each difference.
    """
    if route.body is None:
        return None
    if not content.strip():
        if route.body_required:
            raise HttpError(400, UsageError("The request has no body."), "Empty request received")
        return None
    try:
        data = plain(json_text.parse(content.decode("utf-8"), "request").data)
    except UnicodeDecodeError as error:
        raise HttpError(400, UsageError("The body is not UTF-8."), "Invalid json received") from error
    except RecursionError as error:
        raise HttpError(400, UsageError("The body is nested too deeply."), "Invalid json received") from error
    except InvalidDocument as error:
        raise HttpError(400, error, f"Invalid json received: {error.message}") from error
    _check(data, route.body)
    return with_integers(data, route.body) if _has_float(data) else data


def _check(data: Any, schema: Schema) -> None:
    """Raise `HttpError` (400) unless `data` matches the schema. The message describes the first difference in Nailgun's
    words; the findings list up to `_MAX_ERRORS`."""
    errors = sorted(
        Draft202012Validator(schema).iter_errors(data),
        key=lambda error: [f"{part:09}" if isinstance(part, int) else part for part in error.path],
    )
    if errors:
        findings = [_finding(error) for error in errors[:_MAX_ERRORS]]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        refusal = InvalidDocument(f"{findings[0].message}{more}.", findings=findings)
        path_text = f"deque({list(errors[0].path)!r}): " if errors[0].path else ""  # in Nailgun's words
        raise HttpError(400, refusal, f"{path_text}{_shortened(errors[0].message)}")


def _has_float(data: Any) -> bool:
    if isinstance(data, (dict, list)):
        return any(map(_has_float, data.values() if isinstance(data, dict) else data))
    return isinstance(data, float)


def with_integers(data: Any, schema: Schema) -> Any:
    """Convert 1.0 to 1 where the schema wants a whole number: JSON does not distinguish them, Python does.

    >>> with_integers({"id": 1.0, "x": 2.0}, {"properties": {"id": {"type": "integer"}}})
    {'id': 1, 'x': 2.0}
    """
    for choice in schema.get("anyOf", ()):
        if Draft202012Validator(choice).is_valid(data):
            data = with_integers(data, choice)
            break
    if isinstance(data, Mapping):
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
        other = rest if isinstance(rest, dict) else {}
        return {key: with_integers(value, properties.get(key, other)) for key, value in data.items()}
    if isinstance(data, list):
        return [with_integers(item, schema.get("items", {})) for item in data]
    json_type = schema.get("type", ())
    if isinstance(data, float) and (json_type == "integer" or (isinstance(json_type, list) and "integer" in json_type)):
        return int(data)
    return data


def _finding(error: ValidationError) -> Finding:
    path = ".".join(map(str, error.path))
    message = f"{path}: {_shortened(error.message)}" if path else _shortened(error.message)
    return Finding(Severity.ERROR, "G006", message, Place(path=tuple(error.path)))


def _shortened(message: str) -> str:
    return message if len(message) <= 500 else f"{message[:500]}..."


def _value(parameter: Query, text: str) -> Any:
    name = parameter.name
    if parameter.type is QueryType.FLAG:
        if text.lower() not in _FLAGS:
            raise _bad_query(parameter, f"{name} must be 0 or 1, not {text!r}")
        return _FLAGS[text.lower()]
    if parameter.type is QueryType.NUMBER:
        return _number(parameter, text, f"{name} must be a whole number from 1 to {LARGEST}, not {text!r}")
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if parameter.type is QueryType.NUMBERS:  # in Nailgun's words
        return [_number(parameter, part, "Comma-separated numbers list expected") for part in parts]
    if parameter.words and not set(parts) <= set(parameter.words):
        message = f"{name.capitalize()} parameter {parameter.complaint}: {', '.join(parameter.words)}"
        raise _bad_query(parameter, message)
    return parts if parameter.type is QueryType.WORDS else text


def _number(parameter: Query, text: str, message: str) -> int:
    if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= LARGEST:
        raise _bad_query(parameter, message)
    return int(text)


def _check_text(text: str, parameter: Query) -> str:
    """Return the text. Raise `HttpError` if it is too long, or has a character that no database can store."""
    if "\x00" in text:
        raise _bad_query(parameter, f"{parameter.name} contains a NUL character")
    if len(text) > TEXT["maxLength"]:
        raise _bad_query(parameter, f"{parameter.name} is longer than {TEXT['maxLength']} characters")
    return text


def _bad_query(parameter: Query, message: str) -> HttpError:
    said = message if parameter.name in message.lower() else f"{parameter.name}: {message}"
    return HttpError(400, UsageError(f"{said}."), message)
