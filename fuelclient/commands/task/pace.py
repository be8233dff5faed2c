"""How long the run of a graph will go on: by how the graph went before, else by how it goes now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fuelclient.commands.task.cells import node

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.run import NodeKey, Run

Place = tuple[str, str]
"""A task and its node as text: what is the same in two runs of one graph."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """How a graph went before: in which execution, in how many seconds, and how many of them each instance took that
    did something."""

    run_id: int
    seconds: float
    instances: Mapping[Place, float]


@dataclass(slots=True)
class Pace:
    """The pace of one graph: how many of its instances are expected and have ended, and what is known of them from
    before. An instance that runs without having run before makes the past no guide."""

    earlier: Earlier | None = None
    expected: int = 0
    ended: int = 0
    _todo: float = 0.0
    _all: float = 0.0
    _by_node: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _surprised: bool = False

    def expect(self, task: str, key: NodeKey) -> None:
        """One more instance belongs to the graph."""
        self.expected += 1
        seconds = self._seconds(task, key) or 0.0
        self._todo += seconds
        self._all += seconds
        self._by_node[str(node(key))] += seconds

    def end(self, task: str, key: NodeKey) -> None:
        """An expected instance has ended."""
        self.ended += 1
        self._todo -= self._seconds(task, key) or 0.0

    def begin(self, task: str, key: NodeKey) -> None:
        """An expected instance runs."""
        self._surprised = self._surprised or self._seconds(task, key) is None

    def left(self, running: Iterable[tuple[str, NodeKey, datetime]], began: str | None, now: datetime) -> float | None:
        """About how many seconds the graph goes on; None where nobody can say.

        By the past: it takes as long as then, in proportion to what its busiest node has to do, since a node runs one
        task at a time; what is done of the work is done of the time. By the present: it goes on as it went.
        """
        if self.follows_the_past and self.earlier is not None:
            if not self.expected:  # it is not planned yet
                return self.earlier.seconds
            spent = sum(min(self._seconds(task, key) or 0.0, _since(since, now)) for task, key, since in running)
            share = max(0.0, self._todo - spent) / self._all
            return self.earlier.seconds * max(self._by_node.values()) / _busiest(self.earlier) * share
        if not self.ended or began is None:
            return None
        return _since(moment(began), now) * (self.expected - self.ended) / self.ended

    @property
    def follows_the_past(self) -> bool:
        """Whether `left` is told by an earlier run."""
        if self.earlier is None or self._surprised:
            return False
        return not self.expected or (self._all > 0 and _busiest(self.earlier) > 0)

    def _seconds(self, task: str, key: NodeKey) -> float | None:
        return None if self.earlier is None else self.earlier.instances.get((task, str(node(key))))


def earlier_of(backend: Backend, child: Run) -> Earlier | None:
    """The latest success of a graph on the environment that was asked for alike, before this run of it."""
    from fuelclient.model.run import CHILD, HistoryFilter

    asked = child.request
    found = backend.runs.list(cluster_id=child.cluster_id, statuses=("ready",), names=(CHILD,))
    alike = [
        one
        for one in found
        if one.graph_type == child.graph_type and one.id < child.id and one.time_start and one.time_end
        and one.dry_run == child.dry_run
        and (one.request.task_names, one.request.subgraphs) == (asked.task_names, asked.subgraphs)
    ]  # fmt: skip
    if not alike:
        return None
    last = alike[-1]
    rows = backend.runs.history(last.id, HistoryFilter(statuses=("ready",)))
    times = {(row.task, str(node(row.node))): _between(row.time_start, row.time_end) for row in rows}
    return Earlier(last.parent_id or last.id, _between(last.time_start, last.time_end), times)


def _busiest(earlier: Earlier) -> float:
    """The most seconds that one node worked."""
    sums: dict[str, float] = defaultdict(float)
    for (_, uid), seconds in earlier.instances.items():
        sums[uid] += seconds
    return max(sums.values(), default=0.0)


def _between(start: str | None, end: str | None) -> float:
    return _since(moment(start), moment(end)) if start and end else 0.0


def _since(began: datetime, now: datetime) -> float:
    """The seconds from one moment to another; none where clocks disagree."""
    return max(0.0, (now - began).total_seconds())


def moment(text: str) -> datetime:
    """A time as transactions have it; one without a zone is UTC.

    >>> moment("2026-01-02T03:04:05").isoformat()
    '2026-01-02T03:04:05+00:00'
    """
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def clock(seconds: float) -> str:
    """A duration as a clock shows it.

    >>> clock(5.9), clock(75), clock(3725)
    ('0:05', '1:15', '1:02:05')
    """
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
