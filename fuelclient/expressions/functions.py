"""The functions on plain data that Fuel adds to YAQL, and the conversion of values of expressions to plain data."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from datetime import datetime
from typing import Any

from fuelclient.expressions import budget
from fuelclient.expressions.budget import MAX_ITEMS

_STEPS_PER_ELEMENT = 5
"""This many steps of a comparison count as one element of a sequence."""
_SCALARS = (str, int, float, bool, type(None))


class Undefined:
    """The old value of an expression that has none. It is equal only to itself, and is truthy."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()


class TooManyItems(Exception):
    """A sequence has more than `MAX_ITEMS` elements."""


class NotData(Exception):
    """A value is not a string, a number, true, false, null, or a list or mapping of such."""


IsSettled = Callable[[object], bool]


def plain(value: Any, is_settled: IsSettled = lambda _: False) -> Any:
    """`value` as dictionaries, lists and scalars. Sets become lists in a stable order, and lazy sequences are
    evaluated. Values that are plain data already, according to `is_settled`, are returned as they are.

    Raise `TooManyItems`, `NotData`, and whatever a lazy sequence raises.

    >>> plain({"a": (1, {"y", "x"}), "b": map(str, [1])})
    {'a': [1, ['x', 'y']], 'b': ['1']}
    """
    if type(value) in _SCALARS or is_settled(value):
        return value
    if isinstance(value, Mapping):
        budget.spend(len(value))
        return {_key(key): plain(item, is_settled) for key, item in value.items()}
    if isinstance(value, Set) and not isinstance(value, MappingView):
        budget.spend(len(value))
        return sorted((plain(item, is_settled) for item in value), key=_rank)
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        budget.spend(len(value))
        return [plain(item, is_settled) for item in value]
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [plain(item, is_settled) for item in limited(value)]
    raise NotData(type(value).__name__)


def limited(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the elements of a lazy sequence. Raise `TooManyItems` after the last one that is allowed."""
    for count, item in enumerate(items):
        if count >= MAX_ITEMS:
            raise TooManyItems
        yield item


def _key(key: object) -> object:
    if not isinstance(key, _SCALARS):
        raise NotData(f"{type(key).__name__} as a key")
    return key


def in_order(items: Iterable[Any]) -> list[Any]:
    """The elements of a set in the order that `plain` gives them, whatever the hash seed of the process.

    Raise `NotData` for elements that are neither data nor moments.

    >>> in_order({"b", 10, 9, "a"})
    [10, 9, 'a', 'b']
    """
    return sorted(items, key=lambda item: _rank(item.isoformat() if isinstance(item, datetime) else plain(item)))


def _rank(value: object) -> tuple[str, str]:
    return type(value).__name__, json.dumps(value, sort_keys=True)


def difference(old: Any, new: Any) -> tuple[Any, Any]:
    """Return what was added and what was deleted: elements of lists, entries of mappings, lines of texts.

    Other values were added and deleted as a whole if they differ; otherwise both results are null. The arguments are
    plain data.

    Source: Nailgun `utils.datadiff`.

    >>> difference([1, 2], [2, 3]), difference({"a": 1, "b": 1}, {"a": 2, "b": 1})
    (([3], [1]), ({'a': 2}, {'a': 1}))
    >>> difference("a\\nb", "a"), difference(1, 2), difference(1, 1)
    (([], ['b']), (2, 1), (None, None))
    """
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        return _entries(new, old), _entries(old, new)
    if isinstance(new, str) and isinstance(old, str):
        return _elements(old.splitlines(), new.splitlines())
    if isinstance(new, list) and isinstance(old, list):
        return _elements(old, new)
    return (None, None) if type(old) is type(new) and old == new else (new, old)


def _entries(of: Mapping[Any, Any], without: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in of.items() if key not in without or without[key] != value}


def _elements(old: Sequence[Any], new: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The added and the deleted elements.

    The matcher's heuristic for popular elements is off; with it, long lists would seem to gain elements that they
    already had.
    """
    if old == new:
        return [], []
    matcher = _Counted(a=_hashable(old), b=_hashable(new), autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    return (
        [item for _, _, _, first, last in changes for item in new[first:last]],
        [item for _, first, last, _, _ in changes for item in old[first:last]],
    )


class _Counted(difflib.SequenceMatcher[str]):
    """A matcher that charges its steps to the evaluation, because many equal elements make it slower than quadratic."""

    a: Sequence[str]
    b2j: dict[str, list[int]]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        last = len(self.a) if ahi is None else ahi
        budget.spend(sum(1 + len(self.b2j.get(self.a[index], ())) for index in range(alo, last)) // _STEPS_PER_ELEMENT)
        return super().find_longest_match(alo, ahi, blo, bhi)


def _hashable(items: Sequence[Any]) -> list[str]:
    return [json.dumps(item, sort_keys=True) for item in items]


def to_yaml(value: Any) -> str:
    """Return plain data as a YAML document in block style with sorted keys, for files that tasks upload."""
    import yaml  # it takes 20 ms, and only graphs with toYaml() need it

    return str(yaml.dump(value, Dumper=_dumper(), default_flow_style=False))


@functools.cache
def _dumper() -> Any:
    """Return PyYAML's safe dumper (the one in C) without anchors: like Nailgun, it writes a shared value out each
    time."""
    import yaml

    return type("Dumper", (yaml.CSafeDumper,), {"ignore_aliases": lambda *_: True})
