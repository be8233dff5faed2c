"""`graph execute` and the runner that it starts, killed before system calls that change files.

There is no run then, or one that ends as if nobody had disturbed it, at the latest after a resume that asks nothing;
and each of its commands ran exactly once. The quick tests sample the calls; the slow ones take as many as `FAULTS`
says, at most all.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from opened import opened
from processes import eventually
from system_calls import KILLED, Call, Ended, calls, killed_alone_at, runner_calls, runner_killed_at

from fuelclient.commands.exits import Exit
from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.engine.runs.runs import Runs
from fuelclient.model.run import RunRequest
from fuelclient.store.database import Database
from fuelclient.store.health import examine

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

SEED = int(os.environ.get("FAULTS_SEED", "20261123"))
KILLS = int(os.environ.get("FAULTS", "0"))
EXECUTE = ("graph", "execute", "--env", 1)

Make = Callable[[str], Executions]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return what makes an environment with two nodes and three tasks, in a directory of that name."""

    def made(name: str) -> Executions:
        env = executions(tmp_path_factory.mktemp(name), 2)
        env.graph(
            shell("first", env.note("first")),
            shell("second", env.note("second"), requires=["first"]),
            shell("third", f"sleep 0.1; {env.note('third')}", requires=["second"]),
        )
        return env

    return made


def begun(env: Executions) -> Executions:
    """Begin a run whose runner is not started."""
    Runs(opened(Database(str(env.engine))), start=lambda *_: None).begin(RunRequest(1))
    return env


@pytest.fixture(scope="module")
def known(make: Make) -> Callable[[str], list[Call]]:
    """Return what lists the calls of a process that nobody disturbs: "command" or "runner"."""

    @cache
    def find(which: str) -> list[Call]:
        if which == "runner":
            return runner_calls(begun(make("known")).engine, 1)
        env = make("known")
        found = calls(env.engine, *EXECUTE)
        env.ended(1)
        return found

    return find


def kill(env: Executions, which: str, call: Call) -> Ended:
    if which == "runner":
        return runner_killed_at(call, begun(env).engine, 1)
    return killed_alone_at(call, env.engine, *EXECUTE)


def end(env: Executions) -> None:
    """Let the run come to its end, by the means that a user has."""
    fuel2 = CommandLine(env.engine)
    if not env.backend.runs.list(names=["deploy"]):
        fuel2.ok(*EXECUTE)
    if not eventually(lambda: (runner := env.runner()) is None or runner.pid != NOT_STARTED, 3):
        with closing(sqlite3.connect(env.engine)) as connection, connection:  # half a minute later
            connection.execute("UPDATE runners SET heartbeat = '2001-01-01T00:00:00.000000'")
    if not env.until(1, lambda run: run.is_final or run.runner == "gone").is_final:
        resumed = fuel2("task", "resume", 1)
        assert resumed.code in (Exit.OK, Exit.CONFLICT), resumed  # on a busy machine, its runner came after all
    env.ended(1)


def check_killed(make: Make, which: str, call: Call) -> None:
    env = make("killed")
    ended = kill(env, which, call)
    assert ended.code in (KILLED, 0), ended
    end(env)

    found = examine(str(env.engine))
    assert (found.damage, found.dangling) == ((), ())
    assert sorted(env.noted()) == ["first", "first", "second", "second", "third", "third"]
    assert {(row.task, row.node, str(row.status), row.attempts) for row in env.rows(1)} == {
        (task, node, "ready", 1) for task in ("first", "second", "third") for node in (1, 2)
    }
    assert str(env.backend.runs.get(1).status) == "ready"
    assert env.statuses() == {1: "ready", 2: "ready"}
    assert len(env.backend.runs.list(names=["deploy"])) == 1
    assert CommandLine(env.engine).ok("engine", "check").code == 0


@pytest.mark.parametrize("which", ["command", pytest.param("runner", marks=pytest.mark.slow)])
def test_run_killed_at_a_system_call_runs_each_command_once(
    make: Make, known: Callable[[str], list[Call]], which: str
) -> None:
    chance = random.Random(f"{SEED} {which}")  # noqa: S311
    check_killed(make, which, chance.choice(known(which)))


@pytest.mark.slow
@pytest.mark.skipif(not KILLS, reason="FAULTS does not say how many; make test-faults does")
@pytest.mark.parametrize("which", ["command", "runner"])
def test_many_kills(make: Make, known: Callable[[str], list[Call]], which: str) -> None:
    chance, found = random.Random(f"{SEED} {which}"), known(which)  # noqa: S311
    for call in chance.sample(found, min(KILLS, len(found))):
        try:
            check_killed(make, which, call)
        except BaseException as error:
            error.add_note(f"FAULTS_SEED={SEED}: {which} before {call}")
            raise
