"""`env facts ...`: values, origins, differences, and the prompt in a real terminal."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from pty_session import session

from fuelclient.model.fact import DeploymentFacts


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with three compute nodes."""
    made = executions(tmp_path)
    made.graph(shell("a"))
    return made


@pytest.fixture
def fuel2(env: Executions) -> CommandLine:
    return CommandLine(env.engine)


def test_an_expression_has_a_value_on_a_node(env: Executions, fuel2: CommandLine) -> None:
    env.backend.facts.put(1, DeploymentFacts({"word": "all"}, {"2": {"word": "own"}}))
    assert fuel2.ok("env", "facts", "eval", "$.word", "--env", 1, "-f", "json").json == {
        "expression": "$.word", "language": "yaql", "node": "common", "value": "all", "old": None, "changed": True,
    }  # fmt: skip
    shown = fuel2.ok("env", "facts", "eval", "$.word", "--env", 1, "--node", "node-2", "-f", "value", "-c", "value")
    assert shown.out == "own\n"
    legacy = fuel2.ok("env", "facts", "eval", "settings:word == 'all'", "--env", 1, "-f", "json").json
    assert (legacy["language"], legacy["value"]) == ("legacy", True)
    assert fuel2("env", "facts", "eval", "$.none.deep", "--env", 1).code == 7


@pytest.mark.parametrize("options", [[], ["$.a", "--interactive"], ["$.a", "--node", "1,2"]])
def test_one_expression_on_one_node(fuel2: CommandLine, options: list[str]) -> None:
    assert fuel2("env", "facts", "eval", "--env", 1, *options).code == 2


def test_a_fact_is_shown_with_its_origin(env: Executions, fuel2: CommandLine) -> None:
    env.backend.facts.put(1, DeploymentFacts({"word": {"a": 1}, "db": {"password": "x"}}, {"2": {"word": {"b": 2}}}))
    assert fuel2.ok("env", "facts", "show", "$.word", "--env", 1, "-f", "json").json == [
        {"part": "common", "path": "word", "value": {"a": 1}, "origin": "uploaded"},
        {"part": "2", "path": "word", "value": {"a": 1, "b": 2}, "origin": "uploaded"},
    ]
    (row,) = fuel2.ok("env", "facts", "show", "db.password", "--env", 1, "-f", "json").json
    assert row["value"] == "***"
    (row,) = fuel2.ok("env", "facts", "show", "roles", "--env", 1, "--nodes", 3, "-f", "json").json
    assert (row["part"], row["value"]) == ("3", ["compute"])
    assert "tags" in row["origin"]
    assert fuel2("env", "facts", "show", "rolls", "--env", 1).code == 5
    assert fuel2("env", "facts", "show", "roles", "--env", 1, "--nodes", 9).code == 5


def test_the_facts_of_runs_are_compared(env: Executions, fuel2: CommandLine) -> None:
    env.backend.facts.put(1, DeploymentFacts({"word": {"a": 1}, "db": {"password": "x"}}))
    first = env.run().id
    changed = fuel2("env", "facts", "diff", first, "--exit-code", "-f", "json")
    assert (changed.code, {row["path"] for row in changed.json["differences"]}) == (
        10,
        {"status", "cluster.status"},
    )  # it has ended
    env.backend.facts.put(1, DeploymentFacts({"word": {"a": 2}, "db": {"password": "y"}}, {"2": {"own": True}}))
    second = env.run().id
    rows = fuel2.ok("env", "facts", "diff", first, second, "-f", "json").json["differences"]
    assert [row for row in rows if "status" not in row["path"]] == [
        {"part": "common", "path": "word.a", "old": 1, "new": 2},
        {"part": "common", "path": "db.password", "old": "***", "new": "***"},
        {"part": "2", "path": "own", "old": None, "new": True},
    ]
    assert fuel2.ok("env", "facts", "diff", second, second, "--exit-code", "-f", "json").json["differences"] == []
    assert fuel2("env", "facts", "diff", 99).code == 5


def test_lines_of_a_pipe_are_answered(fuel2: CommandLine) -> None:
    lines = "$.uid\n:node 2\n$.uid\n$.nothing.there\n:node 9\n:quit\n$.uid\n"
    done = fuel2("env", "facts", "eval", "--env", 1, "--interactive", stdin=lines)
    (common, uid, nothing, node) = done.out.splitlines()
    assert (done.code, uid) == (0, '"2"')
    assert [name in line for name, line in (('"uid"', common), ('"nothing"', nothing), ("node 9", node))] == [True] * 3


@pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid (util-linux) is not installed")
def test_a_terminal_completes_paths_and_recalls_lines(env: Executions, tmp_path: Path) -> None:
    env.backend.facts.put(1, DeploymentFacts({"zebra": {"stripes": 41}}))
    environ = {"TERM": "dumb", "XDG_STATE_HOME": str(tmp_path / "state"), "INPUTRC": "/dev/null"}
    prompt = ("env", "facts", "eval", "--env", 1, "--interactive")
    with session(env.engine, *prompt, environ=environ) as shown:
        shown.until_shown("common>")
        shown.type("$.zeb\tstr\t + 1\n")
        shown.until_shown("\n42\n")
        shown.type(":node 3\n")
        shown.until_shown("node 3>")
        shown.type("$.uid\n")
        shown.until_shown('\n"3"\nnode 3>')  # before the prompt, the terminal would swallow the end of input
        shown.type("\x04")
        assert shown.ended()[0] == 0
    history = tmp_path / "state" / "fuel" / "expressions"
    assert history.read_text(encoding="utf-8").splitlines()[-3:] == ["$.zebra.stripes + 1", ":node 3", "$.uid"]
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    with session(env.engine, *prompt, environ=environ) as shown:
        shown.until_shown("common>")
        shown.type("\x10\x10\x10\n")  # Ctrl-P: the line before, three times
        shown.until_shown("\n42\n")


def test_noop_runs_do_not_count_and_the_console_says_so(fuel2: CommandLine) -> None:
    line = ("env", "facts", "eval", "$.deployment_id", "--env", 1)
    assert "No earlier run succeeded" in fuel2.ok(*line).err
    fuel2.ok("graph", "execute", "--env", 1, "--noop", "--wait")
    assert "noop runs succeeded, which do not count" in fuel2.ok(*line).err
