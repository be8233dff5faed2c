"""The functions that Fuel adds to YAQL, and the conversion of values of expressions to plain data.

Source: Nailgun `yaql_ext`.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from datetime import datetime
from typing import Any

from fuelclient.expressions.block_yaml import to_yaml
from fuelclient.expressions.work import MAX_WRITTEN, TooLarge, TooMuchWork, Uncompiled, Work

_STEPS_PER_ELEMENT = 5
"""This many steps of a comparison count as one element of a sequence."""
_SCALARS = (str, int, float, bool, type(None))


class Undefined:
    """The old value of an expression that has none. It is equal only to itself, and is truthy."""

    def __repr__(self) -> str:
        return "undefined"

    def __reduce__(self) -> str:
        return "UNDEFINED"  # so that it is the same in a child process


UNDEFINED = Undefined()


class NotData(Exception):
    """A value is not a string, a number, true, false, null, or a list or mapping of such."""


IsSettled = Callable[[object], bool]


def plain(value: Any, work: Work, is_settled: IsSettled = lambda _: False) -> Any:
    """`value` as dictionaries, lists and scalars. Sets become lists in a stable order, and lazy sequences are
    evaluated. Values that are plain data already, according to `is_settled`, are returned as they are.

    Raise `TooManyItems`, `TooMuchWork`, `NotData`, and whatever a lazy sequence raises.

    >>> plain({"a": (1, {"y", "x"}), "b": map(str, [1])}, Work())
    {'a': [1, ['x', 'y']], 'b': ['1']}
    """
    if type(value) in _SCALARS or is_settled(value):
        return value
    if isinstance(value, Mapping):
        work.spend(1 + len(value))
        return {_key(key): plain(item, work, is_settled) for key, item in value.items()}
    if isinstance(value, Set) and not isinstance(value, MappingView):
        work.spend(1 + len(value))
        return sorted((plain(item, work, is_settled) for item in value), key=_rank)
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        work.spend(1 + len(value))
        return [plain(item, work, is_settled) for item in value]
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [plain(item, work, is_settled) for item in work.limited(value)]
    raise NotData(type(value).__name__)


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
    return sorted(
        items, key=lambda item: _rank(item.isoformat() if isinstance(item, datetime) else plain(item, Work()))
    )


def _rank(value: object) -> tuple[str, str]:
    return type(value).__name__, json.dumps(value, sort_keys=True)


def difference(old: Any, new: Any, work: Work) -> tuple[Any, Any]:
    """Return what was added and what was deleted: elements of lists, entries of mappings, lines of texts.

    Other values were added and deleted as a whole if they differ; otherwise both results are null. The arguments are
    plain data.

    Source: Nailgun `utils.datadiff`.

    >>> difference([1, 2], [2, 3], Work()), difference({"a": 1, "b": 1}, {"a": 2, "b": 1}, Work())
    (([3], [1]), ({'a': 2}, {'a': 1}))
    >>> difference("a\\nb", "a", Work()), difference(1, 2, Work()), difference(1, 1, Work())
    (([], ['b']), (2, 1), (None, None))
    """
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        return _entries(new, old), _entries(old, new)
    if isinstance(new, str) and isinstance(old, str):
        return _elements(old.splitlines(), new.splitlines(), work)
    if isinstance(new, list) and isinstance(old, list):
        return _elements(old, new, work)
    return (None, None) if type(old) is type(new) and old == new else (new, old)


def _entries(of: Mapping[Any, Any], without: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in of.items() if key not in without or without[key] != value}


def _elements(old: Sequence[Any], new: Sequence[Any], work: Work) -> tuple[list[Any], list[Any]]:
    """The added and the deleted elements.

    The matcher's heuristic for popular elements is off; with it, long lists would seem to gain elements that they
    already had.
    """
    if old == new:
        return [], []
    matcher = _Counted(a=_hashable(old), b=_hashable(new), autojunk=False)
    matcher.work = work
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    return (
        [item for _, _, _, first, last in changes for item in new[first:last]],
        [item for _, first, last, _, _ in changes for item in old[first:last]],
    )


class _Counted(difflib.SequenceMatcher[str]):
    """A matcher that charges its steps to the evaluation, because many equal elements make it slower than quadratic."""

    a: Sequence[str]
    b2j: dict[str, list[int]]
    work: Work

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        last = len(self.a) if ahi is None else ahi
        self.work.spend(
            sum(1 + len(self.b2j.get(self.a[index], ())) for index in range(alo, last)) // _STEPS_PER_ELEMENT
        )
        return super().find_longest_match(alo, ahi, blo, bhi)


def _hashable(items: Sequence[Any]) -> list[str]:
    return [json.dumps(item, sort_keys=True) for item in items]


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


def to_json(value: Any, work: Work) -> str:
    """Return plain data as JSON, as Nailgun's `toJson()` writes it. Raise `TooMuchWork`."""
    entries = work.weight(value) // 2  # it counts keys, too, and what is shared each time
    if entries > MAX_WRITTEN:
        raise TooLarge(f"a text has more than {MAX_WRITTEN} entries")
    work.write(entries)
    return json.dumps(value)


