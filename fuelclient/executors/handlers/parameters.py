"""Read parameters of a task in the shape that a handler needs, or raise `ValueError` with one clear sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_MODE = re.compile(r"[0-7]{3,4}")
_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0", ""}


def text(parameters: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a string, or `default`; numbers count as strings."""
    value = parameters.get(name)
    if value is None or value == "":
        if default is None:
            raise ValueError(f"the parameter {name} is missing")
        return default
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        message = f"the parameter {name} must be a string, not {_kind(value)}"
        raise ValueError(message)  # noqa: TRY004 - what a handler refuses is a ValueError
    if "\0" in str(value):
        raise ValueError(f"the parameter {name} has a zero byte")
    return str(value)


def path(parameters: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a path of one line."""
    value = text(parameters, name, default)
    if "\n" in value:
        raise ValueError(f"the parameter {name} is a path and must be one line")
    return value


def absolute(parameters: Mapping[str, Any], name: str) -> str:
    """Return an absolute path that is not the root."""
    value = path(parameters, name)
    if not value.startswith("/") or not value.strip("/."):
        raise ValueError(f"the parameter {name} must be an absolute path below /, not {value!r}")
    return value


def flag(parameters: Mapping[str, Any], name: str, default: bool) -> bool:
    """Return a boolean, or `default`."""
    value = parameters.get(name)
    if value is None:
        return default
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"the parameter {name} must be true or false, not {_kind(value)}")
    return word in _TRUE


def mode(parameters: Mapping[str, Any], name: str, default: str) -> str:
    """Return permissions as octal digits, or `default`. A number is what YAML made of an octal `0644`.

    >>> mode({"permissions": "0640"}, "permissions", "0644"), mode({"permissions": 0o600}, "permissions", "0644")
    ('0640', '0600')
    """
    value = parameters.get(name)
    if value is None or value == "":
        return default
    digits = f"{value:04o}" if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else str(value)
    if not _MODE.fullmatch(digits):
        raise ValueError(f"the parameter {name} must be octal permissions such as '0644', not {value!r}")
    return digits


def entries(value: Any, name: str) -> list[Mapping[str, Any]]:
    """Return a list of mappings that is not empty."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(f"the parameter {name} must be a list of mappings")
    return list(value)


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else repr(value)[:40]
