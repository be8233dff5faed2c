"""Transactions: what is asked to run, what a run is, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.status import InstanceStatus, RunStatus

PARENT = "deploy"
"""The name of a transaction as a user starts it; it has one child for each graph."""

CHILD = "deployment"
"""The name of the run of one graph. Both names are Nailgun's."""

NodeKey = int | str | None
"""Where a task instance stands: a node's id, "master", or None for the sync points."""


def instance_name(task: str, node: NodeKey) -> str:
    """Return a task instance as options take it; a sync point has no node.

    >>> instance_name("keystone", 1), instance_name("deploy_end", None)
    ('keystone/1', 'deploy_end')
    """
    return task if node is None else f"{task}/{node}"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run on an environment: graphs of some types, one after another.

    Nothing in `node_ids` means the nodes that the graph's filter names; nothing in `task_names` and `subgraphs` means
    everything. `subgraphs` are texts: `[start[/nodes]][:end[/nodes]]` (`plan.select`). `force` makes every run
    like a first one. `dry_run` plans and runs nothing; `noop` runs everything and changes nothing; `trace` asks
    tasks for verbose output. `executor` is used for all nodes in place of their own; with
    `noop` nothing counts as done.
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


@dataclass(frozen=True, slots=True)
class Run:
    """One execution, or the run of one of its graphs.

    A parent (`parent_id` None) has `children`, in the order in which they run; a child has a `graph_type`. Times are
    UTC in ISO 8601, None as long as they have not come. `dry_run` is also true of a noop run, as in Nailgun.
    `stop` is what somebody asked for: empty, `graceful` or `kill`. `findings` are what the plan had to say. `runner`
    is `alive` or `gone` for a parent that has not ended: whether a process works at it.
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
        """Whether it has ended."""
        return self.status.is_final


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A task instance of a run: what became of it, when, and why.

    `reason` and `because` (`task@node`, the failure to blame) are empty where there is nothing to say; `message` is
    what the executor said; `summary` is what the task reported. `graph_type` and `transaction_id` are those
    of the child. `definition` is the task as it was merged, its parameters as they are written and not as they were
    rendered, which may hold passwords. A task that was placed nowhere has the node `-`, status skipped and no times.
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
    """Which rows of a history: empty means any. Nodes are compared as texts (`3`, `master`, `null`)."""

    nodes: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


class EventKind(StrEnum):
    """What an event is about."""

    RUN = "transaction"
    INSTANCE = "instance"
    NODE = "node"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log that followers read: ids rise, nothing is ever changed.

    `transaction_id` is the child's for instances, else that of whatever changed; `parent_id` is the execution's. An
    event of a transaction has `progress`.
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
    """What a task instance printed, all of its tries one after another; `return_code` is None where it has not ended.
    Its script is no part of it: that may hold passwords."""

    task: str
    node: NodeKey
    output: str
    errors: str
    return_code: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedInstance:
    """A task instance of a plan. `runs` says whether it would do something; `reason` and `detail` say why not."""

    task: str
    node: NodeKey
    type: str
    layer: str
    generation: int
    runs: bool
    reason: str = ""
    detail: str = ""

    @property
    def action(self) -> str:
        """What would happen to it.

        >>> PlannedInstance("a", 1, "shell", "release", 1, runs=False, reason="condition", detail="is false").action
        'skip (condition: is false)'
        """
        if self.runs:
            return "run"
        why = ": ".join(filter(None, (self.reason, self.detail)))
        return f"skip ({why})" if why else "skip"


@dataclass(frozen=True, slots=True)
class PlannedGraph:
    """A plan of one graph for people: its instances in execution order, what was found, and how many there are of
    what. `after_earlier` says that graphs before it may still change what it is computed from; `is_left_out`, that the
    filters of the request are why nothing would run."""

    graph_type: str
    instances: tuple[PlannedInstance, ...]
    findings: tuple[Finding, ...]
    nodes: tuple[int, ...]
    digest: str
    generations: int
    after_earlier: bool = False
    is_left_out: bool = False

    @property
    def places_nothing(self) -> bool:
        """Whether it has no task instances but sync points."""
        return all(instance.node is None for instance in self.instances)


@dataclass(frozen=True, slots=True)
class SimulatedInstance:
    """What would become of a task instance, and when (in seconds from the beginning; None for what never runs)."""

    task: str
    node: NodeKey
    status: InstanceStatus
    reason: str = ""
    because: str = ""
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class SimulatedGraph:
    """A run of one graph that was only computed. `known` of its durations are those of earlier runs, the others are
    `assumed_seconds`; `critical` are the instances that the makespan is made of."""

    graph_type: str
    instances: tuple[SimulatedInstance, ...]
    verdict: str
    message: str
    makespan: float
    critical: tuple[str, ...]
    known: int
    assumed_seconds: float
    findings: tuple[Finding, ...] = ()
