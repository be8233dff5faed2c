"""Evaluate YAQL by the library itself: the program of a child process with limits, which `child_process` starts.

The library gets Fuel's functions, sets that have one order, and patterns that RE2 matches. Nothing else of it is
changed: the process limits its memory and time, and has one hash seed.
"""

from __future__ import annotations

import functools
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Mapping  # the library needs this imported before itself
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import yaql  # type: ignore[import-untyped]
from yaql.language import exceptions, specs, utils, yaqltypes  # type: ignore[import-untyped]
from yaql.standard_library import regex  # type: ignore[import-untyped]

from fuelclient.expressions.functions import METHODS, ON_FACTS, SEVERAL, UNDEFINED, OrderedSet, plain
from fuelclient.expressions.limits import MEMORY
from fuelclient.expressions.patterns import Pattern
from fuelclient.expressions.work import MAX_ITEMS, NoElement, TooManyItems, Unfit, Unlimited, Work
from fuelclient.expressions.yaql_engine import failed

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_OPTIONS = {
    "yaql.limitIterators": MAX_ITEMS, "yaql.memoryQuota": 100 * 1024 * 1024, "yaql.convertInputData": False,
}  # fmt: skip
_RUN = "$%run"
"""The name under which an evaluation finds its facts. Expressions cannot use it, because % is not part of names."""


@functools.cache
def _functions() -> Any:
    """The library's functions and ours."""
    context = yaql.create_context().create_child_context()
    lazy = yaqltypes.Lambda(with_context=True)
    for name, apply in ON_FACTS.items():
        context.register_function(specs.parameter("expression", lazy)(_on_facts(apply)), name=name)
    for name, holds in SEVERAL.items():
        context.register_function(specs.parameter("expressions", lazy)(_several(holds)), name=name)
    for name, apply in METHODS.items():
        context.register_function(specs.method(_method(apply)), name=name)
    iterable = specs.parameter("collection", yaqltypes.Iterable())
    context.register_function(specs.method(iterable(_set)), name="toSet")
    compiled = functools.lru_cache(maxsize=256)(Pattern)
    matching = {"compile": compiled, "search": lambda pattern, text: compiled(pattern).search(text)}
    regex.re = SimpleNamespace(**{**vars(re), **matching})
    return context


def _set(collection: Iterable[Any]) -> OrderedSet:
    return OrderedSet(collection)


def _on_facts(apply: Callable[[Callable[[Any], Any], Any], Any]) -> Callable[..., Any]:
    def function(expression: Any, context: Any) -> Any:
        def evaluate(root: Any) -> Any:
            child = context.create_child_context()
            child["$"] = root
            return expression(child)

        return apply(evaluate, context[_RUN])

    return function


def _several(holds: Callable[[Iterable[Any]], bool]) -> Callable[..., bool]:
    def function(context: Any, *expressions: Any) -> bool:
        changed = _on_facts(ON_FACTS["changed"])
        return holds(changed(expression, context) for expression in expressions)

    return function


def _method(apply: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda receiver, context: apply(context[_RUN], receiver)


@functools.cache
def _engine() -> Any:
    return yaql.YaqlFactory().create(_OPTIONS)


def evaluate(text: str, facts: Mapping[str, Any]) -> Any:
    """The value of an expression as plain data, or `UNDEFINED`. Raise what functions raise.

    `facts` are those that `$` (`new` and `old`), `$node` and `$common` stand for.
    """
    view = SimpleNamespace(**facts, is_settled=lambda _: False)
    context = _functions().create_child_context()
    context["$"], context["$node"], context["$common"] = view.new, view.node, view.common
    context[_RUN] = SimpleNamespace(view=view, work=Unlimited())
    try:
        value = _engine()(text).expression(utils.NO_VALUE, context, _engine())
        return value if value is UNDEFINED else _checked(plain(value, Work()), Work())
    except exceptions.WrappedException as error:
        raise NoElement from error
    except exceptions.ResolutionError as error:
        name = str(error).partition('"')[2].partition('"')[0]
        raise Unfit(name, "unknown" if str(error).startswith("Unknown") else "") from error
    except exceptions.CollectionTooLargeException as error:
        raise TooManyItems from error
    except exceptions.MemoryQuotaExceededException as error:
        raise MemoryError from error


def _checked(value: Any, work: Work) -> Any:
    """A value whose numbers and texts are not larger than those of a compiled expression can be."""
    if isinstance(value, int):
        work.number(value)
    elif isinstance(value, str):
        work.text(value)
    elif value is not None and not isinstance(value, float):
        for part in value.items() if isinstance(value, dict) else value:
            _checked(part, work)
    return value


def serve(descriptor: int, parent: int) -> None:
    """Answer the requests of the parent on its connection until it closes it."""
    _end_with(parent)
    _answered("regex('a').matches('a')", {"new": {}, "old": {}, "node": {}, "common": {}})  # so that all is imported
    taken = _memory()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    with Connection(descriptor) as connection:
        while _memory() < taken + MEMORY // 4:  # what is left of one evaluation is not to take memory from the next
            try:
                text, facts, seconds = connection.recv()
            except EOFError:
                return
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime + seconds) + 2  # the parent ends this process before, if it can
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            connection.send(_answered(text, facts))


def _memory() -> int:
    with open("/proc/self/statm", encoding="ascii") as size:
        return int(size.read().split()[0]) * resource.getpagesize()


def _answered(text: str, facts: Mapping[str, Any]) -> Any:
    try:
        return evaluate(text, facts)
    except Exception as error:
        return failed(text, error)


def _end_with(parent: int) -> None:
    """Have Linux kill this process when its parent ends, also in the middle of an evaluation."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        sys.exit()
