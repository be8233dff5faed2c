"""Plans: the run of one graph, decided before anything of it runs.

A plan is a pure function of a snapshot, a request and what expressions give. Whatever cannot run is refused here,
with all reasons at once, and not half-way through a run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fuelclient.errors import FuelError, InvalidGraph
from fuelclient.graph.merge import merge_layers
from fuelclient.graph.references import check_references, place_of
from fuelclient.model.finding import Finding, Severity, errors_in
from fuelclient.model.graph import MergedGraph, MergedTask
from fuelclient.model.run import NodeKey, RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.status import Reason
from fuelclient.model.task import Relation, Task, TaskType
from fuelclient.plan.evaluate import Skip, evaluate
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import Fleet
from fuelclient.plan.order import Ordered, ordered
from fuelclient.plan.place import placement_findings
from fuelclient.plan.select import Filter, fleet_for, inside, require_tasks, subgraph_from
from fuelclient.plan.work import Kind, Work, by_filters, work_of

COMMANDED = frozenset({TaskType.ERASE_NODE, TaskType.MOVE_TO_BOOTSTRAP, TaskType.COBBLER_SYNC})
"""Types that run only through a command that somebody configured for them."""

_ON_MASTER = frozenset({TaskType.MASTER_SHELL, *COMMANDED})
_RUNNABLE = frozenset(set(TaskType) - COMMANDED - {TaskType.GROUP, TaskType.ROLE})
_REASONS = {Skip.TYPE: Reason.TYPE, Skip.FILTER: Reason.FILTERED, Skip.CONDITION: Reason.CONDITION}


class Evaluation(Protocol):
    """What expressions give for tasks on nodes. Each method may raise `FuelError`."""

    def condition(self, task: Task, node: NodeKey) -> tuple[bool, str]:
        """Whether the task's condition holds, and what it came from."""

    def relations(self, task: Task, node: NodeKey) -> Iterable[tuple[str, Relation]]:
        """The dependencies that expressions of the task state, each with its attribute."""

    def rendered(self, task: Task, node: NodeKey) -> Mapping[str, Any]:
        """`parameters` and `fail_on_error` of the task; what is alike on several nodes may be one object."""

    @property
    def chosen(self) -> Filter:
        """What evaluates node filters."""


Check = Callable[[MergedTask, NodeKey, Mapping[str, Any]], str]
"""Why a task, rendered for a node, can never run there; empty when it can."""


def has_handler(task: MergedTask, node: NodeKey, _rendered: Mapping[str, Any]) -> str:
    """Why a task can never run where nobody configured a command for any type."""
    if task.task.type in _RUNNABLE:
        return ""
    return f"Task {task.id}/{node} cannot run: there is no handler for tasks of type {task.task.type}."


@dataclass(frozen=True, slots=True)
class Plan:
    """The run of one graph.

    By instance number: `rendered` has the attributes of those that run (`parameters`, `fail_on_error`, `type`),
    `details` says more about why one is skipped. `nowhere` are tasks that are placed on no node. `selects` says whether
    the filters of the request let any instance through, whatever it does. `digest` tells
    two plans apart: equal ones have the same instances, order, limits and parameters.
    """

    graph_type: str
    expansion: Expansion
    order: Ordered
    work: Work
    rendered: Mapping[int, Mapping[str, Any]]
    details: Mapping[int, str]
    findings: tuple[Finding, ...]
    metadata: Mapping[str, Any]
    nowhere: tuple[MergedTask, ...]
    digest: str = ""
    selects: bool = True

    @property
    def fleet(self) -> Fleet:
        return self.expansion.fleet

    @property
    def node_ids(self) -> tuple[int, ...]:
        """The nodes that take part."""
        return tuple(node.uid for node in self.fleet.nodes if isinstance(node.uid, int))

    @property
    def places_nothing(self) -> bool:
        """Whether there is no task instance at all, but for sync points."""
        return all(kind is Kind.SYNC for kind in self.work.kinds)

    @property
    def is_left_out(self) -> bool:
        """Whether the filters of the request are why nothing at all would run."""
        through, left_out = by_filters(self.work)
        return bool(left_out) and not through

    @property
    def is_idle(self) -> bool:
        """Whether the filters of the request let only such instances through as do nothing by their type."""
        return self.is_left_out and self.selects

    def at(self, vertex: int) -> tuple[MergedTask, NodeKey]:
        """The task and the node of an instance."""
        return self.expansion.tasks[self.expansion.task_of[vertex]], self.uid(vertex)

    def uid(self, vertex: int) -> NodeKey:
        return self.fleet.nodes[self.expansion.node_of[vertex]].uid


def merged_for(snapshot: Snapshot) -> MergedGraph:
    """The merged graph of a snapshot. Raises `InvalidGraph` when it cannot be merged."""
    merged = merge_layers(snapshot.layers)
    if errors_in(merged.findings):
        raise InvalidGraph(
            f"The {snapshot.graph_type} graph of environment {snapshot.cluster.id} cannot be merged.",
            findings=merged.findings,
        )
    return merged


