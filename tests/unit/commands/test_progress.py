"""What the events of a run add up to, how long it may still take, and the lines that a terminal shows of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fuelclient.commands.exits import Exit
from fuelclient.commands.task.follow import Failures, PlainLines, bar, counts, frame, instance_label, outcome
from fuelclient.insight.progress import Earlier, Progress, Remaining, explanation
from fuelclient.model.run import CHILD, PARENT, Event, EventKind, HistoryRow, NodeKey, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus

BEGAN = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)
REQUEST = RunRequest(1)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def text(seconds: float) -> str:
    return at(seconds).replace(tzinfo=None).isoformat(timespec="microseconds")


def part(number: int = 2, status: RunStatus = RunStatus.RUNNING, kind: str = "default") -> Run:
    return Run(number, "u", 1, CHILD, status, REQUEST, kind, parent_id=1, time_start=text(0))


def run(*children: Run) -> Run:
    return Run(1, "u", 1, PARENT, RunStatus.RUNNING, REQUEST, time_start=text(0), children=children)


def event(
    task: str, status: str, seconds: float = 0, *, node: int | None = 1, reason: str = "", part: int = 2
) -> Event:
    return Event(1, text(seconds), EventKind.INSTANCE, 1, part, "default", task, node, status, reason)


def expected(*places: tuple[str, NodeKey], earlier: Earlier | None = None) -> Progress:
    rows = (HistoryRow(2, "default", task, node, InstanceStatus.PENDING) for task, node in places)
    return Progress(rows, {2: earlier})


def test_counts_follow_the_events() -> None:
    progress = expected(("a", 1), ("b", 1), ("c", 1), ("end", None), ("lost", "-"))
    assert (len(progress), progress.done, counts(progress)) == (4, 0, ["4 pending"])
    happened = (
        event("a", "running"), event("a", "ready"), event("b", "running"), event("b", "error", reason="interrupted"),
        event("c", "skipped", reason="node_failed"), event("end", "skipped", node=None, reason="sync_point"),
    )  # fmt: skip
    assert progress.apply(happened) == [0, 1, 2, 3]
    assert progress.apply(happened) == []
    assert counts(progress) == ["1 interrupted", "1 not reached", "1 ready", "1 skipped"]
    assert (progress.done, progress.running) == (4, {})
    assert [(progress.name(number), progress.reasons[number]) for number in progress.failures] == [
        ("b/1", "interrupted")
    ]


@pytest.mark.parametrize("late", [False, True], ids=["known before", "known after"])
def test_a_stopped_run_counts_what_it_did_not_start_apart(late: bool) -> None:
    progress = expected(("a", 1), ("b", 1), ("c", 1))
    stopped = replace(run(), stop="graceful")
    progress.note(run())
    if not late:
        progress.note(stopped)
    progress.apply([event("a", "skipped", reason="dep_failed"), event("b", "skipped", reason="stopped")])
    before = counts(progress)
    progress.note(stopped)
    progress.apply([event("c", "skipped", reason="stopped")])
    assert before == ["1 not reached", "1 not started", "1 pending"] if not late else ["2 not reached", "1 pending"]
    assert counts(progress) == ["1 not reached", "2 not started"]
    assert [progress.is_fault(number) for number in range(3)] == [True, True, True]


def test_failures_that_stop_a_run_are_no_stop() -> None:
    progress = expected(("a", 1))
    progress.note(run())
    progress.apply([event("a", "skipped", reason="stopped")])
    assert counts(progress) == ["1 not reached"]


def test_what_was_told_before_it_was_expected_counts_once() -> None:
    progress = Progress()
    progress.apply([event("a", "running", 3)])
    progress.add([HistoryRow(2, "default", "a", 1, InstanceStatus.PENDING)])
    assert (len(progress), counts(progress)) == (1, ["1 running"])
    assert list(progress.running.values()) == [at(3)]
    progress.apply([Event(9, text(4), EventKind.NODE, 1, 2, node=1, status="ready")])
    assert counts(progress) == ["1 running"]


def test_without_a_past_it_goes_on_as_it_went() -> None:
    progress = expected(("a", 1), ("b", 1), ("c", 1), ("d", 1))
    assert progress.remaining(run(part()), at(5)) is None
    progress.apply([event("a", "ready", 10)])
    assert progress.remaining(run(part()), at(10)) == Remaining(30.0)
    assert progress.remaining(run(part(), part(3, RunStatus.PENDING)), at(10)) is None
    assert progress.remaining(run(part(2, RunStatus.READY)), at(10)) == Remaining(0.0)


PAST = Earlier(7, 40.0, {("a", 1): 10.0, ("b", 1): 30.0, ("a", 2): 10.0})


def test_with_a_past_it_takes_as_long_as_then() -> None:
    progress = expected(("a", 1), ("b", 1), ("a", 2), ("end", None), earlier=PAST)
    found = run(part())
    assert progress.remaining(found, at(0)) == Remaining(40.0, (7,))
    progress.apply([event("a", "running", 0)])
    assert progress.remaining(found, at(5)) == Remaining(36.0, (7,))
    assert progress.remaining(found, at(50)) == Remaining(32.0, (7,))
    progress.apply([event("a", "ready", 50)])
    progress.apply([event("a", "ready", 50, node=2)])
    assert progress.remaining(found, at(50)) == Remaining(24.0, (7,))
    progress.apply([event("end", "skipped", 50, node=None)])
    progress.apply([event("b", "ready", 90)])
    assert progress.remaining(found, at(90)) == Remaining(0.0, (7,))


def test_fewer_nodes_take_what_their_busiest_takes() -> None:
    assert expected(("a", 2), earlier=PAST).remaining(run(part()), at(0)) == Remaining(10.0, (7,))
    unplanned = Progress(earlier={2: PAST})
    assert unplanned.remaining(run(part(2, RunStatus.PENDING)), at(0)) == Remaining(40.0, (7,))


def test_what_never_ran_before_makes_the_past_no_guide() -> None:
    progress = expected(("a", 1), ("new", 1), earlier=PAST)
    progress.apply([event("a", "ready", 10)])
    assert progress.remaining(run(part()), at(10)) == Remaining(0.0, (7,))
    progress.apply([event("new", "running", 10)])
    assert progress.remaining(run(part()), at(10)) == Remaining(10.0)
    unplanned = Progress(earlier={2: Earlier(7, 1.0, {})})
    assert unplanned.remaining(run(part()), at(0)) == Remaining(1.0, (7,))
    assert expected(("a", 1), earlier=Earlier(7, 1.0, {})).remaining(run(part()), at(3)) is None


def test_why_obeys_no_terminal() -> None:
    assert explanation("", "red \x1b[31m\n\rline\x07") == "red line"
    assert instance_label("default", "a\x1b[2J", 1) == "default: a\\x1b[2J/1"


@pytest.mark.parametrize(("done", "shown"), [(0, "----"), (1, "#---"), (2, "##--"), (4, "####")])
def test_the_bar(done: int, shown: str) -> None:
    progress = expected(*((f"t{number}", 1) for number in range(4)))
    for number in range(done):
        progress.apply([event(f"t{number}", "ready")])
    assert bar(progress, 4, unicode=False) == shown


def test_the_frame_fits_its_terminal() -> None:
    progress = expected(*(("task", node) for node in range(1, 31)), ("end", None), earlier=PAST)
    for node in range(1, 21):
        progress.apply([event("task", "running", node, node=node)])
    progress.apply([event("task", "error", 20, node=20)])
    found = run(part(2, RunStatus.READY), part(3))
    lines = frame(found, progress, at(125), 200, 24)
    assert lines[:3] == [
        "Run 1  graph default (2 of 2)  environment 1",
        "1/31  3%  2:05 elapsed",
        "1 error  19 running  11 pending",
    ]
    assert lines[3:5] == ["  2:04  task/1", "  2:03  task/2"]
    assert (len(lines), lines[-1]) == (3 + 18, "  and 2 more")
    for width, height in ((40, 10), (20, 6), (1, 1)):
        lines = frame(found, progress, at(125), width, height)
        assert len(lines) <= max(3, height - 2)
        assert lines[1].startswith("1/31")
    assert frame(found, progress, at(125), 20, 6)[0] == "Run 1"


def test_the_frame_says_what_was_asked_for_and_what_takes_long() -> None:
    progress = expected(("a", 2), earlier=PAST)
    progress.apply([event("a", "running", 0, node=2)])
    child = part()
    stopping = Run(
        1, "u", 1, PARENT, RunStatus.RUNNING, REQUEST, time_start=text(0), stop="graceful", children=(child,)
    )
    lines = frame(stopping, progress, at(3), 100, 20)
    assert lines[0] == "Run 1  stopping  graph default  environment 1"
    assert lines[1] == "0/1  0%  0:03 elapsed  about 0:07 left  (judging by run 7)"
    assert frame(stopping, progress, at(30), 100, 20)[1] == "0/1  0%  0:30 elapsed  longer than run 7"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("ready", ""), ("error", ""), ("error", "interrupted"), ("skipped", "failure_ignored"), ("skipped", "executor"),
        ("skipped", "stopped"),
    ],
)  # fmt: skip
def test_the_end_of_what_was_printed_as_running_is_printed(
    status: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What never ran is not: a skipped instance is no news."""
    caplog.set_level(logging.INFO, "fuelclient")
    lines = PlainLines(Failures(has_logs=False))

    for told in (event("a", "running"), event("b", "skipped", reason=reason), event("a", status, reason=reason)):
        lines.print_event(told)

    said = [record.getMessage().split()[1:] for record in caplog.records]
    assert said[0] == ["a/1", "running"]
    assert [words[0] for words in said] == ["a/1", "a/1"]
    assert said[1][1] in (status, "interrupted", "failure", "not")


