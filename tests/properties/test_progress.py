"""The same run, watched in a terminal and in the TUI, shows the same counts, statuses, reasons and remaining time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fuelclient.backends.base import Backend
from fuelclient.commands.task.follow import Failures, Follower, LiveDisplay, PlainLines, frame
from fuelclient.insight.progress import Earlier, Progress, explanation, remaining_words
from fuelclient.model.run import (
    CHILD,
    PARENT,
    Event,
    EventKind,
    HistoryFilter,
    HistoryRow,
    NodeKey,
    Run,
    RunRequest,
)
from fuelclient.model.status import InstanceStatus, Reason, RunStatus
from fuelclient.tui.glyphs import UNICODE
from fuelclient.tui.presenters import run as presenter
from fuelclient.tui.run_requests import AskRun, RunState

BEGAN = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)
REQUEST = RunRequest(1, ("default", "upgrade"))
PLACES: tuple[tuple[str, NodeKey], ...] = (("a", 1), ("a", 2), ("b", 1), ("b", "master"), ("end", None), ("c", 2))

ENDS = (
    (InstanceStatus.READY, "", ""),
    (InstanceStatus.ERROR, "", "exit code 3: no such\n\x1b[31mfile"),
    (InstanceStatus.ERROR, Reason.INTERRUPTED, "stopped: its processes were ended"),
    (InstanceStatus.SKIPPED, Reason.FAILURE_IGNORED, "exit code 1"),
)
PASSED = tuple(
    (InstanceStatus.SKIPPED, reason, "")
    for reason in (Reason.DEP_FAILED, Reason.STOPPED, Reason.CONDITION, Reason.SYNC_POINT)
)


@dataclass
class Recorded:
    """A run of two graphs as an engine records it: events, and the history after each of them."""

    run: Run
    events: list[Event]
    histories: list[list[HistoryRow]]
    now: datetime
    earlier: Run | None
    earlier_rows: list[HistoryRow]


def text(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat(timespec="microseconds")


def pending() -> list[HistoryRow]:
    return [
        HistoryRow(child, graph, task, node, InstanceStatus.PENDING)
        for child, graph in ((2, "default"), (3, "upgrade"))
        for task, node in PLACES
    ]


@st.composite
def recorded(draw: st.DrawFn) -> Recorded:
    """Any run: its instances begin and end, or are passed by, in any order; maybe not all of them do."""
    rows = pending()
    moves: list[tuple[int, bool]] = draw(
        st.permutations([(place, is_end) for place in range(len(rows)) for is_end in (False, True)])
    )
    events: list[Event] = []
    histories = [list(rows)]
    numbers, seconds = count(1), 0
    for place, _ in moves[: draw(st.integers(0, len(moves)))]:
        row = rows[place]
        if row.status not in (InstanceStatus.PENDING, InstanceStatus.RUNNING):
            continue  # it was passed by
        seconds += draw(st.integers(0, 9))
        if row.status is InstanceStatus.RUNNING:
            status, reason, message = draw(st.sampled_from(ENDS))
            rows[place] = replace(row, status=status, reason=reason, message=message, time_end=text(seconds))
        elif draw(st.booleans()):
            rows[place] = replace(row, status=InstanceStatus.RUNNING, time_start=text(seconds))
        else:
            status, reason, message = draw(st.sampled_from(PASSED))
            rows[place] = replace(
                row, status=status, reason=reason, message=message, time_start=text(seconds), time_end=text(seconds)
            )
        new = rows[place]
        events.append(Event(
            next(numbers), text(seconds), EventKind.INSTANCE, 1, new.run_id, new.graph_type, new.task, new.node,
            new.status, new.reason, new.message,
        ))  # fmt: skip
        histories.append(list(rows))
    children = tuple(
        Run(child, "u", 1, CHILD, RunStatus.RUNNING, REQUEST, graph, 1, time_start=text(0), digest="d")
        for child, graph in ((2, "default"), (3, "upgrade"))
    )
    run = Run(1, "u", 1, PARENT, RunStatus.RUNNING, REQUEST, time_start=text(0), children=children)
    ready = [
        replace(row, status=InstanceStatus.READY, time_start=text(-500), time_end=text(-500 + draw(st.integers(0, 60))))
        for row in pending()
        if row.run_id == 2 and draw(st.booleans())
    ]
    earlier = replace(
        children[0], id=0, parent_id=None, status=RunStatus.READY, time_start=text(-500), time_end=text(-400)
    )
    return Recorded(
        run, events, histories, BEGAN + timedelta(seconds=seconds + draw(st.integers(0, 99))),
        earlier if draw(st.booleans()) else None, ready,
    )  # fmt: skip


class _Runs:
    """The runs of a backend, at the moment after `seen` events."""

    def __init__(self, recording: Recorded, seen: int) -> None:
        self._recording, self._seen = recording, seen

    def get(self, _run_id: int) -> Run:
        return self._recording.run

    def list(self, **_filters: object) -> Sequence[Run]:
        return [self._recording.earlier] if self._recording.earlier else []

    def history(self, run_id: int, _filter: HistoryFilter | None = None) -> Sequence[HistoryRow]:
        if run_id == 0:
            return self._recording.earlier_rows
        return [row for row in self._recording.histories[self._seen] if run_id in (1, row.run_id)]

    def events(self, _run_id: int, *, after: int, limit: int) -> Sequence[Event]:
        return [event for event in self._recording.events if event.id > after][:limit]


class _Backend:
    """A backend that has one run."""

    def __init__(self, recording: Recorded, seen: int) -> None:
        self.runs = _Runs(recording, seen)


def backend(recording: Recorded, seen: int) -> Backend:
    return _Backend(recording, seen)  # type: ignore[return-value]  # what follows a run calls nothing else


def in_terminal(recording: Recorded, joined: int, *, is_live: bool) -> Progress:
    """What `task watch` knows of a run that had come so far when it was called, after it has read all events."""
    failures = Failures(has_logs=True)
    display = LiveDisplay(Console(file=StringIO()), failures) if is_live else PlainLines(failures)
    follower = Follower(backend(recording, joined), 1, display, None, failures)
    follower.poll(0)
    return follower.progress


def in_tui(recording: Recorded, read: int, chunk: int) -> RunState:
    """What the TUI knows that has read the history when the run had come so far, and the events from the first one."""
    state = AskRun(1).read(backend(recording, read))
    for start in range(0, len(recording.events), chunk):
        state.apply(recording.events[start : start + chunk])
    return state


def shown(progress: Progress, recording: Recorded) -> tuple[object, ...]:
    """Everything that people see of a run's progress."""
    numbers = {key: progress.number(key) for key in sorted(progress.keys, key=str)}
    return (
        progress.counts,
        progress.done,
        {key: progress.word(number) for key, number in numbers.items()},
        {key: explanation(progress.reasons[number], progress.messages[number]) for key, number in numbers.items()},
        {key: progress.seconds(number, recording.now) for key, number in numbers.items()},
        remaining_words(progress, recording.run, recording.now),
    )


