"""What Fuel adds to YAQL, on plain data: the difference of old and new values, YAML and JSON texts, and how any
value of an expression becomes plain data."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from typing import Any

MOST_ITEMS = 10_000
"""How many elements of an unfinished sequence an expression may ask for. Source: Nailgun's settings."""

_SCALARS = (str, int, float, bool, type(None))


class Undefined:
    """The old value of an expression that has none: it equals nothing else, and is true."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()


class TooManyItems(Exception):
    """A sequence has more than `MOST_ITEMS` elements."""


class NotData(Exception):
    """A value is neither a text, a number, true, false, null nor a list or mapping of such."""


Known = Callable[[object], bool]


def plain(value: Any, is_settled: Known = lambda _: False) -> Any:
    """`value` as data: dictionaries, lists and scalars. Sets become lists in a stable order, unfinished sequences
    are finished; what `is_settled` already is plain data, and is returned as it is.

    Raises `TooManyItems`, `NotData`, and whatever an unfinished sequence raises.

    >>> plain({"a": (1, {"y", "x"}), "b": map(str, [1])})
    {'a': [1, ['x', 'y']], 'b': ['1']}
    """
    if type(value) in _SCALARS or is_settled(value):
        return value
    if isinstance(value, Mapping):
        return {_key(key): plain(below, is_settled) for key, below in value.items()}
    if isinstance(value, Set) and not isinstance(value, MappingView):
        return sorted((plain(below, is_settled) for below in value), key=_rank)
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(below, is_settled) for below in value]
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [plain(below, is_settled) for below in limited(value)]
    raise NotData(type(value).__name__)


def limited(items: Iterable[Any]) -> Iterator[Any]:
    """The elements of an unfinished sequence. Raises `TooManyItems` behind the last one that is allowed."""
    for count, item in enumerate(items):
        if count >= MOST_ITEMS:
            raise TooManyItems
        yield item


def _key(key: object) -> object:
    if not isinstance(key, _SCALARS):
        raise NotData(f"{type(key).__name__} as a key")
    return key


def _rank(value: object) -> tuple[str, str]:
    return type(value).__name__, json.dumps(value, sort_keys=True)


def difference(old: Any, new: Any) -> tuple[Any, Any]:
    """What `new` has and `old` has not, and the other way round: elements of lists, entries of mappings, lines of
    texts. Other values are new and old as a whole when they differ, else both are null. Both are plain data.

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
    """The elements outside the longest runs that both have.

    Python's rule of thumb for popular elements is off: with it, long lists would seem to gain what they had.
    """
    if old == new:
        return [], []
    matcher = difflib.SequenceMatcher(a=_hashable(old), b=_hashable(new), autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    return (
        [item for _, _, _, first, last in changes for item in new[first:last]],
        [item for _, first, last, _, _ in changes for item in old[first:last]],
    )


def _hashable(items: Sequence[Any]) -> list[str]:
    return [json.dumps(item, sort_keys=True) for item in items]


def to_yaml(value: Any) -> str:
    """Plain data as a YAML document in block style, keys sorted: what a file that a task uploads will contain."""
    import yaml  # 20 ms that only graphs with toYaml() pay

    return str(yaml.dump(value, Dumper=_dumper(), default_flow_style=False))


@functools.cache
def _dumper() -> Any:
    """PyYAML's safe dumper in C, without anchors: what occurs twice is written twice, as Nailgun does."""
    import yaml

    return type("Dumper", (yaml.CSafeDumper,), {"ignore_aliases": lambda *_: True})


def to_json(value: Any) -> str:
    """Plain data as a JSON document, in the order of its keys.

    >>> to_json({"b": [1, None]})
    '{"b": [1, null]}'
    """
    return json.dumps(value)
