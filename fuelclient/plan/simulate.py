"""Simulate a whole run on a virtual clock, without an executor: what would run when, and what never would."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from fuelclient.model.status import InstanceStatus
from fuelclient.plan.result import Result
from fuelclient.plan.schedule import STOPPED_BY_USER, Change, Schedule
from fuelclient.plan.work import Work


@dataclass(frozen=True, slots=True)
class Moment:
    """A change and the time at which it happens, in the unit of the durations."""

    at: float
    change: Change


@dataclass(frozen=True, slots=True)
class Simulation:
    """A run that was computed only.

    `moments` has every change in order. `makespan` is the end of the last instance; `critical` is the chain of
    instances that leads to it: each could start when the one before it ended, which was its last dependency, occupied
    its node, or held the last place under a limit. The durations of the chain add up to the makespan.
    """

    moments: tuple[Moment, ...]
    result: Result
    makespan: float
    critical: tuple[int, ...]

    def last(self) -> dict[int, Change]:
        """Return the newest change of every instance."""
        return {moment.change.vertex: moment.change for moment in self.moments}


def simulate(
    work: Work,
    durations: Sequence[float],
    fail: Collection[int] = (),
    *,
    history: Iterable[Change] = (),
    stop_at: float | None = None,
) -> Simulation:
    """Run `work` on the clock: each instance takes its duration, and those of `fail` fail when they end.

    Instances that end at the same time end in the order of their nodes, and what each end makes possible starts at
    once. With a `history`, simulate the rest of an earlier run, as if what was running had just begun. At
    `stop_at`, stop the run, after what ends at that very time. Raise `CycleDetected` if the work has a cycle.
    """
    return _Run(Schedule(work, history), durations, fail, work.node_of).simulation(stop_at)


class _Run:
    """A schedule, its clock, and the instances that run."""

    def __init__(
        self, schedule: Schedule, durations: Sequence[float], fail: Collection[int], node_of: Sequence[int]
    ) -> None:
        self._schedule, self._durations, self._fail, self._node_of = schedule, durations, fail, node_of
        self._now = self._makespan = 0.0
        self._ends: list[tuple[float, int, int]] = []
        self._moments: list[Moment] = []
        self._made_possible: dict[int, int] = {}
        self._last = -1
        self._begin(schedule.running)

    def simulation(self, stop_at: float | None) -> Simulation:
        self._begin(self._schedule.ready())
        while self._ends or stop_at is not None:
            if stop_at is not None and (not self._ends or self._ends[0][0] > stop_at):
                self._now, stop_at = max(self._now, stop_at), None
                self._schedule.stop(STOPPED_BY_USER)
                self._note()
                continue
            self._now, _, vertex = heappop(self._ends)
            self._makespan = self._now
            self._schedule.finish(vertex, InstanceStatus.ERROR if vertex in self._fail else InstanceStatus.READY)
            self._last = vertex
            self._begin(self._schedule.ready())
        return Simulation(tuple(self._moments), self._schedule.result, self._makespan, self._critical())

    def _begin(self, started: Sequence[int]) -> None:
        self._note()
        for vertex in started:
            if self._last >= 0:
                self._made_possible[vertex] = self._last
            heappush(self._ends, (self._now + self._durations[vertex], self._node_of[vertex], vertex))

    def _note(self) -> None:
        self._moments += (Moment(self._now, change) for change in self._schedule.changes())

    def _critical(self) -> tuple[int, ...]:
        chain = [self._last] if self._last >= 0 else []
        while chain and chain[-1] in self._made_possible:
            chain.append(self._made_possible[chain[-1]])
        return tuple(reversed(chain))
