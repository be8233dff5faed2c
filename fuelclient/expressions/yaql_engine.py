"""YAQL expressions: parsed once, evaluated on views of facts, their errors told in our words.

The library is imported when the first expression is parsed (it costs 250 ms with its grammar), in `yaql_tree`.
"""

from __future__ import annotations

import functools
import re
import threading
from dataclasses import dataclass
from typing import Any

from fuelclient.expressions.budget import CALL, MOST_WORK, TooMuchWork
from fuelclient.expressions.facts import View
from fuelclient.expressions.failure import ExpressionError, quoted
from fuelclient.expressions.functions import UNDEFINED, NotData, TooManyItems, plain

MAX_LENGTH = 10_000
"""Characters; the longest expression of Fuel's releases and plugins has some 2000."""
_SYNTAX = "YAQL is described at https://yaql.readthedocs.io."
_LONG_NUMBER = re.compile(r"\d{301}")
"""The library's lexer takes a time that grows with the square of their length."""
_parsing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Yaql:
    """A parsed YAQL expression: evaluate it on as many views as there are."""

    text: str
    tree: Any

    def value(self, view: View) -> Any:
        """The value as plain data, which nobody may change: it may be a part of the facts, or another node's too.

        `UNDEFINED` when that is the whole value. Raises `ExpressionError` when the expression fails: a key is
        missing, a function does not fit its arguments, a limit is exceeded. One that took too much work on one node
        is not begun for others: a thousand nodes would wait a thousand times, for a run that cannot begin.
        """
        exhausted = view.views.shared.get(("exhausted", self.text))
        if exhausted is not None:
            raise exhausted
        return view.once(("yaql", self.text), functools.partial(self._value, view))

    def _value(self, view: View) -> Any:
        try:
            value = self.tree.evaluate(view)
            return value if value is UNDEFINED else plain(value, view.is_settled)
        except ExpressionError:
            raise
        except TooMuchWork as error:
            view.views.shared["exhausted", self.text] = failed = _failed(self.text, error)
            raise failed from None
        except Exception as error:  # a function of YAQL raises whatever Python raises on its arguments
            raise _failed(self.text, error) from None


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Yaql:
    """The parsed expression, from a cache where the same text was parsed before.

    Raises `ExpressionError`, with the place where that is known, for what is not YAQL, and for a text longer than
    `MAX_LENGTH`.

    >>> parse("$.uid in ['1']") is parse("$.uid in ['1']")
    True
    """
    if len(text) > MAX_LENGTH:
        message = f"The YAQL expression {quoted(text)} has {len(text)} characters."
        raise ExpressionError(message, text, position=MAX_LENGTH, hint=f"{MAX_LENGTH} are allowed.")
    if digits := _LONG_NUMBER.search(text):
        message = f"The YAQL expression {quoted(text, digits.start())} has a number of more than 300 digits."
        raise ExpressionError(message, text, position=digits.start())
    if not text.strip():
        raise ExpressionError("A YAQL expression is empty.", text, position=0, hint=_SYNTAX)
    from fuelclient.expressions import yaql_tree

    with _parsing:  # the library's parser keeps its state in itself
        try:
            return Yaql(text, yaql_tree.parse_tree(text))
        except ExpressionError:
            raise
        except Exception as error:  # the lexer raises Python's own errors for odd numbers and escapes
            raise _unreadable(text, error) from None


def _unreadable(text: str, error: Exception) -> ExpressionError:
    """The error for a text that is not YAQL."""
    from fuelclient.expressions import yaql_tree

    known, position, found = yaql_tree.place_of(error)
    if not known:
        return ExpressionError(
            f"The YAQL expression {quoted(text)} cannot be read ({_kind(error)}).", text, hint=_SYNTAX
        )
    if position is None:
        message = f"The YAQL expression {quoted(text, len(text))} cannot be read: it ends too early."
        return ExpressionError(message, text, position=len(text), hint="A bracket or a quote may not be closed.")
    message = (
        f"The YAQL expression {quoted(text, position)} cannot be read at character {position + 1}:"
        f" {quoted(found)} cannot stand there."
    )
    return ExpressionError(message, text, position=position, hint=_SYNTAX)


def _failed(text: str, error: Exception) -> ExpressionError:
    """The error for an expression without a value. It names keys and functions, never values: facts hold passwords."""
    from fuelclient.expressions import yaql_tree

    hint = ""
    reason = yaql_tree.reason_of(error)
    if not reason and isinstance(error, KeyError):
        reason = f"the facts have no {quoted(str(error.args[0] if error.args else ''))} there"
        hint = "Use .get(name, default) for what may be missing."
    elif isinstance(error, TooManyItems):
        reason = "a sequence has more than 10000 elements"
    elif isinstance(error, TooMuchWork):
        reason = f"it takes more than {MOST_WORK // CALL} calls or {MOST_WORK} elements"
        hint = "Compute what does not change outside of select() and where(), or in the task itself."
    elif isinstance(error, NotData):
        reason = f"its value is not data ({error})"
    elif isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    elif isinstance(error, IndexError | ZeroDivisionError | AssertionError):
        reason = str(error)
    elif isinstance(error, StopIteration):
        reason = "a sequence has no such element"
    elif isinstance(error, MemoryError):
        reason = "it takes too much memory"
    reason = reason or f"a value is of the wrong kind ({_kind(error)})"
    return ExpressionError(f"The YAQL expression {quoted(text)} has no value: {reason}.", text, hint=hint)


def _kind(error: Exception) -> str:
    return type(error).__name__
