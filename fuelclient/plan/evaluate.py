"""What expressions decide for the task instances of a plan: dependencies, which instances are skipped, parameters.

A skipped instance keeps its place in the order: it does nothing, and what waits for it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from fuelclient.errors import FuelError, InvalidGraph, UnknownFact
from fuelclient.graph.references import place_of
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.run import NodeKey
from fuelclient.model.status import Reason
from fuelclient.model.task import Relation, Task, TaskType
from fuelclient.plan.expand import Expansion
from fuelclient.plan.select import Filter
from fuelclient.plan.unknown import Unknowns
from fuelclient.plan.work import PASSIVE

Holds = Callable[[int, int], bool]
"""Whether the condition of a merged task holds on a node of the fleet, both by index. It may raise `FuelError`."""


class Evaluation(Protocol):
    """The values of expressions, for tasks on nodes. Each method may raise `FuelError`."""

    def condition(self, task: Task, node: NodeKey) -> tuple[bool, str]:
        """Return whether the task's condition holds, and the condition as people see it."""

    def relations(self, task: Task, node: NodeKey) -> Iterable[tuple[str, Relation]]:
        """Return the dependencies that expressions of the task state, each with its attribute."""

    def rendered(self, task: Task, node: NodeKey) -> Mapping[str, Any]:
        """Return `parameters` and `fail_on_error` of the task. Equal values may be one object."""

    @property
    def chosen(self) -> Filter:
        """The evaluation of node filters."""


def require_computed(tasks: Sequence[MergedTask], failed: Mapping[int, Sequence[tuple[NodeKey, FuelError]]]) -> None:
    """Raise `InvalidGraph` with one finding (G034) for each task whose dependencies `failed`."""
    _Failures("dependencies", tasks, failed).require_none()


def evaluate(
    expansion: Expansion, holds: Holds, only: Collection[str] | None = None, inside: Collection[int] | None = None
) -> list[Reason | None]:
    """Return for each instance why it is skipped, or None: the first reason that applies.

    A run may be limited to the task ids `only` and to the instances `inside`; None means all. Stages are never
    filtered. Conditions are evaluated node by node, so that evaluators can cache, and not for what is skipped anyway.
    Raise `InvalidGraph` with one finding (G034) for each task whose condition fails.
    """
    types = [task.task.type for task in expansion.tasks]
    reasons: list[Reason | None] = [None] * expansion.size
    failures = _Failures("condition", expansion.tasks)
    for vertex in sorted(range(expansion.size), key=expansion.node_of.__getitem__):
        task, node = expansion.task_of[vertex], expansion.node_of[vertex]
        if types[task] in (TaskType.STAGE, TaskType.SKIPPED):
            reasons[vertex] = Reason.TYPE
        elif only is not None and expansion.tasks[task].id not in only:
            reasons[vertex] = Reason.FILTERED
        elif inside is not None and vertex not in inside:
            reasons[vertex] = Reason.SUBGRAPH
        else:
            try:
                reasons[vertex] = None if holds(task, node) else Reason.CONDITION
            except FuelError as error:
                failures.add(task, expansion.fleet.nodes[node].uid, error)
    failures.require_none()
    return reasons


