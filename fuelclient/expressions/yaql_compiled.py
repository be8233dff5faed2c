"""Compile trees of YAQL to Python closures, for the functions that Fuel's releases and plugins use.

What these closures compute is what the library computes, to the last value: when a sequence is read, what raises what,
which types fit. Each counts its work. A tree with anything else, or a value that no document has, such as a date,
raises `Uncompiled`: the library evaluates the whole expression in a child process (see `child_process`).

The value of a part that depends on nothing but facts is kept by `View.once`: for all nodes if it read nothing that
differs between nodes, otherwise for one node or for those that are alike. So
`$.uid in added($.network_metadata.nodes.values()).uid` costs each node one search in a list that is computed once.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fuelclient.expressions.facts import Union, View
from fuelclient.expressions.functions import ON_FACTS, SEVERAL, UNDEFINED, plain
from fuelclient.expressions.work import CALL, MAX_ITEMS, MissingKey, TooMuchWork, Uncompiled
from fuelclient.expressions.yaql_functions import (
    FUNCTIONS,
    METHODS,
    OPERATORS,
    UNARY,
    Rule,
    Run,
    Signature,
    is_iterable,
    items_of,
    mapping_of,
    unfit,
    with_entries,
)
from fuelclient.expressions.yaql_syntax import Tree

Code = Callable[[Run, Any], Any]
"""A compiled part: it takes the evaluation and what `$` is."""


class Part(NamedTuple):
    """A compiled part. If it `is_free`, it depends on the element that `$` is in a lambda around it."""

    code: Code
    is_free: bool


_CHEAP = {"get", "len", "any", "all", "isUndef", "concat", "matches", "first"}
"""Calls whose values are not kept by themselves."""


def compiled(tree: Tree) -> Code:
    """The closure of a tree. Raise `Uncompiled` if only the library can evaluate it."""
    return _part(tree, False).code


def _part(tree: Tree, in_lambda: bool) -> Part:
    """Compile a part of an expression, which may stand in a lambda."""
    if (kind := tree[0]) == "value":
        return Part(lambda _run, _dollar, value=tree[2]: value, False)  # type: ignore[misc]
    if kind == "word":
        return Part(lambda _run, _dollar, word=tree[1]: word, False)  # type: ignore[misc]
    if kind == "$":
        return _variable(tree[1], in_lambda)
    if kind == "." or kind == "?.":
        return _dotted(tree, in_lambda)
    if kind == "call":
        return _call(tree, in_lambda)
    if kind == "and" or kind == "or":
        (left, frees), (right, free) = (_part(operand, in_lambda) for operand in tree[1:])
        if kind == "and":
            return Part(lambda run, dollar: left(run, dollar) and right(run, dollar), frees or free)
        return Part(lambda run, dollar: left(run, dollar) or right(run, dollar), frees or free)
    if kind in OPERATORS:
        return _operation(OPERATORS[kind], tree, in_lambda)
    if kind in UNARY:
        operand, free = _part(tree[1], in_lambda)
        return Part(lambda run, dollar, apply=UNARY[kind]: apply(operand(run, dollar)), free)  # type: ignore[misc]
    if kind in ("list", "map"):
        codes, free = _arguments(tree[1:], in_lambda)
        if kind == "list":
            return Part(lambda run, dollar: tuple([code(run, dollar) for code in codes]), free)
        return Part(lambda run, dollar: mapping_of(run, *[code(run, dollar) for code in codes]), free)
    raise Uncompiled


def _variable(name: str, in_lambda: bool) -> Part:
    if name in ("$", "$1"):
        return Part(lambda _run, dollar: dollar, in_lambda)
    if name == "$node":
        return Part(lambda run, _dollar: run.view.node, False)
    if name == "$common":
        return Part(lambda run, _dollar: run.view.common, False)
    raise Uncompiled


def _arguments(trees: Iterable[Tree], in_lambda: bool) -> tuple[list[Code], bool]:
    """The arguments of a call, and whether one of them depends on the element; rules become `Rule`."""
    parts = [_rule(tree, in_lambda) if tree[0] == "=>" else _part(tree, in_lambda) for tree in trees]
    return [part.code for part in parts], any(part.is_free for part in parts)


def _rule(tree: Tree, in_lambda: bool) -> Part:
    (key, value), free = _arguments(tree[1:], in_lambda)
    return Part(lambda run, dollar: Rule(key(run, dollar), value(run, dollar)), free)


def _operation(apply: Callable[[Run, Any, Any], Any], tree: Tree, in_lambda: bool) -> Part:
    (left, right), free = _arguments(tree[1:], in_lambda)

    def code(run: Run, dollar: Any) -> Any:
        run.work.done += CALL
        return apply(run, left(run, dollar), right(run, dollar))

    return Part(code, free)


def _dotted(tree: Tree, in_lambda: bool) -> Part:
    sign, receiver, member = tree
    if member[0] == "word":
        part = _property(receiver, member[1], in_lambda)
    elif receiver[:2] == ("call", "regex") and len(receiver) == 3 and member[:2] == ("call", "matches"):
        return _dotted((sign, member[2], ("call", "matches", receiver[2])), in_lambda)
    elif member[0] == "call" and member[1] in METHODS:
        part = _called(member[1], METHODS, (receiver, *member[2:]), in_lambda)
    else:
        raise Uncompiled
    if sign == "?.":
        raise Uncompiled
    is_worth_it = member[1] not in _CHEAP if member[0] == "call" else _is_computed(receiver)
    if is_worth_it and not part.is_free:
        return Part(_kept(tree, part.code, rooted=in_lambda), False)
    return part


def _is_computed(tree: Tree) -> bool:
    """Whether a receiver can be a list that a call makes, so that its attributes are worth keeping."""
    return tree[0] == "call" or (tree[0] == "." and tree[2][0] == "call" and tree[2][1] not in ("get", "first"))


def _path(tree: Tree) -> str:
    """How an expression names a value: `$.a.b`, or `...` for what it computes.

    Numbers and names of methods are not a part of it, since texts in expressions may be secret.
    """
    if tree[0] == "." and tree[2][0] == "word":
        return f"{_path(tree[1])}.{tree[2][1]}"
    return str(tree[1]) if tree[0] == "$" else "..."


def _property(receiver: Tree, name: str, in_lambda: bool) -> Part:
    whole, free = _part(receiver, in_lambda)
    path = f"{_path(receiver)}.{name}"
    is_path = receiver[0] == "." and receiver[2][0] == "word"

    def code(run: Run, dollar: Any) -> Any:
        try:
            value = whole(run, dollar)
        except MissingKey as error:
            if is_path:
                error.path += f".{name}"  # the whole path that is read says more than where the facts end
            raise
        if isinstance(value, Mapping):
            try:
                return value[name]
            except KeyError:
                raise MissingKey(name, path) from None
        return _attribute(run, value, name)

    return Part(code, free)


def _attribute(run: Run, value: Any, name: str) -> Any:
    """A key of a mapping, or lazily that of each mapping in a sequence."""
    if isinstance(value, Mapping):
        try:
            return value[name]
        except KeyError:
            raise MissingKey(name) from None
    if not is_iterable(value):
        raise unfit(f"#property#{name}", value)
    return (_attribute(run, item, name) for item in items_of(run, value, name))


def _call(tree: Tree, in_lambda: bool) -> Part:
    _, name, *args = tree
    if name in ON_FACTS and len(args) == 1:
        return _on_facts(tree, ON_FACTS[name], args[0])
    if name in SEVERAL:
        codes = [_on_facts(("call", "changed", arg), ON_FACTS["changed"], arg).code for arg in args]
        return Part(lambda run, dollar: SEVERAL[name](code(run, dollar) for code in codes), False)
    if name in ("switch", "coalesce"):
        return _choice(name, args, in_lambda)
    if name not in FUNCTIONS:
        raise Uncompiled
    part = _called(name, FUNCTIONS, args, in_lambda)
    return part if part.is_free or name in _CHEAP else Part(_kept(tree, part.code, rooted=in_lambda), False)


def _on_facts(tree: Tree, apply: Callable[[Callable[[Any], Any], Any], Any], arg: Tree) -> Part:
    if arg[0] == "=>":
        raise Uncompiled
    inner = _part(arg, False).code

    def code(run: Run, _dollar: Any) -> Any:
        run.work.spend(CALL)
        return apply(functools.partial(inner, run), run)

    return Part(_kept(tree, code, rooted=True), False)


def _choice(name: str, args: Sequence[Tree], in_lambda: bool) -> Part:
    """`switch(condition => value, ...)`, or the first value that is not null."""
    if any((arg[0] == "=>") != (name == "switch") for arg in args):
        raise Uncompiled
    if name == "coalesce":
        codes, free = _arguments(args, in_lambda)

        def first_value(run: Run, dollar: Any) -> Any:
            values = (code(run, dollar) for code in codes)
            return next((value for value in values if value is not None), None)

        return Part(first_value, free)
    rules = [_arguments(arg[1:], in_lambda) for arg in args]

    def chosen(run: Run, dollar: Any) -> Any:
        return next((value(run, dollar) for (holds, value), _ in rules if holds(run, dollar)), None)

    return Part(chosen, any(free for _, free in rules))


def _called(name: str, known: Mapping[str, Signature], args: Sequence[Tree], in_lambda: bool) -> Part:
    """A call of a known function; a method's receiver is the first of `args`."""
    function, least, most, prepare, has_lambda = known[name]
    if not least <= len(args) - (known is METHODS) <= most:
        raise Uncompiled
    if function not in (mapping_of, with_entries) and any(arg[0] == "=>" for arg in args):
        raise Uncompiled
    if has_lambda and len(args) == 2:
        (items, free), body = _part(args[0], in_lambda), _part(args[1], True).code

        def with_lambda(run: Run, dollar: Any) -> Any:
            def apply(item: Any) -> Any:
                run.work.spend(CALL)
                return body(run, item)

            return function(run, prepare(run, items(run, dollar), name), apply)

        return Part(with_lambda, free)
    codes, free = _arguments(args, in_lambda)

    def code(run: Run, dollar: Any) -> Any:
        run.work.spend(CALL)
        values = [argument(run, dollar) for argument in codes]
        if values:
            values[0] = prepare(run, values[0], name)
        return function(run, *values)

    return Part(code, free)


