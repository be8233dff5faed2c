"""`task gantt` and `task logs` of a whole run, on a run that really happened."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import TOLERANT, executions, shell
from shared import shared

from fuelclient.commands.exits import Exit


@pytest.fixture(scope="module")
def fuel2(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Run 1: `first` and then `=last` on each of three nodes; the last one fails.

    Every node may fail: otherwise the first failure would end the run, at times before the third node began.
    """
    directory = tmp_path_factory.mktemp("runs")
    shared("run-that-fails-last", _run, directory)
    return CommandLine(directory / "engine.db")


def _run(directory: Path) -> None:
    env = executions(directory)
    last = shell("=last", "echo why; false", requires=["first"])
    env.graph(TOLERANT, shell("first", "echo out; echo err >&2"), last)
    env.run("default")
    env.backend.close()


def test_the_terminal_shows_a_line_for_each_node_or_instance(fuel2: CommandLine) -> None:
    lines = fuel2.ok("task", "gantt", 1).out.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["node", "1"], ["node", "2"], ["node", "3"]]
    assert all("!" in line for line in lines[:3])
    lines = fuel2.ok("task", "gantt", 1, "--by", "task").out.splitlines()
    assert sorted(line.split()[0] for line in lines[:6]) == [
        f"{task}/{node}" for task in ("=last", "first") for node in (1, 2, 3)
    ]
    path = next(line for line in lines if line.startswith("critical path"))
    assert path.index("first/") < path.index("=last/")


def test_formats_for_programs(fuel2: CommandLine, tmp_path: Path) -> None:
    document = fuel2.ok("task", "gantt", 1, "-f", "json").json
    assert document["format_version"] == 1
    assert len(document["instances"]) == 6
    assert [name.split("/")[0] for name in document["critical_path"]] == ["first", "=last"]
    assert all(one["ready"] <= one["begin"] <= one["end"] for one in document["instances"])

    trace = fuel2.ok("task", "gantt", 1, "-f", "chrome").json["traceEvents"]
    assert len([event for event in trace if event["ph"] == "X"]) == 6
    assert {event["args"]["name"] for event in trace if event["ph"] == "M"} == {"node 1", "node 2", "node 3"}

    fuel2.ok("task", "gantt", 1, "-o", tmp_path / "run.xml")
    suite = ElementTree.parse(tmp_path / "run.xml").find("testsuite")  # noqa: S314 (our own file)
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), len(suite.findall("*/failure"))) == ("6", "3", 3)
    assert fuel2("task", "gantt", 1, "-o", tmp_path / "run.xml").code == Exit.CONFLICT


def test_a_cell_that_begins_a_formula_is_guarded(fuel2: CommandLine) -> None:
    rows = list(csv.DictReader(io.StringIO(fuel2.ok("task", "gantt", 1, "-f", "csv").out)))
    assert sorted({row["task"] for row in rows}) == ["'=last", "first"]


def test_logs_of_a_whole_run(fuel2: CommandLine) -> None:
    done = fuel2.ok("task", "logs", 1)
    assert done.out.count("==> ") == 6
    assert done.out.index("==> first/1 (ready) <==\nout\n") < done.out.index("==> =last/1 (error) <==\nwhy\n")
    assert done.err.count("err\n") == 3


def test_logs_of_what_failed(fuel2: CommandLine) -> None:
    done = fuel2.ok("task", "logs", 1, "--failed")
    assert (done.out.count("==> =last/"), done.out.count("==> first/")) == (3, 0)
    assert all(f"=last/{node}: " in done.err for node in (1, 2, 3))


def test_an_instance_that_failed_and_printed_nothing(tmp_path: Path) -> None:
    env = executions(tmp_path)
    env.graph(shell("mute", "exit 7"))
    env.run("default")
    assert "mute/1: exit code 7" in CommandLine(env.engine).ok("task", "logs", 1, "mute/1").err


def test_an_instance_that_took_too_long_and_printed_something(tmp_path: Path) -> None:
    env = executions(tmp_path)
    env.graph(shell("slow", parameters={"cmd": "echo hi; sleep 20", "timeout": 1, "retries": 1}))
    env.run("default")
    done = CommandLine(env.engine).ok("task", "logs", 1, "slow/1")
    assert done.out == "hi\n"
    assert "slow/1: timed out" in done.err


def test_following_a_run_that_has_ended_prints_it_once(fuel2: CommandLine) -> None:
    assert fuel2.ok("task", "logs", 1, "-f").out == fuel2.ok("task", "logs", 1).out
    assert fuel2.ok("task", "logs", 1, "first/2", "--follow").out == "==> first/2 (ready) <==\nout\n"


def test_following_a_live_run_prints_what_comes(tmp_path: Path) -> None:
    env = executions(tmp_path, nodes=1)
    env.graph(shell("slow", "echo one; sleep 2; echo two"), shell("next", "echo three", requires=["slow"]))
    run = env.begin("default")
    env.until(run.id, lambda _: any(row.attempts for row in env.backend.runs.history(run.id)))
    done = CommandLine(env.engine).ok("task", "logs", run.id, "--follow")
    lines = [line for line in done.out.splitlines() if not line.startswith("==>")]
    assert lines == ["one", "two", "three"]


def test_runs_that_do_not_exist(fuel2: CommandLine) -> None:
    assert fuel2("task", "gantt", 99).code == Exit.NOT_FOUND
    assert fuel2("task", "logs", 99).code == Exit.NOT_FOUND
    assert fuel2("graph", "render", "--env", 1, "--run", 1, "-f", "dot").code == Exit.USAGE
