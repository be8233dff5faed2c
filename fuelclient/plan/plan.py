"""Plans: which task instances of one graph a run will start, in which order and with which parameters.

A plan is a pure function of a snapshot, a request and the values of expressions. A graph that cannot run is refused
here, with all reasons at once, and not halfway through a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from fuelclient.errors import InvalidGraph, UsageError
from fuelclient.graph.merge import require_merged
from fuelclient.graph.validate import require_type
from fuelclient.model.finding import Finding, Severity, errors_in, finding_at, listed
from fuelclient.model.graph import MergedGraph, MergedTask
from fuelclient.model.run import NodeKey, RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import TaskType
from fuelclient.plan.evaluate import Decisions, Evaluation, require_computed, require_known
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import NO_NODES, PRIMARY, SYNC, Fleet
from fuelclient.plan.order import Ordered
from fuelclient.plan.place import only_primary
from fuelclient.plan.select import fleet_for, instances_inside, require_tasks, subgraph_from
from fuelclient.plan.study import Study, graph_findings
from fuelclient.plan.work import InstanceKind, Work, by_filters, work_of

COMMANDED = frozenset({TaskType.ERASE_NODE, TaskType.MOVE_TO_BOOTSTRAP, TaskType.COBBLER_SYNC})
"""Types that run only through a command that the user configured for them."""

_ON_MASTER = frozenset({TaskType.MASTER_SHELL, *COMMANDED})
_RUNNABLE = frozenset(set(TaskType) - COMMANDED - {TaskType.GROUP, TaskType.ROLE})

_MAX_NAMES = 10

Check = Callable[[MergedTask, NodeKey, Mapping[str, Any]], str]
"""Returns why a task, rendered for a node, can never run there; empty if it can."""


def missing_handler(task: MergedTask, node: NodeKey, _rendered: Mapping[str, Any]) -> str:
    """Why a task cannot run when no commands are configured for types of tasks; empty if it can."""
    if task.task.type in _RUNNABLE:
        return ""
    return f"Task {task.id}/{node} cannot run: there is no handler for tasks of type {task.task.type}."


@dataclass(frozen=True)
class Plan:
    """The plan of a run of one graph.

    By instance number: `rendered` has the attributes of those that run (`parameters`, `fail_on_error`, `type`),
    `details` the conditions of those that a condition skips, and `unknown` the paths of unknown facts on which they
    depend. `nowhere` are tasks that are placed on no node. `selects` is true if the filters of the request let any
    instance through, even one whose type does nothing. `undecided` are findings about unknown facts for which the
    request has no decision. Plans with equal `digest` have the same instances, order, limits and parameters.
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
    selects: bool = True
    unknown: Mapping[int, str] = field(default_factory=dict)
    undecided: tuple[Finding, ...] = ()

    @cached_property
    def digest(self) -> str:
        """A hash of instances, order, limits, skips and parameters."""
        return digest_of(self.work, self.rendered)

    @property
    def fleet(self) -> Fleet:
        return self.expansion.fleet

    @property
    def node_ids(self) -> tuple[int, ...]:
        return tuple(node.uid for node in self.fleet.nodes if isinstance(node.uid, int))

    @property
    def is_left_out(self) -> bool:
        """Whether the filters of the request leave nothing to run."""
        through, left_out = by_filters(self.work)
        return bool(left_out) and not through

    @property
    def is_idle(self) -> bool:
        """Whether the filters of the request let instances through, but none of a type that does anything."""
        return self.is_left_out and self.selects

    def at(self, vertex: int) -> tuple[MergedTask, NodeKey]:
        return self.expansion.task(vertex), self.expansion.uid(vertex)


