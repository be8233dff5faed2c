"""Values of settings as their kind demands, whoever stated them: texts of the environment, data of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from fuelclient.settings.registry import Kind, Spec

_TRUE = frozenset(("1", "true", "yes", "on"))
_FALSE = frozenset(("0", "false", "no", "off"))


def typed(spec: Spec, value: Any, environ: Mapping[str, str], directory: str = "") -> Any:
    """`value` as `spec` demands it; a relative path of a settings file counts from its `directory`.

    Raises `ValueError` with what is needed instead.
    """
    if spec.kind is Kind.MAPPING:
        return _mapping(value)
    if spec.kind is Kind.NUMBER:
        return _number(value, spec.least)
    if spec.kind is Kind.FLAG:
        return _flag(value)
    if spec.kind is Kind.TEXT and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # a password of digits is a number to YAML
    if not isinstance(value, str) or (spec.needed and not value.strip()):
        raise ValueError("a str is needed")
    if spec.kind is Kind.PATH and value.strip():
        return os.path.join(directory, home(value, environ))
    return value.strip() if spec.kind is Kind.TEXT and not spec.secret else value


def _number(value: Any, least: int) -> int:
    """A whole number; settings files of the original client have the port as a text.

    >>> _number("8000", 1)
    8000
    """
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or not least <= int(text) < 2**31:
        raise ValueError(f"a whole number of at least {least} is needed")
    return int(text)


def _flag(value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in _TRUE | _FALSE:
        raise ValueError("true or false is needed")
    return text in _TRUE


def _mapping(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(
        isinstance(one, str) and one.strip() for pair in value.items() for one in pair
    ):
        raise ValueError("a mapping of names to texts is needed, none of them empty")
    return dict(value)


def home(path: str, environ: Mapping[str, str]) -> str:
    """`path` with a leading `~` resolved, by HOME of `environ` where that is set.

    >>> home("~/a", {"HOME": "/home/fuel"}), home("a/~", {})
    ('/home/fuel/a', 'a/~')
    """
    where = environ.get("HOME")
    if where and (path == "~" or path.startswith("~/")):
        return where + path[1:]
    return os.path.expanduser(path)