def plan(
    snapshot: Snapshot,
    request: RunRequest,
    evaluation: Evaluation,
    *,
    check: Check = has_handler,
    elsewhere: Collection[str] = (),
) -> Plan:
    """The plan of the snapshot's graph.

    `elsewhere` are ids of tasks of the other graphs of the request, which its filters may name too. Raises
    `NotFound` for an unknown node, task or instance, `UsageError` for a subgraph that cannot be read,
    `CycleDetected`, and `InvalidGraph` with all findings for what cannot run.
    """
    merged = merged_for(snapshot)
    known = {task.id for task in merged.tasks} | set(elsewhere)
    require_tasks(request.task_names, known)
    subgraphs = [subgraph_from(text, known) for text in request.subgraphs]
    fleet = fleet_for(snapshot, request.node_ids, merged.metadata.get("node_filter"), evaluation.chosen)
    expansion = _expanded(merged.tasks, fleet, evaluation)
    found = [*_findings(merged, snapshot, expansion)]
    if errors_in(found):
        raise _refused(snapshot, found)
    order = ordered(expansion)
    kept = inside(expansion, subgraphs) if subgraphs else None
    skipped, details = _skipped(expansion, evaluation, request.task_names, kept)
    rendered = _rendered(expansion, evaluation, skipped, trace=request.trace)
    work = _work(expansion, skipped, rendered, noop=request.noop)
    found += _cannot_run(expansion, work, snapshot, request, rendered, check)
    if errors_in(found):
        raise _refused(snapshot, found)
    nowhere = tuple(task for task, nodes in zip(merged.tasks, expansion.placement.nodes, strict=True) if not nodes)
    made = Plan(
        snapshot.graph_type, expansion, order, work, rendered, details, tuple(found), merged.metadata,
        tuple(task for task in nowhere if task.task.type != TaskType.GROUP),
        selects=_selects(expansion, request.task_names, kept),
    )  # fmt: skip
    return replace(made, digest=digest_of(work, rendered))


def _selects(expansion: Expansion, names: Collection[str], kept: Collection[int] | None) -> bool:
    return any(
        (not names or expansion.tasks[task].id in names) and (kept is None or vertex in kept)
        for vertex, task in enumerate(expansion.task_of)
    )


def _refused(snapshot: Snapshot, found: Sequence[Finding]) -> InvalidGraph:
    return InvalidGraph(
        f"The {snapshot.graph_type} graph of environment {snapshot.cluster.id} cannot run.", findings=found
    )


def _expanded(tasks: Sequence[MergedTask], fleet: Fleet, evaluation: Evaluation) -> Expansion:
    failures = _Failures("dependencies")

    def computed(task: int, node: int) -> Iterable[tuple[str, Relation]]:
        try:
            return evaluation.relations(tasks[task].task, fleet.nodes[node].uid)
        except FuelError as error:
            failures.add(tasks[task], fleet.nodes[node].uid, error)
            return ()

    expansion = expand(tasks, fleet, computed=computed)
    failures.require_none()
    return expansion


def _findings(merged: MergedGraph, snapshot: Snapshot, expansion: Expansion) -> Iterator[Finding]:
    yield from merged.findings
    yield from check_references(merged)
    yield from expansion.placement.findings
    yield from placement_findings(merged.tasks, expansion.placement, snapshot)
    if expansion.fleet.absent:
        nodes = ", ".join(map(str, expansion.fleet.absent))
        yield Finding(Severity.WARNING, "G045", f"offline nodes are left out, and nothing waits for them: {nodes}")


def _skipped(
    expansion: Expansion, evaluation: Evaluation, names: Collection[str], kept: Collection[int] | None
) -> tuple[dict[int, str], dict[int, str]]:
    """Why instances are skipped, and what more there is to say of it."""
    told: dict[tuple[int, int], str] = {}
    number = {pair: vertex for vertex, pair in enumerate(zip(expansion.task_of, expansion.node_of, strict=True))}

    def holds(task: int, node: int) -> bool:
        if kept is not None and number[task, node] not in kept:
            return True
        found, told[task, node] = evaluation.condition(expansion.tasks[task].task, expansion.fleet.nodes[node].uid)
        return found

    skipped: dict[int, str] = {}
    details: dict[int, str] = {}
    for vertex, skip in enumerate(evaluate(expansion, holds, names or None)):
        if skip in _REASONS:
            skipped[vertex] = _REASONS[skip]
        elif skip is None and kept is not None and vertex not in kept:
            skipped[vertex] = Reason.SUBGRAPH
        if skip is Skip.CONDITION:
            details[vertex] = told[expansion.task_of[vertex], expansion.node_of[vertex]]
    return skipped, details


