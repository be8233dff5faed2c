"""The facts that the condition of a task compares with those of its last success: what `changed()` and others see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.errors import FuelError
from fuelclient.expressions.facts import View
from fuelclient.expressions.functions import UNDEFINED
from fuelclient.expressions.yaql_engine import YAQL, parse
from fuelclient.model.task import Task

_CALL = re.compile(r"\b(?:changed|changedAny|changedAll|added|deleted)\s*\(")
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class FactChange:
    """A value that a condition asks for: its expression, and the values at the last success and now.

    `had_value` is false if the expression had no value then, which counts as a change.
    """

    expression: str
    before: Any
    after: Any
    had_value: bool = True


def fact_changes(task: Task, view: View) -> Iterator[FactChange]:
    """Yield the values that the condition of a task compares and that differ.

    What cannot be evaluated by itself, because it names variables of the expression around it, is left out.
    """
    condition = task.condition
    if not isinstance(condition, Mapping) or YAQL not in condition:
        return
    for expression in dict.fromkeys(compared(str(condition[YAQL]))):
        try:
            after, before = (parse(f"{name}({expression})").value(view) for name in ("new", "old"))
        except FuelError:
            continue
        if before is UNDEFINED:
            yield FactChange(expression, None, after, had_value=False)
        elif before != after:
            yield FactChange(expression, before, after)


def compared(text: str) -> Iterator[str]:
    """Yield the arguments of the functions that compare new facts with old ones.

    >>> list(compared("changedAny($.a, $.get('b, c')) or changed($.d.where($.x > 1))"))
    ['$.a', "$.get('b, c')", '$.d.where($.x > 1)']
    """
    for call in _CALL.finditer(text):
        yield from _arguments(text, call.end())


def _arguments(text: str, start: int) -> Iterator[str]:
    """Yield the arguments of a call whose bracket was opened right before `start`."""
    open_brackets, quote, begin, at = ["("], "", start, start
    while at < len(text) and open_brackets:
        letter = text[at]
        if quote:
            at += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter in "([{":
            open_brackets.append(letter)
        elif letter in _PAIRS and open_brackets[-1] == _PAIRS[letter]:
            open_brackets.pop()
        if not quote and (not open_brackets or (letter == "," and len(open_brackets) == 1)):
            yield text[begin:at].strip()
            begin = at + 1
        at += 1
