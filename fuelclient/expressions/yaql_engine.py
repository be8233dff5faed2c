"""Parse YAQL expressions once, and evaluate them on views of facts: compiled if possible, else by the library.

Neither needs the library in this process, because importing it takes as long as the plan of a small environment.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.expressions import child_process, work, yaql_compiled, yaql_syntax
from fuelclient.expressions.errors import ExpressionError, MissingFact, quoted
from fuelclient.expressions.facts import View
from fuelclient.expressions.functions import ON_FACTS, SEVERAL, NotData, plain

YAQL = "yaql_exp"
"""A mapping with this key stands for the value of an expression."""

MAX_LENGTH = 10_000
"""The longest expression of Fuel's releases and plugins has some 2000 characters."""
_SYNTAX = "YAQL is described at https://yaql.readthedocs.io."
_ELSEWHERE = "Compute it in the task itself."
_REASONS: Mapping[type[Exception], tuple[str, str]] = {
    child_process.Exhausted: ("{0}", "{0.hint}"),
    work.TooLarge: ("{0}", _ELSEWHERE),
    work.TooMuchWork: (
        f"it takes more than {work.MAX_WORK // work.CALL} calls or {work.MAX_WORK} elements",
        "Move what does not change out of select() and where(), or compute it in the task itself.",
    ),
    NotData: ("its value is not data ({0})", ""),
    IndexError: ("{0}", ""),
    ZeroDivisionError: ("{0}", ""),
    AssertionError: ("{0}", ""),
    work.TooManyItems: (f"a sequence has more than {work.MAX_ITEMS} elements", ""),
    RecursionError: ("it is nested too deeply", ""),
    work.NoElement: ("a sequence has no such element", ""),
    MemoryError: ("it takes too much memory", ""),
}
"""Why an expression has no value, and what to do, by the first class that an error has. Of others only the class is
shown: their texts may have values."""
_LONG_NUMBER = re.compile(r"\d{301}")
"""The time of the library's lexer grows with the square of their length."""
_IMPURE = {"now", "localtz", "random"}
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Yaql:
    """A parsed YAQL expression, which can be evaluated on many views. Only the library can evaluate it if there is no
    `code`."""

    text: str
    tree: yaql_syntax.Tree
    code: yaql_compiled.Code | None

    def value(self, view: View) -> Any:
        """The value as plain data, which must not be changed: it may be part of the facts, or shared by nodes.

        It is `UNDEFINED` if that is the whole value. Raise `ExpressionError` if the expression fails: a key is missing,
        a function does not fit its arguments, a limit is exceeded. An expression that took too much work on one node is
        not tried on others: a thousand nodes would wait a thousand times, for a run that cannot begin. Raise
        `Unavailable` if children are busy with other expressions.
        """
        if (exhausted := view.views.shared.get(("exhausted", self.text))) is not None:
            raise exhausted
        return view.once(("yaql", self.text), functools.partial(self._value, view))

    def _value(self, view: View) -> Any:
        try:
            if self.code is not None:
                return yaql_compiled.evaluate(self.code, view)
        except work.Uncompiled:
            pass
        except (work.TooMuchWork, MemoryError) as error:
            raise self._exhausted(view, error) from None
        except Exception as error:  # a function raises whatever Python raises on its arguments
            raise failed(self.text, error) from None
        return self._by_library(view)

    def _by_library(self, view: View) -> Any:
        facts = _named_facts(self.tree, view)
        try:
            answer = child_process.answer(self.text, facts, view.views)
        except child_process.Exhausted as error:
            raise self._exhausted(view, error) from None
        if isinstance(answer, ExpressionError):
            raise answer from None
        return answer

    def _exhausted(self, view: View, error: Exception) -> ExpressionError:
        view.views.shared["exhausted", self.text] = refused = failed(self.text, error)
        return refused


def _named_facts(tree: yaql_syntax.Tree, view: View) -> Mapping[str, Any]:
    """The facts that an expression names, as plain data, by what in it stands for them."""
    names = yaql_syntax.names_of_facts(tree)
    calls = {part[1] for part in yaql_syntax.parts(tree) if part[0] == "call"}
    variables = {part[1] for part in yaql_syntax.parts(tree) if part[0] == "$"}
    facts: dict[str, Any] = {
        "new": _named(view.new, names), "old": _named(view.old, names) if calls & {*ON_FACTS, *SEVERAL} else {},
        "node": view.node if "$node" in variables else {}, "common": view.common if "$common" in variables else {},
    }  # fmt: skip
    return {root: plain(part, work.Unlimited(), view.is_settled) for root, part in facts.items()}


