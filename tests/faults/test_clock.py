"""Runs on a machine whose clock is set while they go on: forward, back, and both."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from in_process_runs import InProcessRuns
from opened import opened
from refusals import refused

from fuelclient.engine.runs import processes
from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.errors import Conflict
from fuelclient.model.run import RunRequest
from fuelclient.store.database import Database

SEED = int(os.environ.get("FAULTS_SEED", "20261123"))
JUMPS = {
    "forward": [timedelta(hours=3)],
    "back": [timedelta(hours=-3)],
    "years": [timedelta(days=-9000), timedelta(days=9000)],
    "both": [timedelta(minutes=-7), timedelta(minutes=7), timedelta(), timedelta(days=400), timedelta(days=-400)],
}
DISPLAYS = (
    ("task", "list"), ("task", "show", 1), ("task", "history", "show", 1), ("task", "gantt", 1), ("task", "watch", 1),
    ("graph", "simulate", "--env", 1),
)  # fmt: skip


def jumping(monkeypatch: pytest.MonkeyPatch, by: list[timedelta], *, each: int = 3) -> None:
    """Let the clock of this process jump by one of these at every `each`-th look, beginning with the second one."""
    chance, looks, offset = random.Random(SEED), 0, timedelta()  # noqa: S311

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Jumping:
            nonlocal looks, offset
            looks += 1
            if looks % each == 2 % each:
                offset = chance.choice(by)
            return cls.fromtimestamp((datetime.now(UTC) + offset).timestamp(), tz)

    monkeypatch.setattr(processes, "datetime", Jumping)


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    env = executions(tmp_path, 2)
    yield env
    env.let_go()
    env.backend.close()


@pytest.mark.parametrize("jump", JUMPS)
def test_a_run_ends_well_whatever_its_clock_does(env: Executions, monkeypatch: pytest.MonkeyPatch, jump: str) -> None:
    mark = f"{env.directory}/mark"
    env.graph(
        shell("first", env.note("first")),
        shell("second", env.note("second"), requires=["first"]),
        shell("retried", parameters={"cmd": f"[ -e {mark} ] || {{ touch {mark}; false; }}", "timeout": 60, "retries": 3,
                                     "interval": 0.1}, requires=["second"]),
    )  # fmt: skip
    jumping(monkeypatch, JUMPS[jump])

    run = InProcessRuns(opened(Database(str(env.engine)))).begin(RunRequest(1))

    assert str(run.status) == "ready"
    assert sorted(env.noted()) == ["first", "first", "second", "second"]
    assert {(str(row.status), row.attempts) for row in env.rows(run.id)} == {("ready", 1)}
    for words in DISPLAYS:
        CommandLine(env.engine).ok(*words)


@pytest.mark.parametrize("hours", [-3, 3])
def test_living_runner_is_kept_when_the_clock_is_set(
    env: Executions, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    env.graph(shell("slow", env.held("began")))
    run_id = env.begin().id
    env.until(run_id, lambda _: len(env.noted()) == 2)
    jumping(monkeypatch, [timedelta(hours=hours)], each=1)

    with refused(Conflict, f"run {run_id}", "environment 1"):
        env.begin()
    with refused(Conflict, f"run {run_id}"):
        env.backend.runs.resume(run_id)
    env.let_go()

    assert str(env.ended(run_id).status) == "ready"
    assert len(env.noted()) == 2


@pytest.mark.parametrize("hours", [-3, 3])
def test_a_killed_runner_is_gone_when_the_clock_was_set(
    env: Executions, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    env.graph(shell("slow", env.held("began")))
    run_id = env.begin().id
    env.until(run_id, lambda _: len(env.noted()) == 2)
    runner = env.runner()
    assert runner is not None
    assert runner.pid != NOT_STARTED
    os.kill(runner.pid, signal.SIGKILL)
    jumping(monkeypatch, [timedelta(hours=hours)], each=1)

    env.until(run_id, lambda run: run.runner == "gone")
    env.backend.runs.resume(run_id)
    env.let_go()

    assert str(env.ended(run_id).status) == "ready"
    assert len(env.noted()) == 2
    elsewhere = replace(runner, boot_id=f"{processes.boot_id()} pid:[1]")
    assert not processes.is_alive(elsewhere), "three hours are no heartbeat"
