"""Progress as data: the lines of `jsonl` while a run goes on, and the states of a run that people see meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, tiny_engine
from executions import Executions, executions, shell
from pty_session import session

from fuelclient.commands.exits import Exit

IN_TERMINAL = pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid (util-linux) is not installed")


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with one node, and a graph that is held in its second task; the third one fails."""
    env = executions(tmp_path, nodes=1)
    held = f"echo whole; printf half; {env.held('held')}; echo line >&2; echo end"
    env.graph(
        shell("quick"), shell("held", held, requires=["quick"]), shell("bad", "exit 3", requires=["held"]),
        shell("never", requires=["bad"]),
    )  # fmt: skip
    return env


@contextmanager
def running(env: Executions, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A `fuel2` of its own, with pipes; its tasks go on at the end of the block."""
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(env.engine), *map(str, arguments)]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            env.let_go()


def read_until(process: subprocess.Popen[str], holds: Callable[[dict[str, Any]], object]) -> list[dict[str, Any]]:
    """The lines up to the first one for which a condition holds; they come one by one, as they are written."""
    assert process.stdout is not None
    lines = []
    for text in process.stdout:
        lines.append(json.loads(text))
        if holds(lines[-1]):
            return lines
    raise AssertionError((lines, process.stderr and process.stderr.read()))


def brief(lines: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [
        (line["event"], line.get("task") or line.get("state"), *([line["word"]] if "word" in line else []))
        for line in lines
    ]


def test_each_line_comes_when_it_happens(env: Executions) -> None:
    with running(env, "graph", "execute", "--env", 1, "--format", "jsonl") as process:
        lines = read_until(process, lambda line: (line["event"], line.get("task")) == ("instance_begin", "held"))
        env.let_go()
        lines += read_until(process, lambda line: line["event"] == "run_end")
        assert process.stdout is not None
        assert process.stdout.read() == ""
        assert process.wait(60) == Exit.FAILED
    told = [line for line in brief(lines) if line[0] != "run_state"]
    assert told == [
        ("run_begin", told[0][1]),
        ("instance_begin", "quick", "running"), ("instance_end", "quick", "ready"),
        ("instance_begin", "held", "running"), ("instance_end", "held", "ready"),
        ("instance_begin", "bad", "running"), ("instance_end", "bad", "error"),
        ("instance_end", "never", "not reached"),
        ("run_end", "error"),
    ]  # fmt: skip
    failed = next(line for line in lines if line.get("word") == "error")
    assert (failed["node"], failed["node_name"], failed["message"]) == (1, "node-1", "exit code 3")
    assert lines[-1]["instances"] == {"error": 1, "not reached": 1, "ready": 2}
    assert lines[-1]["exit_code"] == Exit.FAILED
    assert lines[-1]["time_end"]


def test_a_run_that_is_stopped_says_so(env: Executions) -> None:
    fuel2 = CommandLine(env.engine)
    run = env.begin()
    with running(env, "task", "watch", run.id, "-f", "jsonl") as process:
        lines = read_until(process, lambda line: (line["event"], line.get("task")) == ("instance_begin", "held"))
        fuel2.ok("task", "stop", run.id)
        lines += read_until(process, lambda line: line.get("state") == "stopping")
        env.looked(run.id)
        env.let_go()
        lines += read_until(process, lambda line: line["event"] == "run_end")
    states = [line["state"] for line in lines if "state" in line]
    assert states[-2:] == ["stopping", "stopped"]
    assert [line["word"] for line in lines if line.get("task") == "bad"] == ["not started"]
    assert f"Run {run.id} ended: stopped. Stopped by user." in fuel2("task", "watch", run.id).err
    assert f"Run {run.id} has ended: it is stopped." in fuel2("task", "resume", run.id).err


def test_a_closed_pipe_ends_quietly_and_the_run_goes_on(env: Executions) -> None:
    with running(env, "-q", "graph", "execute", "--env", 1, "--format", "jsonl", "--task-names", "held") as process:
        read_until(process, lambda line: line["event"] == "instance_begin")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        env.let_go()
        assert process.stderr.read() == ""
        assert process.wait(60) == 141
    assert env.ended(1).status == "ready"


@pytest.mark.parametrize("option", ["--no-wait", "--dry-run"])
def test_lines_need_a_run_that_is_waited_for(env: Executions, option: str) -> None:
    done = CommandLine(env.engine)("graph", "execute", "--env", 1, "--format", "jsonl", option)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert done.err.count("--no-wait") == 1
    assert list(env.backend.runs.list()) == []


def test_the_output_comes_in_whole_lines(env: Executions) -> None:
    run = env.begin(task_names=("held",))
    with running(env, "task", "logs", run.id, "held/node-1", "--follow", "--format", "jsonl") as process:
        lines = read_until(process, lambda line: line["text"] == "whole")
        env.let_go()
        assert process.stdout is not None
        lines += map(json.loads, process.stdout)
        assert process.wait(60) == 0
    assert [(line["stream"], line["text"]) for line in lines] == [
        ("stdout", "whole"), ("stdout", "halfend"), ("stderr", "line")
    ]  # fmt: skip
    assert {(line["run"], line["node"], line["node_name"]) for line in lines} == {(run.id, 1, "node-1")}


@IN_TERMINAL
def test_people_see_that_a_run_is_being_stopped_and_scripts_what_they_know(env: Executions) -> None:
    fuel2 = CommandLine(env.engine)
    run = env.begin()
    env.until(run.id, lambda _: env.noted())
    fuel2.ok("task", "stop", run.id)
    for command in (("list",), ("show", run.id)):
        with session(env.engine, "task", *command) as shown:
            assert shown.ended()[0] == 0
            assert "stopping" in shown.screen.text
            assert "None" not in shown.screen.text
            assert "default" in shown.screen.text
        assert "stopping" not in fuel2.ok("task", *command).out
    assert fuel2.ok("task", "show", run.id, "-f", "json").json["status"] == "running"
    env.let_go()
    env.ended(run.id)


def test_a_run_has_one_number_for_people(env: Executions) -> None:
    env.let_go()
    run = env.run()
    done = CommandLine(env.engine).ok("env", "drift", 1)
    assert f"Compared with run {run.id}, which ended at " in done.err


def test_an_export_says_what_it_wrote(tmp_path: Path) -> None:
    fuel2 = tiny_engine(tmp_path)
    path = tmp_path / "export.json"
    said = fuel2.ok("engine", "export", "--file", path).out
    assert said == f"Engine file {fuel2.engine} was exported to {path} ({path.stat().st_size} bytes)\n"
    assert fuel2.ok("engine", "export", "--format", "json").out == path.read_text(encoding="utf-8")


def test_a_run_that_does_not_exist_names_a_whole_command(tmp_path: Path) -> None:
    assert "fuel2 --engine" in (err := tiny_engine(tmp_path)("task", "show", 1).err)
    assert "graph execute --env ID`" in err
