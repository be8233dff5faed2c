"""How far a run is: what its events add up to.

Nothing here reads a clock, a backend or a terminal: `following` feeds it, `live` shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from fuelclient.commands.task.cells import instance
from fuelclient.commands.task.pace import Earlier, Pace, moment

if TYPE_CHECKING:
    from fuelclient.model.run import Event, HistoryRow, NodeKey, Run

_PENDING, _RUNNING = "pending", "running"

NOT_REACHED = "not reached"
"""What people read for an instance that the run never came to."""

INTERRUPTED = "interrupted"
"""What people read for an instance that was ended because somebody stopped the run, and `model.status.Reason` too."""

_NEVER_RAN = ("dep_failed", "node_failed", "stopped")
"""The reasons of such instances; `model.status.NEVER_RAN` has the same words."""

Key = tuple[int, str, "NodeKey"]
"""The part of the execution, the task and its node."""


@dataclass(slots=True)
class Progress:
    """The instances of a run by status, those that run since when, and those that failed, in the order of events."""

    statuses: dict[Key, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    running: dict[Key, datetime] = field(default_factory=dict)
    failures: list[Event] = field(default_factory=list)
    paces: dict[int, Pace] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many instances are known: those of the graphs that have been planned."""
        return len(self.statuses)

    @property
    def done(self) -> int:
        return self.total - self.counts[_PENDING] - self.counts[_RUNNING]

    def remember(self, child_id: int, earlier: Earlier | None) -> None:
        """A graph belongs to the run, and went like this before. Say so before anything else of it."""
        self.paces[child_id] = Pace(earlier)

    def expect(self, rows: Iterable[HistoryRow]) -> None:
        """These instances belong to the run; what events said of them already stays."""
        for row in rows:
            key = (row.run_id, row.task, row.node)
            if row.node != "-" and key not in self.statuses:
                self._set(key, _PENDING)

    def apply(self, event: Event) -> None:
        """One thing more has happened. Events of one instance come in their order."""
        if event.kind != "instance":
            return
        key = (event.run_id, event.task, event.node)
        self._set(key, _word(event))
        self.running.pop(key, None)
        if event.status == _RUNNING:
            self.running[key] = moment(event.time)
        elif event.status == "error":
            self.failures.append(event)

    def _set(self, key: Key, status: str) -> None:
        child, task, node = key
        pace = self.paces.setdefault(child, Pace())
        before = self.statuses.get(key)
        if before is None:
            pace.expect(task, node)
        else:
            self.counts[before] -= 1
        if status == _RUNNING:
            pace.begin(task, node)
        elif status != _PENDING and before in (None, _PENDING, _RUNNING):
            pace.end(task, node)
        self.statuses[key] = status
        self.counts[status] += 1

    def left(self, found: Run, now: datetime) -> tuple[float, list[int]] | None:
        """About how many seconds the graphs of a run go on from now on, and the earlier runs that tell so; None where
        nobody can say."""
        seconds, past = 0.0, []
        for child in found.children:
            if child.is_final:
                continue
            pace = self.paces.get(child.id, Pace())
            running = ((task, node, since) for (one, task, node), since in self.running.items() if one == child.id)
            mine = pace.left(running, child.time_start, now)
            if mine is None:
                return None
            seconds += mine
            if pace.earlier is not None and pace.follows_the_past:
                past.append(pace.earlier.run_id)
        return seconds, past


def counted(progress: Progress) -> list[str]:
    """How many instances have which status, what needs attention first; statuses that none has are left out."""
    shown = ("error", _RUNNING, INTERRUPTED, NOT_REACHED, "ready", "skipped", _PENDING)
    return [f"{progress.counts[status]} {status}" for status in shown if progress.counts[status]]


def _word(event: Event) -> str:
    """The status of an instance in the words of people."""
    if event.reason in _NEVER_RAN:
        return NOT_REACHED
    return INTERRUPTED if event.status == "error" and event.reason == INTERRUPTED else event.status


def named(event: Event) -> str:
    """An instance of an event as people read it: `default: keystone/1`."""
    return f"{event.graph_type}: {instance(event.task, event.node)}".removeprefix(": ")


def why(event: Event) -> str:
    """Why an instance has its status, in one line without anything that a terminal would obey."""
    text = ": ".join(filter(None, (event.reason, event.message)))
    return "".join(one if one.isprintable() else " " for one in " ".join(text.split()))
