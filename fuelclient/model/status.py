"""Statuses of task instances and of transactions, why an instance has the one it has, and who may follow whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from fuelclient.errors import Conflict


class InstanceStatus(StrEnum):
    """A task instance in the history, in Nailgun's five words; its `error` is called failed everywhere else."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def is_final(self) -> bool:
        return not TRANSITIONS[InstanceStatus][self]


class RunStatus(StrEnum):
    """A transaction, in Nailgun's words. One that was stopped ends in `error`, with a message that says so."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    ERROR = "error"

    @property
    def is_final(self) -> bool:
        return not TRANSITIONS[RunStatus][self]


class Reason(StrEnum):
    """Why an instance is skipped or failed, as the history keeps it beside the status.

    The first three mean that the instance was never reached; they are written when the run ends. The others are
    passed on the way: what depends on such an instance runs.
    """

    DEP_FAILED = "dep_failed"
    NODE_FAILED = "node_failed"
    STOPPED = "stopped"
    CONDITION = "condition"
    FILTERED = "filtered"
    SUBGRAPH = "subgraph"
    TYPE = "type"
    SYNC_POINT = "sync_point"
    FAILURE_IGNORED = "failure_ignored"
    EXECUTOR = "executor"
    INTERRUPTED = "interrupted"


NEVER_RAN = frozenset({Reason.DEP_FAILED, Reason.NODE_FAILED, Reason.STOPPED})
"""The reasons of instances that nothing may take for done."""


class Verdict(StrEnum):
    """How a run of one graph ended: `error` when more nodes failed than a group tolerates, `stopped` when somebody
    asked for it; both end the chain of graphs that the run belongs to."""

    READY = "ready"
    ERROR = "error"
    STOPPED = "stopped"

    @property
    def status(self) -> RunStatus:
        return RunStatus.READY if self is Verdict.READY else RunStatus.ERROR


TRANSITIONS: Mapping[type[StrEnum], Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        InstanceStatus: {
            InstanceStatus.PENDING: frozenset({InstanceStatus.RUNNING, InstanceStatus.SKIPPED}),
            InstanceStatus.RUNNING: frozenset({InstanceStatus.READY, InstanceStatus.ERROR, InstanceStatus.SKIPPED}),
            InstanceStatus.READY: frozenset(),
            InstanceStatus.ERROR: frozenset(),
            InstanceStatus.SKIPPED: frozenset(),
        },
        RunStatus: {
            RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.ERROR}),
            RunStatus.RUNNING: frozenset({RunStatus.READY, RunStatus.ERROR}),
            RunStatus.READY: frozenset(),
            RunStatus.ERROR: frozenset(),
        },
    }
)
"""Which status may follow which: the only place that knows.

An instance may go from running to skipped, unlike in Nailgun, whose history refuses it and shows a failure that
the task ignores as running for ever. A transaction that never began ends in an error when one before it failed.
Source: Nailgun `objects/deployment_history.py`.
"""

S = TypeVar("S", InstanceStatus, RunStatus)


def changed(before: S, after: S) -> S:
    """`after`, when it may follow `before`.

    Raises `Conflict` when it may not: somebody else has changed the status in between, or a caller has a mistake.

    >>> changed(InstanceStatus.RUNNING, InstanceStatus.SKIPPED).value
    'skipped'
    """
    if after not in TRANSITIONS[type(before)][before]:
        noun = "task instance" if isinstance(before, InstanceStatus) else "transaction"
        raise Conflict(f"A {noun} that is {before} cannot become {after}.")
    return after
