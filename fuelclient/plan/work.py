"""The input of a schedule: the numbered task instances of a plan, their order, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.model.finding import Finding, Severity, task_finding
from fuelclient.model.status import FILTERS, Reason
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.place import FaultTolerance

UNLIMITED = 0
"""The limit of a task that may run on all its nodes at once."""


def limit_from(strategy: Any) -> int:
    """The number of nodes that may run a task with this strategy at once; `UNLIMITED` without one.

    Raise `ValueError` for a type other than parallel and one_by_one, and for an amount that is not a whole number of at
    least 0. Source: Astute `TaskDeployment`.

    >>> limit_from({"type": "one_by_one"}), limit_from({"type": "parallel", "amount": 7})
    (1, 7)
    """
    if strategy is None or _is_expression(strategy):
        return UNLIMITED
    body = strategy if isinstance(strategy, Mapping) else {"type": strategy}
    strategy_type, amount = body.get("type"), body.get("amount")
    if strategy_type == "one_by_one":
        return 1
    if strategy_type != "parallel" and not _is_expression(strategy_type):
        raise ValueError(f"a strategy is parallel or one_by_one, not {strategy_type!r}")
    if amount is None or _is_expression(amount):
        return UNLIMITED
    if isinstance(amount, str) and amount.strip().lstrip("-").isdecimal():
        amount = int(amount)
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 0:
        raise ValueError(f"the amount of a strategy is a whole number of at least 0, not {amount!r}")
    return amount


def _is_expression(value: Any) -> bool:
    return isinstance(value, Mapping) and "yaql_exp" in value


MAX_BUSY_NODES = 50
"""The number of nodes that may run tasks at the same time (Astute's `max_nodes_per_call`)."""

NO_KEY = -1
"""The key of an instance without a limit."""

PASSIVE = frozenset({TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP})
"""The types of tasks that do nothing when they are reached."""

_HINT = "Write {type: one_by_one}, or {type: parallel, amount: 10}."


class InstanceKind(StrEnum):
    """What happens to an instance when it is reached: it runs, or is passed over, or is a sync point."""

    REAL = "real"
    SKIP = "skip"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class Work:
    """The task instances of a plan by number, and the order between them.

    `task_of` and `node_of` are indices of `tasks` and `nodes` (names for messages); node `SYNC` holds the sync
    points. `limit_of` gives each instance's key in `limits`, or `NO_KEY`. `successors` also has rows for the
    barriers, which are numbered from `size` on, lie between instances, and never follow one another.
    `skipped` has the reasons of instances that the plan decided to skip.
    """

    tasks: tuple[str, ...]
    nodes: tuple[str, ...]
    task_of: Sequence[int]
    node_of: Sequence[int]
    kinds: Sequence[InstanceKind]
    fail_on_error: Sequence[bool]
    limit_of: Sequence[int]
    limits: tuple[int, ...]
    successors: Sequence[Sequence[int]]
    fault_tolerance: tuple[FaultTolerance, ...] = ()
    skipped: Mapping[int, str] = field(default_factory=dict)
    max_busy: int = MAX_BUSY_NODES

    @property
    def size(self) -> int:
        return len(self.task_of)

    def name(self, vertex: int) -> str:
        node = self.node_of[vertex]
        task = self.tasks[self.task_of[vertex]]
        return task if node == SYNC else f"{task}@{self.nodes[node]}"

    def passed_because(self, vertex: int) -> str:
        if self.kinds[vertex] is InstanceKind.SYNC:
            return Reason.SYNC_POINT
        return self.skipped.get(vertex, Reason.TYPE)


def work_of(
    expansion: Expansion,
    *,
    skipped: Mapping[int, str] | None = None,
    strategies: Mapping[int, Any] | None = None,
    fail_on_error: Mapping[int, bool] | None = None,
) -> Work:
    """The work of an expansion.

    By instance: `skipped` has the reasons of those that a condition or a filter skips; `strategies` and `fail_on_error`
    are rendered values. Without a rendered value, the attribute of the task is used; if it is an expression, there is
    no limit. A strategy on a group is ignored. Raise `InvalidGraph` with a finding for
    every invalid strategy.
    """
    skipped, given = skipped or {}, fail_on_error or {}
    passive = [task.task.type in PASSIVE for task in expansion.tasks]
    kinds = [
        InstanceKind.SYNC if node == SYNC else InstanceKind.SKIP if passive[task] else InstanceKind.REAL
        for task, node in zip(expansion.task_of, expansion.node_of, strict=True)
    ]
    for vertex in skipped:
        if kinds[vertex] is InstanceKind.REAL:
            kinds[vertex] = InstanceKind.SKIP
    limit_of, limits = _limits(expansion, kinds, strategies or {})
    fails = [task.task.attributes.get("fail_on_error", True) for task in expansion.tasks]
    defaults = [isinstance(value, Mapping) or bool(value) for value in fails]
    return Work(
        tasks=tuple(task.id for task in expansion.tasks),
        nodes=("", *(str(node.uid) for node in expansion.fleet.nodes[1:])),
        task_of=expansion.task_of,
        node_of=expansion.node_of,
        kinds=kinds,
        fail_on_error=[given.get(vertex, defaults[task]) for vertex, task in enumerate(expansion.task_of)],
        limit_of=limit_of,
        limits=limits,
        successors=[list(dict.fromkeys(following)) for following in expansion.successors],
        fault_tolerance=expansion.placement.fault_tolerance,
        skipped=dict(skipped),
    )


def _limits(
    expansion: Expansion, kinds: Sequence[InstanceKind], rendered: Mapping[int, Any]
) -> tuple[list[int], tuple[int, ...]]:
    """The key of every instance and the limit of every key; each limited task id has one key.

    Nodes may render different amounts: the smallest counts, whereas upstream takes the last one.
    """
    parameters = [task.task.attributes.get("parameters") for task in expansion.tasks]
    given = [value.get("strategy") if isinstance(value, Mapping) else None for value in parameters]
    smallest: dict[str, int] = {}
    findings: dict[tuple[int, str], Finding] = {}
    for vertex, index in enumerate(expansion.task_of):
        if kinds[vertex] is not InstanceKind.REAL:
            continue
        task = expansion.tasks[index]
        try:
            limit = limit_from(rendered.get(vertex, given[index]))
        except ValueError as error:
            attribute = "parameters.strategy"
            findings[index, str(error)] = task_finding(Severity.ERROR, "G006", task, attribute, str(error), _HINT)
            continue
        if limit != UNLIMITED:
            smallest[task.id] = min(limit, smallest.get(task.id, limit))
    if findings:
        messages = "; ".join(finding.message for finding in findings.values())
        raise InvalidGraph(f"Invalid strategies: {messages}.", findings=list(findings.values()), hint=_HINT)
    keys = {task_id: key for key, task_id in enumerate(smallest)}
    key_of = [keys.get(task.id, NO_KEY) for task in expansion.tasks]
    return [key_of[task] for task in expansion.task_of], tuple(smallest.values())


def by_filters(work: Work) -> tuple[set[int], set[int]]:
    """Two sets of node indices: the nodes with at least one instance that would run and passes the filters, and, of the
    others, those on which filters leave instances out.

    A false condition is not a filter. On a node in neither set, nothing would have run without filters either.
    """
    through: set[int] = set()
    filtered: set[int] = set()
    for vertex, node in enumerate(work.node_of):
        reason = work.skipped.get(vertex)
        if node == SYNC:
            continue
        if reason in FILTERS:
            filtered.add(node)
        elif reason == Reason.CONDITION or work.kinds[vertex] is InstanceKind.REAL:
            through.add(node)
    return through, filtered - through
