"""The progress of a run: the states of its task instances in words, and an estimate of the remaining time.

The terminal and the TUI both fold history rows and events with `Progress`, so that they always show the same. Nothing
here reads a clock: `now` is an argument.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from fuelclient.grouping import grouped
from fuelclient.model.run import NOWHERE, Event, EventKind, HistoryRow, NodeKey, Run, RunRequest, instance_name
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Reason, RunStatus
from fuelclient.printing import ids_text, plain_line

NOT_REACHED, NOT_STARTED, INTERRUPTED, IGNORED = "not reached", "not started", "interrupted", "failure ignored"
"""A failure kept `NOT_REACHED` instances from running; a user stopped the run before `NOT_STARTED` ones."""

WORDS = ("error", "running", INTERRUPTED, NOT_REACHED, NOT_STARTED, IGNORED, "ready", "skipped", "pending")
"""The states of task instances in words, the most urgent first."""

FAULTS = frozenset({"error", INTERRUPTED, NOT_REACHED, NOT_STARTED})
"""The states of instances that failed, were interrupted, or never ran because of a failure or a stop."""

_REASONS: Mapping[str, str] = {
    Reason.DEP_FAILED: "a task before it failed",
    Reason.NODE_FAILED: "its node failed",
    Reason.STOPPED: "the run was stopped",
    Reason.CONDITION: "its condition is false",
    Reason.FILTERED: "its node was not selected",
    Reason.UNKNOWN: "a fact it depends on is not known",
    Reason.SUBGRAPH: "it is outside the selected part of the graph",
    Reason.TYPE: "tasks of this type do nothing here",
    Reason.SYNC_POINT: "a sync point",
    Reason.FAILURE_IGNORED: "it failed, but its failures are ignored",
    Reason.EXECUTOR: "its executor skipped it",
}

_RANK = {InstanceStatus.PENDING: 0, InstanceStatus.RUNNING: 1}
_FINAL_RANK = 2

Key = tuple[int, str, NodeKey]
"""A task instance of a run: the id of its graph's run, the task, the node."""


def status_word(status: str, reason: str, *, was_stopped: bool = False) -> str:
    """One of `WORDS` for the status of a task instance. `was_stopped`: a user stopped its run.

    >>> status_word("skipped", "dep_failed"), status_word("skipped", "condition"), status_word("error", "interrupted")
    ('not reached', 'skipped', 'interrupted')
    >>> status_word("skipped", "failure_ignored"), status_word("skipped", "stopped", was_stopped=True)
    ('failure ignored', 'not started')
    """
    if status == InstanceStatus.SKIPPED and reason in NEVER_RAN:
        return NOT_STARTED if was_stopped and reason == Reason.STOPPED else NOT_REACHED
    if status == InstanceStatus.SKIPPED and reason == Reason.FAILURE_IGNORED:
        return IGNORED
    return INTERRUPTED if status == InstanceStatus.ERROR and reason == Reason.INTERRUPTED else str(status)


def explanation(reason: str, message: str = "", because: str = "") -> str:
    """Explain on one line why a task instance has its status; `because` names the instance to blame.

    >>> explanation("dep_failed", because="netconfig@2"), explanation("", "exit code 3")
    ('a task before it failed: netconfig@2', 'exit code 3')
    >>> explanation("executor", "puppet is not installed")
    'its executor skipped it: puppet is not installed'
    >>> explanation("interrupted", "stopped: its processes were ended"), explanation("interrupted")
    ('the run was stopped: its processes were ended', 'nothing recorded how it ended')
    """
    message = plain_line(message)
    if reason == Reason.INTERRUPTED:
        return f"the run was {message}" if message.startswith("stopped") else message or "nothing recorded how it ended"
    return ": ".join(filter(None, (_REASONS.get(reason, reason), because, message)))


def options_of(request: RunRequest) -> list[str]:
    """The options of `graph execute` for a request, except for its environment and graph types."""
    optional = (
        (request.node_ids, ["--node", *map(str, request.node_ids)]),
        (request.task_names, ["--task-names", *request.task_names]),
        (request.subgraphs, ["--subgraphs", *request.subgraphs]),
        (request.force, ["--force"]),
        (request.dry_run, ["--dry-run"]),
        (request.noop, ["--noop"]),
        (request.executor, ["--executor", request.executor]),
        (request.on_originals, ["--on-originals"]),
        (request.unknown, ["--unknown", request.unknown]),
        (not request.assumed.is_empty, ["--assume-facts", "FILE"]),
        (request.trace, ["--trace"]),
    )
    return [word for is_given, words in optional if is_given for word in words]


