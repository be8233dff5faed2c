"""Parse YAQL expressions once, evaluate them on views of facts, and translate the library's errors.

`yaql_tree` imports the library. It is imported when the first expression is parsed, because that costs 250 ms.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.expressions import budget, child_process
from fuelclient.expressions.errors import ExpressionError, MissingFact, quoted
from fuelclient.expressions.facts import View
from fuelclient.expressions.functions import UNDEFINED, NotData, TooManyItems, plain

YAQL = "yaql_exp"
"""A mapping with this key stands for the value of an expression."""

MAX_LENGTH = 10_000
"""The longest expression of Fuel's releases and plugins has some 2000 characters."""
_SYNTAX = "YAQL is described at https://yaql.readthedocs.io."
_ELSEWHERE = "Compute it in the task itself."
_REASONS: Mapping[type[Exception], tuple[str, str]] = {
    budget.Crowded: ("{0}", "Try again when they have ended, or compute it in the task itself."),
    child_process.Exhausted: ("{0}", "{0.hint}"),
    budget.TooLarge: ("{0}", _ELSEWHERE),
    budget.TooMuchWork: (
        f"it takes more than {budget.MAX_WORK // budget.CALL} calls or {budget.MAX_WORK} elements",
        "Move what does not change out of select() and where(), or compute it in the task itself.",
    ),
    NotData: ("its value is not data ({0})", ""),
    IndexError: ("{0}", ""),
    ZeroDivisionError: ("{0}", ""),
    AssertionError: ("{0}", ""),
    TooManyItems: (f"a sequence has more than {budget.MAX_ITEMS} elements", ""),
    RecursionError: ("it is nested too deeply", ""),
    StopIteration: ("a sequence has no such element", ""),
    MemoryError: ("it takes too much memory", ""),
}
"""Why an expression has no value, and what to do, by the first class that an error has. Of others only the class is
shown: their texts may have values."""
_LONG_NUMBER = re.compile(r"\d{301}")
"""The time of the library's lexer grows with the square of their length."""
_parsing = threading.Lock()  # the library's parser keeps its state in itself


@dataclass(frozen=True, slots=True)
class Yaql:
    """A parsed YAQL expression, which can be evaluated on many views."""

    text: str
    tree: Any

    def value(self, view: View) -> Any:
        """The value as plain data, which must not be changed: it may be part of the facts, or shared by nodes.

        It is `UNDEFINED` if that is the whole value. Raise `ExpressionError` if the expression fails: a key is missing,
        a function does not fit its arguments, a limit is exceeded. An expression that took too much work on one node is
        not tried on others: a thousand nodes would wait a thousand times, for a run that cannot begin.
        """
        exhausted = view.views.shared.get(("exhausted", self.text))
        if exhausted is not None:
            raise exhausted
        return view.once(("yaql", self.text), functools.partial(self._value, view))

    def _value(self, view: View) -> Any:
        if not self.tree.is_counted and not budget.is_apart():
            return self._apart(view)
        try:
            value = self.tree.evaluate(view)
            return value if value is UNDEFINED else plain(value, view.is_settled)
        except ExpressionError:
            raise
        except budget.Uncounted:
            budget.end()
            return self._apart(view)
        except (budget.TooMuchWork, MemoryError) as error:
            raise self._exhausted(view, error) from None
        except Exception as error:  # a function of YAQL raises whatever Python raises on its arguments
            raise _failed(self.text, error) from None
        finally:
            budget.end()

    def _apart(self, view: View) -> Any:
        try:
            return child_process.value(self.text, view)
        except (budget.Crowded, child_process.Exhausted) as error:
            raise self._exhausted(view, error) from None

    def _exhausted(self, view: View, error: Exception) -> ExpressionError:
        view.views.shared["exhausted", self.text] = failed = _failed(self.text, error)
        return failed


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Yaql:
    """The parsed expression, from a cache if the same text was parsed before.

    Raise `ExpressionError`, with the position if it is known, if the text is not YAQL or longer than `MAX_LENGTH`.

    >>> parse("$.uid in ['1']") is parse("$.uid in ['1']")
    True
    """
    if len(text) > MAX_LENGTH:
        message = f"The YAQL expression {quoted(text)} has {len(text)} characters."
        raise ExpressionError(message, text, position=MAX_LENGTH, hint=f"At most {MAX_LENGTH} are allowed.")
    if digits := _LONG_NUMBER.search(text):
        message = f"The YAQL expression {quoted(text, digits.start())} contains a number of more than 300 digits."
        raise ExpressionError(message, text, position=digits.start())
    if not text.strip():
        raise ExpressionError("A YAQL expression is empty.", text, position=0, hint=_SYNTAX)
    from fuelclient.expressions import yaql_tree

    with _parsing:
        try:
            return Yaql(text, yaql_tree.parse_tree(text))
        except ExpressionError:
            raise
        except Exception as error:  # the lexer raises Python's own errors for odd numbers and escapes
            raise _unreadable(text, error) from None


def root_names(text: str) -> dict[str, bool]:
    """The names that an expression reads of `$` itself, each with whether it has a default for it (`.get`).

    Raise what `parse` does.

    >>> root_names("$.online and $.get(rack) = 7 and $.meta.disks.any($.size > 1)")
    {'online': False, 'rack': True, 'meta': False}
    """
    parse(text)
    from fuelclient.expressions import yaql_tree

    names: dict[str, bool] = {}
    with _parsing:
        for name, has_default in yaql_tree.root_names(text):
            names[name] = has_default and names.get(name, True)
    return names


def yaql_of(value: Mapping[str, Any]) -> Yaql:
    """The expression in a mapping with `yaql_exp`; true, false, null and numbers stand for themselves.

    Raise what `parse` does.
    """
    text = value[YAQL]
    if text is None or isinstance(text, bool):
        text = {True: "true", False: "false", None: "null"}[text]
    return parse(str(text))


def _unreadable(text: str, error: Exception) -> ExpressionError:
    """The error for a text that is not YAQL."""
    from fuelclient.expressions import yaql_tree

    known, position, part = yaql_tree.place_of(error)
    if not known:
        message = f"The YAQL expression {quoted(text)} cannot be read ({type(error).__name__})."
        return ExpressionError(message, text, hint=_SYNTAX)
    if position is None:
        message = f"The YAQL expression {quoted(text, len(text))} cannot be read: it ends too early."
        return ExpressionError(message, text, position=len(text), hint="Is a bracket or a quote not closed?")
    message = (
        f"The YAQL expression {quoted(text, position)} cannot be read at character {position + 1}:"
        f" {quoted(part)} is not allowed there."
    )
    return ExpressionError(message, text, position=position, hint=_SYNTAX)


def _failed(text: str, error: Exception) -> ExpressionError:
    """The error for an expression that fails. It names keys and functions but no values, which may be secret."""
    from fuelclient.expressions import yaql_tree

    reason = yaql_tree.reason_of(error)
    if not reason and isinstance(error, KeyError):
        name = str(error.args[0] if error.args else "")
        path = str(getattr(error, "path", f"....{name}"))
        message = f"The YAQL expression {quoted(text)} has no value: the facts have no {quoted(name)} there."
        return MissingFact(message, text, path, hint="Use .get(name, default) for what may be missing.")
    known = (texts for cls, texts in _REASONS.items() if isinstance(error, cls))
    words, hint = (text.format(error) for text in next(known, ("", "")))
    reason = reason or words or f"a value has the wrong type ({type(error).__name__})"
    return ExpressionError(f"The YAQL expression {quoted(text)} has no value: {reason}.", text, hint=hint)
