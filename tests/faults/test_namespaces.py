"""Runs whose runner was killed while their commands go on, seen from another PID namespace, such as a container's."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from processes import eventually

from fuelclient.engine.runs.processes import NOT_STARTED, start_time

APART = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def can_be_apart() -> bool:
    try:
        return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not can_be_apart(), reason="only root can make a PID namespace here")

Elsewhere = Callable[..., str]


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    """A run on one node whose runner was killed two minutes ago, and whose command still runs."""
    env = executions(tmp_path, 1)
    env.graph(shell("slow", f"{env.held('began $$')}; {env.note('ended')}"))
    run_id = env.begin().id
    env.until(run_id, lambda _: env.noted())
    runner = env.runner()
    assert runner is not None
    assert runner.pid != NOT_STARTED
    os.kill(runner.pid, signal.SIGKILL)
    env.until(run_id, lambda run: run.runner == "gone")
    with closing(sqlite3.connect(env.engine)) as connection, connection:
        connection.execute("UPDATE runners SET heartbeat = '2001-01-01T00:00:00.000000'")
    yield env
    env.let_go()
    env.backend.close()


@pytest.fixture
def elsewhere(env: Executions) -> Iterator[Elsewhere]:
    """Return what runs a command line of `fuel2` in another PID namespace, and returns its exit code and stderr."""
    shell_there = subprocess.Popen(
        [*APART, "bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip

    def run(*words: object) -> str:
        assert shell_there.stdin is not None
        assert shell_there.stdout is not None
        line = f"{sys.executable} -m fuelclient.main --engine {env.engine} {' '.join(map(str, words))} </dev/null"
        shell_there.stdin.write(f"{line}; echo code $?\n")
        shell_there.stdin.flush()
        said = ""
        while not said.splitlines()[-1:] or not said.splitlines()[-1].startswith("code "):
            said += shell_there.stdout.readline()
        return said

    yield run
    shell_there.kill()
    shell_there.communicate()


def test_command_still_running_elsewhere_is_not_run_again(env: Executions, elsewhere: Elsewhere) -> None:
    assert "code 0" in elsewhere("task", "resume", 1)
    env.until(1, lambda run: run.runner == "gone")

    asked = elsewhere("task", "resume", 1)

    assert ("code 6" in asked, "slow@1" in asked, "--rerun-interrupted" in asked) == (True, True, True), asked
    assert len(env.noted()) == 1
    env.let_go()
    assert eventually(lambda: "ended" in env.noted())
    assert str(env.backend.runs.get(1).status) == "running"


def test_who_kills_from_elsewhere_hears_what_goes_on(env: Executions, elsewhere: Elsewhere) -> None:
    said = elsewhere("task", "stop", 1, "--kill")

    leader = int(env.noted()[0].split()[1])
    assert start_time(leader)
    assert ("code 0" in said, "these may go on: slow@1" in said) == (True, True), said
    (row,) = env.rows(1)
    assert "another PID namespace" in row.message
    env.let_go()
    assert eventually(lambda: "ended" in env.noted())


def test_at_home_it_is_waited_for_and_killed(env: Executions) -> None:
    leader = int(env.noted()[0].split()[1])

    CommandLine(env.engine).ok("task", "stop", 1, "--kill")

    assert not start_time(leader)
    assert env.rows(1)[0].message == "Its processes were ended after the runner was killed."