def rest_of(run: Run) -> str:
    """The command lines that execute the rest of an ended run; empty if it is ready, or changed nothing.

    They execute the graph at which the run ended, with the options of the run, and then the graphs that never began.
    FILE stands for the file of assumed facts, whose name is not recorded. Without children, `run` has the graphs of its
    request.
    """
    request = run.request
    if run.status is RunStatus.READY or run.dry_run:
        return ""
    left = [(child.graph_type, bool(child.digest)) for child in run.children if child.status is not RunStatus.READY]
    left = left or [(name, len(request.graph_types) == 1) for name in request.graph_types]
    if not left:
        return ""
    query = "result:error|skipped"
    if request.task_names:
        from fuelclient.insight.query import named

        query = f"{query},({' or '.join(map(named, request.task_names))})"
    (first, began), *others = left
    arguments = ["--type", first, *(("--select", query) if began else ())]
    options = options_of(replace(request, task_names=()))
    lines = [arguments, ["--type", *(name for name, _ in others)]] if others else [arguments]
    command = ["fuel2", "graph", "execute", "--env", str(run.cluster_id)]
    return ", then ".join(f"`{shlex.join([*command, *line, *options])}`" for line in lines)


def parse_time(text: str) -> datetime:
    """Parse a time of a run; one without a zone is UTC.

    >>> parse_time("2026-01-02T03:04:05").isoformat()
    '2026-01-02T03:04:05+00:00'
    """
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def elapsed(start: str | None, end: str | None, now: datetime) -> float | None:
    """The seconds from `start` to `end`, or to `now` without an end; None without a start."""
    return None if start is None else _seconds(parse_time(start), now if end is None else parse_time(end))


