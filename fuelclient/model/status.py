"""The statuses of task instances and runs, the reasons for them, and the changes that are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from fuelclient.errors import Conflict


class _Status(StrEnum):
    @property
    def is_final(self) -> bool:
        return self not in TRANSITIONS[type(self)]


class InstanceStatus(_Status):
    """The status of a task instance, in Nailgun's words. Messages say "failed" for `error`."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    ERROR = "error"
    SKIPPED = "skipped"


class RunStatus(_Status):
    """The status of a run, in Nailgun's words. A run that was stopped ends in `error`, with a message about that."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    ERROR = "error"


class Reason(StrEnum):
    """Why an instance was skipped or failed; the history has it besides the status.

    With the first three, the instance was never reached; they are stored when the run ends. With the others, the
    instances that depend on it run.
    """

    DEP_FAILED = "dep_failed"
    NODE_FAILED = "node_failed"
    STOPPED = "stopped"
    CONDITION = "condition"
    FILTERED = "filtered"
    SUBGRAPH = "subgraph"
    TYPE = "type"
    UNKNOWN = "unknown"
    SYNC_POINT = "sync_point"
    FAILURE_IGNORED = "failure_ignored"
    EXECUTOR = "executor"
    INTERRUPTED = "interrupted"


NEVER_RAN = frozenset({Reason.DEP_FAILED, Reason.NODE_FAILED, Reason.STOPPED})
"""The reasons of instances that must never count as done."""

FILTERS = frozenset({Reason.FILTERED, Reason.SUBGRAPH})
"""The reasons of instances that the request left out."""


class Verdict(StrEnum):
    """How the run of one graph ended: `error` if more nodes failed than a group tolerates, `stopped` if the user
    stopped it. After either, the next graphs of the run are not begun."""

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
        },
        RunStatus: {
            RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.ERROR}),
            RunStatus.RUNNING: frozenset({RunStatus.READY, RunStatus.ERROR}),
        },
    }
)
"""The statuses that may follow each status; those that end a task instance or a run have no successor.

An instance may go from running to skipped. Nailgun refuses that, and so shows instances whose failure is ignored as
running for ever. A run that never began ends in `error` if the graph before it failed. Source: Nailgun
`objects/deployment_history.py`.
"""

S = TypeVar("S", InstanceStatus, RunStatus)


def changed(before: S, after: S) -> S:
    """Return `after` if it may follow `before`.

    Raise `Conflict` otherwise: the status was changed in between, or the caller has a bug.

    >>> changed(InstanceStatus.RUNNING, InstanceStatus.SKIPPED).value
    'skipped'
    """
    if after not in TRANSITIONS[type(before)].get(before, ()):
        noun = "task instance" if isinstance(before, InstanceStatus) else "run"
        raise Conflict(f"A {noun} that is {before} cannot become {after}.")
    return after