def _rendered(
    expansion: Expansion, evaluation: Evaluation, skipped: Collection[int], *, trace: bool
) -> dict[int, Mapping[str, Any]]:
    """The attributes of every instance that will run, asked for node by node."""
    failures = _Failures("parameters")
    passive = {TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP}
    found: dict[int, Mapping[str, Any]] = {}
    for vertex in sorted(range(expansion.size), key=expansion.node_of.__getitem__):
        task = expansion.tasks[expansion.task_of[vertex]]
        if vertex in skipped or task.task.type in passive:
            continue
        uid = expansion.fleet.nodes[expansion.node_of[vertex]].uid
        try:
            attributes = evaluation.rendered(task.task, uid)
        except FuelError as error:
            failures.add(task, uid, error)
            continue
        if trace:
            attributes = {**attributes, "parameters": {**attributes["parameters"], "debug": True}}
        found[vertex] = attributes
    failures.require_none()
    return found


def _work(
    expansion: Expansion, skipped: Mapping[int, str], rendered: Mapping[int, Mapping[str, Any]], *, noop: bool
) -> Work:
    """In a noop run no failure counts."""
    strategies = {vertex: one["parameters"].get("strategy") for vertex, one in rendered.items()}
    failing = {vertex: bool(one.get("fail_on_error", True)) and not noop for vertex, one in rendered.items()}
    return work_of(expansion, skipped=skipped, strategies=strategies, fail_on_error=failing)


def _cannot_run(
    expansion: Expansion,
    work: Work,
    snapshot: Snapshot,
    request: RunRequest,
    rendered: Mapping[int, Mapping[str, Any]],
    check: Check,
) -> Iterator[Finding]:
    """Instances for which there is no way to run them: nothing that could, or no way to their node."""
    unreachable = {
        node.id for node in snapshot.nodes if not (node.ip or node.executor or request.executor or request.noop)
    }
    unfit: dict[int, list[str]] = {}
    lost: dict[NodeKey, str] = {}
    for vertex in range(work.size):
        if work.kinds[vertex] is not Kind.REAL:
            continue
        index = expansion.task_of[vertex]
        task, uid = expansion.tasks[index], expansion.fleet.nodes[expansion.node_of[vertex]].uid
        if uid in unreachable and task.task.type not in _ON_MASTER:
            lost.setdefault(uid, task.id)
        elif why := check(task, uid, rendered[vertex]):
            unfit.setdefault(index, []).append(why)
    for index, (why, *more) in unfit.items():
        task = expansion.tasks[index]
        others = f" The same holds on {len(more)} more." if more else ""
        yield Finding(
            Severity.ERROR, "G046", f"{why}{others}", place_of(task, "type"), task.id,
            "Configure what is missing, override the task, or leave it out with a filter.",
        )  # fmt: skip
    for uid, name in lost.items():
        yield Finding(
            Severity.ERROR, "G047", f"node {uid} has no address and no executor, and task {name} would run on it",
            task=name, hint="Give it an ip, or say --executor local to run its tasks on this machine.",
        )  # fmt: skip


class _Failures:
    """Expressions that failed: one finding for each task, with the first node and how many more."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._found: dict[int, tuple[MergedTask, list[tuple[NodeKey, FuelError]]]] = {}

    def add(self, task: MergedTask, node: NodeKey, error: FuelError) -> None:
        self._found.setdefault(id(task), (task, []))[1].append((node, error))

    def require_none(self) -> None:
        """Nothing happens when there are none; `InvalidGraph` with a finding (G034) for each task otherwise."""
        if self._found:
            findings = [self._finding(task, errors) for task, errors in self._found.values()]
            message = f"The {self._what} of {len(findings)} task(s) cannot be computed from the facts."
            raise InvalidGraph(message, findings=findings)

    def _finding(self, task: MergedTask, errors: Sequence[tuple[NodeKey, FuelError]]) -> Finding:
        (node, error), *more = errors
        others = f" and {len(more)} more" if more else ""
        where = task.id if node is None else f"{task.id}@{node}"
        return Finding(
            Severity.ERROR, "G034", f"{where}{others}: {self._what}: {error.message}",
            place_of(task, self._what), task.id, error.hint,
        )  # fmt: skip


def digest_of(work: Work, rendered: Mapping[int, Mapping[str, Any]]) -> str:
    """A text that two plans share when their instances, order, limits, skips and parameters are equal."""
    encode: Callable[[Any], str] = json.JSONEncoder(sort_keys=True, default=str, separators=(",", ":")).encode
    seen = hashlib.sha256()
    groups = [[group.group, list(group.nodes), group.tolerated] for group in work.fault_tolerance]
    head = [list(work.tasks), list(work.nodes), list(work.limits), groups, work.max_busy]
    body = [list(work.task_of), list(work.node_of), list(work.kinds), list(work.fail_on_error), list(work.limit_of)]
    seen.update(encode([head, body, sorted(work.skipped.items())]).encode())
    for following in work.successors:
        seen.update(f"{sorted(following)};".encode())
    texts: dict[int, bytes] = {}
    for vertex in sorted(rendered):
        attributes = rendered[vertex]
        if id(attributes) not in texts:
            texts[id(attributes)] = hashlib.sha256(encode(attributes).encode()).digest()
        seen.update(b"%d:" % vertex + texts[id(attributes)])
    return seen.hexdigest()
