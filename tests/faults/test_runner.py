"""Runs whose runner is killed: they are resumed or ended, or a user has to decide."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from in_process_runs import InProcessRuns
from opened import opened
from refusals import refused

from fuelclient.engine.runs import processes
from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.errors import Conflict, StalePlan
from fuelclient.model.run import HistoryFilter, RunRequest
from fuelclient.store.database import Database

pytestmark = pytest.mark.usefixtures("real_processes")


def kill(env: Executions, run_id: int) -> bool:
    """Kill the runner of a run as soon as there is one; return False if the run has ended."""
    while not env.backend.runs.get(run_id).is_final:
        runner = env.runner()
        if runner is not None and runner.pid != NOT_STARTED:
            os.kill(runner.pid, signal.SIGKILL)
            return True
        time.sleep(0.005)
    return False


def is_gone(env: Executions, run_id: int) -> None:
    env.until(run_id, lambda found: found.is_final or found.runner == "gone")


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    env = executions(tmp_path, 2)
    yield env
    env.let_go()
    env.backend.close()


def killed(env: Executions, cmd: str) -> int:
    """Return a run whose runner was killed while `cmd` was running on both nodes."""
    env.graph(shell("slow", cmd), shell("next", env.note("next"), requires=["slow"]))
    begun = env.begin()
    env.until(begun.id, lambda _: len(env.backend.runs.history(begun.id, RUNNING)) == 2 and env.noted())
    assert kill(env, begun.id)
    is_gone(env, begun.id)
    return begun.id


RUNNING = HistoryFilter(statuses=("running",))


def test_a_command_that_outlives_its_runner_is_waited_for(env: Executions) -> None:
    run_id = killed(env, f"{env.held('began')}; {env.note('ended')}")

    assert env.backend.runs.get(run_id).runner == "gone"
    env.backend.runs.resume(run_id)
    env.let_go()
    run = env.ended(run_id)

    assert str(run.status) == "ready"
    assert Counter(env.noted()) == {"began": 2, "ended": 2, "next": 2}


def test_who_executes_meanwhile_is_told_what_to_do(env: Executions) -> None:
    run_id = killed(env, env.held("began"))

    with refused(Conflict, f"run {run_id}", "environment 1", "killed", f"fuel2 task resume {run_id}"):
        env.begin()
    env.backend.runs.stop(run_id)
    run = env.backend.runs.get(run_id)

    assert str(run.status) == "error"
    assert run.message.endswith("; these may go on: slow@1, slow@2.")
    assert env.outcomes(run_id)["slow@1"] == ("error", "interrupted")
    assert env.outcomes(run_id)["next@1"] == ("skipped", "stopped")
    assert env.statuses() == {1: "error", 2: "error"}
    assert env.runner() is None
    with refused(Conflict, f"run {run_id}", "ended"):
        env.backend.runs.resume(run_id)


def test_a_kill_ends_the_commands_that_outlived_their_runner(env: Executions) -> None:
    """The graph may have changed meanwhile: the run remembers its tasks."""
    run_id = killed(env, f"{env.note('began $$')}; sleep 300; {env.note('ended')}")
    env.until(run_id, lambda _: len(env.noted()) == 2)
    leaders = [int(line.split()[1]) for line in env.noted()]
    assert all(processes.start_time(leader) for leader in leaders)
    env.graph(shell("other"))

    run = env.backend.runs.stop(run_id, kill=True)

    assert [processes.start_time(leader) for leader in leaders] == ["", ""]
    assert (str(run.status), run.message) == ("error", "Stopped by user after its runner was killed.")
    assert env.outcomes(run_id)["slow@1"] == ("error", "interrupted")
    assert env.outcomes(run_id)["next@1"] == ("skipped", "stopped")
    assert {row.message for row in env.rows(run_id) if row.task == "slow"} == {
        "Its processes were ended after the runner was killed."
    }


def test_a_kill_that_cannot_end_a_command_says_so(env: Executions) -> None:
    run_id = killed(env, env.held("began"))
    env.backend.clusters.remove_nodes(1, [2])

    run = env.backend.runs.stop(run_id, kill=True)
    env.let_go()

    assert run.message.endswith("; these may go on: slow@2.")
    told = {row.node: row.message for row in env.rows(run_id) if row.task == "slow"}
    assert told[1] == "Its processes were ended after the runner was killed."
    assert "could not be ended: its node is gone" in told[2]


def test_a_graph_that_was_changed_is_not_resumed(env: Executions) -> None:
    run_id = killed(env, env.held("began"))
    env.graph(shell("slow", "true"), shell("next", env.note("next"), requires=["slow"]))

    with refused(StalePlan, "default graph", "changed"):
        env.backend.runs.resume(run_id)
    assert str(env.backend.runs.get(run_id).status) == "running"


def test_graph_changed_during_resume_leaves_nothing_running(env: Executions) -> None:
    run_id = killed(env, env.held("began"))
    changed = partial(env.graph, shell("slow", "true"), shell("next", env.note("next"), requires=["slow"]))

    InProcessRuns(opened(Database(str(env.engine))), changed).resume(run_id)

    run = env.backend.runs.get(run_id)
    assert (str(run.status), run.runner) == ("error", "")
    assert "has changed since" in run.message
    assert env.outcomes(run_id)["slow@1"] == ("error", "interrupted")
    assert env.outcomes(run_id)["next@1"] == ("skipped", "stopped")
    assert env.statuses() == {1: "error", 2: "error"}
    assert env.backend.clusters.get(1).status == "partially_deployed"


def test_a_kill_leaves_nodes_alone_that_a_selection_left_out(env: Executions) -> None:
    env.graph(shell("slow", env.held("began")))
    begun = env.begin(subgraphs=("slow/1:slow/1",))
    env.until(begun.id, lambda _: env.noted())
    assert kill(env, begun.id)
    is_gone(env, begun.id)

    env.backend.runs.stop(begun.id)
    env.let_go()

    assert env.statuses() == {1: "error", 2: "provisioned"}


HOLD = """
import os, sqlite3, sys, time
held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
held.execute("BEGIN IMMEDIATE")
open(sys.argv[3], "w").close()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
held.execute("ROLLBACK")
"""
"""A program that locks an engine file until another file is there, and makes a third one when it has."""


def test_runner_waits_for_a_long_holder_of_the_engine_file(env: Executions) -> None:
    """Here it is a task that does so, until the runner, which has the end of another one to write down, has said twice
    that it waits."""
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            (env.directory / "go").touch()

    held = env.directory / "held"
    hold = shlex.join([sys.executable, "-c", HOLD, str(env.engine), str(env.directory / "go"), str(held)])
    env.graph(
        shell("holds", hold), shell("next", env.note("next"), requires=["holds"]),
        shell("ends", f"until [ -e {held} ]; do sleep 0.05; done", roles=["master"]),
    )  # fmt: skip

    runs = InProcessRuns(opened(Database(str(env.engine))), busy_seconds=0.05, patience=60.0, tell=tell)
    begun = runs.begin(RunRequest(1, node_ids=(1,)))

    assert (str(begun.status), env.noted()) == ("ready", ["next"])
    assert len(said) >= 2
    assert f"{env.engine} has been locked by another process" in said[0]


def test_follower_of_a_gone_runner_is_told_where_its_log_is(env: Executions) -> None:
    run_id = killed(env, env.held("began"))
    log = Path(f"{env.engine}.runs") / f"{run_id}.log"
    with log.open("a", encoding="utf-8") as stream:
        stream.write("earlier\nUnavailable: it is\x1b[2J locked.\n")

    done = CommandLine(env.engine)("task", "watch", run_id)

    assert done.code == 8
    assert f"The log of its runner is {log}, which ends: Unavailable: it is [2J locked." in done.err
    env.backend.runs.stop(run_id)


def machine_died(env: Executions, cmd: str) -> int:
    """Return a run whose runner was killed together with everything that it had started."""
    env.graph(shell("slow", cmd), shell("next", env.note("next"), requires=["slow"]))
    begun = env.begin()
    env.until(begun.id, lambda _: len(env.noted()) == 2)
    assert kill(env, begun.id)
    is_gone(env, begun.id)
    for path in Path(f"{env.engine}.runs").glob("*/*/*/slow/pid"):
        leader = int(path.read_text(encoding="utf-8").split()[0])
        os.killpg(leader, signal.SIGKILL)
    return begun.id


def test_what_nobody_knows_the_end_of_asks(env: Executions) -> None:
    run_id = machine_died(env, f"{env.note('began')}; sleep 300; {env.note('ended')}")

    env.backend.runs.resume(run_id)
    run = env.until(run_id, lambda run: run.runner == "gone" and "not known" in told(env, run_id))

    assert str(run.status) == "running"
    for row in env.backend.runs.history(run_id, RUNNING):
        assert (row.task, row.reason, row.attempts) == ("slow", "interrupted", 1)
    with refused(Conflict, "slow@1", "slow@2", "--rerun-interrupted"):
        env.backend.runs.resume(run_id)


def test_interrupted_task_runs_again_on_request(env: Executions) -> None:
    cmd = f"{env.note('began')}; [ $(grep -c began {env.notes}) -gt 2 ] || sleep 300; {env.note('ended')}"
    run_id = machine_died(env, cmd)

    env.backend.runs.resume(run_id, rerun_interrupted=True)
    run = env.ended(run_id)

    assert str(run.status) == "ready"
    assert Counter(env.noted()) == {"began": 4, "ended": 2, "next": 2}
    slow = env.backend.runs.history(run_id, HistoryFilter(tasks=("slow",)))
    assert [(row.attempts, row.reason) for row in slow] == [(2, ""), (2, "")]


def told(env: Executions, run_id: int) -> str:
    """Return the message of the newest event."""
    return env.backend.runs.events(run_id)[-1].message