# Functions that evaluate their argument on new or old facts, whatever `$` means around them. `evaluate` takes those
# facts; `run` has the `view` of both, and the `work` of the evaluation.
Evaluate = Callable[[Any], Any]


def _new(evaluate: Evaluate, run: Any) -> Any:
    return evaluate(run.view.new)


def _old(evaluate: Evaluate, run: Any) -> Any:
    """The value on old facts, or `UNDEFINED` if that fails.

    Lazy sequences are evaluated here, so that one that would fail later is undefined too; in Nailgun the run fails.
    """
    try:
        value = evaluate(run.view.old)
        return tuple(run.work.limited(value)) if isinstance(value, Iterator) else value
    except (RecursionError, MemoryError, TooMuchWork, Uncompiled):
        raise
    except Exception:
        return UNDEFINED


def _both(evaluate: Evaluate, run: Any) -> tuple[Any, Any]:
    """The new and the old value as plain data."""
    new, old = plain(_new(evaluate, run), run.work, run.view.is_settled), _old(evaluate, run)
    try:
        return new, old if old is UNDEFINED else plain(old, run.work, run.view.is_settled)
    except (RecursionError, MemoryError, TooMuchWork, Uncompiled):
        raise
    except Exception:  # a lazy sequence deep inside the old value fails
        return new, UNDEFINED


def _changed(evaluate: Evaluate, run: Any) -> bool:
    """Whether the new value differs from the old one. An undefined old value differs from every new one."""
    new, old = _new(evaluate, run), _old(evaluate, run)
    if _is_fact(new) and new and (old is UNDEFINED or (_is_fact(old) and not old)):
        return True  # the task has never succeeded, as on each of a thousand new nodes
    if old is not UNDEFINED and new is not UNDEFINED and _compared(run, new) == _compared(run, old):
        return False
    new, old = _both(evaluate, run)
    return bool(new != old)


def _compared(run: Any, value: Any) -> Any:
    """A value that is compared. Facts are what they are; only what an expression makes can be much in little."""
    return value if _is_fact(value) else run.work.weigh(value)


def _is_fact(value: Any) -> bool:
    """Whether a mapping or a list was read, and not made by an expression."""
    return type(value) in (dict, list) or (isinstance(value, Mapping) and not isinstance(value, dict))


def _added(evaluate: Evaluate, run: Any) -> Any:
    new, old = _both(evaluate, run)
    return new if old is UNDEFINED else difference(old, new, run.work)[0]


def _deleted(evaluate: Evaluate, run: Any) -> Any:
    new, old = _both(evaluate, run)
    return None if old is UNDEFINED else difference(old, new, run.work)[1]


ON_FACTS: Mapping[str, Callable[[Evaluate, Any], Any]] = {
    "new": _new, "old": _old, "changed": _changed, "added": _added, "deleted": _deleted,
}  # fmt: skip
SEVERAL: Mapping[str, Callable[[Iterable[Any]], bool]] = {"changedAny": any, "changedAll": all}
"""Each argument of these functions is treated like a call of `changed` of its own."""


def _written(write: Callable[[Any, Work], str]) -> Callable[[Any, Any], str]:
    return lambda run, value: str(run.work.text(write(plain(value, run.work, run.view.is_settled), run.work)))


METHODS: Mapping[str, Callable[[Any, Any], Any]] = {
    "toYaml": _written(to_yaml), "toJson": _written(to_json), "isUndef": lambda _, value: value is UNDEFINED,
}  # fmt: skip
