"""YAQL's own functions with limits: each counts the size of whatever a single call can make large. Importing this
module also imports YAQL.

Most functions take time in proportion to the size of their arguments, which `_bounded` counts. `_INSTEAD` replaces
those whose result can be far larger than their arguments, and `_DEEP` are those that compare or hash values with all
that they contain. `UNCOUNTED` are functions whose work cannot be limited by counting outside of them; an expression
with one of them is evaluated by `child_process`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Any

import yaql  # type: ignore[import-untyped]
from yaql.language import utils  # type: ignore[import-untyped]
from yaql.standard_library import strings  # type: ignore[import-untyped]

from fuelclient.expressions import regexes
from fuelclient.expressions.budget import TooLarge, check_number, spend, spend_text, weigh, weighed
from fuelclient.expressions.functions import NotData, in_order

UNCOUNTED = frozenset({"call", "datetime", "format", "generateMany", "mergeWith"})
"""They loop or recurse over endless sequences without asking for limits, or (`call`) call a function whose name is
computed."""

_PASSED_ON = frozenset({"boolean.and_", "boolean.not_", "boolean.or_", "branching.switch", "system.op_dot"})
"""They choose among values that were counted when they were made. They account for most calls in real graphs."""

_SIMPLE = frozenset({bool, int, float, type(None), str})
_SMALL = frozenset({bool, float, type(None)})
_LONG = 1000
"""Strings of fewer characters are not counted."""
_MAX_DIGITS = 300


def bounded_context() -> Any:
    """The library's functions, each with its limits."""
    context = yaql.create_context()
    layer = context
    while layer is not None:
        for overloads in layer._functions.values():
            for definition in overloads:
                definition.payload = _bounded(definition.payload)
        layer = layer.parent
    return context


def key_of(payload: Any) -> str:
    """The name of a function of the library with its module: `math.pow_`."""
    return f"{payload.__module__.rpartition('.')[2]}.{payload.__qualname__.rpartition('.')[2]}"


