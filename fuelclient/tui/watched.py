"""A run that is watched: its task instances in plain lists, which events change in place."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from fuelclient.model.run import Event, EventKind, HistoryRow, NodeKey, Run
from fuelclient.model.status import NEVER_RAN, InstanceStatus

NOWHERE = "-"
"""The node of a task that was placed nowhere; such a task has no instance."""

_RANK = {InstanceStatus.PENDING: 0, InstanceStatus.RUNNING: 1}
_FINAL = 2


class Watched:
    """A run and its task instances, by their number in the order of the plans.

    `sizes` and `finished` count, line by line of the matrix, its instances and those that need nothing more.
    `nodes` are the rows of its matrix and `tasks` (part of the run, id) its columns; `grid` has the number of the
    instance in each cell, or -1. `status`, `reason`, `message`, `began` and `ended` are as of the last event.
    """

    def __init__(self, run: Run, rows: Sequence[HistoryRow]) -> None:
        self.run = run
        self.rows = [row for row in rows if row.node != NOWHERE]
        self.nowhere = len(rows) - len(self.rows)
        self.status = [row.status for row in self.rows]
        self.reason = [row.reason for row in self.rows]
        self.message = [row.message for row in self.rows]
        self.began = [row.time_start for row in self.rows]
        self.ended = [row.time_end for row in self.rows]
        self.counts = Counter(self.word(place) for place in range(len(self.rows)))
        self.tasks = list(dict.fromkeys((row.run_id, row.task) for row in self.rows))
        self.nodes: list[NodeKey] = sorted(dict.fromkeys(row.node for row in self.rows), key=_node_order)
        self._place()

    def _place(self) -> None:
        columns = {task: place for place, task in enumerate(self.tasks)}
        lines = {node: place for place, node in enumerate(self.nodes)}
        self.grid = [array("i", [-1]) * len(self.tasks) for _ in self.nodes]
        self.cell: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, str, NodeKey], int] = {}
        for number, row in enumerate(self.rows):
            line, column = lines[row.node], columns[row.run_id, row.task]
            self.grid[line][column] = number
            self.cell.append((line, column))
            self._numbers[row.run_id, row.task, row.node] = number
        self.sizes = Counter(line for line, _ in self.cell)
        self.finished = Counter(line for number, (line, _) in enumerate(self.cell) if self.is_done(number))

    def word(self, number: int) -> str:
        """What became of an instance: its status, and of those that were never reached that they were not."""
        status = self.status[number]
        return "not reached" if self.is_blocked(number) else str(status)

    def is_blocked(self, number: int) -> bool:
        """Whether something before it kept an instance from its turn."""
        return self.status[number] is InstanceStatus.SKIPPED and self.reason[number] in NEVER_RAN

    def is_fault(self, number: int) -> bool:
        """Whether an instance failed, or was never reached."""
        return self.status[number] is InstanceStatus.ERROR or self.is_blocked(number)

    def is_done(self, number: int) -> bool:
        """Whether an instance needs nothing more."""
        return _RANK.get(self.status[number], _FINAL) == _FINAL

    @property
    def done(self) -> int:
        """How many instances need nothing more."""
        return len(self.rows) - self.counts["pending"] - self.counts["running"]

    def apply(self, events: Iterable[Event]) -> tuple[list[int], bool]:
        """Bring the instances up to date; the numbers of those that changed, and whether an event was about one that
        is not known yet: a later graph of the run has been planned. An event that is older than what is known
        changes nothing."""
        changed: dict[int, None] = {}
        strange = False
        for event in events:
            if event.kind is not EventKind.INSTANCE:
                continue
            number = self._numbers.get((event.run_id, event.task, event.node))
            if number is None:
                strange = True
            elif self._change(number, event):
                changed[number] = None
        return list(changed), strange

    def _change(self, number: int, event: Event) -> bool:
        status, before = InstanceStatus(event.status), self.status[number]
        same = (status, event.reason) == (before, self.reason[number])
        if same or _RANK.get(status, _FINAL) < _RANK.get(before, _FINAL):
            return False
        self.counts[self.word(number)] -= 1
        self.finished[self.cell[number][0]] -= self.is_done(number)
        self.status[number], self.reason[number], self.message[number] = status, event.reason, event.message
        if status is InstanceStatus.RUNNING:
            self.began[number] = event.time
        else:
            self.began[number] = self.began[number] or event.time
            self.ended[number] = event.time
        self.counts[self.word(number)] += 1
        self.finished[self.cell[number][0]] += self.is_done(number)
        return True

    def seconds(self, number: int, now: datetime) -> float | None:
        """How long an instance took, or has been running until now; None for one that never began."""
        if self.began[number] == self.ended[number]:
            return None  # passed by: it was given one time for both
        return between(self.began[number], self.ended[number], now)

    def left(self, now: datetime) -> float | None:
        """How many seconds the run still takes, if it goes on as fast as so far; None where nobody knows."""
        elapsed = between(self.run.time_start, None, now)
        if self.run.is_final or elapsed is None or not self.done:
            return None
        return elapsed * (len(self.rows) - self.done) / self.done

    def number_of(self, row: HistoryRow) -> int:
        """The number of the instance that another reading of the run had in a row of its own; -1 where it is gone."""
        return self._numbers.get((row.run_id, row.task, row.node), -1)

    def row(self, number: int) -> HistoryRow:
        """What the history says of an instance beside what changes."""
        return self.rows[number]

    def name(self, number: int) -> str:
        """An instance as options take it: `task/node`; a sync point has no node."""
        row = self.rows[number]
        return row.task if row.node is None else f"{row.task}/{row.node}"


def between(start: str | None, end: str | None, now: datetime) -> float | None:
    """The seconds from `start` to `end`, or to now where it has not come; None where it never began."""
    if start is None:
        return None
    last = instant(end) if end is not None else now
    return max(0.0, (last - instant(start)).total_seconds())


def instant(time: str) -> datetime:
    """A time of a transaction, which is UTC."""
    found = datetime.fromisoformat(time)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _node_order(node: NodeKey) -> tuple[int, int, str]:
    """Sync points first, then the master, then nodes by id."""
    if node is None:
        return 0, 0, ""
    return (2, node, "") if isinstance(node, int) else (1, 0, node)
