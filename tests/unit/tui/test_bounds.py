"""Long logs are cut before they are wrapped, and what was looked at is not kept for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from executions import TOLERANT, Executions, executions, shell
from hypothesis import given
from hypothesis import strategies as st
from textual.message import Message
from tui_driving import connecting

from fuelclient.tui.gateway import KEPT, AnswerCache, Answered, Gateway
from fuelclient.tui.requests import AskLog, AskOverview, AskSource, Request, tail
from fuelclient.tui.routes import MAX_BACK, Route, Trail, View
from fuelclient.tui.run_requests import AskRun


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Executions]:
    made = executions(tmp_path, nodes=1)
    yield made
    made.backend.close()


def test_a_log_is_bounded_in_lines_and_in_characters(engine: Executions) -> None:
    long = "head -c 3000000 /dev/zero | tr '\\0' x; echo; seq 100000; head -c 40000 /dev/zero | tr '\\0' y >&2"
    engine.graph(TOLERANT, shell("talk", long))
    found = engine.run()
    row = next(row for row in engine.rows(found.id) if row.task == "talk")
    lines = AskLog(row.run_id, "talk", str(row.node)).read(engine.backend)
    assert len(lines) <= 502
    assert sum(map(len, lines)) < 40_000
    assert lines[-1] == "(return code 0)"
    assert lines[-2] == f"[38000 characters are left out] {'y' * 2000}"
    assert lines[-3] == "100000"
    assert "characters are left out]" in lines[0]


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 6), st.integers(1, 30))
def test_the_end_is_kept_and_the_rest_is_counted(text: str, lines: int, shown: int) -> None:
    kept = tail(text, lines, shown)
    assert len(kept) <= max(lines, 2)
    whole = text.removesuffix("\n")
    if kept and kept[0].startswith("["):
        left = int(kept[0][1:].split()[0])
        assert whole[left:] == "\n".join(kept[1:])
    else:
        assert "\n".join(kept) == whole


def test_of_each_kind_the_last_ones_are_kept() -> None:
    answers = AnswerCache()
    kept: Callable[[Request[object]], object] = answers.get
    answers.put(AskOverview(), "overview")
    for number in range(100):
        answers.put(AskLog(1, "task", str(number)), number)
        answers.put(AskRun(number), number)
        assert kept(AskLog(1, "task", "0")) == 0  # somebody looks at it all the time
    assert len(answers) == 1 + KEPT[AskLog] + KEPT[AskRun]
    assert kept(AskOverview()) == "overview"
    assert kept(AskRun(99)) == 99
    assert kept(AskRun(93)) is None
    answers.age()
    assert AskRun(99) in answers.old
    for number in range(200):
        answers.put(AskRun(number), number)
    assert not any(AskRun(number) in answers.old for number in range(200))


def test_the_gateway_keeps_as_many(tmp_path: Path) -> None:
    asked: list[Answered] = []
    answered = threading.Semaphore(0)

    def post(message: object) -> None:
        assert isinstance(message, Answered)
        asked.append(message)
        answered.release()

    asking = Gateway(connecting(tmp_path / "engine.db"), post, time.monotonic)
    try:
        for number in range(KEPT[AskSource] + 20):
            assert asking.answer(AskSource(__file__, number + 1)) is None
            assert answered.acquire(timeout=30)
            assert asking.accept(asked[-1])
        assert len(asking.answers) == KEPT[AskSource]
    finally:
        asking.close()


def test_feeds_that_have_ended_are_forgotten(engine: Executions) -> None:
    engine.graph(TOLERANT, shell("short"))
    found = engine.run()
    told: list[Message] = []
    asking = Gateway(connecting(engine.engine), told.append, time.monotonic)
    try:
        for _ in range(5):
            feed = asking.follow(found.id)
            feed.stop()
            feed.join(30)
        assert len(asking.feeds) == 1
    finally:
        asking.close()


def test_the_way_back_has_an_end() -> None:
    trail = Trail(Route())
    for env in range(1, 3 * MAX_BACK):
        trail.go(Route(View.ROLES, env))
    steps = 0
    while trail.back():
        steps += 1
    assert steps == MAX_BACK
    assert trail.here.env == 3 * MAX_BACK - 1 - MAX_BACK
