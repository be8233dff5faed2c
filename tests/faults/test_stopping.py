"""Runs that somebody stops at once, and runs whose engine file is locked or gone: their commands end all the same."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import PATIENCE, Executions, executions, shell
from processes import eventually
from refusals import refused

from fuelclient.engine.runs import processes
from fuelclient.errors import Conflict, Gone

PACKAGE = str(Path(__file__).resolve().parents[2])


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    env = executions(tmp_path, 2)
    yield env
    env.backend.close()


def leaders(env: Executions) -> list[int]:
    """The processes that have noted themselves, one for each node."""
    return [int(line.split()[1]) for line in env.noted() if line.startswith("began ")]


def alive(env: Executions) -> list[int]:
    return [leader for leader in leaders(env) if processes.start_time(leader)]


def began(env: Executions, count: int = 2) -> None:
    assert eventually(lambda: len(leaders(env)) == count, PATIENCE), env.noted()


@contextmanager
def following(env: Executions, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`fuel2 graph execute --wait` as a process of its own, which is told of with signals."""
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(env.engine), "graph", "execute", "--env", "1"]
    with subprocess.Popen(
        [*line, "--wait", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": PACKAGE},
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], word: str) -> None:
    """The narration has come to a line with `word`."""
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if word in line:
            return
    raise AssertionError(seen)


def test_task_killed_by_second_interrupt_runs_again(env: Executions) -> None:
    """It says nothing of the node: no group has lost one, and the next execution begins it anew."""
    wait = f"until [ -e {env.directory}/go ]; do sleep 0.05; done"
    env.graph(shell("slow", f"{env.note('began $$')}; {wait}"), shell("next", env.note("next"), requires=["slow"]))

    with following(env) as process:
        began(env)
        process.send_signal(signal.SIGINT)
        until(process, "Stopping:")
        process.send_signal(signal.SIGINT)
        until(process, "2 interrupted, 2 not started")
        assert process.wait(PATIENCE) == 130

    run = env.backend.runs.get(1)
    assert (str(run.status), run.message) == (
        "error", "Stopped by user. Interrupted: slow@1, slow@2. Not run: next@1, next@2.",
    )  # fmt: skip
    assert alive(env) == []
    assert env.outcomes(1) == {
        "slow@1": ("error", "interrupted"), "slow@2": ("error", "interrupted"),
        "next@1": ("skipped", "stopped"), "next@2": ("skipped", "stopped"),
    }  # fmt: skip
    assert {row.message for row in env.rows(1) if row.task == "slow"} == {"stopped: its processes were ended"}
    assert (env.statuses(), env.backend.clusters.get(1).status) == ({1: "stopped", 2: "stopped"}, "stopped")
    with refused(Conflict, "run 1", "ended", "error"):
        env.backend.runs.resume(1)

    (env.directory / "go").touch()
    again = env.run()

    assert (str(again.status), set(env.outcomes(again.id).values())) == ("ready", {("ready", "")})
    assert (len(leaders(env)), env.noted().count("next")) == (4, 2)


def test_a_failure_before_the_kill_stays_one(env: Executions) -> None:
    one = f"[ -e {env.directory}/failed ] || {{ mkdir {env.directory}/failed && exit 7; }}"
    env.graph(shell("a", f"{one}; {env.note('began $$')}; sleep 300"))
    begun = env.begin()
    began(env, 1)
    env.until(begun.id, lambda _: ("error", "") in env.outcomes(begun.id).values())

    env.backend.runs.stop(begun.id, kill=True)
    run = env.ended(begun.id)

    assert sorted(env.outcomes(begun.id).values()) == [("error", ""), ("error", "interrupted")]
    assert sorted(env.statuses().values()) == ["error", "stopped"]
    assert "has zero fault tolerance." in run.message
    assert "Stopped by user. Interrupted: a@" in run.message


def test_killing_a_run_without_runner_leaves_nodes_stopped(env: Executions) -> None:
    env.graph(shell("slow", f"{env.note('began $$')}; sleep 300"))
    begun = env.begin()
    began(env)
    runner = env.runner()
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    env.until(begun.id, lambda found: found.runner == "gone")

    env.backend.runs.stop(begun.id, kill=True)

    assert (alive(env), env.statuses()) == ([], {1: "stopped", 2: "stopped"})
    assert env.outcomes(begun.id)["slow@1"] == ("error", "interrupted")


def test_an_environment_is_stopped_at_once(env: Executions) -> None:
    env.graph(shell("slow", f"{env.note('began $$')}; sleep 300"))
    begun = env.begin()
    began(env)

    done = CommandLine(env.engine).ok("env", "stop-deployment", 1, "--kill")

    assert done.out == f"Stop deployment task with id {begun.id} for the environment 1 has been started.\n"
    assert (env.ended(begun.id).stop, alive(env)) == ("kill", [])
    assert CommandLine(env.engine)("env", "stop-deployment", 1, "--kill").code == 6


@contextmanager
def locked(env: Executions) -> Iterator[None]:
    """Somebody else writes to the engine file, and does not come to an end."""
    with closing(sqlite3.connect(env.engine, isolation_level=None, timeout=PATIENCE)) as held:
        held.execute("BEGIN IMMEDIATE")
        yield
        held.execute("ROLLBACK")


def test_time_limits_count_while_the_engine_file_is_locked(env: Executions) -> None:
    env.graph(shell("slow", f"{env.note('began $$')}; sleep 300", timeout=10))
    begun = env.begin()
    began(env)

    with locked(env):
        assert eventually(lambda: not alive(env), PATIENCE), "both were ended while nobody could write"
        assert {status for status, _ in env.outcomes(begun.id).values()} == {"running"}

    env.ended(begun.id)
    assert {row.message for row in env.rows(begun.id)} == {"timed out: not done within 10 s, its processes were ended"}


def test_kill_reaches_runner_while_engine_file_is_locked(env: Executions) -> None:
    env.graph(shell("slow", f"{env.note('began $$')}; sleep 300"))
    begun = env.begin()
    began(env)
    env.backend.runs.stop(begun.id, kill=True)

    with locked(env):
        assert eventually(lambda: not alive(env), PATIENCE), "both were ended while nobody could write"

    assert env.ended(begun.id).stop == "kill"
    assert set(env.outcomes(begun.id).values()) == {("error", "interrupted")}


def test_runner_without_engine_file_ends_its_tasks_and_reports(env: Executions) -> None:
    env.graph(shell("slow", f"{env.note('began $$')}; sleep 300"))
    begun = env.begin()
    began(env)
    runner = env.runner()
    assert runner is not None

    for path in env.directory.glob("engine.db*"):
        if path.is_file():
            path.unlink()

    assert eventually(lambda: not processes.start_time(runner.pid), PATIENCE), env.log(begun.id)
    assert alive(env) == []
    message = f"Engine file {env.engine} was removed or replaced while it was in use."
    assert env.log(begun.id).count(message) == 1
    with refused(Gone, env.engine):
        env.backend.runs.get(begun.id)
    assert not env.engine.exists(), "nobody has made another one in its place"


def test_follower_of_a_removed_engine_file_is_told_once(env: Executions) -> None:
    env.graph(shell("slow", f"{env.note('began $$')}; sleep 300"))
    with following(env) as process:
        began(env)
        env.engine.rename(env.engine.with_name("moved.db"))
        assert process.stderr is not None
        told = process.stderr.read()
        assert process.wait(PATIENCE) == 3
    assert told.count("was removed or replaced") == 1, told
    assert eventually(lambda: not alive(env), PATIENCE)