def _bounded(payload: Callable[..., Any]) -> Callable[..., Any]:
    key = key_of(payload)
    if key in _PASSED_ON:
        return payload
    call = _INSTEAD.get(key) or regexes.INSTEAD.get(key) or payload
    deep = _DEEP.get(key)

    @functools.wraps(payload)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if type(arg) is str and len(arg) > _LONG:
                spend(len(arg) // _LONG)
        if deep and not _SIMPLE.issuperset(map(type, args[deep])):
            positions = range(len(args))[deep]
            args = tuple(_deep(arg) if index in positions else arg for index, arg in enumerate(args))
        result = call(*args, **kwargs)
        return result if type(result) in _SMALL else _counted(result)

    return bounded


def _counted(result: Any) -> Any:
    """The result of a call after counting it."""
    kind = type(result)
    if kind is int:
        check_number(result.bit_length())
    elif kind is str:
        spend_text(len(result))
    elif kind is tuple or kind is list or kind is utils.FrozenDict:
        spend(len(result) // 10)
    return result


def _deep(value: Any) -> Any:
    """Weigh an argument whose elements will be compared or hashed: now, or, if it is lazy, as each element is read."""
    if isinstance(value, utils.MappingRule):
        weigh(value.source)
        weigh(value.destination)
        return value
    return weighed(value) if isinstance(value, Iterator) else weigh(value)


def _within(value: Any, collection: Any) -> bool:
    if type(value) in _SIMPLE:
        if isinstance(collection, Sized):
            spend(len(collection) // 10)
        return value in collection
    return weigh(value) in weighed(collection)


def _is_equal(left: Any, right: Any) -> bool:
    if type(left) in _SIMPLE or type(right) in _SIMPLE:
        return bool(left == right)
    return bool(weigh(left) == weigh(right))


def _length(collection: Iterable[Any]) -> int:
    """Count the elements of a lazy sequence, which may have no end: the library checks no limit here."""
    count = 0
    for _ in collection:
        spend(1)
        count += 1
    return count


def _pairs(engine: Any, left: Iterable[Any], right: Iterable[Any], predicate: Any, selector: Any) -> Iterator[Any]:
    """Join two sequences. Each pair is counted here, because a predicate that calls no function, such as `false`,
    counts nothing."""
    others = utils.memorize(right, engine)
    for one in left:
        for other in others:
            spend(1)
            if predicate(one, other):
                yield selector(one, other)


def _flattened(collection: Iterable[Any]) -> Iterator[Any]:
    for item in collection:
        spend(1)
        if utils.is_iterable(item):
            yield from _flattened(item)
        else:
            yield item


def _power(a: Any, b: Any, c: Any = None) -> Any:
    if c is None and isinstance(a, int) and isinstance(b, int) and abs(a) > 1:
        check_number(b * (abs(a).bit_length() - 1))
    return pow(a, b, c)


def _shifted(value: int, bits_number: int) -> int:
    check_number(value.bit_length() + bits_number)
    return value << bits_number


def _rounded(number: Any, ndigits: int = 0) -> Any:
    if abs(ndigits) > _MAX_DIGITS:
        raise TooLarge(f"a number is rounded to more than {_MAX_DIGITS} digits")
    return round(number, ndigits)


def _whole(value: Any) -> int:
    if isinstance(value, str) and len(value) > _LONG:
        raise TooLarge(f"a number has more than {_MAX_DIGITS} digits")
    return 0 if value is None else int(value)


def _concatenated(*args: str) -> str:
    spend_text(sum(map(len, args)))
    return "".join(args)


def _joined(sequence: Iterable[Any], separator: str, str_delegate: Callable[[Any], str]) -> str:
    pieces: list[str] = []
    length = 0
    for item in sequence:
        pieces.append(str_delegate(item))
        length += len(pieces[-1]) + len(separator)
        spend_text(length) if length > _LONG else None
    return separator.join(pieces)


def _text(value: Any) -> str:
    """A value as text: `str()`. A lazy sequence has no text, because Python's contains an address."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Iterator):
        raise NotData("a lazy sequence as text")
    return str(weigh(value))


def _repeated_text(left: str, right: int, _engine: Any) -> str:
    spend_text(len(left) * max(0, right))
    return left * right


def _repeated(left: Any, right: int, _engine: Any) -> Any:
    spend(len(left) * max(0, right))
    return left * right


def _replaced(string: str, old: str, new: str, count: int = -1) -> str:
    found = string.count(old) if count < 0 else min(count, string.count(old))
    spend_text(len(string) + found * max(0, len(new) - len(old)))
    return string.replace(old, new, count)


def _replaced_by_each(string: str, str_func: Callable[[Any], str], replacements: Mapping[Any, Any], count: int) -> str:
    for key, value in replacements.items():
        string = _replaced(string, str_func(key), str_func(value), count)
    return string


def _trimming(name: str) -> Callable[..., Any]:
    def trimmed(string: str | None, chars: str | None = None) -> str | None:
        if chars and len(chars) > _LONG:
            raise TooLarge(f"more than {_LONG} characters are trimmed")
        return None if string is None else getattr(string, name)(chars)

    return trimmed


_trimmed = _trimming("strip")


class OrderedSet(frozenset[Any]):
    """A set that is read in the order in which `plain` writes it, as are the sets made from it.

    The process that begins a run and the one that executes it have different hash seeds, and must agree.
    """

    @functools.cached_property
    def _ordered(self) -> list[Any]:
        """The elements, sorted once. Sorting on each iteration would double the time for every level of nested sets."""
        return in_order(super().__iter__())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ordered)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}"

    def union(self, *others: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().union(*others))

    def intersection(self, *others: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().intersection(*others))

    def difference(self, *others: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().difference(*others))

    def symmetric_difference(self, other: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().symmetric_difference(other))


def _dict_of(collection: Iterable[Any], _engine: Any, key_selector: Any, value_selector: Any = None) -> Any:
    keys = ((weigh(key_selector(item)), item) for item in collection)
    return utils.FrozenDict((key, item if value_selector is None else value_selector(item)) for key, item in keys)


_INSTEAD: Mapping[str, Callable[..., Any]] = {
    "common.eq": _is_equal,
    "common.neq": lambda left, right: not _is_equal(left, right),
    "math.pow_": _power,
    "math.shift_bits_left": _shifted,
    "math.round_": _rounded,
    "math.int_": _whole,
    "strings.concat": _concatenated,
    "strings.join": _joined,
    "strings.join_": lambda separator, sequence, str_delegate: _joined(sequence, separator, str_delegate),
    "strings.str_": _text,
    "strings.string_by_int": _repeated_text,
    "strings.int_by_string": lambda left, right, engine: _repeated_text(right, left, engine),
    "strings.replace": _replaced,
    "strings.replace_with_dict": lambda string, str_func, replacements, count=-1: _replaced_by_each(
        string, str_func, replacements, count
    ),
    "strings.characters": lambda *args, **kwargs: tuple(sorted(strings.characters(*args, **kwargs))),
    "strings.trim": _trimmed,
    "strings.trim_left": _trimming("lstrip"),
    "strings.trim_right": _trimming("rstrip"),
    "strings.norm": lambda string, chars=None: _trimmed(string, chars) or None,
    "strings.is_empty": lambda string, trim_spaces=True, chars=None: (
        not (_trimmed(string, chars) if trim_spaces else string)
    ),
    "collections.in_": _within,
    "collections.contains": lambda collection, value: _within(value, collection),
    "collections.contains_value": lambda d, value: _within(value, d.values()),
    "collections.flatten": _flattened,
    "collections.list_by_int": _repeated,
    "collections.int_by_list": lambda left, right, engine: _repeated(right, left, engine),
    "collections.to_set": lambda collection: OrderedSet(weighed(collection)),
    "collections.to_dict": _dict_of,
    "queries.count_": _length,
    "queries.join": _pairs,
}

_DEEP: Mapping[str, slice] = {
    **dict.fromkeys(
        (
            "collections.set_add", "collections.set_remove", "collections.set_lt",
            "collections.set_lte", "collections.set_gt", "collections.set_gte", "collections.union",
            "collections.intersect", "collections.difference", "collections.symmetric_difference",
            "queries.index_of", "queries.last_index_of", "queries.distinct", "branching.switch_case",
            "collections.dict_", "collections.dict__",
        ),
        slice(None),
    ),
    **dict.fromkeys(
        (
            "collections.dict_get", "collections.dict_indexer", "collections.dict_indexer_with_default",
            "collections.contains_key", "collections.delete_keys", "collections.delete_keys_seq",
        ),
        slice(1, None),
    ),
    "collections.dict_set": slice(2, 3),
    "collections.dict_set_many_inline": slice(2, None),
}  # fmt: skip
"""The arguments, by position, that a function compares or hashes."""
