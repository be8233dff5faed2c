"""`sequence ...`."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with three compute nodes, and the graphs first, second and broken."""
    found = executions(tmp_path)
    for kind in ("first", "second"):
        found.graph(shell(kind, found.note(kind)), graph_type=kind)
    found.graph(shell("broken", "false"), graph_type="broken")
    return found


@pytest.fixture
def fuel2(env: Executions) -> CommandLine:
    return CommandLine(env.engine)


def test_a_sequence_lives_and_dies(fuel2: CommandLine) -> None:
    made = fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "first", "second", "-f", "json").json
    assert made == {"id": 1, "release_id": 1, "name": "all"}
    assert fuel2.ok("sequence", "list", "-r", 1, "-f", "value").out == "1 1 all\n"
    assert fuel2.ok("sequence", "list", "-e", 1, "-f", "value").out == "1 1 all\n"
    assert fuel2.ok("sequence", "update", 1, "--graph-type", "second", "first", "-f", "json").json["name"] == "all"
    shown = fuel2.ok("sequence", "show", 1, "-f", "json").json
    assert shown == {"id": 1, "release_id": 1, "name": "all", "graphs": ["second", "first"]}
    assert fuel2.ok("sequence", "update", 1, "-n", "other", "-f", "value").out == "1\nother\n"
    assert fuel2.ok("sequence", "delete", 1).out == "Sequence with id 1 was deleted\n"
    assert fuel2("sequence", "show", 1).code == 5


def test_what_a_sequence_refuses(fuel2: CommandLine) -> None:
    fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "first")
    assert fuel2("sequence", "create", "-r", 1, "-n", "all", "-t", "second").code == 6
    nothing = fuel2("sequence", "update", 1)
    assert (nothing.code, "Nothing to update." in nothing.err) == (2, True)
    assert fuel2("sequence", "create", "-r", 9, "-n", "x", "-t", "first").code == 5
    fuel2.ok("release", "create", "Other", "--version", "other-1")
    fuel2.ok("env", "create", "second", "--release", 2)
    wrong = fuel2("sequence", "execute", 1, "--env", 2)
    assert (wrong.code, "belongs to release 1" in wrong.err) == (5, True)


def test_a_sequence_runs_its_graphs_in_order(env: Executions, fuel2: CommandLine) -> None:
    fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "second,first")
    done = fuel2.ok("sequence", "execute", 1, "--env", 1, "--wait")
    assert done.out == "Deployment task with id 1 for the environment 1 has been started.\n"
    assert env.noted() == ["second"] * 3 + ["first"] * 3


def test_a_sequence_that_fails_is_exit_8(env: Executions, fuel2: CommandLine) -> None:
    fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "broken", "first")
    assert fuel2("sequence", "execute", 1, "--env", 1, "--wait").code == 8
    plan = fuel2.ok("sequence", "execute", 1, "--env", 1, "--dry-run", "--format", "json").json
    assert [(one["graph_type"], one["after_earlier"]) for one in plan] == [("broken", False), ("first", True)]
    assert env.noted() == []
