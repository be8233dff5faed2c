"""The schedule: a state machine that decides what runs next, and what never will.

It knows no clock, no executor and no store: a runner asks `ready`, runs what it is given, tells `finish`, and
writes `changes` down. One `Schedule` may be built from what was written (see `Schedule`), which is how a run
goes on after a crash. Every event is handled where it happens; a whole run costs O(V + E) steps, and O(log V) for
each instance that waits for a place.

The rules are Fuel's but for what `Casualties`, `Result` and `Reason` say: an instance waits for all that precedes it
to pass; a sync point waits for all to end in whatever way; a failed instance ends its node; what depends on it never
runs; when more nodes fail on their own than a group tolerates, nothing more is started.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fuelclient.errors import Conflict
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Reason, changed
from fuelclient.plan.causes import NOTHING, causes
from fuelclient.plan.result import Result, result_of
from fuelclient.plan.slots import Slots
from fuelclient.plan.tolerance import Casualties, covering
from fuelclient.plan.work import Kind, Work

STOPPED_BY_USER = "stopped by user"

_WAITING, _RUNNING, _PASSED, _BAD, _CUT = range(5)
_STATE = {InstanceStatus.RUNNING: _RUNNING, InstanceStatus.READY: _PASSED, InstanceStatus.ERROR: _BAD}


class Outcome(StrEnum):
    """How an executor ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an instance's status, and a row of the history: its newest change. `because` is the failed
    instance to blame, where there is one."""

    vertex: int
    status: InstanceStatus
    reason: str = ""
    because: int | None = None


class Schedule:
    """The state of one run.

    `history` has what earlier changes left behind: the newest one of each instance, in any order. The new schedule
    stands where the one that wrote them stood, when all changes between two calls were written together; what
    was running is `running` and may be finished. `stopped` is what was said to `stop` before.
    Raises `CycleDetected`.
    """

    def __init__(self, work: Work, history: Iterable[Change] = (), *, stopped: str = "") -> None:
        self._work = work
        self._slots = Slots(work)
        self._status = [InstanceStatus.PENDING] * work.size
        self._state = bytearray(len(work.successors))
        self._left = [0] * len(work.successors)
        self._open = work.size
        self._casualties = Casualties(covering(work.fault_tolerance, len(work.nodes)))
        self._of_node: list[list[int]] = []
        self._ignored: set[int] = set()
        self._log: list[tuple[int, InstanceStatus, str, int]] = []
        self._stopped = stopped
        self._result: Result | None = None
        for following in work.successors:
            for after in following:
                self._left[after] += 1
        self._begin(history)

    def _begin(self, history: Iterable[Change]) -> None:
        """Take the history over, then pass everything that waits for nothing. Failures come first: an instance that
        is still pending on a failed node was not reached before the failure."""
        ended, failed = [], []
        for row in history:
            state = self._recalled(row)
            if state == _RUNNING:
                self._slots.occupy(row.vertex)
            elif state == _CUT:
                self._open -= 1
            elif state != _WAITING:
                ended.append(row.vertex)
                self._open -= 1
            if state == _BAD:
                failed.append(row.vertex)
        free = [vertex for vertex, count in enumerate(self._left) if not count]
        for vertex in failed:
            self._end_node(vertex, ended)
        for vertex in free:
            self._reach(vertex, ended)
        self._spread(ended)
        self._end_if_over()

    def _recalled(self, row: Change) -> int:
        """The state that a row of the history means. One that was written because the run ended means none: it
        is found again."""
        self._status[row.vertex] = row.status
        if row.status is InstanceStatus.SKIPPED:
            if row.reason in NEVER_RAN:
                if row.reason == Reason.STOPPED and row.because is None:
                    self._stopped = self._stopped or STOPPED_BY_USER
                return _WAITING
            if row.reason == Reason.FAILURE_IGNORED:
                self._ignored.add(row.vertex)
        state = _STATE.get(row.status, _PASSED if row.status.is_final else _WAITING)
        if state == _BAD and row.reason == Reason.INTERRUPTED and self._stopped:
            state = _CUT
        self._state[row.vertex] = state
        return state

    @property
    def is_done(self) -> bool:
        """Whether nothing runs and nothing will."""
        return self._result is not None

    @property
    def is_braked(self) -> bool:
        """Whether nothing more is started: the run was stopped, or too much of it failed."""
        return bool(self._stopped) or self._casualties.is_too_many

    @property
    def running(self) -> list[int]:
        """The instances that run now, in the order of their nodes."""
        return self._slots.running

    @property
    def progress(self) -> int:
        """How much of the work has ended, in whole percents; 100 when it is done."""
        return 100 if self.is_done else 100 * (self._work.size - self._open) // self._work.size

    @property
    def result(self) -> Result:
        """How the run ended. Raises `Conflict` as long as it has not."""
        if self._result is None:
            raise Conflict("The run has no result yet: it is not done.")
        return self._result

    def status(self, vertex: int) -> InstanceStatus:
        """The status of an instance, as the history has it."""
        return self._status[vertex]

    def ready(self) -> list[int]:
        """The instances to start now, in the order of their nodes; they count as running from now on."""
        if self.is_braked:
            return []
        started = self._slots.start()
        for vertex in started:
            self._state[vertex] = _RUNNING
            self._set(vertex, InstanceStatus.RUNNING)
        return started

    def finish(self, vertex: int, outcome: Outcome, reason: str = "") -> None:
        """A running instance has ended; all that follows from it is decided.

        A failure of a task that does not fail on an error is a skip: what depends on it runs. One that was interrupted
        because the run is stopped is no failure of its node, and nobody may take it for done. Raises `Conflict` for
        an instance that is not running.
        """
        if self._state[vertex] != _RUNNING:
            raise Conflict(f"{self._work.name(vertex)} cannot end: it is {self._status[vertex]}, not running.")
        if outcome is Outcome.FAILED and reason == Reason.INTERRUPTED and self._stopped:
            self._cut(vertex)
            return
        is_failure = outcome is Outcome.FAILED and self._work.fail_on_error[vertex]
        if is_failure:
            self._set(vertex, InstanceStatus.ERROR, reason)
        elif outcome is Outcome.OK:
            self._set(vertex, InstanceStatus.READY, reason)
        elif outcome is Outcome.FAILED:
            self._set(vertex, InstanceStatus.SKIPPED, Reason.FAILURE_IGNORED)
            self._ignored.add(vertex)
        else:
            self._set(vertex, InstanceStatus.SKIPPED, reason or Reason.EXECUTOR)
        self._slots.release(vertex)
        self._open -= 1
        self._state[vertex] = _BAD if is_failure else _PASSED
        ended = [vertex]
        if is_failure:
            self._end_node(vertex, ended)
        self._spread(ended)
        self._end_if_over()

    def _cut(self, vertex: int) -> None:
        """The instance was ended with the run: what waits for it is not reached, as everything else that waits."""
        self._set(vertex, InstanceStatus.ERROR, Reason.INTERRUPTED)
        self._slots.release(vertex)
        self._open -= 1
        self._state[vertex] = _CUT
        self._end_if_over()

    def stop(self, reason: str = STOPPED_BY_USER) -> None:
        """Nothing more is started; what runs may end. The first reason counts, and none after the end."""
        if not self.is_done:
            self._stopped = self._stopped or reason
            self._end_if_over()

    def changes(self) -> list[Change]:
        """Every change since the last call, in order. Instances that are never reached stay pending until the run is
        done, and are skipped then. All that one call returns belongs into one write."""
        log, self._log = self._log, []
        return [
            Change(vertex, status, reason, None if because == NOTHING else because)
            for vertex, status, reason, because in log
        ]

    def _set(self, vertex: int, status: InstanceStatus, reason: str = "", because: int = NOTHING) -> None:
        self._status[vertex] = changed(self._status[vertex], status)
        self._log.append((vertex, status, reason, because))

    def _end_node(self, failed: int, ended: list[int]) -> None:
        """Nothing runs any more on the node of a failed instance."""
        node = self._work.node_of[failed]
        self._slots.close(node)
        self._casualties.add(node)
        if not self._of_node:
            self._of_node = [[] for _ in self._work.nodes]
            for vertex, where in enumerate(self._work.node_of):
                self._of_node[where].append(vertex)
        for vertex in self._of_node[node]:
            self._lose(vertex, ended)

    def _lose(self, vertex: int, ended: list[int]) -> None:
        """The instance will never run, unless it is a sync point; with a barrier, all behind it."""
        if vertex >= self._work.size:
            if self._state[vertex] == _WAITING:
                self._state[vertex] = _BAD
                for after in self._work.successors[vertex]:
                    self._lose(after, ended)
        elif self._state[vertex] == _WAITING and self._work.kinds[vertex] is not Kind.SYNC:
            self._state[vertex] = _BAD
            self._open -= 1
            ended.append(vertex)

    def _spread(self, ended: list[int]) -> None:
        """Tell all that follows; what ends thereby joins the list, so that one loop does it all."""
        left, state, successors = self._left, self._state, self._work.successors
        for vertex in ended:
            following = successors[vertex]
            if state[vertex] == _BAD:
                for after in following:
                    self._lose(after, ended)
            for after in following:
                left[after] -= 1
                if not left[after]:
                    self._reach(after, ended)

    def _reach(self, vertex: int, ended: list[int]) -> None:
        """Everything that precedes has ended: a barrier ends too, an instance that still waits is offered a place or
        is passed."""
        if vertex >= self._work.size:
            ended.append(vertex)
        elif self._state[vertex] == _WAITING and not self.is_braked:
            if self._work.kinds[vertex] is Kind.REAL:
                self._slots.offer(vertex)
            else:
                self._state[vertex] = _PASSED
                self._open -= 1
                self._set(vertex, InstanceStatus.SKIPPED, self._work.passed_because(vertex))
                ended.append(vertex)

    def _end_if_over(self) -> None:
        """Give every instance a final status and the run its result, once nothing runs and nothing will."""
        if self._slots.busy or self._result is not None or (self._open and not self.is_braked):
            return
        work, status = self._work, self._status
        failed = [
            vertex
            for vertex in range(work.size)
            if status[vertex] is InstanceStatus.ERROR and self._state[vertex] != _CUT
        ]
        never_ran = [
            vertex
            for vertex in range(work.size)
            if self._state[vertex] == _WAITING
            or (self._state[vertex] == _BAD and status[vertex] is not InstanceStatus.ERROR)
        ]
        exceeded = self._casualties.exceeded
        fatal = set(exceeded[0].failed) if exceeded else set()
        brake = next((vertex for vertex in failed if work.node_of[vertex] in fatal), NOTHING)
        lost = [state == _BAD for state in self._state]
        for vertex, reason, because in causes(work, failed, lost, never_ran, brake):
            if status[vertex] is not InstanceStatus.SKIPPED:
                self._set(vertex, InstanceStatus.SKIPPED, reason, because)
        self._result = result_of(
            work,
            failed=failed,
            ignored=sorted(self._ignored),
            never_ran=never_ran,
            interrupted=[vertex for vertex in range(work.size) if self._state[vertex] == _CUT],
            exceeded=exceeded,
            stopped=self._stopped,
        )
