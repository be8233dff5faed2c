"""Work: all that a schedule needs to know of a plan, numbered: task instances, their order, and their limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.graph.references import place_of
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.status import Reason
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import Expansion
from fuelclient.plan.place import SYNC, FaultTolerance

MOST_BUSY = 50
"""How many nodes may run a task at the same time (Astute's `max_nodes_per_call`)."""

UNLIMITED = 0
"""The limit of a task that may run on all its nodes at once."""

NO_KEY = -1
"""In the place of a limit's key: the instance has no limit."""

_PASSIVE = frozenset({TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP})
_FILTERS = frozenset({Reason.FILTERED, Reason.SUBGRAPH})
_HINT = "Write {type: one_by_one}, or {type: parallel, amount: 10}."


class Kind(StrEnum):
    """What becomes of an instance when it is reached: it runs, it is passed, or everything meets there."""

    REAL = "real"
    SKIP = "skip"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class Work:
    """The task instances of a plan by number, and the order between them.

    `task_of` and `node_of` are indices of `tasks` and `nodes` (names for messages); node `SYNC` holds the sync
    points. `limit_of` gives each instance's key in `limits`, or `NO_KEY`. `successors` also has rows for the
    barriers, which are numbered from `size` on, stand between instances, and never follow one another.
    `skipped` says why an instance is a skip, where the plan decided that.
    """

    tasks: tuple[str, ...]
    nodes: tuple[str, ...]
    task_of: Sequence[int]
    node_of: Sequence[int]
    kinds: Sequence[Kind]
    fail_on_error: Sequence[bool]
    limit_of: Sequence[int]
    limits: tuple[int, ...]
    successors: Sequence[Sequence[int]]
    fault_tolerance: tuple[FaultTolerance, ...] = ()
    skipped: Mapping[int, str] = field(default_factory=dict)
    max_busy: int = MOST_BUSY

    @property
    def size(self) -> int:
        """The number of task instances."""
        return len(self.task_of)

    def name(self, vertex: int) -> str:
        """An instance for people: `task@node`, a sync point by its task alone."""
        node = self.node_of[vertex]
        task = self.tasks[self.task_of[vertex]]
        return task if node == SYNC else f"{task}@{self.nodes[node]}"

    def passed_because(self, vertex: int) -> str:
        """Why an instance that is not real is skipped when it is reached."""
        if self.kinds[vertex] is Kind.SYNC:
            return Reason.SYNC_POINT
        return self.skipped.get(vertex, Reason.TYPE)


def work_of(
    expansion: Expansion,
    *,
    skipped: Mapping[int, str] | None = None,
    strategies: Mapping[int, Any] | None = None,
    fail_on_error: Mapping[int, bool] | None = None,
    max_busy: int = MOST_BUSY,
) -> Work:
    """The work of an expansion.

    By instance: `skipped` are those that a condition or a filter keeps from running, and why; `strategies` and
    `fail_on_error` are rendered values, and where there is none, the task's own statement counts (an expression
    that nobody rendered limits nothing). A strategy on a group means nothing. Raises
    `InvalidGraph` with a finding for every strategy that cannot be used.
    """
    skipped, stated = skipped or {}, fail_on_error or {}
    kinds = [_kind(expansion, vertex, skipped) for vertex in range(expansion.size)]
    limit_of, limits = _limits(expansion, kinds, strategies or {})
    names = [str(node.uid) for node in expansion.fleet.nodes]
    defaults = [_fails(task) for task in expansion.tasks]
    return Work(
        tasks=tuple(task.id for task in expansion.tasks),
        nodes=("", *names[1:]),
        task_of=expansion.task_of,
        node_of=expansion.node_of,
        kinds=kinds,
        fail_on_error=[stated.get(vertex, defaults[task]) for vertex, task in enumerate(expansion.task_of)],
        limit_of=limit_of,
        limits=limits,
        successors=[list(dict.fromkeys(following)) for following in expansion.edges.successors()],
        fault_tolerance=expansion.placement.fault_tolerance,
        skipped=dict(skipped),
        max_busy=max_busy,
    )


def _kind(expansion: Expansion, vertex: int, skipped: Mapping[int, str]) -> Kind:
    if expansion.node_of[vertex] == SYNC:
        return Kind.SYNC
    passive = expansion.tasks[expansion.task_of[vertex]].task.type in _PASSIVE
    return Kind.SKIP if passive or vertex in skipped else Kind.REAL


def _fails(task: MergedTask) -> bool:
    value = task.task.attributes.get("fail_on_error", True)
    return isinstance(value, Mapping) or bool(value)


def _limits(
    expansion: Expansion, kinds: Sequence[Kind], rendered: Mapping[int, Any]
) -> tuple[list[int], tuple[int, ...]]:
    """The key of every instance and the limit of every key: one key for each limited task id.

    Nodes may render different amounts: the smallest counts, where upstream takes whichever comes last.
    """
    stated = [_stated(task) for task in expansion.tasks]
    smallest: dict[str, int] = {}
    findings: dict[tuple[int, str], Finding] = {}
    for vertex, index in enumerate(expansion.task_of):
        if kinds[vertex] is not Kind.REAL:
            continue
        task = expansion.tasks[index]
        try:
            limit = limit_from(rendered.get(vertex, stated[index]))
        except ValueError as error:
            message = f"task {task.id}: {error}"
            where = place_of(task, "parameters.strategy")
            findings[index, message] = Finding(Severity.ERROR, "G006", message, where, task.id, _HINT)
            continue
        if limit != UNLIMITED:
            smallest[task.id] = min(limit, smallest.get(task.id, limit))
    if findings:
        told = "; ".join(finding.message for finding in findings.values())
        raise InvalidGraph(f"Strategies that cannot be used: {told}.", findings=list(findings.values()), hint=_HINT)
    keys = {task_id: key for key, task_id in enumerate(smallest)}
    key_of = [keys.get(task.id, NO_KEY) for task in expansion.tasks]
    return [key_of[task] for task in expansion.task_of], tuple(smallest.values())


def _stated(task: MergedTask) -> Any:
    parameters = task.task.attributes.get("parameters")
    return parameters.get("strategy") if isinstance(parameters, Mapping) else None


def limit_from(strategy: Any) -> int:
    """On how many nodes a task with this strategy may run at the same time; `UNLIMITED` without one.

    Raises `ValueError` for a type that is neither parallel nor one_by_one, and for an amount that is no whole
    number from 0 on. Source: Astute `TaskDeployment`.

    >>> limit_from({"type": "one_by_one"}), limit_from({"type": "parallel", "amount": 7})
    (1, 7)
    """
    if strategy is None or _is_expression(strategy):
        return UNLIMITED
    body = strategy if isinstance(strategy, Mapping) else {"type": strategy}
    way, amount = body.get("type"), body.get("amount")
    if way == "one_by_one":
        return 1
    if way != "parallel" and not _is_expression(way):
        raise ValueError(f"a strategy is parallel or one_by_one, not {way!r}")
    if amount is None or _is_expression(amount):
        return UNLIMITED
    if isinstance(amount, str) and amount.strip().lstrip("-").isdecimal():
        amount = int(amount)
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 0:
        raise ValueError(f"the amount of a strategy is a whole number from 0 on, not {amount!r}")
    return amount


def _is_expression(value: Any) -> bool:
    return isinstance(value, Mapping) and "yaql_exp" in value


def by_filters(work: Work) -> tuple[set[int], set[int]]:
    """The nodes (by index) on which filters let something through that would run, and those on which they let
    nothing through.

    A condition that is false is no filter: it says that there is nothing to do. On a node that is in neither
    set, nothing would have run anyway.
    """
    through: set[int] = set()
    filtered: set[int] = set()
    for vertex, node in enumerate(work.node_of):
        why = work.skipped.get(vertex)
        if node == SYNC:
            continue
        if why in _FILTERS:
            filtered.add(node)
        elif why == Reason.CONDITION or work.kinds[vertex] is Kind.REAL:
            through.add(node)
    return through, filtered - through


def followers(work: Work, vertex: int) -> Iterator[int]:
    """The instances that directly follow one, those behind barriers included; each as often as it is stated."""
    for after in work.successors[vertex]:
        if after < work.size:
            yield after
        else:
            yield from work.successors[after]
