"""The events of a run on a Fuel master, which keeps none: they are found by comparing its states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fuelclient.model.run import NOWHERE, Event, EventKind, HistoryRow, Run
from fuelclient.model.status import InstanceStatus, RunStatus


@dataclass(slots=True)
class Observer:
    """The events of one run, found so far.

    Ids hold in this process only. `seen` has the last status of each instance, and the last status and progress of the
    run and of its parts.
    """

    events: list[Event] = field(default_factory=list)
    seen: dict[tuple[object, ...], tuple[str, int]] = field(default_factory=dict)

    def look(self, parent: Run, rows: Sequence[HistoryRow], now: str) -> None:
        """Add an event for each difference from the last look: instances first, so that the run ends last."""
        changes = sorted(self._instances(parent, rows, now), key=lambda event: event.time)
        self.events += [replace(event, id=len(self.events) + 1 + index) for index, event in enumerate(changes)]
        for run in (*parent.children, parent):
            state, key = (str(run.status), run.progress), ("run", run.id)
            if self.seen.get(key) != state and (key in self.seen or run.status is not RunStatus.PENDING):
                self.seen[key] = state
                event = Event(
                    len(self.events) + 1, (run.time_end if run.is_final else None) or now, EventKind.RUN, parent.id,
                    run.id, run.graph_type, status=state[0], message=run.message, progress=run.progress,
                )  # fmt: skip
                self.events.append(event)

    def is_new(self, row: HistoryRow) -> bool:
        """Return whether an instance had another status at the last look."""
        return row.status != self._before(row)

    def _before(self, row: HistoryRow) -> str:
        return self.seen.get(_key(row), (str(InstanceStatus.PENDING), 0))[0]

    def _instances(self, parent: Run, rows: Sequence[HistoryRow], now: str) -> Iterator[Event]:
        for row in rows:
            key, before = _key(row), self._before(row)
            if row.status == before or row.node == NOWHERE:
                continue
            self.seen[key] = (str(row.status), 0)
            event = Event(
                0, row.time_start or now, EventKind.INSTANCE, parent.id, row.run_id, row.graph_type, row.task, row.node,
                str(InstanceStatus.RUNNING),
            )  # fmt: skip
            has_run = row.status.is_final and row.status is not InstanceStatus.SKIPPED
            if before == InstanceStatus.PENDING and row.time_start and has_run:
                yield event  # its beginning was not seen
            time = (row.time_start if row.status is InstanceStatus.RUNNING else row.time_end) or now
            yield replace(event, time=time, status=str(row.status), reason=row.reason, message=row.message)


def _key(row: HistoryRow) -> tuple[object, ...]:
    return "instance", row.run_id, row.task, row.node
