"""The schedule of a run: a state machine that decides which instances run next, and which never will.

It uses no clock, no executor and no store. A runner calls `ready`, runs the instances returned, calls `finish` for
each, and stores `changes`. A `Schedule` can be rebuilt from stored changes, so a run can go on after a crash. A whole
run costs O(V + E) steps, and O(log V) for each instance that waits for a slot.

The rules are Fuel's, with the exceptions that `FailedNodes`, `Result` and `Reason` describe. An instance waits until
all its predecessors have passed; a sync point waits until they have ended in any way. When an instance fails, nothing
more runs on its node, and the instances that depend on it never run. If more nodes fail than a group tolerates, no more
instances start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from fuelclient.errors import Conflict
from fuelclient.graph.dag import order, shortest_cycle
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Reason, changed
from fuelclient.plan.order import cycle_error
from fuelclient.plan.result import NOTHING, FailedNodes, Result, causes, result_of, with_other_nodes
from fuelclient.plan.work import NO_KEY, InstanceKind, Work

STOPPED_BY_USER = "stopped by user"

_WAITING, _RUNNING, _PASSED, _FAILED, _INTERRUPTED = range(5)
_STATE = {InstanceStatus.RUNNING: _RUNNING, InstanceStatus.READY: _PASSED, InstanceStatus.ERROR: _FAILED}


_FREE = -1

SAME_NODE = 1
OTHER_NODE = 10
CEILING = 1 << 256
"""The largest weight; see `weights`."""


def weights(work: Work) -> list[int]:
    """The weight of every instance: the sum, over its direct successors, of the weight of each, plus 1 if it is on the
    same node or 10 if it is on another.

    Weights grow exponentially with the depth of the graph: on five nodes, those of a real graph exceed 64 bits. They
    are exact up to `CEILING`, which replaces larger ones, so a graph of any depth takes O(V + E) steps and memory. A
    successor that is reached both directly and through a barrier counts once for each path. Raise `CycleDetected` if
    the graph has a cycle. Source: Astute `fuel_deployment/task.rb`.
    """
    result = order(work.successors, work.size)
    if result.stuck:
        cycle = shortest_cycle(work.successors, work.size, result.stuck)
        raise cycle_error([work.name(vertex) for vertex in cycle])
    total = [0] * len(work.successors)
    behind: dict[int, Counter[int]] = {}  # by barrier: the number of successors on each node
    for vertex in reversed(result.topological):
        following = work.successors[vertex]
        if vertex >= work.size:
            behind[vertex] = Counter(work.node_of[after] for after in following)
            total[vertex] = sum(total[after] for after in following) + OTHER_NODE * len(following)
            continue
        node, weight = work.node_of[vertex], 0
        for after in following:
            if after >= work.size:
                weight += total[after] - (OTHER_NODE - SAME_NODE) * behind[after][node]
            else:
                weight += total[after] + (SAME_NODE if work.node_of[after] == node else OTHER_NODE)
        total[vertex] = min(weight, CEILING)
    return total[: work.size]


def most_urgent_first(work: Work) -> list[int]:
    """All instances, the heaviest first. Those of equal weight are in the order of their numbers.

    Raise `CycleDetected` if the graph has a cycle.
    """
    weight = weights(work)
    return sorted(range(work.size), key=lambda vertex: -weight[vertex])


class Slots:
    """The slots in which instances run, one for each node, and the instances that wait for one.

    The number of busy nodes is limited, and so is the number of instances of one task that run at the same time. Nodes
    are tried in their order; each starts the most urgent of its instances whose task is below its limit.

    Every event costs O(log V). An instance whose task is at its limit is parked with the limit. When the limit has
    room again, parked instances return to their nodes one by one until the limit is reached.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._by_rank = most_urgent_first(work)
        self._rank = [0] * work.size
        for rank, vertex in enumerate(self._by_rank):
            self._rank[vertex] = rank
        nodes = len(work.nodes)
        self._waiting: list[list[int]] = [[] for _ in range(nodes)]
        self._running_on = [_FREE] * nodes
        self._closed = bytearray(nodes)
        self._nodes_to_try: list[int] = []
        self._is_to_try = bytearray(nodes)
        self._used = [0] * len(work.limits)
        self._parked: list[list[tuple[int, int]]] = [[] for _ in work.limits]
        self._with_room: list[int] = []
        self.busy = 0

    @property
    def running(self) -> list[int]:
        """The instances that run now, in the order of their nodes."""
        return [vertex for vertex in self._running_on if vertex != _FREE]

    def offer(self, vertex: int) -> None:
        node = self._work.node_of[vertex]
        heappush(self._waiting[node], self._rank[vertex])
        self._try_later(node)

    def _try_later(self, node: int) -> None:
        if self._running_on[node] == _FREE and not self._is_to_try[node]:
            self._is_to_try[node] = 1
            heappush(self._nodes_to_try, node)

    def start(self) -> list[int]:
        """Fill the free slots. Return the instances that start, in the order of their nodes."""
        started: list[int] = []
        while self.busy < self._work.max_busy:
            if (node := self._next_node()) == NOTHING:
                break
            if self._running_on[node] != _FREE or self._closed[node]:
                continue
            if (vertex := self._most_urgent(node)) != NOTHING:
                self.occupy(vertex)
                started.append(vertex)
        return started

    def occupy(self, vertex: int) -> None:
        self._running_on[self._work.node_of[vertex]] = vertex
        self.busy += 1
        if (key := self._work.limit_of[vertex]) != NO_KEY:
            self._used[key] += 1

    def release(self, vertex: int) -> None:
        node = self._work.node_of[vertex]
        self._running_on[node] = _FREE
        self.busy -= 1
        if self._waiting[node]:
            self._try_later(node)
        if (key := self._work.limit_of[vertex]) != NO_KEY:
            self._used[key] -= 1
            if self._parked[key] and key not in self._with_room:
                self._with_room.append(key)

    def close(self, node: int) -> None:
        self._closed[node] = 1

    def _next_node(self) -> int:
        """Take the first node on which an instance may be able to start, or return `NOTHING`."""
        node = self._nodes_to_try[0] if self._nodes_to_try else NOTHING
        if self._with_room:
            node = self._unpark_first(node)
        if self._nodes_to_try and node == self._nodes_to_try[0]:
            heappop(self._nodes_to_try)
            self._is_to_try[node] = 0
        return node

    def _unpark_first(self, node: int) -> int:
        """Return the lower of `node` and the first node with a parked instance whose limit has room; unpark one there
        for each limit."""
        limits = self._work.limits
        self._with_room = [key for key in self._with_room if self._parked[key] and self._used[key] < limits[key]]
        for key in self._with_room:
            first = self._parked[key][0][0]
            if node == NOTHING or first < node:
                node = first
        for key in self._with_room:
            if self._parked[key][0][0] == node:
                heappush(self._waiting[node], heappop(self._parked[key])[1])
        return node

    def _most_urgent(self, node: int) -> int:
        """Take the node's most urgent instance whose limit has room, and park the more urgent ones."""
        waiting = self._waiting[node]
        while waiting:
            rank = heappop(waiting)
            vertex = self._by_rank[rank]
            key = self._work.limit_of[vertex]
            if key == NO_KEY or self._used[key] < self._work.limits[key]:
                return vertex
            heappush(self._parked[key], (node, rank))
        return NOTHING


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an instance's status. `because` is the failed instance to blame, if any."""

    vertex: int
    status: InstanceStatus
    reason: str = ""
    because: int | None = None