def skips(
    expansion: Expansion,
    evaluation: Evaluation,
    only: Collection[str],
    inside: Collection[int] | None,
    unknowns: Unknowns,
) -> tuple[dict[int, Reason], dict[int, str]]:
    """Return why instances are skipped, and the conditions of those that a condition skips.

    An instance whose condition is not known counts as one that runs, unless the request decides to skip it. Empty
    `only` means all tasks. Stages are left out: nothing skips them, and the digests of plans, by which runs that began
    with an earlier version are resumed, do not have them. Raise `InvalidGraph` as `evaluate` does.
    """
    conditions: dict[tuple[int, int], str] = {}

    def holds(task: int, node: int) -> bool:
        merged, place = expansion.tasks[task].task, expansion.fleet.nodes[node]
        try:
            result, conditions[task, node] = evaluation.condition(merged, place.uid)
        except UnknownFact as error:
            result, conditions[task, node] = unknowns.condition(task, node, error.path)
        return result

    reasons = evaluate(expansion, holds, only or None, inside)
    skipped = {
        vertex: reason
        for vertex, reason in enumerate(reasons)
        if reason and expansion.tasks[expansion.task_of[vertex]].task.type != TaskType.STAGE
    }
    details = {
        vertex: conditions[expansion.task_of[vertex], expansion.node_of[vertex]]
        for vertex, reason in skipped.items()
        if reason is Reason.CONDITION
    }
    skipped.update((vertex, Reason.UNKNOWN) for vertex in details if unknowns.path(expansion, vertex))
    return skipped, details


def rendered(
    expansion: Expansion, evaluation: Evaluation, skipped: Collection[int], unknowns: Unknowns, *, trace: bool
) -> dict[int, Mapping[str, Any]]:
    """Return the attributes of every instance that will run, evaluated node by node.

    Those whose parameters are not known are left out. Raise `InvalidGraph` with one finding (G034) for each task whose
    parameters fail.
    """
    failures = _Failures("parameters", expansion.tasks)
    result: dict[int, Mapping[str, Any]] = {}
    for vertex in sorted(range(expansion.size), key=expansion.node_of.__getitem__):
        index = expansion.task_of[vertex]
        task = expansion.tasks[index].task
        if vertex in skipped or task.type in PASSIVE:
            continue
        uid = expansion.fleet.nodes[expansion.node_of[vertex]].uid
        try:
            attributes = evaluation.rendered(task, uid)
        except UnknownFact as error:
            if (index, expansion.node_of[vertex]) not in unknowns.paths:
                unknowns.add(index, expansion.node_of[vertex], "parameters", error.path)
            continue
        except FuelError as error:
            failures.add(index, uid, error)
            continue
        if trace:
            attributes = {**attributes, "parameters": {**attributes["parameters"], "debug": True}}
        result[vertex] = attributes
    failures.require_none()
    return result


def is_unreadable(error: FuelError) -> bool:
    """Return whether the text of an expression is wrong, and not a value that it reads."""
    return getattr(error, "position", None) is not None


class _Failures:
    """Expressions that failed: by task, every node and error."""

    def __init__(
        self,
        what: str,
        tasks: Sequence[MergedTask],
        failed: Mapping[int, Sequence[tuple[NodeKey, FuelError]]] = MappingProxyType({}),
    ) -> None:
        self._what = what
        self._tasks = tasks
        self._errors = {task: list(errors) for task, errors in failed.items()}

    def add(self, task: int, node: NodeKey, error: FuelError) -> None:
        self._errors.setdefault(task, []).append((node, error))

    def require_none(self) -> None:
        if self._errors:
            findings = [self._finding(task) for task in sorted(self._errors)]
            hint = "If the facts of a Fuel master are missing, upload them: `fuel2 env deployment-facts upload`."
            if all(is_unreadable(error) for errors in self._errors.values() for _, error in errors):
                hint = "Correct the expressions; no facts would make them readable."
            tasks = f"{len(findings)} tasks" if len(findings) > 1 else "one task"
            raise InvalidGraph(
                f"The {self._what} of {tasks} cannot be computed from the facts of this environment.",
                findings=findings,
                hint=hint,
            )

    def _finding(self, task: int) -> Finding:
        """Name the first node, and count the others: an expression mostly fails everywhere for one reason."""
        (node, error), *more = self._errors[task]
        merged = self._tasks[task]
        where = merged.id if node is None else f"{merged.id}@{node}"
        others = f" and {len(more)} more" if more else ""
        return Finding(
            Severity.ERROR, "G034", f"{where}{others}: {self._what}: {error.message}",
            place_of(merged, self._what), merged.id, error.hint,
        )  # fmt: skip
