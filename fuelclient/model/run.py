"""Runs: requests, runs and their history, events and logs; plans and simulated runs in the form that users see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.status import InstanceStatus, RunStatus

PARENT = "deploy"
"""The name of a run as a user starts it, which has one child for each graph."""

CHILD = "deployment"
"""The name of the run of one graph. Both names are Nailgun's."""

NO_CLUSTER = 0
"""The `cluster_id` of a run without an environment."""

NodeKey = int | str | None
"""The node of a task instance: a node's id, "master", or None for the sync points."""


DecisionByInstance = Mapping[tuple[str, NodeKey], bool]
"""Whether a backend would run each task instance, by task and node."""


def instance_name(task: str, node: NodeKey) -> str:
    """The name of a task instance in options. A sync point has no node.

    >>> instance_name("keystone", 1), instance_name("deploy_end", None)
    ('keystone/1', 'deploy_end')
    """
    return task if node is None else f"{task}/{node}"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A request to run graphs of some types on an environment, one after another.

    Empty `node_ids` mean the nodes that the graph's filter selects, unless the run is `master_only`: then only stages
    and what runs on the master run. Empty `task_names` and `subgraphs` mean all tasks. `subgraphs` are strings:
    `[start[/nodes]][:end[/nodes]]` (`plan.select`). `force` makes the run ignore earlier ones. `dry_run` plans but runs
    nothing; `noop` runs everything but changes nothing, and nothing counts as done afterwards; `trace` asks tasks for
    verbose output. `executor` replaces the executors of all nodes; `on_originals` lets a run on a copy reach the
    machines of its original. `unknown` ("run" or "skip") decides about instances whose condition reads unknown
    facts; if it is empty, such a run is refused. `assumed` are facts to use where the environment has none.
    """

    cluster_id: int
    graph_types: tuple[str, ...] = (DEFAULT_TYPE,)
    node_ids: tuple[int, ...] = ()
    task_names: tuple[str, ...] = ()
    subgraphs: tuple[str, ...] = ()
    force: bool = False
    dry_run: bool = False
    noop: bool = False
    trace: bool = False
    executor: str = ""
    on_originals: bool = False
    master_only: bool = False
    unknown: str = ""
    assumed: DeploymentFacts = field(default_factory=DeploymentFacts, hash=False)


class Action(StrEnum):
    """An action of a Fuel master on the nodes of an environment, by its own rules.

    `DEPLOY` and `REDEPLOY` take all nodes, and delete, provision and deploy them as they need it.
    """

    DEPLOY = "deploy"
    REDEPLOY = "redeploy"
    RESET = "reset"
    DEPLOY_NODES = "deploy nodes of"
    PROVISION_NODES = "provision nodes of"


@dataclass(frozen=True, slots=True)
class Run:
    """A run as a user started it (the parent), or the run of one of its graphs (a child).

    A parent (`parent_id` None) has `children`, in the order in which they run; a child has a `graph_type`. Times are
    UTC in ISO 8601, or None if still to come. `dry_run` is also true of a noop run, as in Nailgun. `stop` is the stop
    that was requested: empty, `graceful` or `kill`. `findings` are those of the plan. `runner` is the state of the
    process of a parent that has not ended: `alive` or `gone`. `cluster_id` is `NO_CLUSTER` if a master has deleted the
    environment, or if the run was never about one.
    """

    id: int
    uuid: str
    cluster_id: int
    name: str
    status: RunStatus
    request: RunRequest
    graph_type: str = ""
    parent_id: int | None = None
    progress: int = 0
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    time_start: str | None = None
    time_end: str | None = None
    stop: str = ""
    runner: str = ""
    digest: str = ""
    findings: tuple[Finding, ...] = ()
    children: tuple[Run, ...] = ()

    @property
    def dry_run(self) -> bool:
        return self.request.dry_run or self.request.noop

    @property
    def is_final(self) -> bool:
        return self.status.is_final

    @property
    def word(self) -> str:
        """The status or, while the run lasts, a problem. A run that ended in error after a request to stop is called
        stopped; its unreached and failed instances are shown separately."""
        if self.is_final:
            return "stopped" if self.stop and self.status == RunStatus.ERROR else str(self.status)
        if self.runner == "gone":
            return "runner gone"
        return {"kill": "killing", "graceful": "stopping"}.get(self.stop, str(self.status))


NOWHERE = "-"
"""In a history, the node of a task that was placed on no node."""


def uid_of(node: NodeKey) -> str:
    """The key of a node in facts and filters. Sync points, which are on no node, have "null".

    >>> uid_of(3), uid_of("master"), uid_of(None)
    ('3', 'master', 'null')
    """
    return "null" if node is None else str(node)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A task instance of a run: its status, when it ran, and why it did not.

    `reason` and `because` (`task@node`, the failure to blame) may be empty. `message` comes from the executor,
    `summary` from the task. `run_id` and `graph_type` are those of the child. `definition` is the merged task with its
    parameters as written, since rendered ones may contain passwords. A task that was placed nowhere has the node `-`,
    the status skipped and no times.
    """

    run_id: int
    graph_type: str
    task: str
    node: NodeKey
    status: InstanceStatus
    type: str = ""
    reason: str = ""
    because: str = ""
    message: str = ""
    time_start: str | None = None
    time_end: str | None = None
    return_code: int | None = None
    attempts: int = 0
    summary: Mapping[str, Any] = field(default_factory=dict)
    definition: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """A filter of history rows; empty means any. Nodes are compared as strings (`3`, `master`, `null`)."""

    nodes: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()

    def passes(self, row: HistoryRow) -> bool:
        """Whether the filter lets a row through.

        >>> row = HistoryRow(1, "default", "a", None, InstanceStatus.READY)
        >>> HistoryFilter(nodes=("null",)).passes(row), HistoryFilter(tasks=("b",)).passes(row)
        (True, False)
        """
        pairs = ((self.nodes, uid_of(row.node)), (self.statuses, row.status), (self.tasks, row.task))
        return all(not wanted or value in wanted for wanted, value in pairs)