def duration(seconds: float) -> str:
    """Format seconds as a clock does.

    >>> duration(5.9), duration(75), duration(3725)
    ('0:05', '1:15', '1:02:05')
    """
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier run of a graph: its id, the seconds of the graph and of each (task, node)."""

    run_id: int
    seconds: float
    instances: Mapping[tuple[str, NodeKey], float]

    @property
    def busiest(self) -> float:
        """The working time, in seconds, of the node that worked longest."""
        by_node = grouped((node, seconds) for (_, node), seconds in self.instances.items())
        return max(map(sum, by_node.values()), default=0.0)


def earlier_run(runs: Iterable[Run], child: Run) -> Run | None:
    """The last successful run of the same graph before `child` that was requested in the same way."""
    ended = (run for run in runs if run.id < child.id and run.time_start and run.time_end)
    return max((run for run in ended if _request_key(run) == _request_key(child)), key=lambda run: run.id, default=None)


def _request_key(run: Run) -> tuple[object, ...]:
    return run.graph_type, run.dry_run, run.request.task_names, run.request.subgraphs


def earlier_of(run: Run, rows: Iterable[HistoryRow]) -> Earlier:
    """The durations of a run that has ended, as the estimate for the next one."""
    times = {(row.task, row.node): _seconds_between(row.time_start, row.time_end) for row in rows}
    return Earlier(run.parent_id or run.id, _seconds_between(run.time_start, run.time_end), times)


def _seconds_between(start: str | None, end: str | None) -> float:
    return _seconds(parse_time(start), parse_time(end)) if start and end else 0.0


def _seconds(start: datetime, end: datetime) -> float:
    return max(0.0, (end - start).total_seconds())  # clocks of several machines may disagree


@dataclass(frozen=True, slots=True)
class Remaining:
    """The remaining seconds of a run, and the earlier runs that they are estimated from, if any."""

    seconds: float
    earlier: tuple[int, ...] = ()


@dataclass(slots=True)
class _Graph:
    """The progress of one graph of a run. `surprises` counts instances that run now but did not run earlier; if there
    are any, nothing is estimated from the earlier run."""

    earlier: Earlier | None = None
    graph_type: str = ""
    expected: int = 0
    ended: int = 0
    todo: float = 0.0
    total: float = 0.0
    by_node: dict[NodeKey, float] = field(default_factory=lambda: defaultdict(float))
    surprises: int = 0

    @property
    def guide(self) -> Earlier | None:
        """The earlier run, if the duration of this one can be estimated from it."""
        if self.earlier is None or self.surprises:
            return None
        is_comparable = not self.expected or (self.total > 0 and self.earlier.busiest > 0)
        return self.earlier if is_comparable else None

    def expect(self, task: str, node: NodeKey) -> None:
        self.expected += 1
        seconds = self.seconds(task, node) or 0.0
        self.todo += seconds
        self.total += seconds
        self.by_node[node] += seconds

    def end(self, task: str, node: NodeKey) -> None:
        self.ended += 1
        self.todo -= self.seconds(task, node) or 0.0

    def seconds(self, task: str, node: NodeKey) -> float | None:
        return None if self.earlier is None else self.earlier.instances.get((task, node))

    def left(self, running: Iterable[tuple[str, NodeKey, datetime]], began: str | None, now: datetime) -> float | None:
        """The seconds that the graph still takes, or None if they cannot be estimated.

        With an earlier run, its duration is scaled by the work of the busiest node, because a node runs one task at a
        time, and by the share of work that is left. Without one, the speed so far is extrapolated.
        """
        if (guide := self.guide) is not None:
            if not self.expected:  # not planned yet
                return guide.seconds
            spent = sum(min(self.seconds(task, node) or 0.0, _seconds(since, now)) for task, node, since in running)
            share = max(0.0, self.todo - spent) / self.total
            return guide.seconds * max(self.by_node.values()) / guide.busiest * share
        if not self.ended or began is None:
            return None
        return _seconds(parse_time(began), now) * (self.expected - self.ended) / self.ended


class Progress:
    """The task instances of a run, numbered in the order of their arrival, and the status of each.

    History rows and events may come in any mixture: an older status of an instance changes nothing, so all events of a
    run may be folded over rows that were read later.
    """

    def __init__(self, rows: Iterable[HistoryRow] = (), earlier: Mapping[int, Earlier | None] | None = None) -> None:
        """`earlier` is keyed by the ids of the graphs' runs; see `remember`."""
        self.keys: list[Key] = []
        self.statuses: list[InstanceStatus] = []
        self.reasons: list[str] = []
        self.messages: list[str] = []
        self.began: list[str | None] = []
        self.ended: list[str | None] = []
        self.running: dict[int, datetime] = {}
        self.counts: Counter[str] = Counter()
        self.was_stopped = False
        self._numbers: dict[Key, int] = {}
        self._graphs: dict[int, _Graph] = {}
        for child_id, run in (earlier or {}).items():
            self.remember(child_id, run)
        self.add(rows)

    def __len__(self) -> int:
        return self.counts.total()

    @property
    def done(self) -> int:
        """The number of instances in a final status."""
        return len(self) - self.counts["pending"] - self.counts["running"]

    @property
    def failures(self) -> list[int]:
        """The instances that failed or were interrupted, in order of their ends."""
        failed = (number for number, status in enumerate(self.statuses) if status is InstanceStatus.ERROR)
        return sorted(failed, key=lambda number: (self.ended[number] or "", number))

    # folding

    def remember(self, child_id: int, earlier: Earlier | None) -> None:
        """Set the earlier run of a graph, before any of its instances is added."""
        self._graphs[child_id] = _Graph(earlier)

    def note(self, run: Run) -> None:
        """Register that a user stopped the run: instances that had not begun then are `NOT_STARTED`. Too many failures
        stop a run too, with the same reason in rows and events."""
        if run.stop and not self.was_stopped:
            self.was_stopped = True
            left = self.reasons.count(Reason.STOPPED)
            self.counts[NOT_REACHED] -= left
            self.counts[NOT_STARTED] += left

    def add(self, rows: Iterable[HistoryRow]) -> None:
        for row in rows:
            if row.node != NOWHERE:
                number = self._number((row.run_id, row.task, row.node), row.graph_type)
                self._change(number, row.status, row.reason, row.message, row.time_start, row.time_end)

    def apply(self, events: Iterable[Event]) -> list[int]:
        """Fold events, and return the instances that they changed; new ones have the highest numbers."""
        changed: dict[int, None] = {}
        for event in events:
            if event.kind is not EventKind.INSTANCE:
                continue
            number = self._number((event.run_id, event.task, event.node), event.graph_type)
            status = InstanceStatus(event.status)
            is_final = status not in _RANK
            began = self.began[number] if is_final and self.began[number] else event.time
            if self._change(number, status, event.reason, event.message, began, event.time if is_final else None):
                changed[number] = None
        return list(changed)

    def _number(self, key: Key, graph_type: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.keys)
            self.keys.append(key)
            self.statuses.append(InstanceStatus.PENDING)
            self.reasons.append("")
            self.messages.append("")
            self.began.append(None)
            self.ended.append(None)
            self.counts["pending"] += 1
            graph = self._graphs.setdefault(key[0], _Graph())
            graph.graph_type = graph_type
            graph.expect(key[1], key[2])
        return number

    def _change(
        self, number: int, status: InstanceStatus, reason: str, message: str, began: str | None, ended: str | None
    ) -> bool:
        if _RANK.get(status, _FINAL_RANK) <= _RANK.get(self.statuses[number], _FINAL_RANK):
            return False
        child, task, node = self.keys[number]
        graph = self._graphs[child]
        self.counts[self.word(number)] -= 1
        graph.surprises -= self._is_surprising(number)
        self.statuses[number], self.reasons[number], self.messages[number] = status, reason, message
        self.began[number], self.ended[number] = began, ended
        self.counts[self.word(number)] += 1
        graph.surprises += self._is_surprising(number)
        if status is InstanceStatus.RUNNING and began is not None:
            self.running[number] = parse_time(began)
        elif status is not InstanceStatus.RUNNING:
            self.running.pop(number, None)
            graph.end(task, node)
        return True

    def _is_surprising(self, number: int) -> bool:
        """Whether an instance took time though it did not run earlier. A skipped one begins and ends at one time."""
        child, task, node = self.keys[number]
        return self.began[number] != self.ended[number] and self._graphs[child].seconds(task, node) is None

    # one instance

    def number(self, key: Key) -> int:
        """The number of an instance; -1 if it is not known."""
        return self._numbers.get(key, -1)

    def word(self, number: int) -> str:
        return status_word(self.statuses[number], self.reasons[number], was_stopped=self.was_stopped)

    def is_fault(self, number: int) -> bool:
        return self.word(number) in FAULTS

    def is_done(self, number: int) -> bool:
        return self.statuses[number] not in _RANK

    def name(self, number: int) -> str:
        _, task, node = self.keys[number]
        return instance_name(task, node)

    def graph_type(self, number: int) -> str:
        return self._graphs[self.keys[number][0]].graph_type

    def seconds(self, number: int, now: datetime) -> float | None:
        """How long an instance took, or has been running; None for one that never began."""
        if self.began[number] == self.ended[number]:
            return None
        return elapsed(self.began[number], self.ended[number], now)

    # the run

    def remaining(self, run: Run, now: datetime) -> Remaining | None:
        """Estimate the remaining time; None if that is impossible, or the run has ended or lost its runner."""
        if run.is_final or run.runner == "gone":
            return None
        total, earlier = 0.0, set()
        for child in run.children:
            if child.is_final:
                continue
            graph = self._graphs.get(child.id, _Graph())
            running = ((self.keys[number], since) for number, since in self.running.items())
            of_graph = [(task, node, since) for (child_id, task, node), since in running if child_id == child.id]
            if (seconds := graph.left(of_graph, child.time_start, now)) is None:
                return None
            total += seconds
            if graph.guide is not None:
                earlier.add(graph.guide.run_id)
        return Remaining(total, tuple(sorted(earlier)))


def counted(progress: Progress) -> list[tuple[str, int]]:
    """Pair each of `WORDS` that occurs with the number of its instances."""
    return [(word, progress.counts[word]) for word in WORDS if progress.counts[word]]


def remaining_words(progress: Progress, run: Run, now: datetime) -> list[str]:
    """Describe the remaining time, and the earlier runs it is estimated from; empty without an estimate."""
    if (left := progress.remaining(run, now)) is None:
        return []
    ids = ids_text(left.earlier)
    runs = f"run{'s' if len(left.earlier) > 1 else ''} {ids}" if ids else ""
    if runs and left.seconds < 1 and progress.running:
        return [f"longer than {runs}"]
    return [f"about {duration(left.seconds)} left", *([f"(judging by {runs})"] if runs else [])]
