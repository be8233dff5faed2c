"""`sequence ...`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
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


def test_a_graph_type_that_nothing_has_is_a_warning(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    """Graphs may come later; those of other releases are none of the sequence's."""
    fuel2.ok("release", "create", "Other", "--version", "other-1")
    fuel2.ok("graph", "upload", "--release", 2, "--type", "alien", "--file", "-", stdin="[]")
    made = fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "first", "secnod", "alien")
    told = [line for line in made.err.splitlines() if "G051" in line]
    where = "warning: neither release 1, nor an environment of it, nor a plugin has"
    assert told == [
        f"{where} a graph of type secnod yet [G051] Did you mean second? Upload one before you execute the sequence.",
        f"{where} a graph of type alien yet [G051] Known: broken, default, first, second. "
        "Upload one before you execute the sequence.",
    ]
    assert fuel2.ok("sequence", "show", 1, "-f", "json").json["graphs"] == ["first", "secnod", "alien"]
    assert fuel2("sequence", "execute", 1, "--env", 1).code == 5

    env.graph(shell("late"), graph_type="secnod")
    assert "G051" not in fuel2.ok("sequence", "update", 1, "-t", "first", "secnod").err
    assert "G051" in fuel2.ok("sequence", "update", 1, "-t", "first", "alien").err
    assert "G051" not in fuel2.ok("sequence", "update", 1, "-n", "other").err
    uploaded = fuel2.ok("sequence", "upload", "-r", 1, "--file", "-", stdin="{name: b, graphs: [alien]}")
    assert "G051" in uploaded.err


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


def test_a_sequence_becomes_a_file_and_a_sequence_again(fuel2: CommandLine, tmp_path: Path) -> None:
    made = fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "first", "second", "-f", "json")
    assert "Sequence was successfully created:" in made.err
    printed = fuel2.ok("sequence", "download", 1)
    document = {"id": 1, "name": "all", "graphs": [{"type": "first"}, {"type": "second"}], "release_id": 1}
    assert yaml.safe_load(printed.out) == document
    path = tmp_path / "all.json"
    done = fuel2.ok("sequence", "download", 1, "--file", path)
    assert (done.out, json.loads(path.read_text(encoding="utf-8"))) == ("", document)
    assert str(path) in done.err
    refused = fuel2("sequence", "download", 1, "--file", path, "--no-clobber")
    assert (refused.code, refused.out) == (6, "")
    fuel2.ok("sequence", "download", 1, "--file", path, "--force")
    fuel2.ok("sequence", "delete", 1)
    assert fuel2.ok("sequence", "upload", "-r", 1, "--file", path, "-f", "json").json == {
        "id": 2, "release_id": 1, "name": "all",
    }  # fmt: skip
    assert fuel2.ok("sequence", "show", 2, "-f", "json").json["graphs"] == ["first", "second"]
    short = fuel2.ok("sequence", "upload", "-r", 1, "--file", "-", "-f", "value", stdin="{name: b, graphs: [second]}")
    assert short.out == "3\n1\nb\n"
    assert fuel2("sequence", "upload", "-r", 1, "--file", path).code == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "<stdin>:1: a sequence is a mapping, not a list"),
        ("graphs: [a]", "a sequence needs a name"),
        ("name: b", "graphs are a list of graph types, not empty"),
        ("name: b\ngraphs: []", "<stdin>:2: graphs are a list of graph types"),
        ("name: b\ngraphs:\n- type: a\n- 7", "<stdin>:4: a graph of a sequence is a type, not the number 7"),
        ("name: b\ngraphs: [{type: a, nodes: [1]}]", "graph a of the sequence has nodes, but only its type"),
        ("name: b\ngraphs: [a]\ngraph: c", "<stdin>:3: a sequence has no key 'graph'"),
    ],
)
def test_what_is_no_sequence(fuel2: CommandLine, text: str, message: str) -> None:
    done = fuel2("sequence", "upload", "--release", 1, "--file", "-", stdin=text)
    assert (done.code, done.out) == (7, "")
    assert message in done.err
    assert fuel2.ok("sequence", "list", "-r", 1, "-f", "value").out == ""


def test_a_file_whose_name_tells_no_format(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "first")
    done = fuel2("sequence", "download", 1, "--file", tmp_path / "all.txt")
    assert (done.code, f"No serializer for provided file {tmp_path}/all.txt" in done.err) == (2, True)
    fuel2.ok("sequence", "download", 1, "--file", tmp_path / "all.txt", "--format", "yaml")
    assert (tmp_path / "all.txt").read_text(encoding="utf-8").startswith("id: 1\nname: all\n")


def test_options_of_a_run_reach_it(env: Executions, fuel2: CommandLine) -> None:
    fuel2.ok("sequence", "create", "-r", 1, "-n", "all", "-t", "first")
    line = ("sequence", "execute", 1, "-e", 1, "--noop", "--force", "--trace", "--wait", "--format", "json")
    found = fuel2.ok(*line).json
    assert (found["id"], found["status"], found["dry_run"]) == (1, "ready", True)
    asked = env.backend.runs.get(1).request
    assert (asked.noop, asked.force, asked.trace, asked.graph_types) == (True, True, True, ("first",))
    assert env.noted() == []
    assert fuel2("sequence", "execute", 9, "-e", 1).code == fuel2("sequence", "execute", 1, "-e", 9).code == 5