def plan(
    snapshot: Snapshot,
    request: RunRequest,
    evaluation: Evaluation,
    *,
    check: Check = missing_handler,
    elsewhere: Collection[str] = (),
) -> Plan:
    """Plan the snapshot's graph.

    `elsewhere` are ids of tasks of the other graphs of the request, which its filters may name too. Raise `NotFound`
    for an unknown node, task or instance, `UsageError` for a subgraph that cannot be read, `CycleDetected`, and
    `InvalidGraph` with all findings for what cannot run.
    """

    def fleet(merged: MergedGraph) -> Fleet:
        if request.master_only:
            return NO_NODES
        return fleet_for(snapshot, request.node_ids, merged.metadata.get("node_filter"), evaluation.chosen)

    study = Study(snapshot, facts=lambda: evaluation, fleet=fleet)
    merged = study.merged
    require_merged(snapshot, merged)
    known = {task.id for task in merged.tasks} | set(elsewhere)
    require_tasks(request.task_names, known)
    subgraphs = [subgraph_from(text, known) for text in request.subgraphs]
    expansion = study.expansion
    require_computed(merged.tasks, study.failed)
    decisions = Decisions(expansion, evaluation, request.unknown, study.unknown)
    findings = [*graph_findings(snapshot, merged, expansion)]
    _refuse(snapshot, findings)
    order = study.ordered
    kept = instances_inside(expansion, subgraphs) if subgraphs else None
    skipped, details = decisions.skips(request.task_names, kept)
    attributes = decisions.rendered(skipped, trace=request.trace)
    unknown = decisions.left(attributes, skipped, details)
    work = work_of(
        expansion,
        skipped=skipped,
        strategies={vertex: values["parameters"].get("strategy") for vertex, values in attributes.items()},
        # In a noop run no failure counts.
        fail_on_error={
            vertex: bool(values.get("fail_on_error", True)) and not request.noop
            for vertex, values in attributes.items()
        },
    )
    findings += _unrunnable_findings(expansion, work, snapshot, request, attributes, check)
    _refuse(snapshot, findings)
    findings += _idle_findings(snapshot.graph_type, expansion, work, request)
    _refuse(snapshot, findings)
    placed = zip(merged.tasks, expansion.placement.nodes, strict=True)
    return Plan(
        snapshot.graph_type, expansion, order, work, attributes, details, tuple(findings), merged.metadata,
        tuple(task for task, nodes in placed if not nodes and task.task.type != TaskType.GROUP),
        _selects(expansion, request, kept),
        unknown,
        tuple(decisions.findings()),
    )  # fmt: skip


def _selects(expansion: Expansion, request: RunRequest, kept: Collection[int] | None) -> bool:
    return any(
        (not request.task_names or expansion.tasks[task].id in request.task_names) and (kept is None or vertex in kept)
        for vertex, task in enumerate(expansion.task_of)
    )


def _refuse(snapshot: Snapshot, findings: list[Finding]) -> None:
    if errors_in(findings):
        message = f"The {snapshot.graph_type} graph of environment {snapshot.cluster.id} cannot run."
        raise InvalidGraph(message, findings=findings)


def _unrunnable_findings(
    expansion: Expansion,
    work: Work,
    snapshot: Snapshot,
    request: RunRequest,
    attributes: Mapping[int, Mapping[str, Any]],
    check: Check,
) -> Iterator[Finding]:
    unreachable = {
        node.id for node in snapshot.nodes if not (node.ip or node.executor or request.executor or request.noop)
    }
    unfit: dict[int, list[str]] = {}
    lost: dict[NodeKey, str] = {}
    for vertex in range(work.size):
        if work.kinds[vertex] is not InstanceKind.REAL or vertex not in attributes:
            continue  # it does not run, or its parameters are not known
        (index, _), uid = expansion.instance(vertex), expansion.uid(vertex)
        task = expansion.tasks[index]
        if uid in unreachable and task.task.type not in _ON_MASTER:
            lost.setdefault(uid, task.id)
        elif problem := check(task, uid, attributes[vertex]):
            unfit.setdefault(index, []).append(problem)
    for index, (problem, *more) in unfit.items():
        task = expansion.tasks[index]
        others = f" The same holds on {len(more)} more node{'s' * (len(more) > 1)}." if more else ""
        hint = "Configure what is missing, override the task, or leave it out with a filter."
        yield finding_at(Severity.ERROR, "G046", task, "type", f"{problem}{others}", hint)
    severity = Severity.WARNING if request.dry_run else Severity.ERROR
    for uid, name in lost.items():
        yield Finding(
            severity, "G047", f"task {name} cannot run on node {uid}: the node has no address and no executor",
            task=name, hint="Delete it and import it with an ip or an executor; --executor would be that of all nodes.",
        )  # fmt: skip