class Schedule:
    """The state of one run.

    `history` has the last change of each instance in an earlier schedule, in any order. If all changes that one call of
    `changes` returned were stored together, the new schedule continues where the old one ended. Instances that were
    running are in `running` again, and `finish` accepts them. `stopped` is the reason of an earlier `stop`. Raise
    `CycleDetected` if the work has a cycle.
    """

    def __init__(self, work: Work, history: Iterable[Change] = (), *, stopped: str = "") -> None:
        self._work = work
        self._slots = Slots(work)
        self._status = [InstanceStatus.PENDING] * work.size
        self._state = bytearray(len(work.successors))
        self._predecessors = [0] * len(work.successors)
        self._open = work.size
        self._failed_nodes = FailedNodes(with_other_nodes(work.fault_tolerance, len(work.nodes)))
        self._vertices_of: list[list[int]] = []
        self._ignored: set[int] = set()
        self._log: list[Change] = []
        self._stopped = stopped
        self._result: Result | None = None
        for following in work.successors:
            for after in following:
                self._predecessors[after] += 1
        self._begin(history)

    def _begin(self, history: Iterable[Change]) -> None:
        """Restore the history, then handle every vertex without predecessors.

        Failures come first: an instance that is still pending on a failed node was not reached before the failure.
        """
        ended, failed = [], []
        for row in history:
            state = self._restored(row)
            if state == _RUNNING:
                self._slots.occupy(row.vertex)
            elif state == _INTERRUPTED:
                self._open -= 1
            elif state != _WAITING:
                ended.append(row.vertex)
                self._open -= 1
            if state == _FAILED:
                failed.append(row.vertex)
        free = [vertex for vertex, count in enumerate(self._predecessors) if not count]
        for vertex in failed:
            self._end_node(vertex, ended)
        for vertex in free:
            self._handle_free(vertex, ended)
        self._propagate(ended)
        self._end_if_over()

    def _restored(self, row: Change) -> int:
        """Restore the state of an instance from a row of the history, and return it.

        A row that was written because the run ended is restored as waiting: the end of the run is computed again.
        """
        self._status[row.vertex] = row.status
        if row.status is InstanceStatus.SKIPPED:
            if row.reason in NEVER_RAN:
                if row.reason == Reason.STOPPED and row.because is None:
                    self._stopped = self._stopped or STOPPED_BY_USER
                return _WAITING
            if row.reason == Reason.FAILURE_IGNORED:
                self._ignored.add(row.vertex)
        state = _STATE.get(row.status, _PASSED if row.status.is_final else _WAITING)
        if state == _FAILED and row.reason == Reason.INTERRUPTED and self._stopped:
            state = _INTERRUPTED
        self._state[row.vertex] = state
        return state

    @property
    def is_done(self) -> bool:
        return self._result is not None

    @property
    def starts_no_more(self) -> bool:
        """Whether no more instances start, because the run was stopped or too many nodes failed."""
        return bool(self._stopped) or self._failed_nodes.is_too_many

    @property
    def running(self) -> list[int]:
        return self._slots.running

    @property
    def progress(self) -> int:
        """The share of the instances that have ended, as a whole percentage."""
        return 100 if self.is_done else 100 * (self._work.size - self._open) // self._work.size

    @property
    def result(self) -> Result:
        """The result of the run. Raise `Conflict` if it has not ended."""
        if self._result is None:
            raise Conflict("The run has no result yet: it has not ended.")
        return self._result

    def status(self, vertex: int) -> InstanceStatus:
        return self._status[vertex]

    def ready(self) -> list[int]:
        """Start the instances that can run now, and return them in the order of their nodes."""
        if self.starts_no_more:
            return []
        started = self._slots.start()
        for vertex in started:
            self._state[vertex] = _RUNNING
            self._set(vertex, InstanceStatus.RUNNING)
        return started

    def finish(self, vertex: int, status: InstanceStatus, reason: str = "") -> None:
        """End a running instance, and update the instances that wait for it.

        `status` is how its executor ended: ready, skipped, or else failed. If `fail_on_error` is false for the task,
        its failure is recorded as skipped, and instances that depend on it run. An instance that was interrupted
        because the run is stopped is not a failure of its node, but does not count as done either. Raise `Conflict` if
        the instance is not running.
        """
        if self._state[vertex] != _RUNNING:
            raise Conflict(f"{self._work.name(vertex)} cannot end: it is {self._status[vertex]}, not running.")
        state, is_cut = _PASSED, reason == Reason.INTERRUPTED and bool(self._stopped)
        if status is InstanceStatus.READY:
            self._set(vertex, InstanceStatus.READY, reason)
        elif status is InstanceStatus.SKIPPED:
            self._set(vertex, InstanceStatus.SKIPPED, reason or Reason.EXECUTOR)
        elif is_cut or self._work.fail_on_error[vertex]:
            self._set(vertex, InstanceStatus.ERROR, reason)
            state = _INTERRUPTED if is_cut else _FAILED
        else:
            self._set(vertex, InstanceStatus.SKIPPED, Reason.FAILURE_IGNORED)
            self._ignored.add(vertex)
        self._slots.release(vertex)
        self._open -= 1
        self._state[vertex] = state
        if state != _INTERRUPTED:  # instances that wait for one that was cut off by a stop are never reached
            ended = [vertex]
            if state == _FAILED:
                self._end_node(vertex, ended)
            self._propagate(ended)
        self._end_if_over()

    def stop(self, reason: str = STOPPED_BY_USER) -> None:
        """Start no more instances; running ones may end. Only the first `reason` is kept. No effect after the end."""
        if not self.is_done:
            self._stopped = self._stopped or reason
            self._end_if_over()

    def changes(self) -> list[Change]:
        """Return the changes since the last call, in order. The caller must store them in one write.

        Instances that are never reached stay pending until the run is done, and are skipped then.
        """
        log, self._log = self._log, []
        return log

    def _set(self, vertex: int, status: InstanceStatus, reason: str = "", because: int = NOTHING) -> None:
        self._status[vertex] = changed(self._status[vertex], status)
        self._log.append(Change(vertex, status, reason, None if because == NOTHING else because))

    def _end_node(self, failed: int, ended: list[int]) -> None:
        node = self._work.node_of[failed]
        self._slots.close(node)
        self._failed_nodes.add(node)
        if not self._vertices_of:
            self._vertices_of = [[] for _ in self._work.nodes]
            for vertex, where in enumerate(self._work.node_of):
                self._vertices_of[where].append(vertex)
        for vertex in self._vertices_of[node]:
            self._lose(vertex, ended)

    def _lose(self, vertex: int, ended: list[int]) -> None:
        """Mark an instance, unless it is a sync point, as never to run; for a barrier, mark all instances behind it
        instead."""
        if vertex >= self._work.size:
            if self._state[vertex] == _WAITING:
                self._state[vertex] = _FAILED
                for after in self._work.successors[vertex]:
                    self._lose(after, ended)
        elif self._state[vertex] == _WAITING and self._work.kinds[vertex] is not InstanceKind.SYNC:
            self._state[vertex] = _FAILED
            self._open -= 1
            ended.append(vertex)

    def _propagate(self, ended: list[int]) -> None:
        """Update the successors of `ended`. Vertices that end because of this are appended to it and handled too."""
        left, state, successors = self._predecessors, self._state, self._work.successors
        for vertex in ended:
            following = successors[vertex]
            if state[vertex] == _FAILED:
                for after in following:
                    self._lose(after, ended)
            for after in following:
                left[after] -= 1
                if not left[after]:
                    self._handle_free(after, ended)

    def _handle_free(self, vertex: int, ended: list[int]) -> None:
        """Handle a vertex whose predecessors have all ended: a barrier ends, an instance is queued or skipped."""
        if vertex >= self._work.size:
            ended.append(vertex)
        elif self._state[vertex] == _WAITING and not self.starts_no_more:
            if self._work.kinds[vertex] is InstanceKind.REAL:
                self._slots.offer(vertex)
            else:
                self._state[vertex] = _PASSED
                self._open -= 1
                self._set(vertex, InstanceStatus.SKIPPED, self._work.passed_because(vertex))
                ended.append(vertex)

    def _end_if_over(self) -> None:
        """If no instance runs or will run, set the final status of every instance and the result of the run."""
        if self._slots.busy or self._result is not None or (self._open and not self.starts_no_more):
            return
        work, status = self._work, self._status
        failed = [
            vertex
            for vertex in range(work.size)
            if status[vertex] is InstanceStatus.ERROR and self._state[vertex] != _INTERRUPTED
        ]
        never_ran = [
            vertex
            for vertex in range(work.size)
            if self._state[vertex] == _WAITING
            or (self._state[vertex] == _FAILED and status[vertex] is not InstanceStatus.ERROR)
        ]
        exceeded = self._failed_nodes.exceeded
        fatal = set(exceeded[0].failed) if exceeded else set()
        fatal_vertex = next((vertex for vertex in failed if work.node_of[vertex] in fatal), NOTHING)
        lost = [state == _FAILED for state in self._state]
        for vertex, reason, because in causes(work, failed, lost, never_ran, fatal_vertex):
            if status[vertex] is not InstanceStatus.SKIPPED:
                self._set(vertex, InstanceStatus.SKIPPED, reason, because)
        self._result = result_of(
            work,
            failed=failed,
            ignored=sorted(self._ignored),
            never_ran=never_ran,
            interrupted=[vertex for vertex in range(work.size) if self._state[vertex] == _INTERRUPTED],
            exceeded=exceeded,
            stopped=self._stopped,
        )