def _named(facts: Mapping[str, Any], names: Collection[str] | None) -> Mapping[str, Any]:
    if names is None:
        return facts
    found = {name: facts.get(name, _MISSING) for name in names}
    return {name: value for name, value in found.items() if value is not _MISSING}


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Yaql:
    """The parsed expression, from a cache if the same text was parsed before.

    Raise `ExpressionError`, with the position if it is known, if the text is not YAQL, is longer than `MAX_LENGTH`
    or nests deeper than `yaql_syntax.MAX_DEPTH`, or if it calls a function whose value differs from run to run, or a
    function of Fuel with a wrong number of arguments.

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
    try:
        tree = yaql_syntax.read(text)
        _check_calls(tree, text)
        return Yaql(text, tree, yaql_compiled.compiled(tree))
    except work.Uncompiled:
        return Yaql(text, tree, None)
    except ExpressionError:
        raise
    except Exception as error:  # the lexer raises Python's own errors for odd numbers and escapes
        raise _unreadable(text, error) from None


def _check_calls(tree: yaql_syntax.Tree, text: str) -> None:
    """Raise `ExpressionError` for calls that could never have a value, or not a repeatable one."""
    methods = {id(part[2]) for part in yaql_syntax.parts(tree) if part[0] in (".", "?.")}
    for call in yaql_syntax.parts(tree):
        name, args = (call[1], call[2:]) if call[0] == "call" else ("", ())
        if name in _IMPURE:
            message = f"The YAQL expression {quoted(text)} asks for {name}(), whose value differs from run to run."
            raise ExpressionError(message, text, hint="Plans have to be repeatable, so compute it in the task itself.")
        if id(call) in methods or (name not in ON_FACTS and name not in SEVERAL):
            continue
        fits = len(args) == 1 or (args and name in SEVERAL)
        if not fits or any(arg[0] in ("=>", "gap") for arg in args):
            message = f"The YAQL expression {quoted(text)} calls {name}() with {len(args)} arguments."
            takes = "at least one expression" if name in SEVERAL else "one expression"
            raise ExpressionError(message, text, hint=f"{name}() takes {takes}.")


def root_names(text: str) -> dict[str, bool]:
    """The names that an expression reads of `$` itself, each with whether it has a default for it (`.get`).

    Raise what `parse` does.

    >>> root_names("$.online and $.get(rack) = 7 and $.meta.disks.any($.size > 1)")
    {'online': False, 'rack': True, 'meta': False}
    """
    names: dict[str, bool] = {}
    for name, has_default in yaql_syntax.root_names(parse(text).tree):
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
    """The error for a text that is not YAQL, or nested too deeply."""
    if isinstance(error, yaql_syntax.TooDeep):
        position = len(text) if error.args[0] is None else error.args[0]
        message = (
            f"The YAQL expression {quoted(text, position)} is nested more than {yaql_syntax.MAX_DEPTH} levels deep at"
            f" character {position + 1}."
        )
        return ExpressionError(message, text, position=position, hint="Compute a part of it in the task itself.")
    if not isinstance(error, yaql_syntax.Unreadable):
        message = f"The YAQL expression {quoted(text)} cannot be read ({type(error).__name__})."
        return ExpressionError(message, text, hint=_SYNTAX)
    position, part = error.args
    if position is None:
        message = f"The YAQL expression {quoted(text, len(text))} cannot be read: it ends too early."
        return ExpressionError(message, text, position=len(text), hint="Is a bracket or a quote not closed?")
    message = (
        f"The YAQL expression {quoted(text, position)} cannot be read at character {position + 1}:"
        f" {quoted(str(part))} is not allowed there."
    )
    return ExpressionError(message, text, position=position, hint=_SYNTAX)


def failed(text: str, error: Exception) -> ExpressionError:
    """The error for an expression that fails. It names keys and functions but no values, which may be secret."""
    if isinstance(error, KeyError):
        name = str(error.args[0] if error.args else "")
        path = str(getattr(error, "path", f"....{name}"))
        message = f"The YAQL expression {quoted(text)} has no value: the facts have no {quoted(name)} there."
        return MissingFact(message, text, path, hint="Use .get(name, default) for what may be missing.")
    known = (texts for cls, texts in _REASONS.items() if isinstance(error, cls))
    words, hint = (text.format(error) for text in next(known, ("", "")))
    if isinstance(error, work.Unfit):
        words = _unfit(*error.args)
    reason = words or f"a value has the wrong type ({type(error).__name__})"
    return ExpressionError(f"The YAQL expression {quoted(text)} has no value: {reason}.", text, hint=hint)


def _unfit(name: str, unknown: str = "") -> str:
    """Why a function, a method, an operator or a property could not be used, by the library's name for it."""
    for mark, words in (
        ("#property#", "nothing named {} can be read there"),
        ("#unary_operator_", "the operator {} does not fit its operand"),
        ("#operator_", "the operator {} does not fit its operands"),
        ("#indexer", "[] does not fit the value before it"),
        ("*", "the operator {} does not fit its operands"),
    ):
        if name.startswith(mark):
            return words.format(name.removeprefix(mark))
    return f"YAQL has no function {name}" if unknown else f"the function {name} does not fit its arguments"
