"""The functions and operators of YAQL that are compiled, with the library's meaning; see `yaql_compiled`.

A function takes the evaluation, its receiver if it is a method, and its arguments: values, or functions of an element
for those whose `Signature` says so.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from typing import Any, NamedTuple

from fuelclient.expressions.facts import View
from fuelclient.expressions.functions import METHODS as FUELS_METHODS
from fuelclient.expressions.functions import UNDEFINED, OrderedSet
from fuelclient.expressions.patterns import linear
from fuelclient.expressions.work import MAX_ITEMS, NoElement, TooManyItems, Uncompiled, Unfit, Work


class Frozen(dict[Any, Any]):
    """A mapping that an expression makes; it can be an element of a set."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


class Run:
    """One evaluation: its view of the facts, its work, and the patterns that it has matched."""

    __slots__ = ("patterns", "view", "work")

    def __init__(self, view: View) -> None:
        self.view, self.work, self.patterns = view, Work(), set[str]()


_KNOWN = (str, int, float, type(None), Mapping, Sequence, Set, Iterator, MappingView, type(UNDEFINED))


def unfit(name: str, *values: Any) -> Exception:
    return Unfit(name) if all(isinstance(value, _KNOWN) for value in values) else Uncompiled()


def is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping)


def items_of(run: Run, value: Any, name: str) -> Iterable[Any]:
    """`value` if it is a sequence or a set that an expression may read, or an iterator that counts what is read."""
    if not is_iterable(value):
        raise unfit(name, value)
    if isinstance(value, Sequence | Set):
        if len(value) > MAX_ITEMS:
            raise TooManyItems
        run.work.spend(len(value) // 10)
        return value
    return run.work.limited(value)


_PREPARED, _PREPARED_CHARACTER = 200, 5
"""A pattern, and each of its characters, counts as so many elements when an evaluation first uses it."""
_SEARCHED = 80
"""So many characters of a text that is searched count as one element."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _any(_run: Run, items: Any, predicate: Callable[[Any], Any] | None = None) -> bool:
    return any(predicate is None or predicate(item) for item in items)


def _first(_run: Run, items: Any, default: Any = NoElement) -> Any:
    if (found := next(iter(items), default)) is NoElement:
        raise NoElement
    return found


def _length(run: Run, value: Any) -> int:
    if isinstance(value, Iterator):
        return sum(1 for _ in run.work.limited(value))
    if not isinstance(value, str | Mapping | Sequence | Set):
        raise unfit("len", value)
    return len(value)


def _flattened(run: Run, items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        run.work.spend(1)
        if is_iterable(item):
            yield from _flattened(run, items_of(run, item, "flatten"))
        else:
            yield item


def _unrolled(run: Run, items: Iterable[Any]) -> Iterator[Any]:
    """The elements, and in place of each lazy sequence its elements."""
    for item in items:
        if isinstance(item, Iterator):
            yield from _unrolled(run, run.work.limited(item))
        else:
            yield item


def _set_of(run: Run, items: Iterable[Any]) -> OrderedSet:
    made = OrderedSet(map(run.work.weigh, items))
    run.work.spend(len(made))
    return made


def _list(run: Run, *items: Any) -> tuple[Any, ...]:
    return tuple(run.work.limited(_unrolled(run, items)))


def _to_list(run: Run, items: Any) -> tuple[Any, ...]:
    made = tuple(items)
    run.work.spend(len(made))
    return made


def _set(run: Run, *items: Any) -> OrderedSet:
    return _set_of(run, run.work.limited(_unrolled(run, items)))


def _of_sets(name: str, method: str) -> Callable[[Run, Any, Any], Any]:
    def function(run: Run, left: Any, right: Any) -> Any:
        if not (isinstance(left, Set) and isinstance(right, Set)):
            raise unfit(name, left, right)
        run.work.spend((len(left) + len(right)) // 10)
        return getattr(left, method)(right)

    return function


def with_entries(run: Run, mapping: Any, *changes: Any) -> Frozen:
    """`set()` of a mapping with a key and a value, another mapping, or rules."""
    run.work.spend(len(mapping))
    if len(changes) == 1 and isinstance(changes[0], Mapping):
        return Frozen({**mapping, **changes[0]})
    if len(changes) == 2 and not any(isinstance(change, Rule) for change in changes):
        changes = (Rule(*changes),)
    if not all(isinstance(change, Rule) for change in changes):
        raise unfit("set", *changes)
    return Frozen({**mapping, **{run.work.weigh(rule.key): rule.value for rule in changes}})


def mapping_of(run: Run, *rules: Any) -> Frozen:
    """`dict()` with rules, or with a sequence of pairs."""
    if len(rules) == 1 and not isinstance(rules[0], Rule):
        return Frozen((run.work.weigh(key), value) for key, value in map(_pair, items_of(run, rules[0], "dict")))
    if not all(isinstance(rule, Rule) for rule in rules):
        raise unfit("dict", *rules)
    return Frozen((run.work.weigh(rule.key), rule.value) for rule in rules)


class Rule(NamedTuple):
    key: Any
    value: Any


def _pair(item: Any) -> tuple[Any, Any]:
    pair = tuple(itertools.islice(iter(item), 2))
    if len(pair) < 2:
        raise NoElement
    return pair


def _concat(run: Run, *args: Any) -> Any:
    if all(isinstance(arg, str) for arg in args):
        return run.work.text("".join(args))
    return _chained(run, *args)


def _chained(run: Run, *args: Any) -> Iterator[Any]:
    return itertools.chain(*[items_of(run, arg, "concat") for arg in args])


def _matches(run: Run, text: Any, pattern: Any, name: str = "matches") -> bool:
    """Whether a pattern matches anywhere in a text; in linear time, or else in a child process."""
    if not (isinstance(text, str) and isinstance(pattern, str)):
        raise unfit(name, text, pattern)
    if pattern not in run.patterns:
        run.patterns.add(pattern)
        run.work.spend(_PREPARED + _PREPARED_CHARACTER * len(pattern))
    if (regex := linear(pattern, text)) is None:
        raise Uncompiled
    run.work.spend(len(text) // _SEARCHED)
    return regex.search(text) is not None


def _mapping(_run: Run, value: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise unfit(name, value)
    return value


def _dict(run: Run, value: Any, name: str) -> dict[Any, Any]:
    """A mapping whose views of keys and values are those that the library has; those of facts are not."""
    return value if isinstance(value, dict) else dict(_mapping(run, value, name))


class Signature(NamedTuple):
    """How a function or method is called: with `least` to `most` arguments, beside a method's receiver."""

    function: Callable[..., Any]
    least: int
    most: int
    prepare: Callable[[Run, Any, str], Any] = lambda _run, value, _name: value
    """What makes the receiver, or the first argument, of a value, for the function of this name; it raises `Unfit`."""
    has_lambda: bool = False
    """Whether its argument is a function of an element."""


_MANY = 1000
_ANY = Signature(_any, 0, 1, items_of, True)
_ALL = Signature(lambda _run, items, holds=bool: all(map(holds, items)), 0, 1, items_of, True)
METHODS = {
    "where": Signature(lambda _run, items, holds: filter(holds, items), 1, 1, items_of, True),
    "select": Signature(lambda _run, items, value_of: map(value_of, items), 1, 1, items_of, True),
    "any": _ANY,
    "all": _ALL,
    "first": Signature(_first, 0, 1, items_of),
    "len": Signature(_length, 0, 0),
    "flatten": Signature(_flattened, 0, 0, items_of),
    "toList": Signature(_to_list, 0, 0, items_of),
    "toSet": Signature(_set_of, 0, 0, items_of),
    "union": Signature(_of_sets("union", "union"), 1, 1),
    "intersect": Signature(_of_sets("intersect", "intersection"), 1, 1),
    "difference": Signature(_of_sets("difference", "difference"), 1, 1),
    "keys": Signature(lambda _run, mapping: mapping.keys(), 0, 0, _dict),
    "values": Signature(lambda _run, mapping: mapping.values(), 0, 0, _dict),
    "items": Signature(lambda _run, mapping: mapping.items(), 0, 0, _dict),
    "get": Signature(lambda run, mapping, key, other=None: mapping.get(run.work.weigh(key), other), 1, 2, _mapping),
    "containsKey": Signature(lambda run, mapping, key: run.work.weigh(key) in mapping, 1, 1, _mapping),
    "set": Signature(with_entries, 1, _MANY, _mapping),
    "concat": Signature(_chained, 0, _MANY),
    "matches": Signature(_matches, 1, 1),
    **{name: Signature(method, 0, 0) for name, method in FUELS_METHODS.items()},
}
FUNCTIONS = {
    "any": _ANY._replace(least=1, most=2),
    "all": _ALL._replace(least=1, most=2),
    "len": Signature(_length, 1, 1),
    "concat": Signature(_concat, 1, _MANY),
    "set": Signature(_set, 0, _MANY),
    "list": Signature(_list, 0, _MANY),
    "dict": Signature(mapping_of, 0, _MANY),
}


def _sum(run: Run, left: Any, right: Any) -> Any:
    if _is_number(left) and _is_number(right):
        return run.work.number(left + right)
    if isinstance(left, str) and isinstance(right, str):
        return run.work.text(left + right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        run.work.spend(len(left) + len(right))
        return Frozen({**left, **right})
    if not (is_iterable(left) and is_iterable(right)):
        raise unfit("#operator_+", left, right)
    left, right = (items_of(run, value, "#operator_+") for value in (left, right))
    if isinstance(left, tuple) and isinstance(right, tuple):
        run.work.spend(len(left) + len(right))
        return left + right
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        return left.union(right)
    return itertools.chain(left, right)


def _less(run: Run, left: Any, right: Any) -> Any:
    if _is_number(left) and _is_number(right):
        return run.work.number(left - right)
    return _of_sets("#operator_-", "difference")(run, left, right)


_Elements: type[Iterator[Any]] = type(iter(()))
"""The iterators of lists that are computed once, in which each of a thousand nodes may look for itself."""


def _is_in(run: Run, value: Any, collection: Any) -> bool:
    if isinstance(value, str) and isinstance(collection, str):
        run.work.spend(len(collection) // _SEARCHED)
        return value in collection
    if type(collection) is _Elements and isinstance(value, str | int | float | None):
        before = operator.length_hint(collection)
        found = value in collection
        run.work.spend(before - operator.length_hint(collection))
        return found
    items = items_of(run, value=collection, name="#operator_in")
    if isinstance(value, str | int | float | None):
        if isinstance(items, Sequence | Set):
            run.work.spend(len(items) // 10)
        return value in items
    return run.work.weigh(value) in map(run.work.weigh, items) if not isinstance(items, Set) else value in items


def _equal(run: Run, left: Any, right: Any) -> bool:
    if type(left) is str and len(left) > _SEARCHED:
        run.work.spend(len(left) // _SEARCHED)
    if isinstance(left, str | int | float | None) or isinstance(right, str | int | float | None):
        return bool(left == right)
    return bool(run.work.weigh(left) == run.work.weigh(right))


def _ordered(sign: str, compare: Callable[[Any, Any], Any]) -> Callable[[Run, Any, Any], Any]:
    """A comparison: of numbers, texts or sets. Null is less than everything else."""

    def function(run: Run, left: Any, right: Any) -> Any:
        if left is None or right is None:
            return compare(left is not None, right is not None)
        for fits in (_is_number, lambda value: isinstance(value, str), lambda value: isinstance(value, Set)):
            if fits(left) and fits(right):
                return compare(run.work.weigh(left), run.work.weigh(right))
        raise unfit(f"#operator_{sign}", left, right)

    return function


OPERATORS: Mapping[str, Callable[[Run, Any, Any], Any]] = {
    "=": _equal, "!=": lambda run, left, right: not _equal(run, left, right), "in": _is_in, "+": _sum, "-": _less,
    "<": _ordered("<", lambda left, right: left < right), "<=": _ordered("<=", lambda left, right: left <= right),
    ">": _ordered(">", lambda left, right: left > right), ">=": _ordered(">=", lambda left, right: left >= right),
    "=~": lambda run, left, right: _matches(run, left, right, "#operator_=~"),
    "!~": lambda run, left, right: not _matches(run, left, right, "#operator_!~"),
}  # fmt: skip


def _signed(sign: str) -> Callable[[Any], Any]:
    def function(value: Any) -> Any:
        if not _is_number(value):
            raise unfit(f"#unary_operator_{sign}", value)
        return -value if sign == "-" else +value

    return function


UNARY: Mapping[str, Callable[[Any], Any]] = {
    "unary not": lambda value: not value, "unary -": _signed("-"), "unary +": _signed("+"),
}  # fmt: skip
