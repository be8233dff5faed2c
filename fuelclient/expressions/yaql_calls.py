"""The functions that Fuel adds to YAQL and that evaluate their arguments on new or old facts.

They are nodes of an expression's tree and not functions of the library, because their arguments see the whole facts
whatever `$` means around them. Importing this imports the library. Source: Nailgun `yaql_ext.datadiff`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping  # the library needs this imported before itself
from typing import Any

from yaql.language import expressions, utils  # type: ignore[import-untyped]

from fuelclient.expressions.budget import TooMuchWork, Uncounted, weigh
from fuelclient.expressions.facts import View
from fuelclient.expressions.functions import UNDEFINED, difference, limited, plain

VIEW = "$%view"
"""The name under which an evaluation finds its view. Expressions cannot use it, because % is not part of names."""


class OnFacts(expressions.Function):  # type: ignore[misc]
    """A function that evaluates its arguments on new or old facts, whatever `$` means around it."""

    def __init__(self, name: str, action: Callable[[Any, Any, Any], Any], args: tuple[Any, ...]) -> None:
        super().__init__(name, *args)
        self.uses_receiver = False
        self.action = action

    def __call__(self, _receiver: Any, context: Any, engine: Any) -> Any:
        return self.action(self.args, context, engine)


def _new(args: Any, context: Any, engine: Any) -> Any:
    return _with_root(args[0], context[VIEW].new, context, engine)


def _old(args: Any, context: Any, engine: Any) -> Any:
    """The value on old facts, or `UNDEFINED` if that fails.

    Lazy sequences are evaluated here, so that one that would fail later is undefined too; in Nailgun the run fails.
    """
    try:
        value = _with_root(args[0], context[VIEW].old, context, engine)
        return tuple(limited(value)) if isinstance(value, Iterator) else value
    except (RecursionError, MemoryError, TooMuchWork, Uncounted):
        raise
    except Exception:
        return UNDEFINED


def _with_root(part: Any, root: Any, context: Any, engine: Any) -> Any:
    child = context.create_child_context()
    child["$"] = root
    return part(utils.NO_VALUE, child, engine)


def _both(args: Any, context: Any, engine: Any) -> tuple[Any, Any]:
    """The new and the old value as plain data."""
    view: View = context[VIEW]
    new = plain(_new(args, context, engine), view.is_settled)
    try:
        old = _old(args, context, engine)
        return new, old if old is UNDEFINED else plain(old, view.is_settled)
    except (RecursionError, MemoryError, TooMuchWork, Uncounted):
        raise
    except Exception:  # a lazy sequence deep inside the old value fails
        return new, UNDEFINED


def _changed(args: Any, context: Any, engine: Any) -> bool:
    """Whether the new value differs from the old one. An undefined old value differs from every new one."""
    new, old = _new(args, context, engine), _old(args, context, engine)
    if old is not UNDEFINED and new is not UNDEFINED and _weighed(new) == _weighed(old):
        return False
    new, old = _both(args, context, engine)
    return bool(new != old)


def _weighed(value: Any) -> Any:
    """A value that is compared. Facts are what they are; only what an expression makes can be much in little."""
    return value if isinstance(value, Mapping | list) and not isinstance(value, utils.FrozenDict) else weigh(value)


def _several(holds: Callable[[Iterator[Any]], bool], args: Any, context: Any, engine: Any) -> bool:
    return holds(arg(utils.NO_VALUE, context, engine) for arg in args)


def _added(args: Any, context: Any, engine: Any) -> Any:
    new, old = _both(args, context, engine)
    return new if old is UNDEFINED else difference(old, new)[0]


def _deleted(args: Any, context: Any, engine: Any) -> Any:
    new, old = _both(args, context, engine)
    return None if old is UNDEFINED else difference(old, new)[1]


SEVERAL = {"changedAny", "changedAll"}
"""Each argument of these functions is treated like a call of changed() of its own."""

ON_FACTS: Mapping[str, tuple[int, int, Callable[[Any, Any, Any], Any]]] = {
    "new": (1, 1, _new),
    "old": (1, 1, _old),
    "changed": (1, 1, _changed),
    "changedAny": (1, 0, functools.partial(_several, any)),
    "changedAll": (1, 0, functools.partial(_several, all)),
    "added": (1, 1, _added),
    "deleted": (1, 1, _deleted),
}
