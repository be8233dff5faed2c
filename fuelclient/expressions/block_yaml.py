"""Write plain data as YAML in block style, byte for byte as PyYAML does, in a seventh of its time.

A thousand nodes each upload their facts (`toYaml()`), which differ in names and addresses only. The layout of mappings
and sequences is simple and is written here. PyYAML decides about scalars, and writes whatever depends on more than the
scalar: long lines with spaces, which it folds, texts of several lines, and complex keys.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

from fuelclient.expressions.work import MAX_WRITTEN, TooLarge, Work

_WIDTH = 80
"""PyYAML folds a line at a space beyond this column."""

_ENDLESS = 1 << 30

_MAX_KEY = 100
"""Characters of a rendered key up to which it surely is no complex key (`? key`)."""

_SIMPLE = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_/.:@+-]*(?<!:)").fullmatch
"""Texts without a character that means something in YAML. They need quotes only if they look like another type."""


def to_yaml(value: Any, work: Work) -> str:
    """Return plain data as a YAML document in block style with sorted keys, for files that tasks upload.

    Like Nailgun, it writes a shared value out each time, and counts it each time. Raise `TooMuchWork`.

    >>> print(to_yaml({"b": [1, {"c": {}}], "a": "no"}, Work()), end="")
    a: 'no'
    b:
    - 1
    - c: {}
    """
    if type(value) not in (dict, list) or not value:
        return str(_library()(value))
    lines: list[str] = []
    _write(value, "", "", lines, work)
    return "".join(lines)


def _write(value: Any, first: str, indent: str, lines: list[str], work: Work) -> None:
    """Append the lines of a collection that is not empty. The first one begins with `first`, the others with `indent`,
    which is as long."""
    work.write(len(value))
    if len(lines) > MAX_WRITTEN:
        raise TooLarge(f"a text has more than {MAX_WRITTEN} lines")
    if type(value) is list:
        for item in value:
            if type(item) in (dict, list) and item:
                _write(item, f"{first}- ", f"{indent}  ", lines, work)
            else:
                lines.append(_line(f"{first}- ", item, work) or first + _by_library([item], indent, work))
            first = indent
        return
    for key, item in _sorted(value):
        if not (name := _scalar(key)) or name.startswith('"') or len(name) > _MAX_KEY:
            lines.append(first + _by_library({key: item}, indent, work))
        elif type(item) in (dict, list) and item:
            below = indent if type(item) is list else f"{indent}  "
            lines.append(f"{first}{name}:\n")
            _write(item, below, below, lines, work)
        else:
            lines.append(_line(f"{first}{name}: ", item, work) or first + _by_library({key: item}, indent, work))
        first = indent


def _sorted(mapping: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    try:
        return sorted(mapping.items())
    except TypeError:  # keys of several types stay in their order
        return mapping.items()


def _line(start: str, item: Any, work: Work) -> str:
    """The line of a scalar or an empty collection, or an empty string if only the library knows how it is written."""
    text = _scalar(item)
    line = f"{start}{text}\n"
    if len(line) <= _WIDTH:
        return line if text else ""
    return work.text(line) if text and " " not in text else ""


def _scalar(item: Any) -> str:
    if type(item) is str:
        return _text(item)
    if item is None:
        return "null"
    if type(item) is bool:
        return "true" if item else "false"
    if type(item) is int:
        return str(item)
    return "" if item or type(item) not in (dict, list) else "[]" if type(item) is list else "{}"


@functools.lru_cache(maxsize=65_536)
def _text(text: str) -> str:
    """A text as a part of a line, or an empty string if it takes several lines."""
    if _SIMPLE(text):
        return text if _is_text(text) else f"'{text}'"
    line = _library()([text], width=_ENDLESS).removeprefix("- ").removesuffix("\n")
    return "" if "\n" in line else str(line)


def _is_text(text: str) -> bool:
    """Whether a text without quotes is one, and not, say, a date."""
    import yaml

    return bool(_resolver().resolve(yaml.ScalarNode, text, (True, False)) == "tag:yaml.org,2002:str")


def _by_library(value: Any, indent: str, work: Work) -> str:
    """The lines of a collection with one entry. The first one lacks its indent."""
    work.write(work.weight(value))
    depth = len(indent) // 2 + (type(value) is list)
    for _ in range(depth):
        value = {"": value}
    return str(_library()(value)).split("\n", depth)[-1][len(indent) :]


@functools.cache
def _resolver() -> Any:
    import yaml

    return yaml.resolver.Resolver()


@functools.cache
def _library() -> Callable[..., Any]:
    """PyYAML's function that writes a document; it takes 20 ms to import, and only graphs with `toYaml()` need it."""
    import yaml

    class Dumper(yaml.CSafeDumper):
        def ignore_aliases(self, _data: Any) -> bool:
            return True

    return functools.partial(yaml.dump, Dumper=Dumper, default_flow_style=False)
