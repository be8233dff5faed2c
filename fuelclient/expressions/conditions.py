"""Whether a task runs on a node: its condition, evaluated on facts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.expressions import legacy, yaql_engine
from fuelclient.expressions.facts import View
from fuelclient.expressions.failure import quoted
from fuelclient.model.task import Task

YAQL = "yaql_exp"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds; `reason` says what it came from, and is empty for a task without a condition."""

    holds: bool
    reason: str = ""


ALWAYS = Verdict(True)


def yaql_of(value: Mapping[str, Any]) -> yaql_engine.Yaql:
    """The expression in a mapping with `yaql_exp`; true, false, null and numbers stand for themselves, as YAML
    writes them. Raises what `yaql_engine.parse` does."""
    text = value[YAQL]
    words = {True: "true", False: "false", None: "null"}
    if text is None or isinstance(text, bool):
        text = words[text]
    return yaql_engine.parse(str(text))


def condition_of(task: Task, view: View) -> Verdict:
    """Whether the condition of `task` holds.

    A task without one always runs. A text is an expression of Fuel's own language, read on facts (missing values
    are null); YAQL counts by its truth, and a text that it gives is again an expression of Fuel's own language.
    Every other value counts by its truth, so `false`, `0`, null and empty ones skip the task.

    Raises `ExpressionError` for a condition that cannot be read or has no value. Source: Nailgun
    `lcm.task_serializer`.
    """
    if "condition" not in task.attributes:
        return ALWAYS
    condition = task.attributes["condition"]
    if isinstance(condition, Mapping) and YAQL in condition:
        yaql = yaql_of(condition)
        value = yaql.value(view)
        if not isinstance(value, str):
            return _verdict(bool(value), yaql.text, "YAQL ", _spoken(value))
        condition = value
    if not isinstance(condition, str) or not condition.strip():
        return Verdict(bool(condition) and not isinstance(condition, str), f"the condition is {_spoken(condition)}")
    text = condition
    found = view.once(("legacy", text), lambda: _legacy(text, view))
    return _verdict(found, text, "", _spoken(found))


@functools.lru_cache(maxsize=4096)
def _verdict(holds: bool, text: str, language: str, spoken: str) -> Verdict:
    """The verdict that an expression gives; kept, since thousands of instances share a few of them."""
    return Verdict(holds, f"{language}{quoted(text)} is {spoken}")


def _legacy(text: str, view: View) -> bool:
    models = {"settings": view.new, "cluster": view.new.get("cluster") or {}}
    return bool(legacy.parse(legacy.rewrite(text)).evaluate(models, strict=False))


def _spoken(value: object) -> str:
    """The truth of a value in words; the value itself may be a password."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "true (not empty, not 0)" if value else "empty or 0"