_keys: dict[Tree, int] = {}


def _kept(tree: Tree, compute: Code, *, rooted: bool = False) -> Code:
    """A part that depends on nothing but facts, so that the view keeps its value. If it is `rooted`, it does not depend
    on whether `$` are new or old facts either."""
    key = _keys.setdefault(tree, len(_keys))

    def code(run: Run, dollar: Any) -> Any:
        view = run.view
        root = None if rooted else True if dollar is view.new else False if dollar is view.old else _NO_ROOT
        if root is _NO_ROOT:
            return compute(run, dollar)
        value = view.once(
            (key, root), lambda: _finished(compute(run, dollar)), lambda made: _can_be_kept(made, run, set())
        )
        return iter(value) if isinstance(value, _Taken) else value

    return code


_NO_ROOT = object()


class _Taken(tuple[Any, ...]):
    """The elements of a lazy sequence, for each use of the part that makes it."""


def _finished(value: Any) -> Any:
    """A lazy sequence as `_Taken`; one that is too long, or fails on the way, remains lazy and fails later."""
    if not isinstance(value, Iterator):
        return value
    taken: list[Any] = []
    try:
        for item in itertools.islice(value, MAX_ITEMS + 1):
            taken.append(item)  # noqa: PERF402 - the items before an error are needed
    except (TooMuchWork, Uncompiled, MemoryError):
        raise
    except Exception as error:  # raised again when the sequence is read up to here
        return itertools.chain(taken, map(_raise, (error,)))
    return _Taken(taken) if len(taken) <= MAX_ITEMS else itertools.chain(taken, value)


def _raise(error: Exception) -> None:
    raise error


def _can_be_kept(value: Any, run: Run, seen: set[int]) -> bool:
    """Whether a value is data that contains no view, which the next node must not see.

    Keys and values of a mapping are views too, hence the test for the concrete classes of sets. `seen` has the parts
    that were looked at, since values share them.
    """
    if value is None or value is UNDEFINED or isinstance(value, str | int | float) or run.view.is_settled(value):
        return True
    if isinstance(value, Union) or not isinstance(value, Mapping | tuple | list | frozenset):
        return False
    if id(value) in seen:
        return True
    seen.add(id(value))
    run.work.spend(len(value))
    parts: Iterable[Any] = itertools.chain(*value.items()) if isinstance(value, Mapping) else value
    if isinstance(value, frozenset):
        parts = frozenset.__iter__(value)  # in any order: sorting would read lazy elements
    return all(_can_be_kept(part, run, seen) for part in parts)


def evaluate(code: Code, view: View) -> Any:
    """The value of a compiled expression as plain data, or `UNDEFINED`. Raise what its functions raise."""
    run = Run(view)
    value = code(run, view.new)
    return value if value is UNDEFINED else plain(value, run.work, view.is_settled)
