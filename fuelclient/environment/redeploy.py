"""What a run would do now, and why: the facts that changed since each task last succeeded on each node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fuelclient.environment.differences import FACTS, EnvironmentDifference, differences_below
from fuelclient.environment.plans import evaluation_of
from fuelclient.expressions.evaluation import FactChange
from fuelclient.model.graph import MergedTask
from fuelclient.model.run import NodeKey
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan
from fuelclient.plan.work import InstanceKind

_NO_PAST = "{}; Fuel's own expression language sees no earlier facts"

_NAME = re.compile(r"[\w-]+")


class Why(StrEnum):
    """Why a task instance would run, or not."""

    FIRST = "first"
    """The task never succeeded on the node, or the node is deployed anew."""
    CHANGED = "changed"
    """Facts that its condition compares have changed."""
    CONDITION = "condition"
    """Its condition holds or fails for another reason."""
    ALWAYS = "always"
    """It has no condition."""
    UNKNOWN = "unknown"
    """It depends on a fact that is not known."""
    OTHER = "other"
    """Tasks of its type do nothing, or the request leaves it out."""


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A change of a value that a condition compares: of the whole value, or at a `path` in it. Secrets are masked.

    `had_value` is false if the expression had no value at the last success, which counts as a change.
    """

    expression: str
    path: str | None
    before: Any
    after: Any
    had_value: bool = True


@dataclass(frozen=True, slots=True)
class Rerun:
    """Whether a task instance would run, and why. `facts` are those that changed. `detail` is the condition that skips
    it, the fact that is not known, or why the facts do not explain a condition that holds."""

    task: str
    node: NodeKey
    runs: bool
    why: Why
    detail: str | None = None
    facts: tuple[ChangedFact, ...] = ()


def reruns(inputs: Inputs, plan: Plan) -> tuple[Rerun, ...]:
    """Explain the instances of a plan, in execution order and without sync points."""
    evaluation = evaluation_of(inputs)
    order = plan.order.generation
    vertices = [vertex for vertex in range(plan.work.size) if plan.work.kinds[vertex] is not InstanceKind.SYNC]
    changes: dict[int, tuple[ChangedFact, ...]] = {}
    never_succeeded: set[int] = set()
    ignore_history = list(map(_ignores_history, plan.expansion.tasks))
    for vertex in sorted(vertices, key=plan.expansion.node_of.__getitem__):  # values are cached node by node
        if plan.work.kinds[vertex] is not InstanceKind.REAL or ignore_history[plan.expansion.task_of[vertex]]:
            continue
        task, uid = plan.at(vertex)
        if evaluation.has_succeeded(task.task, uid):
            changes[vertex] = tuple(
                leaf for change in evaluation.fact_changes(task.task, uid) for leaf in _leaves(change)
            )
        else:
            never_succeeded.add(vertex)
    return tuple(
        _rerun(plan, vertex, changes.get(vertex, ()), is_first=vertex in never_succeeded)
        for vertex in sorted(vertices, key=order.__getitem__)
    )


def _rerun(plan: Plan, vertex: int, facts: tuple[ChangedFact, ...], *, is_first: bool) -> Rerun:
    task, uid = plan.at(vertex)
    runs = plan.work.kinds[vertex] is InstanceKind.REAL
    if vertex in plan.unknown:
        return Rerun(task.id, uid, runs, Why.UNKNOWN, plan.unknown[vertex])
    if not runs:
        detail = plan.details.get(vertex, "")
        return Rerun(task.id, uid, runs, Why.CONDITION if detail else Why.OTHER, detail or None)
    if task.task.condition is None:
        return Rerun(task.id, uid, runs, Why.ALWAYS)
    if _ignores_history(task):
        return Rerun(task.id, uid, runs, Why.CONDITION, _NO_PAST.format(task.task.condition))
    why = Why.FIRST if is_first else Why.CHANGED if facts else Why.CONDITION
    return Rerun(task.id, uid, runs, why, facts=facts)


def _ignores_history(task: MergedTask) -> bool:
    """Whether a task has no condition, or one in Fuel's own expression language, which sees no earlier facts."""
    return not isinstance(task.task.condition, Mapping)


def _leaves(change: FactChange) -> Iterator[ChangedFact]:
    names = _NAME.findall(change.expression)
    name = names[-1] if names else ""
    if change.had_value and isinstance(change.before, Mapping) and isinstance(change.after, Mapping):
        for each in differences_below(name, change.before, change.after):
            before, after = each.masked
            yield ChangedFact(change.expression, each.path or None, before, after)
        return
    whole = EnvironmentDifference(FACTS, "", name, change.before, change.after)
    yield ChangedFact(change.expression, None, *whole.masked, change.had_value)
