"""Events of a run on a master, which keeps none: what changed between two looks at it.

Ids rise by one with each event that was seen, in this process only. Whoever looks for the first time sees what
happened so far, in the order of its times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fuelclient.model.run import Event, EventKind, HistoryRow, Run
from fuelclient.model.status import InstanceStatus, RunStatus


@dataclass(slots=True)
class Observed:
    """What was seen of one execution so far. `seen` has the status of each instance and transaction, and the
    progress of the execution."""

    events: list[Event] = field(default_factory=list)
    seen: dict[tuple[object, ...], tuple[str, int]] = field(default_factory=dict)

    def look(self, parent: Run, rows: Sequence[HistoryRow], now: str) -> None:
        """Whatever differs from the last look becomes an event: instances first, then the transactions, so that the
        end of an execution is the last thing that is told."""
        for moment, event in sorted(self._instances(parent, rows, now), key=lambda one: one[0]):
            self._add(event, moment)
        for one in (*parent.children, parent):
            told = (str(one.status), one.progress)
            key = ("transaction", one.id)
            if self.seen.get(key) != told and not (key not in self.seen and one.status is RunStatus.PENDING):
                self.seen[key] = told
                moment = (one.time_end if one.is_final else None) or now
                self._add(_of_run(parent, one), moment)

    def _instances(self, parent: Run, rows: Sequence[HistoryRow], now: str) -> Iterator[tuple[str, Event]]:
        for row in rows:
            key = ("instance", row.run_id, row.task, row.node)
            before = self.seen.get(key, (str(InstanceStatus.PENDING), 0))[0]
            if row.status == before:
                continue
            self.seen[key] = (str(row.status), 0)
            if before == InstanceStatus.PENDING and row.time_start and row.status.is_final:
                yield row.time_start, _of_instance(parent, row, InstanceStatus.RUNNING)
            is_begun = row.status is InstanceStatus.RUNNING
            yield (row.time_start if is_begun else row.time_end) or now, _of_instance(parent, row, row.status)

    def _add(self, event: Event, moment: str) -> None:
        number = len(self.events) + 1
        self.events.append(
            Event(
                number, moment, event.kind, event.parent_id, event.run_id, event.graph_type, event.task,
                event.node, event.status, event.reason, event.message, event.progress,
            )
        )  # fmt: skip


def _of_instance(parent: Run, row: HistoryRow, status: InstanceStatus) -> Event:
    reason, message = (row.reason, row.message) if status is row.status else ("", "")
    return Event(
        0, "", EventKind.INSTANCE, parent.id, row.run_id, row.graph_type, row.task, row.node, str(status),
        reason, message,
    )  # fmt: skip


def _of_run(parent: Run, one: Run) -> Event:
    return Event(
        0, "", EventKind.RUN, parent.id, one.id, one.graph_type, status=str(one.status), message=one.message,
        progress=one.progress,
    )  # fmt: skip
