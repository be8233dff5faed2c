"""Runs after which nodes, the graph or the clock have changed, or which printed very much."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from refusals import refused

from fuelclient.commands.shell import LOG
from fuelclient.commands.task.follow import follow
from fuelclient.engine.runs import processes
from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.errors import NotFound, StalePlan
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.run import Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.model.task import Task


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    env = executions(tmp_path, 2)
    yield env
    env.backend.close()


def killed(env: Executions, command: str, graph_type: str = "default") -> int:
    """Return a run whose runner was killed while `command` was running on both nodes."""
    env.graph(shell("slow", f"{env.note('began')}; {command}"), graph_type=graph_type)
    run_id = env.begin(graph_type).id
    env.until(run_id, lambda _: len(env.noted()) == 2)
    runner = env.runner()
    assert runner is not None
    assert runner.pid != NOT_STARTED
    os.kill(runner.pid, signal.SIGKILL)
    env.until(run_id, lambda found: found.runner == "gone")
    return run_id


def test_a_run_whose_node_has_gone_is_not_resumed_and_says_so(env: Executions) -> None:
    run_id = killed(env, f"until [ -e {env.directory}/go ]; do sleep 0.05; done")
    (env.directory / "go").touch()
    env.backend.clusters.remove_nodes(1, [2])

    (part,) = env.backend.runs.get(run_id).children
    with refused(StalePlan, f"run {part.id}", "nodes have left environment 1: 2") as caught:
        env.backend.runs.resume(run_id)

    assert f"fuel2 task stop {run_id} --kill" in caught.value.hint
    assert str(env.backend.runs.stop(run_id).status) == "error"


def test_a_kill_works_when_the_graph_is_gone(env: Executions) -> None:
    run_id = killed(env, "sleep 300", "fix")
    env.backend.graphs.delete(OwnerRef(Level.CLUSTER, 1), "fix")

    run = env.backend.runs.stop(run_id, kill=True)

    assert (str(run.status), run.message) == ("error", "Stopped by user after its runner was killed.")


def test_logs_outlive_the_node_and_the_graph(env: Executions) -> None:
    env.graph(shell("said", "echo here"), graph_type="fix")
    run = env.run("fix")
    env.backend.clusters.remove_nodes(1, [2])
    env.backend.nodes.delete([2])
    env.backend.graphs.delete(OwnerRef(Level.CLUSTER, 1), "fix")

    assert env.backend.runs.logs(run.id, "said", "1").output == "here\n"
    assert env.backend.runs.logs(run.id, "said", "2").output == "here\n"


def test_log_on_a_node_of_another_engine(env: Executions) -> None:
    env.graph(shell("said"))
    run = env.run()
    with closing(sqlite3.connect(env.engine)) as connection, connection:
        connection.execute("UPDATE history SET node = '99' WHERE node = '2'")

    with refused(NotFound, "said/99", "node is gone"):
        env.backend.runs.logs(run.id, "said", "99")


@pytest.mark.slow
def test_very_long_output_prints_beginning_and_end(env: Executions) -> None:
    env.graph(shell("long", "head -c 41000000 /dev/zero | tr '\\0' x; echo the end"))
    run = env.run(node_ids=(1,))

    output = env.backend.runs.logs(run.id, "long", "1").output

    left = 41_000_008 - (16 << 20)
    first, line, rest = output.partition(f"\n[{left} bytes are left out here: OUTPUT_MEGABYTES is 16]\n")
    assert (len(first), bool(line), len(rest), rest[-8:]) == (1 << 20, True, 15 << 20, "the end\n")


@pytest.mark.slow
def test_of_a_very_long_output_that_is_kept_the_end_is_printed(
    env: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUEL_OUTPUT_MEGABYTES", "64")
    env.graph(shell("long", "head -c 41000000 /dev/zero | tr '\\0' x; echo the end"))
    run = env.run(node_ids=(1,))

    output = env.backend.runs.logs(run.id, "long", "1").output

    first, _, rest = output.partition("\n")
    assert rest.endswith("xthe end\n")
    left = int(first.removeprefix("[The first ").removesuffix(" bytes are left out.]"))
    assert 0 <= 41_000_008 - len(rest) - left <= 256  # what may be the end of a cut secret is left out too
    assert len(rest) > 10 << 20


def test_an_output_of_some_pieces_is_printed_as_a_whole(env: Executions) -> None:
    env.graph(shell("long", "seq 1 1000000"))
    run = env.run(node_ids=(1,))

    assert env.backend.runs.logs(run.id, "long", "1").output == "".join(f"{number}\n" for number in range(1, 1_000_001))


@pytest.mark.parametrize("own", ["", "/their/own"])
def test_tasks_do_not_import_from_our_package(env: Executions, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    monkeypatch.setenv("PYTHONPATH", own)
    env.graph(shell("look", env.note("path:${PYTHONPATH-}")))

    env.run(node_ids=(1,))

    assert env.noted() == [f"path:{own}"]


def test_a_message_never_moves_the_cursor_of_who_reads_it(env: Executions) -> None:
    env.graph(shell("loud", r"printf 'a\033[2Jb\007c\000d\n\tend'; exit 3"))
    run = env.run(node_ids=(1,))

    (row,) = env.rows(run.id)
    assert row.message == "exit code 3: a [2Jb c d\n\tend"
    done = CommandLine(env.engine)("task", "history", "show", run.id, "--why")
    assert "exit code 3: a [2Jb c d" in done.out
    assert env.backend.runs.logs(run.id, "loud", "1").output == "a\033[2Jb\007c\0d\n\tend"


def test_only_the_end_of_an_instance_has_its_message(env: Executions) -> None:
    env.graph(shell("bad", "exit 3"))
    run = env.run(node_ids=(1,))

    told = [(one.status, one.message) for one in env.backend.runs.events(run.id) if one.task == "bad"]
    assert told == [("running", ""), ("error", "exit code 3")]


@pytest.mark.parametrize(("hours", "alive"), [(0, True), (-1, False), (1, False)])
def test_runner_that_never_started_is_gone_by_any_clock(hours: int, *, alive: bool) -> None:
    started = processes.this_process(Run(1, "", 1, "deploy", RunStatus.RUNNING, RunRequest(1)), pid=NOT_STARTED)
    moment = datetime.fromisoformat(started.heartbeat) + timedelta(hours=hours)

    assert processes.is_alive(replace(started, heartbeat=moment.isoformat(timespec="microseconds"))) is alive


@pytest.mark.parametrize(("executor", "ran"), [("", ["here"]), ("noop", [])])
def test_noop_executor_runs_nothing_on_the_master(env: Executions, executor: str, ran: list[str]) -> None:
    env.graph(shell("here", env.note("here"), roles=["master"]))

    run = env.run(executor=executor)

    assert str(run.status) == "ready"
    assert env.noted() == ran


@pytest.mark.parametrize(("executor", "ran"), [("", []), ("noop", []), ("local", ["here"])])
def test_noop_nodes_run_nothing_on_this_machine(env: Executions, executor: str, ran: list[str]) -> None:
    """Neither beside nodes with tasks of their own, nor alone."""
    for node_id in (3, 4):
        env.backend.nodes.create(
            [Node(node_id, f"unreal-{node_id}", cluster_id=1, pending_roles=("compute",), executor="noop")]
        )
    env.graph(shell("here", env.note("here"), roles=["master"]), shell("there", roles=["compute"]))
    env.graph(shell("here", env.note("here"), roles=["master"]), graph_type="alone")

    found, alone = (env.run(kind, executor=executor, node_ids=(3, 4)) for kind in ("default", "alone"))

    assert (str(found.status), str(alone.status)) == ("ready", "ready")
    assert env.noted() == ran * 2


@pytest.mark.slow
def test_the_examples_end_well_and_leave_this_machine_alone(tmp_path: Path) -> None:
    fuel2 = CommandLine(tmp_path / "demo.db")
    fuel2.ok("demo")

    done = fuel2("graph", "execute", "--env", 1, "--wait")

    assert done.code == 0
    assert "Run 1 ended: ready." in done.err
    beside = {path.name.removeprefix("demo.db") for path in tmp_path.iterdir()}
    assert beside <= {"", "-shm", "-wal", ".lock", ".nodes", ".plugins", ".runs"}
    assert not Path("/etc/fuel/plugins/ocata-ubuntu-11.0").exists()


@pytest.mark.parametrize("noop", [False, True])
def test_noop_node_is_not_contacted_at_its_address(env: Executions, noop: bool) -> None:
    env.backend.nodes.create(
        [Node(3, "unreal", cluster_id=1, pending_roles=("compute",), ip="127.0.0.1", executor="noop")]
    )
    manifest = {"puppet_manifest": "a.pp", "cwd": f"{env.directory}/later", "timeout": 60}
    env.graph(
        Task("manifest", {"type": "puppet", "roles": ["compute"], "parameters": manifest}),
        Task("file", {"type": "upload_file", "roles": ["compute"], "parameters": {"path": "/a", "data": "a"}}),
    )

    run = env.run(node_ids=(3,), noop=noop)

    assert str(run.status) == "ready"
    assert {row.task: (str(row.status), row.message) for row in env.rows(run.id)} == {
        "file": ("skipped", "its executor runs nothing"),
        "manifest": ("ready", ""),
    }


def test_one_real_node_makes_the_master_real(env: Executions) -> None:
    env.backend.nodes.create([Node(3, "unreal", cluster_id=1, pending_roles=("compute",), executor="noop")])
    env.graph(shell("here", env.note("here"), roles=["master"]), shell("there", roles=["compute"]))

    run = env.run(node_ids=(1, 3))

    assert env.noted() == ["here"]
    assert env.backend.runs.logs(run.id, "here", "master").return_code == 0


class _Impatient(logging.Handler):
    """Three interrupts between two looks of a follower, as soon as something runs."""

    is_over = False

    def emit(self, record: logging.LogRecord) -> None:
        if "running" in record.getMessage() and not self.is_over:
            self.is_over = True  # the replies to interrupts speak of running tasks, too
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)


def test_three_interrupts_at_once_stop_kill_and_leave(env: Executions) -> None:
    env.graph(shell("slow", "sleep 300"), shell("next", requires=["slow"]))
    run_id = env.begin(node_ids=(1,)).id
    impatient, level = _Impatient(), LOG.level
    LOG.addHandler(impatient)
    LOG.setLevel(logging.INFO)
    try:
        with pytest.raises(KeyboardInterrupt):
            follow(env.backend, run_id, sys.stderr)
    finally:
        LOG.removeHandler(impatient)
        LOG.setLevel(level)

    run = env.ended(run_id)
    assert run.stop == "kill"
    assert env.outcomes(run_id)["next@1"][0] == "skipped"


def test_who_stops_a_run_without_a_runner_hears_what_may_go_on(env: Executions) -> None:
    run_id = killed(env, f"until [ -e {env.directory}/go ]; do sleep 0.05; done")

    done = CommandLine(env.engine)("task", "stop", run_id)
    (env.directory / "go").touch()

    assert done.code == 0
    assert "these may go on: slow@1, slow@2." in done.err