@pytest.mark.parametrize(
    ("statuses", "selection", "code"),
    [
        (["error", "error"], {"task_names": ("a",)}, Exit.FAILED),
        (["error", "error"], {"subgraphs": ("a",)}, Exit.FAILED),
        (["error", "error"], {"node_ids": (1,)}, Exit.FAILED),
        (["error", "error"], {}, Exit.OK),
        (["error", "ready"], {"node_ids": (1,)}, Exit.OK),
        (["error", "skipped"], {"node_ids": (1,)}, Exit.FAILED),
        (["skipped", "skipped"], {"node_ids": (1,)}, Exit.OK),
        ([], {"node_ids": (1,)}, Exit.OK),
    ],
)
def test_ready_run_with_only_failures_is_told_as_a_failure(
    statuses: list[str], selection: dict[str, Any], code: Exit, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fuelclient")
    progress = Progress()
    progress.apply([event(f"t{number}", status, reason="condition") for number, status in enumerate(statuses)])
    ended = replace(run(), status=RunStatus.READY, request=RunRequest(1, **selection))

    assert outcome(ended, progress, Failures(has_logs=False), has_logs=False) == code

    assert (caplog.records[-1].getMessage() == "Nothing of what was selected for run 1 succeeded.") == (
        code is Exit.FAILED
    )
