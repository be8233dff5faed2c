"""What a redeployment would do, and why: `env changes` and `env drift`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine
from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "answers.schema.json").read_text(encoding="utf-8"))

GRAPH = """
- id: watch
  type: shell
  version: 2.1.0
  roles: [controller, primary-controller]
  condition: {yaql_exp: "changedAny($.get('mirror'), $.get('db_password'))"}
  parameters: {cmd: "true"}
- {id: each, type: shell, version: 2.1.0, roles: [controller, primary-controller], parameters: {cmd: "true"}}
"""


@pytest.fixture
def ran(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    tiny.ok("graph", "upload", "--env", 1, "--type", "watch", "--file", "-", stdin=GRAPH)
    upload(tiny, "one", "secret-1")
    tiny.ok("graph", "execute", "--env", 1, "--type", "watch", "--executor", "local", "--wait")
    return tiny


def upload(engine: CommandLine, url: str, password: str) -> None:
    Path("deployment_1").mkdir(exist_ok=True)
    facts = {"mirror": {"url": url, "kept": 1}, "db_password": password}
    Path("deployment_1/common.yaml").write_text(json.dumps(facts), encoding="utf-8")
    engine.ok("env", "deployment-facts", "upload", "--env", 1)


def test_each_instance_says_why_it_would_run(ran: CommandLine) -> None:
    answer = ran.ok("env", "changes", 1, "--type", "watch", "-f", "json").json
    why = {row["task"]: (row["runs"], row["why"]) for row in answer["instances"]}
    assert why == {"watch": (False, "condition"), "each": (True, "always")}

    query = ("graph", "query", "--env", 1, "--type", "watch")
    assert ran.ok(*query, "result:ready").out.split() == ["watch", "each"]
    assert ran.ok(*query, "result:error", "--run", 1).out == ""

    upload(ran, "two", "secret-2")
    done = ran.ok("env", "changes", 1, "--type", "watch", "-f", "json")

    Draft202012Validator(SCHEMA).validate(done.json)
    (watch,) = [row for row in done.json["instances"] if row["task"] == "watch"]
    assert (watch["runs"], watch["why"], watch["node"]) == (True, "changed", 1)
    mirror, password = watch["facts"]
    assert (mirror["path"], mirror["before"], mirror["after"]) == ("mirror.url", "one", "two")
    assert (password["before"], password["after"]) == ("***", "***")
    assert "secret-" not in done.out
    assert "mirror.url: one -> two" in ran.ok("env", "changes", 1, "--type", "watch").out


def test_before_the_first_run_everything_is_new(
    tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    upload(tiny, "one", "secret-1")
    tiny.ok("graph", "upload", "--env", 1, "--type", "watch", "--file", "-", stdin=GRAPH)
    answer = tiny.ok("env", "changes", 1, "--type", "watch", "-f", "json").json
    assert {row["task"]: row["why"] for row in answer["instances"]} == {"watch": "first", "each": "always"}
    assert tiny("env", "drift", 1, "--type", "watch").code == 5
    assert tiny("graph", "query", "result:ready", "--env", 1, "--type", "watch").code == 5


def test_drift_has_the_graph_and_the_facts(ran: CommandLine) -> None:
    upload(ran, "two", "secret-1")
    ran.ok("graph", "upload", "--env", 1, "--type", "watch", "--file", "-", stdin=GRAPH.replace("[controller, ", "["))

    done = ran("env", "drift", 1, "--type", "watch", "--exit-code", "-f", "json")

    assert done.code == 10
    rows = {(row["part"], row["path"]): (row["last_run"], row["now"]) for row in done.json["differences"]}
    assert rows["facts", "mirror.url"] == ("one", "two")
    assert rows["graph", "watch.roles"] == (["controller", "primary-controller"], ["primary-controller"])
    assert not [row for row in done.json["differences"] if row["part"] == "settings"]


def test_a_condition_in_fuels_own_language_is_no_comparison(ran: CommandLine) -> None:
    own = """
- {id: own, type: shell, version: 2.1.0, roles: [controller, primary-controller], condition: "cluster:name == 'prod'",
   parameters: {cmd: "true"}}
"""
    ran.ok("graph", "upload", "--env", 1, "--type", "own", "--file", "-", stdin=own)
    for _ in range(2):
        (row,) = ran.ok("env", "changes", 1, "--type", "own", "-f", "json").json["instances"]
        assert (row["runs"], row["why"], row["facts"]) == (True, "condition", [])
        assert "cluster:name == 'prod'" in row["detail"]
        assert "sees no earlier facts" in ran.ok("env", "changes", 1, "--type", "own").out
        ran.ok("graph", "execute", "--env", 1, "--type", "own", "--executor", "noop", "--wait")
