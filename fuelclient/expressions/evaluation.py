"""Evaluate the expressions of the tasks of a plan: conditions, computed dependencies, parameters and node filters.

For conditions, also list the facts that `changed()` and similar functions compare with those of the last success.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fuelclient.errors import FuelError, InvalidGraph
from fuelclient.expressions import legacy, yaql_engine, yaql_syntax
from fuelclient.expressions.errors import MissingFact, quoted
from fuelclient.expressions.facts import NO_PAST, Facts, Past, View, Views
from fuelclient.expressions.functions import SEVERAL, UNDEFINED
from fuelclient.expressions.render import Master, computed_relations, render
from fuelclient.expressions.yaql_engine import YAQL, yaql_of
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import NodeKey
from fuelclient.model.task import Relation, Task


class Expressions:
    """The values of expressions on the facts of a run; see `plan.plan.Evaluation`.

    Without `memoise` each expression is evaluated for each node, so that a benchmark can measure what that costs.
    """

    def __init__(self, facts: DeploymentFacts, past: Past = NO_PAST, *, memoise: bool = True) -> None:
        self._views = Views(Facts(facts.common, facts.nodes), past, memoise=memoise)
        self._master = Master()

    @property
    def chosen(self) -> Callable[[Any, Sequence[Mapping[str, Any]]], Sequence[Any]]:
        return chosen

    def condition(self, task: Task, node: NodeKey) -> tuple[bool, str]:
        return condition_of(task, self._views.at(task.id, node))

    def fact_changes(self, task: Task, node: NodeKey) -> tuple[FactChange, ...]:
        """The values that the condition of the task compares with those of its last success, if they differ."""
        return tuple(fact_changes(task, self._views.at(task.id, node)))

    def has_succeeded(self, task: Task, node: NodeKey) -> bool:
        """Whether the task succeeded there before, and that success counts."""
        return self._views.at(task.id, node).moment is not None

    def relations(self, task: Task, attribute: str, node: NodeKey) -> Iterable[Relation]:
        return computed_relations(task, attribute, self._views.at(task.id, node), self._master)

    def rendered(self, task: Task, node: NodeKey) -> Mapping[str, Any]:
        return render(task.attributes, self._views.at(task.id, node), self._master)

    def value(self, text: str, task: Task, node: NodeKey) -> Any:
        """The value of a YAQL expression of a task on a node. Raise `ExpressionError` if it has none."""
        return yaql_engine.parse(text).value(self._views.at(task.id, node))

    def legacy_on_master(self, text: str, task: Task, node: NodeKey) -> Any:
        """The value of a condition in Fuel's own language. Raise `ExpressionError` if it has none on a master."""
        return legacy.value_of_condition(text, self._views.at(task.id, node).new, as_master=True)


_COMPARING = {"changed", *SEVERAL, "added", "deleted"}
"""The functions that compare new facts with old ones."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """A value whose change a condition tests: its expression, and the values at the last success and now.

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
    for expression in dict.fromkeys(yaql_syntax.arguments(str(condition[YAQL]), _COMPARING)):
        try:
            after, before = (yaql_engine.parse(f"{name}({expression})").value(view) for name in ("new", "old"))
        except FuelError:
            continue
        if before is UNDEFINED:
            yield FactChange(expression, None, after, had_value=False)
        elif before != after:
            yield FactChange(expression, before, after)


class Condition(NamedTuple):
    """Whether a condition holds, and the reason, which is empty for a task without a condition."""

    holds: bool
    reason: str = ""


_ALWAYS = Condition(True)


def condition_of(task: Task, view: View) -> Condition:
    """Whether the condition of `task` holds.

    A task without one, or with an empty one, always runs. A string is an expression in Fuel's own language; it is
    evaluated on the facts, and missing values count as null. A YAQL condition holds if its value is truthy; a string
    that it returns is again an expression in Fuel's own language. Any other value holds if it is truthy, so `false` and
    `0` skip the task.

    Raise `ExpressionError` for a condition that cannot be read or has no value. Source: Nailgun `lcm.task_serializer`.
    """
    if (condition := task.condition) is None:
        return _ALWAYS
    if isinstance(condition, Mapping) and YAQL in condition:
        yaql = yaql_of(condition)
        value = yaql.value(view)
        if not isinstance(value, str):
            return _condition(bool(value), yaql.text, "YAQL ", _truth(value))
        condition = value
    if not isinstance(condition, str) or not condition.strip():
        value = condition if not isinstance(condition, str) else ""  # a blank text is empty, too
        return Condition(bool(value), f"the condition is {_truth(value)}")
    text = condition
    holds = view.once(("legacy", text), lambda: bool(legacy.value_of_condition(text, view.new)))
    return _condition(holds, text, "", _truth(holds))


@functools.lru_cache(maxsize=4096)
def _condition(holds: bool, text: str, language: str, truth: str) -> Condition:
    """The result of an expression; cached, because thousands of instances share a few of them."""
    return Condition(holds, f"{language}{quoted(text)} is {truth}")


def _truth(value: object) -> str:
    """The truth of a value in words. The value itself may be a password."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "true (not empty, not 0)" if value else "empty or 0"


def chosen(node_filter: Any, present: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    """The ids of the nodes for which a filter is true, found as in Nailgun: `$.where(...).select($.id)`."""
    stated = node_filter if isinstance(node_filter, Mapping) else {YAQL: node_filter}
    if YAQL not in stated:
        message = f"A node filter is a YAQL expression, not {node_filter!r}."
        raise InvalidGraph(message, hint="Write for example $.status = ready.")
    view = Views(Facts({"nodes": list(present)})).at("", None)
    text = yaql_of(stated).text
    try:
        return list(yaql_engine.parse(f"$.nodes.where({text}).select($.id)").value(view))
    except MissingFact as error:
        fields = sorted({name for node in present for name in node})
        hint = f"The fields of nodes: {', '.join(fields)}. Write .get(name) for what some nodes lack."
        message = f"The node filter {text} reads {error.path or 'a field'}, which not every node has."
        raise InvalidGraph(message, hint=hint) from None
