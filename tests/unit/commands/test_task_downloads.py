"""What an execution was computed from, as files: `task deployment-info|settings|network-configuration download`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine
from executions import Executions, executions, shell

from fuelclient.model.fact import DeploymentFacts


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with two nodes, facts and a setting, on which the graphs default and second were executed."""
    found = executions(tmp_path, nodes=2)
    found.graph(shell("a"))
    found.graph(shell("b"), graph_type="second")
    found.backend.facts.put(1, DeploymentFacts({"word": "then"}, {"2": {"own": 1}}))
    found.backend.clusters.set_settings(1, {"mine": {"word": {"value": "then"}}})
    found.run("default", "second")
    found.backend.facts.put(1, DeploymentFacts({"word": "now"}, {}))
    found.backend.clusters.set_settings(1, {"mine": {"word": {"value": "now"}}})
    return found


@pytest.fixture
def fuel2(env: Executions) -> CommandLine:
    return CommandLine(env.engine)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_facts_are_those_of_the_run(
    fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"deployment_info_{number}.yaml"
    done = fuel2.ok("task", "deployment-info", "download", number)
    assert done.out == f"Deployment info for task with id={number} downloaded to {path}\n"
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert read["common"]["word"] == "then"
    assert {uid: node.get("own") for uid, node in read["nodes"].items()} == {
        "1": None,
        "2": 1,
        "master": None,
        "null": None,
    }
    assert fuel2("task", "deployment-info", "download", number, "--no-clobber").code == 6
    fuel2.ok("task", "deployment-info", "download", number, "--force")


def test_the_settings_are_those_of_the_run(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "n.json"
    done = fuel2.ok("task", "settings", "download", 1, "-f", path)
    assert done.out == f"Cluster settings for task with id=1 downloaded to {path}\n"
    assert json.loads(path.read_text(encoding="utf-8"))["editable"]["mine"] == {"word": {"value": "then"}}
    printed = fuel2.ok("task", "settings", "download", 1, "--file", "-")
    assert yaml.safe_load(printed.out)["editable"]["mine"] == {"word": {"value": "then"}}
    fuel2.ok("env", "settings", "upload", 1, "--file", path)
    assert env.backend.clusters.settings(1)["mine"] == {"word": {"value": "then"}}


def test_settings_are_no_facts(env: Executions) -> None:
    found = env.backend.runs.deployment_info(1)
    assert sorted(found.nodes) == ["1", "2", "master", "null"]
    env.backend.runs.delete(1)
    env.run("default", node_ids=(1,))
    assert env.backend.runs.settings(4)["mine"] == {"word": {"value": "now"}}


def test_the_networks_are_those_of_the_run(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    before = env.backend.networks.configuration(1)
    env.backend.networks.set_configuration(1, {"networks": [{"name": "new", "cidr": "10.9.0.0/24"}]})
    path = tmp_path / "n.yaml"
    done = fuel2.ok("task", "network-configuration", "download", 1, "-f", path)
    assert done.out == f"Network configuration for task with id=1 downloaded to {path}\n"
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == before
    assert sorted(env.backend.runs.deployment_info(1).nodes) == ["1", "2", "master", "null"]


@pytest.mark.parametrize("noun", ["deployment-info", "settings", "network-configuration"])
def test_what_was_never_executed(fuel2: CommandLine, noun: str) -> None:
    done = fuel2("task", noun, "download", 9, "--file", "-")
    assert (done.code, done.out) == (5, "")
    assert "9" in done.err


def test_a_graph_that_was_never_planned_has_nothing(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("bad", "false"), graph_type="broken")
    found = env.run("broken", "second")
    second = found.children[1].id
    done = fuel2("task", "settings", "download", second, "--file", "-")
    assert (done.code, f"settings of run {second}" in done.err.lower()) == (5, True), done.err
    fuel2.ok("task", "settings", "download", found.id, "--file", "-")
