"""`task ...` and `env stop-deployment`, on runs that really happened."""

from __future__ import annotations

import os
import re
import shlex
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, on_terminal
from executions import Executions, executions, shell, stage

from fuelclient.model.task import Task


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with three compute nodes whose tasks run on this machine."""
    return executions(tmp_path)


@pytest.fixture
def fuel2(env: Executions) -> CommandLine:
    return CommandLine(env.engine)


def test_lists_and_shows_executions_and_their_parts(
    env: Executions, fuel2: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.graph(shell("a"))
    env.graph(shell("b", "false"), graph_type="broken")
    env.run("default")
    env.run("broken", node_ids=(1,))
    lines = fuel2.ok("task", "list", "-f", "csv", "--quote", "minimal").out.splitlines()
    assert lines[0] == "id,status,name,graph_type,cluster,result,dry_run,progress"
    assert [line.split(",")[:5] for line in lines[1:]] == [
        ["1", "ready", "deploy", "", "1"],
        ["2", "ready", "deployment", "default", "1"],
        ["3", "error", "deploy", "", "1"],
        ["4", "error", "deployment", "broken", "1"],
    ]
    failed = fuel2.ok("task", "list", "--env", 1, "-t", "error", "-n", "deploy", "-f", "value", "-c", "id")
    assert failed.out == "3\n"
    shown = fuel2.ok("task", "show", 3, "-f", "json").json
    assert list(shown) == [
        "id", "uuid", "status", "name", "graph_type", "cluster", "result", "dry_run", "progress", "message",
    ]  # fmt: skip
    assert "b@1" in shown["message"]
    assert fuel2("task", "list", "--env", 9).code == 5
    assert fuel2("task", "show", 9).code == 5
    shown = on_terminal(env.engine, 200, "task show 3", monkeypatch).out
    assert shown.count("b/node-1") == 2, "in the result and in the message"
    assert "b@1" not in shown
    assert fuel2("task", "show", 9).err == "Run 9 does not exist. Known: 3, 1.\n", "no ids of parts"


def test_the_history_of_an_execution_is_that_of_its_parts(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a"), stage("done", requires=["a"]), shell("lost", roles=["storage"]))
    env.graph(shell("b"), graph_type="second")
    found = env.run("default", "second", node_ids=(1, 2))
    rows = fuel2.ok("task", "history", "show", found.id, "-f", "json").json
    assert [(one["graph_type"], one["task_name"], one["node_id"], one["status"]) for one in rows] == [
        ("default", "a", "1", "ready"),
        ("default", "a", "2", "ready"),
        ("default", "done", "null", "skipped"),
        ("default", "lost", "-", "skipped"),
        ("second", "b", "1", "ready"),
        ("second", "b", "2", "ready"),
    ]
    child = fuel2.ok("task", "history", "show", found.children[0].id)
    header = [cell.strip() for cell in child.out.splitlines()[1].strip("|").split("|")]
    assert header == ["task_name", "node_id", "status", "time_start", "time_end"]


def test_the_history_can_be_filtered_and_says_why(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", "exit 4"), shell("b", requires=["a"]))
    env.run(node_ids=(1,))
    why = fuel2.ok("task", "history", "show", 1, "--why", "-f", "csv", "--quote", "minimal", "-t", "error", "skipped")
    assert why.out.splitlines()[0].endswith("time_end,reason,because,return_code,message")
    (row,) = fuel2.ok("task", "history", "show", 1, "-d", "b", "-n", "1", "-f", "json").json
    assert (row["status"], row["reason"], row["because"]) == ("skipped", "dep_failed", "a@1")
    (row,) = fuel2.ok("task", "history", "show", 1, "-d", "a", "--include-summary", "-f", "json").json
    assert (row["return_code"], "summary" in row) == (4, True)
    assert fuel2.ok("task", "history", "show", 1, "-n", "2", "-f", "value").out.strip() == ""
    assert fuel2("task", "history", "show", 1, "-t", "gone").code == 2
    assert fuel2("task", "history", "show", 1, "-s", "summary").code == 2


def test_the_history_with_parameters_has_a_row_to_a_task(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", {"yaql_exp": "$.get(command, 'true')"}))
    env.run(node_ids=(1, 3))
    (row,) = fuel2.ok("task", "history", "show", 1, "-p", "-f", "json").json
    assert list(row) == ["task_name", "task_parameters", "status_by_node"]
    assert "yaql_exp" in "".join(row["task_parameters"])
    nodes = [line.split(" - ") for line in row["status_by_node"]]
    assert [(node, status) for node, status, _, _ in nodes] == [("1", "ready"), ("3", "ready")]
    assert all("." not in moment and moment.count(":") == 2 for _, _, *moments in nodes for moment in moments)


def test_prints_what_a_task_printed(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", "echo said; echo complained >&2; exit 5"), shell("b", requires=["a"]))
    env.run(node_ids=(2,))
    done = fuel2.ok("task", "logs", 1, "a/2")
    assert done.out == "said\n"
    assert done.err == "complained\nReturn code: 5\n"
    assert fuel2("task", "logs", 1, "b/2").code == 5
    assert fuel2("task", "logs", 1, "a").code == 2
    assert fuel2.ok("task", "logs", 1).out == "==> a/2 (error) <==\nsaid\n"


def test_stops_what_runs(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", env.held("begun")), shell("b", env.note("never"), requires=["a"]))
    running = env.begin(node_ids=(1,))
    env.until(running.id, lambda _: env.noted() == ["begun"])
    done = fuel2.ok("env", "stop-deployment", 1)
    assert done.out == f"Stop deployment task with id {running.id} for the environment 1 has been started.\n"
    env.looked(running.id)
    env.let_go()
    watched = fuel2("task", "watch", running.children[0].id)
    assert watched.code == 8
    assert "default: a/node-1 ready" in watched.err
    assert env.noted() == ["begun"]
    assert fuel2("env", "stop-deployment", 1).code == 6
    assert fuel2("task", "stop", running.id).code == 6


def test_kills_what_runs_and_deletes_what_has_ended(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", f"{env.note('begun')}; sleep 600", timeout=600))
    running = env.begin(node_ids=(1,))
    env.until(running.id, lambda _: env.noted() == ["begun"])
    assert fuel2("task", "delete", running.id, "--force").code == 6
    began = time.monotonic()
    fuel2.ok("task", "stop", running.id, "--kill")
    assert fuel2("task", "watch", running.id).code == 8
    assert time.monotonic() - began < 300
    assert fuel2.ok("task", "delete", running.id).out == f"Task with id {running.id} was deleted\n"
    assert fuel2("task", "show", running.id).code == 5


def test_resumes_a_run_whose_runner_was_killed(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", env.note("a")), shell("b", env.held("b"), requires=["a"]))
    running = env.begin(node_ids=(1,))
    env.until(running.id, lambda _: env.noted() == ["a", "b"])
    runner = env.runner()
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    env.until(running.id, lambda found: found.runner == "gone")
    watched = fuel2("task", "watch", running.id)
    assert watched.code == 8
    assert f" task resume {running.id}" in watched.err
    assert f" task resume {running.id}" in fuel2.ok("task", "show", running.id).err
    env.let_go()
    done = fuel2.ok("task", "resume", running.id, "--wait")
    assert done.out == f"Deployment task with id {running.id} for the environment 1 has been resumed.\n"
    assert env.noted() == ["a", "b"]
    assert fuel2("task", "resume", running.id).code == 6


@pytest.mark.parametrize(
    ("options", "again"),
    [
        ({}, ["b", "b", "c", "c"]),
        ({"node_ids": (2,)}, ["b", "c"]),
        ({"task_names": ("a", "b")}, ["b", "b"]),
        ({"subgraphs": ("a:b",)}, ["b", "b"]),
        ({"graph_types": ("first", "default", "last")}, ["b", "b", "c", "c", "z", "z"]),
        ({"graph_types": ("default", "absent")}, ["b", "b", "c", "c", "y", "y"]),
        ({"on_originals": True}, ["b", "b", "c", "c"]),
        ({"unknown": "run"}, ["b", "b", "c", "c"]),
    ],
    ids=str,
)
def test_ended_run_names_the_commands_for_what_is_left(
    tmp_path: Path, options: dict[str, Any], again: list[str]
) -> None:
    """They are not made up: executed as they are written, they run what did not end ready, and nothing else."""
    env = executions(tmp_path, 2)
    fuel2 = CommandLine(env.engine)

    def step(name: str, *requires: str) -> Task:
        cmd = f"[ {name} != b ] || [ -e {tmp_path}/fixed ] || exit 1; {env.note(name)}"
        return shell(name, cmd, requires=list(requires))

    env.graph(step("a"), step("b", "a"), step("c", "b"))
    env.graph(step("x"), graph_type="first")
    env.graph(step("z"), graph_type="last")
    env.graph(step("y"), graph_type="absent")
    types = options.pop("graph_types", ("default",))
    ended = env.run(*types, **options)
    assert ended.status == "error"
    env.notes.unlink()
    (tmp_path / "fixed").touch()

    refused = fuel2("task", "resume", ended.id)

    assert refused.code == 6
    lines = re.findall(r"`(fuel2 [^`]+)`", refused.err)
    assert "result:error|skipped" in lines[0]
    for line in lines:
        assert ("--on-originals" in line) == ("on_originals" in options)
        assert ("--unknown run" in line) == ("unknown" in options)
        fuel2.ok(*shlex.split(line)[1:], "--wait")
    assert sorted(env.noted()) == again