class EventKind(StrEnum):
    """The subject of an event."""

    RUN = "transaction"
    INSTANCE = "instance"
    NODE = "node"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log from which runs are followed. Ids rise, and lines never change.

    `run_id` is the child's for an instance, or else that of the run that changed; `parent_id` is the parent's. Events
    of runs have `progress`.
    """

    id: int
    time: str
    kind: EventKind
    parent_id: int
    run_id: int
    graph_type: str = ""
    task: str = ""
    node: NodeKey = None
    status: str = ""
    reason: str = ""
    message: str = ""
    progress: int = 0


@dataclass(frozen=True, slots=True)
class Logs:
    """The output of a task instance, all its tries one after another. `return_code` is None until it has ended.

    The script is left out, since it may contain passwords.
    """

    task: str
    node: NodeKey
    output: str
    errors: str
    return_code: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedInstance:
    """A task instance of a plan. `reason` and `detail` are set if it does not run (`runs`).

    `unknown` is the path of an unknown fact that decides whether it runs, or with which parameters.
    """

    task: str
    node: NodeKey
    type: str
    layer: str
    generation: int
    runs: bool
    reason: str = ""
    detail: str = ""
    unknown: str = ""

    @property
    def action(self) -> str:
        """What would happen to the instance, in words.

        >>> PlannedInstance("a", 1, "shell", "release", 1, runs=False, reason="condition", detail="is false").action
        'skip (condition: is false)'
        """
        if self.unknown:
            return f"unknown ({self.unknown})"
        if self.runs:
            return "run"
        why = ": ".join(filter(None, (self.reason, self.detail)))
        return f"skip ({why})" if why else "skip"


@dataclass(frozen=True, slots=True)
class PlannedGraph:
    """A plan of one graph in the form that users see, its instances in execution order.

    `after_earlier` means that graphs run before it, which may change what the plan is computed from. `is_left_out`
    means that nothing would run because of the filters of the request. `assumption` is a sentence about assumed nodes.
    """

    graph_type: str
    instances: tuple[PlannedInstance, ...]
    findings: tuple[Finding, ...]
    nodes: tuple[int, ...]
    digest: str
    generations: int
    after_earlier: bool = False
    is_left_out: bool = False
    assumption: str = ""


@dataclass(frozen=True, slots=True)
class DryGraph:
    """The plan of one graph that is computed here, and the instances that a Fuel master would run (`decided`).

    If the plan cannot be computed, it is None, and `problem` is the reason. `decided` is empty without a master, or
    if the master gives no decision.
    """

    graph_type: str
    plan: PlannedGraph | None
    decided: DecisionByInstance = field(default_factory=dict)
    problem: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def only_decided(self) -> DecisionByInstance:
        """The decisions of the master about instances that the plan lacks."""
        planned = {(instance.task, instance.node) for instance in self.plan.instances} if self.plan else set()
        return {key: runs for key, runs in self.decided.items() if key not in planned}

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The names of the instances that only one side would run, those of the plan first.

        Instances that are missing on one side count as not run there: unlike a plan, a master does not list tasks
        without nodes. Instances that are unknown in the plan are left out. Empty without a plan or a decision.
        """
        if self.plan is None or not self.decided:
            return ()
        planned = {(instance.task, instance.node): instance.runs for instance in self.plan.instances}
        unknown = {(instance.task, instance.node) for instance in self.plan.instances if instance.unknown}
        return tuple(
            instance_name(task, node)
            for task, node in dict.fromkeys((*planned, *self.decided))
            if (task, node) not in unknown and planned.get((task, node), False) != self.decided.get((task, node), False)
        )


@dataclass(frozen=True, slots=True)
class DryRun:
    """The graphs of a dry run, and its run on a Fuel master (None without a master).

    There are no graphs if the run did not end within the time to wait for it.
    """

    graphs: tuple[DryGraph, ...] = ()
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class SimulatedInstance:
    """What would happen to a task instance, and when (in seconds from the start; None if it never runs).

    `unknown` is the path of an unknown fact on which it depends.
    """

    task: str
    node: NodeKey
    status: InstanceStatus
    reason: str = ""
    because: str = ""
    start: float | None = None
    end: float | None = None
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class SimulatedGraph:
    """A simulated run of one graph.

    `known` is the number of instances that start and whose durations are those of earlier runs; the others take
    `assumed_seconds`. `critical` are the instances whose durations add up to the makespan. `assumption` is as in
    `PlannedGraph`.
    """

    graph_type: str
    instances: tuple[SimulatedInstance, ...]
    verdict: str
    message: str
    makespan: float
    critical: tuple[str, ...]
    known: int
    assumed_seconds: float
    findings: tuple[Finding, ...] = ()
    assumption: str = ""
