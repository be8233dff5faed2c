"""`--select`: one language of queries for what is shown, simulated and executed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from questioned import questioned_engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


@pytest.mark.parametrize(
    "query",
    [
        "keystone",
        "1+keystone+1",
        "globals..keystone",
        "role:compute",
        "/^plugin1:/",
        "stage:pre_deployment/>=100",
        "layer:plugin,!/^plugin2/",
        "(database or heat),role:controller",
        "state:overridden",
        "type:shell,layer:release",
    ],
)
def test_all_commands_select_the_same(engine: CommandLine, query: str) -> None:
    tasks = engine.ok("graph", "query", query, "--env", 1).out.split()
    previewed = engine.ok("graph", "preview", "--env", 1, "--select", query, "-f", "json").json
    assert [row["task"] for row in previewed] == tasks
    simulated = engine.ok("graph", "simulate", "--env", 1, "--select", query, "-f", "json").json
    assert {row["task"] for row in simulated if row["status"] == "ready"} == set(tasks)
    dry = engine.ok("graph", "execute", "--env", 1, "--select", query, "--dry-run", "--format", "json").json
    assert {row["task"] for row in dry[0]["instances"] if row["runs"]} == set(tasks)


@pytest.mark.parametrize("command", ["preview", "simulate", "execute"])
def test_a_wrong_query_has_a_caret_and_runs_nothing(engine: CommandLine, command: str) -> None:
    done = engine("graph", command, "--env", 1, "--select", "1+keystne")
    assert (done.code, done.out) == (2, "")
    assert "  1+keystne\n    ^\n" in done.err
    assert "keystone" in done.err
    empty = engine("graph", command, "--env", 1, "--select", "heat,horizon")
    assert (empty.code, empty.out) == (5, ""), "without tasks a run would have all"
    assert engine.ok("task", "list", "-f", "json").json == []


def test_what_cannot_be_combined(engine: CommandLine) -> None:
    execute = ("graph", "execute", "--env", 1, "--select", "heat")
    assert engine(*execute, "--task-names", "cache").code == 2
    assert engine(*execute, "--type", "default", "other").code == 2
    assert engine(*execute[:-1], "result:error").code == 5


def test_names_are_selected_as_ever(engine: CommandLine) -> None:
    rows = engine.ok("graph", "simulate", "--env", 1, "--task-names", "heat,cache", "horizon", "-f", "json").json
    assert {row["task"] for row in rows if row["status"] == "ready"} == {"heat", "cache", "horizon"}


def test_a_graph_that_cannot_be_merged_shows_what_is_selected(engine: CommandLine, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("- {id: no-type, roles: [controller]}\n", encoding="utf-8")
    done = engine("graph", "preview", "--env", 1, "--with", broken, "--select", "heat", "-f", "json")
    assert (done.code, [row["task"] for row in done.json]) == (7, ["heat"])


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("heat|horizon", "Write 'heat or horizon'"),
        ("role=compute", "Write role:compute"),
        ("heat horizon", "heat,horizon"),
    ],
)
def test_a_query_that_is_refused_says_what_to_write(engine: CommandLine, query: str, hint: str) -> None:
    done = engine("graph", "query", query, "--env", 1)
    assert done.code == 2
    assert hint in done.err