@given(recording=recorded(), data=st.data())
def test_the_terminal_and_the_tui_show_the_same(recording: Recorded, data: st.DataObject) -> None:
    moments = st.integers(0, len(recording.events))
    progress = in_terminal(recording, data.draw(moments), is_live=True)
    state = in_tui(recording, data.draw(moments), data.draw(st.integers(1, 9)))
    assert shown(progress, recording) == shown(state.progress, recording)
    assert (
        shown(RunState(recording.run, recording.histories[-1]).progress, recording)[:4]
        == shown(in_terminal(recording, data.draw(moments), is_live=False), recording)[:4]
    )  # plain lines and an ended run show no remaining time


@given(recording=recorded(), data=st.data())
def test_the_same_words_are_on_both_screens(recording: Recorded, data: st.DataObject) -> None:
    moments = st.integers(0, len(recording.events))
    progress = in_terminal(recording, data.draw(moments), is_live=True)
    state = in_tui(recording, data.draw(moments), 5)
    lines = frame(recording.run, progress, recording.now, 200, 40)
    bar = [part.text for part in presenter.bar(state, recording.now, 140, UNICODE)]
    for words in lines[1].split("  "):
        assert words in (bar[2], bar[1].replace(" ", ""), *bar[4:]), (lines[1], bar)
    counts = [part.text.partition(" ")[2] for part in presenter.counts(state, UNICODE) if part.text]
    assert lines[2].split("  ") == counts


def test_what_is_told_once_more_changes_nothing() -> None:
    rows = [HistoryRow(2, "default", "a", 1, InstanceStatus.READY, time_start=text(0), time_end=text(9))]
    progress = Progress(rows)
    began = Event(1, text(0), EventKind.INSTANCE, 1, 2, "default", "a", 1, "running")
    assert progress.apply([began, replace(began, id=2, status="ready", time=text(9))]) == []
    assert (progress.word(0), progress.seconds(0, BEGAN)) == ("ready", 9.0)


def test_instance_of_no_duration_keeps_the_estimate() -> None:
    """It did not run earlier, and who saw it run expects the same as who came later."""
    rows = [HistoryRow(2, "default", task, 1, InstanceStatus.PENDING) for task in ("a", "b")]
    moves = [
        Event(number, text(5), EventKind.INSTANCE, 1, 2, "default", "b", 1, status, "", "")
        for number, status in enumerate((InstanceStatus.RUNNING, InstanceStatus.READY))
    ]
    ended = replace(rows[1], status=InstanceStatus.READY, time_start=text(5), time_end=text(5))
    earlier = {2: Earlier(7, 60, {("a", 1): 60.0})}
    child = Run(2, "u", 1, CHILD, RunStatus.RUNNING, REQUEST, "default", 1, time_start=text(0), digest="d")
    run = Run(1, "u", 1, PARENT, RunStatus.RUNNING, REQUEST, time_start=text(0), children=(child,))
    watched, joined = Progress(rows, earlier), Progress([rows[0], ended], earlier)
    watched.apply(moves[:1])
    assert remaining_words(watched, run, BEGAN + timedelta(seconds=5)) == []
    watched.apply(moves[1:])
    for progress in (watched, joined):
        assert remaining_words(progress, run, BEGAN + timedelta(seconds=9)) == ["about 1:00 left", "(judging by run 7)"]
