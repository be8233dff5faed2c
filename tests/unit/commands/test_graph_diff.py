"""Two graphs compared, and environments as they would be: `graph diff`, `graph preview --with`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from package_trees import write_package
from questioned import questioned_engine
from tui_driving import newton_engine

ENV = ("diff", "env:1")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


def changes(answer: dict[str, Any]) -> dict[str, str]:
    return {task["task"]: task["change"] for task in answer["tasks"]}


def test_an_edge_that_a_longer_path_repeats_changes_no_order(engine: CommandLine, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("- {id: keystone, requires: [database, cache], parameters: {timeout: 99}}\n", encoding="utf-8")

    answer = engine.ok("graph", *ENV, "--with", own, "-f", "json").json

    (task,) = answer["tasks"]
    (requires,) = task["attributes"]
    assert (task["task"], task["change"], requires["attribute"]) == ("keystone", "changed", "requires")
    assert (requires["elements_removed"], requires["elements_added"]) == (["netconfig"], [])
    order = answer["order"]
    assert order["edges_removed"] == [["netconfig", "keystone"]]
    assert (order["orderings_lost"], order["orderings_gained"], order["lost"]) == (0, 0, [])


def test_a_lost_ordering_names_the_tasks_it_comes_from(engine: CommandLine, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("- {id: keystone, requires: [database]}\n", encoding="utf-8")

    done = engine("graph", *ENV, "--with", own, "-f", "json", "--exit-code")

    assert done.code == 10
    assert done.json["order"]["lost"] == [{"before": "cache", "after": "keystone", "instances": 1}]
    assert "G062" in {finding["code"] for finding in done.json["findings"]}
    assert engine.ok("graph", *ENV, "env:1", "--exit-code").code == 0  # and nothing was stored
    assert "in both, on 3 assumed nodes)" in engine.ok("graph", *ENV, "--with", own, "--assume", "controller=3").out
    assert "assumed" not in engine.ok("graph", *ENV, "--with", own).out


def test_warnings_about_what_an_override_loses_or_repeats(engine: CommandLine, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "- {id: heat, type: shell, version: 2.1.0, roles: [controller], parameters: {cmd: 'true'}}\n"
        "- {id: keystone, parameters: {timeout: 60}}\n",
        encoding="utf-8",
    )
    findings = engine.ok("graph", *ENV, "--with", own, "-f", "json").json["findings"]
    assert {(finding["code"], finding["task"]) for finding in findings} == {("G060", "heat"), ("G061", "keystone")}
    assert all(finding["place"].startswith(str(own)) for finding in findings)


def test_a_tie_that_only_names_break_is_a_warning(engine: CommandLine) -> None:
    findings = engine.ok("graph", "diff", "release:1", "env:1", "-f", "json").json["findings"]
    ties = [finding["task"] for finding in findings if finding["code"] == "G063"]
    assert ties == ["plugin2:pre_deployment#1", "plugin2:pre_deployment#2"]


def test_a_merge_that_was_downloaded_is_the_graph_of_its_environment(engine: CommandLine, tmp_path: Path) -> None:
    merged = tmp_path / "merged.yaml"
    engine.ok("graph", "download", "--env", 1, "--all", "--file", merged)
    assert "- id: plugin1:pre_deployment#1\n" in merged.read_text(encoding="utf-8")
    answer = engine.ok("graph", "diff", merged, "env:1", "--exit-code", "-f", "json").json
    assert changes(answer) == {}


def test_a_package_counts_as_if_it_were_installed_and_enabled(engine: CommandLine, tmp_path: Path) -> None:
    task = {"role": ["controller"], "stage": "pre_deployment/5", "type": "shell", "parameters": {"cmd": "true"}}
    package = write_package(tmp_path / "third", "third", "1.0.0", files={"tasks.yaml": [task]})

    answer = engine.ok("graph", *ENV, "--with", f"plugin:{package}", "--without", "plugin:plugin2", "-f", "json").json

    added = [name for name, change in changes(answer).items() if change == "added"]
    removed = [name for name, change in changes(answer).items() if change == "removed"]
    assert (added, len(removed)) == (["third:pre_deployment#1"], 4)
    assert "third-1.0.0" in answer["after"]
    assert len(engine.ok("plugins", "list", "-f", "json").json) == 2


def test_a_preview_of_what_would_be(engine: CommandLine) -> None:
    done = engine("graph", "preview", "--env", 1, "--without", "plugin:plugin2", "--exit-code", "-f", "json")
    assert done.code == 10
    assert not [row for row in done.json if row["task"].startswith("plugin2:")]
    assert "4 removed" in done.err
    same = engine("graph", "preview", "--env", 1, "--against", "env:1", "--exit-code", "-f", "json")
    assert same.code == 0


def test_the_graph_of_a_run_is_that_of_its_time(tiny: CommandLine, tmp_path: Path) -> None:
    tiny.ok("graph", "execute", "--env", 1, "--executor", "noop", "--wait")
    run = tiny.ok("task", "list", "-f", "json").json[-1]["id"]
    assert tiny("graph", "diff", f"run:{run}", "env:1", "--exit-code").code == 0
    own = tmp_path / "own.yaml"
    own.write_text("- {id: keystone, parameters: {timeout: 7}}\n", encoding="utf-8")

    answer = tiny.ok("graph", "diff", f"run:{run}", "env:1", "--with", own, "-f", "json").json

    assert changes(answer) == {"keystone": "changed", "banner": "removed"}


@pytest.mark.parametrize(
    "line", [("diff", "env:1"), ("diff", "cluster:1", "--with", "x.yaml"), ("diff", "nonsense:1", "env:1")]
)
def test_what_cannot_be_compared_is_refused(engine: CommandLine, line: tuple[str, ...]) -> None:
    assert engine("graph", *line).code == 2


def test_a_plugin_that_is_not_enabled_cannot_be_left_out(engine: CommandLine) -> None:
    assert engine("graph", *ENV, "--without", "plugin:77").code == 5


def test_a_cycle_has_no_order_and_is_reported(engine: CommandLine, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("- {id: database, requires: [keystone]}\n", encoding="utf-8")
    done = engine("graph", *ENV, "--with", own, "-f", "json")
    assert (done.code, engine("graph", "preview", "--env", 1, "--with", own).code) == (7, 7)
    answer = done.json
    assert answer["order"] is None
    assert answer["problem"]
    assert "G050" in {finding["code"] for finding in answer["findings"]}


@pytest.mark.corpus
def test_a_file_has_the_dependencies_that_are_computed_from_the_facts_of_its_nodes(tmp_path: Path) -> None:
    newton, merged = CommandLine(newton_engine(tmp_path)), tmp_path / "merged.yaml"
    newton.ok("graph", "download", "--env", 1, "--all", "--file", merged)
    assert newton("graph", "diff", merged, "env:1", "--exit-code").code == 0
