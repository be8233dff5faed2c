"""`plan create|show|apply`: what was saved is executed as long as it is what would run, and not after."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import write_package

from fuelclient.environment import saved_plans
from fuelclient.environment.saved_plans import SavedPlan

PASSWORD = "x7-hidden-x7"  # noqa: S105 - it only has to look like one
RELEASE = "[{name: R, version: r-1, operating_system: U, roles_metadata: {compute: {name: C}}}]"
GRAPH = """
- {id: net, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: "true", timeout: 9, password: %s}}
- {id: api, type: shell, version: 2.0.0, roles: [compute], requires: [net], parameters: {cmd: "true", timeout: 9}}
""".replace("%s", PASSWORD)


@pytest.fixture
def lab(fuel2: CommandLine, tmp_path: Path) -> CommandLine:
    fuel2.ok(
        "release",
        "import",
        "-",
        stdin="[{name: R, version: r-1, operating_system: U, roles_metadata: {compute: {name: C}}}]",
    )
    fuel2.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=GRAPH)
    fuel2.ok("env", "create", "prod", "--release", 1)
    fuel2.ok("node", "create", "node-1", "--env", 1, "--roles", "compute")
    fuel2.ok("node", "create", "node-2", "--env", 1, "--roles", "compute")
    fuel2.ok("plan", "create", tmp_path / "saved.json", "--env", 1, "--noop")
    return fuel2


def test_a_saved_plan_has_no_secrets_and_one_reader(lab: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PASSWORD not in path.read_text(encoding="utf-8")
    document = lab.ok("plan", "show", path, "-f", "json").json
    assert (document["format_version"], document["env"]) == (1, 1)
    (graph,) = document["graphs"]
    assert [(one["task"], one["node"], one["action"]) for one in graph["instances"]] == [
        (task, node, "run") for task in ("net", "api") for node in ("1", "2")
    ]
    assert "4 of 4 task instances would run" in lab.ok("plan", "show", path).out
    assert lab("plan", "create", path, "--env", 1).code == 6


def test_a_plan_that_still_fits_is_executed(lab: CommandLine, tmp_path: Path) -> None:
    done = lab.ok("plan", "apply", tmp_path / "saved.json", "--wait", "--format", "json").json
    assert done["status"] == "ready"
    again = lab("plan", "apply", tmp_path / "saved.json", "--wait")
    assert again.code == 0, "a noop run leaves nothing that counts"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("graph", "upload", "--env", 1, "--type", "default", "--file", "-"),
            "the cluster layer of the default",
        ),
        (("graph", "upload", "--release", 1, "--type", "default", "--file", "-"), "release layer"),
        (("node", "create", "node-3", "--env", 1, "--roles", "compute"), "node 3"),
        (("env", "remove", "nodes", "--env", 1, "--nodes", 2), "node 2 left"),
        (("env", "update", 1, "--name", "other"), "is other now"),
        (("node", "update", 2, "--name", "other"), "executor or SSH options of node 2 changed"),
    ],
)
def test_a_stale_plan_says_what_moved(lab: CommandLine, tmp_path: Path, change: tuple[object, ...], said: str) -> None:
    record = "[{id: api, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: 'true', timeout: 8}}]"
    lab.ok(*change, stdin=record)
    refused = lab("plan", "apply", tmp_path / "saved.json")
    assert (refused.code, said in refused.err) == (9, True), refused.err
    assert lab.ok("task", "list", "-f", "json").json == []


def test_change_after_the_comparison_stops_the_run(
    lab: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = "[{id: api, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: 'true', timeout: 8}}]"

    def compared_too_early(then: SavedPlan, now: SavedPlan) -> bool:
        lab.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=record)
        return saved_plans_differ(then, now)

    saved_plans_differ = saved_plans.is_stale
    monkeypatch.setattr(saved_plans, "is_stale", compared_too_early)

    assert lab("plan", "apply", tmp_path / "saved.json").code == 9
    assert lab.ok("task", "list", "-f", "json").json == []


def test_a_plan_is_a_side_of_a_comparison(lab: CommandLine, tmp_path: Path) -> None:
    side = f"plan:{tmp_path / 'saved.json'}"
    assert lab("graph", "diff", side, "env:1", "--exit-code").code == 0
    lab.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin="[{id: api, requires: []}]")
    done = lab("graph", "diff", side, "env:1", "--exit-code", "-f", "json")
    assert done.code == 10
    assert [task["task"] for task in done.json["tasks"]] == ["api"]


def test_what_is_no_plan(lab: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"format_version": 9, "facts_digest": ""}', encoding="utf-8")
    assert lab("plan", "show", tmp_path / "other.json").code == 7
    assert lab("plan", "apply", "-", stdin="{}").code == 7


def test_a_node_that_is_reached_otherwise_makes_a_plan_stale(lab: CommandLine, tmp_path: Path) -> None:
    with closing(sqlite3.connect(lab.engine)) as database, database:
        database.execute("UPDATE nodes SET ip = '10.20.0.9' WHERE id = 1")
    refused = lab("plan", "apply", tmp_path / "saved.json")
    assert (refused.code, "address, executor or SSH options of node 1 changed" in refused.err) == (9, True), refused.err


def test_other_scripts_of_a_plugin_make_a_plan_stale(lab: CommandLine, tmp_path: Path) -> None:
    lab.ok("release", "import", "-", stdin=RELEASE.replace("name: R", "name: S").replace("U", "Ubuntu"))
    lab.ok("graph", "upload", "--release", 2, "--type", "default", "--file", "-", stdin=GRAPH)
    lab.ok("env", "create", "second", "--release", 2)
    lab.ok("plan", "create", tmp_path / "first.json", "--env", 2)
    releases = [{"os": "ubuntu", "version": "r-1", "mode": ["ha"]}]
    package = Path(write_package(tmp_path / "plug", "plug", "1.0.0", "4.0.0", releases=releases))
    scripts = package / "deployment_scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "do.sh").write_text("true\n", encoding="utf-8")
    lab.ok("plugins", "install", package)
    lab.ok("plugins", "enable", "plug", "--env", 2)
    refused = lab("plan", "apply", tmp_path / "first.json")
    assert (refused.code, "plugin plug-1.0.0 is enabled now" in refused.err) == (9, True), refused.err

    lab.ok("plan", "create", tmp_path / "second.json", "--env", 2)
    (scripts / "do.sh").write_text("false\n", encoding="utf-8")
    lab.ok("plugins", "install", package, "--force")
    refused = lab("plan", "apply", tmp_path / "second.json")
    assert (refused.code, "the files of plugin plug-1.0.0 changed" in refused.err) == (9, True), refused.err


def test_how_to_run_is_part_of_a_plan(lab: CommandLine, tmp_path: Path) -> None:
    facts = tmp_path / "facts.yaml"
    facts.write_text(f"rack: {{word: a, password: {PASSWORD}}}\n", encoding="utf-8")
    path = tmp_path / "second.json"
    how = ("--force-run", "--trace", "--executor", "noop", "--unknown", "skip", "--assume-facts", facts)
    lab.ok("plan", "create", path, "--env", 1, *how)
    done = lab.ok("plan", "show", path, "-f", "json")
    request = done.json["request"]
    assert (request["force"], request["debug"], request["executor"], request["unknown"]) == (True, True, "noop", "skip")
    assert request["assumed_facts"]["common"] == {"rack": {"word": "a", "password": "***"}}
    assert PASSWORD not in done.out
    run = lab.ok("plan", "apply", path, "--wait", "--format", "json").json
    assert run["status"] == "ready"
    seen = lab.ok("task", "deployment-info", "download", run["id"], "--file", "-", "--format", "json").json
    assert seen["common"]["rack"] == {"word": "a", "password": PASSWORD}


def test_a_query_selects_what_is_planned(lab: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "second.json"
    lab.ok("plan", "create", path, "--env", 1, "--select", "net+1,!net")
    (graph,) = lab.ok("plan", "show", path, "-f", "json").json["graphs"]
    running = [one["task"] for one in graph["instances"] if one["action"] == "run"]
    assert running == ["api", "api"]