def _idle_findings(graph_type: str, expansion: Expansion, work: Work, request: RunRequest) -> Iterator[Finding]:
    """Yield a finding if there are only sync points: the graph ends at once, and the run goes on. Yield one as well if
    a primary has no task, but other nodes of its role have: the author may not know that `primary-` is another role.

    It is an error if no node that the request names is online. A request for the master alone expects it.
    """
    busy, places = {*work.node_of} - {SYNC}, enumerate(expansion.fleet.nodes)
    idle = [node for place, node in places if place not in busy and isinstance(node.uid, int)]
    named = dict.fromkeys(name for task in expansion.tasks for name in task.task.placement[1])
    primary = only_primary(named, idle)
    if request.master_only or (busy and not primary):
        return
    nodes = [str(node.uid) for node in idle if not busy or PRIMARY + primary in node.tags]
    is_lost = bool(request.node_ids) and not nodes
    where = "because no node can be deployed now, or its node filter matches none"
    hint = f"{'Name' if request.node_ids else '`fuel2 env add nodes` adds'} nodes that have its roles; "
    if nodes:
        where = f"on node {listed(nodes, _MAX_NAMES)}"
        if primary:
            where += f": the {primary} there is {PRIMARY}{primary}, and its tasks name {primary} only"
            hint = f"Add {PRIMARY}{primary} to the roles of its tasks if they are to run there; "
    elif is_lost:
        where = "because none of the named nodes is online"
    yield Finding(
        Severity.ERROR if is_lost and not request.dry_run else Severity.WARNING,
        "G066",
        f"the {graph_type} graph has nothing to do {where}",
        hint=f"{hint}`fuel2 graph preview --env {request.cluster_id} --type {graph_type}` shows where its tasks run.",
    )


def digest_of(work: Work, rendered: Mapping[int, Mapping[str, Any]]) -> str:
    """A hash of instances, order, limits, skips and parameters."""
    import hashlib  # previews need none, and it takes 3 ms

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


def checked(request: RunRequest, runs_nothing: Callable[[str], bool]) -> RunRequest:
    """The request, as a noop run if its executor makes it one. Raise `UsageError` if it contradicts itself.

    `runs_nothing` returns whether the tasks of a kind of executor only report what they would do, and raises
    `UsageError` for an unknown kind. A request that names such a kind is a noop run, so that nothing counts as done
    afterwards. If only the executors of some nodes are of such a kind, the run is an ordinary one.
    """
    if request.unknown not in ("", "run", "skip"):
        raise UsageError(f"There is no --unknown {request.unknown}.", hint="Choose --unknown run or --unknown skip.")
    if not request.graph_types:
        raise UsageError("There is no graph to execute.", hint="Name at least one graph type.")
    if request.dry_run and request.noop:
        raise UsageError("A run is a dry run or a noop run, not both.", hint="Choose --dry-run or --noop.")
    for graph_type in request.graph_types:
        require_type(graph_type)
    is_noop = bool(request.executor) and runs_nothing(request.executor)
    return replace(request, noop=True) if is_noop and not request.dry_run else request


def require_decided(made: Plan) -> None:
    require_known(made.graph_type, made.undecided)


def nothing_selected(request: RunRequest) -> InvalidGraph:
    """The error for a request whose filters leave nothing to run in any of its graphs."""
    options = (("--task-names", request.task_names), ("--subgraphs", request.subgraphs))
    named = " and ".join(f"{option} {', '.join(names)}" for option, names in options if names)
    types = list(dict.fromkeys(request.graph_types))
    graphs = f"{types[0]} graph" if len(types) == 1 else f"{', '.join(types[:-1])} and {types[-1]} graphs"
    return InvalidGraph(
        f"The selection leaves nothing of the {graphs}: no task instance that would run is selected by {named}.",
        hint="The start of a subgraph comes before its end; `fuel2 graph execute --dry-run` shows what is left out.",
    )
