"""What versions and combinations of packages do: `plugins diff`, `plugins matrix` and `plugins enable --dry-run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from package_trees import role, task, write_package

from fuelclient.commands.exits import Exit

TINY = [{"os": "ubuntu", "version": "tiny-1.0", "mode": ["ha"]}]


def package(directory: Path, name: str = "monitor", version: str = "1.0.0", **files: Any) -> str:
    contents = {
        "deployment_tasks.yaml": files.get("tasks", [task("watch", role=["watcher"])]),
        "node_roles.yaml": files.get("roles", {"watcher": role()}),
        "volumes.yaml": {"volumes_roles_mapping": {}, "volumes": []},
    }
    return write_package(directory, name, version, "4.0.0", releases=TINY, files=contents)


@pytest.fixture
def with_monitor(tiny: CommandLine, tmp_path: Path) -> CommandLine:
    """The plugin monitor 1.0.0, which environment 1 has."""
    tiny.ok("plugins", "install", package(tmp_path / "old"))
    tiny.ok("plugins", "enable", "monitor", "--env", 1)
    return tiny


def test_a_bare_word_is_a_plugin_and_a_path_has_a_slash(
    with_monitor: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with_monitor.ok("plugins", "create", "own")
    with_monitor.ok("plugins", "install", "own")
    tasks = tmp_path / "own" / "deployment_tasks.yaml"
    tasks.write_text(tasks.read_text(encoding="utf-8").replace("timeout:", "timeout: 77 #"), encoding="utf-8")
    assert "77" in with_monitor.ok("plugins", "diff", "own", "./own").out
    with_monitor.ok("plugins", "remove", "own", "--yes")
    assert "write ./own." in with_monitor("plugins", "diff", "own", "./own").err


def test_versions_differ_by_themselves_and_where_they_are(with_monitor: CommandLine, tmp_path: Path) -> None:
    tasks = [task("watch", role=["watcher", "compute"]), task("first", role=["compute"], required_for=["netconfig"])]
    new = package(tmp_path / "new", version="1.1.0", tasks=tasks, roles={"watcher": role(), "seer": role()})
    for old in ("monitor", tmp_path / "old"):
        found = with_monitor.ok("plugins", "diff", old, new, "-f", "json").json
        changes = {change["task"]: change["change"] for change in found["graphs"]["default"]}
        assert changes == {"watch": "changed", "first": "added"}
        assert "roles.seer" in [value["path"] for value in found["values"]]
        (environment,) = found["environments"]
        assert environment["name"] == "prod"
        assert ["first", "netconfig"] in environment["graphs"]["default"]["order"]["edges_added"]
    assert with_monitor.ok("plugins", "list", "-f", "value", "-c", "version").out == "1.0.0\n"
    same = with_monitor.ok("plugins", "diff", new, new, "-f", "json").json
    assert (same["graphs"], same["values"], same["environments"][0]["graphs"]) == ({}, [], {})
    assert "first" in with_monitor.ok("plugins", "diff", "monitor", new).out


def test_a_matrix_says_what_goes_together(tiny: CommandLine, tmp_path: Path) -> None:
    one, same_role = package(tmp_path / "a", "one"), package(tmp_path / "b", "two")
    other = package(tmp_path / "c", "three", roles={}, tasks=[])
    lost = write_package(tmp_path / "d", "lost")
    rows = tiny.ok("plugins", "matrix", one, same_role, other, lost, "-f", "json").json["combinations"]
    works = {(row["package"], row["with"]): row["works"] for row in rows}
    assert works == {
        ("one", ""): True, ("two", ""): True, ("three", ""): True, ("lost", ""): False, ("two", "one"): False,
        ("three", "one"): True, ("three", "two"): True,
    }  # fmt: skip
    why = {(row["package"], row["with"]): " ".join(row["why"]) for row in rows}
    assert "P071" in why["lost", ""]
    assert "P074" in why["two", "one"]
    assert "P074" in tiny.ok("plugins", "matrix", one, same_role, "--release", 1).out


def test_enabling_is_shown_and_not_done(with_monitor: CommandLine, tmp_path: Path) -> None:
    with_monitor.ok("plugins", "install", package(tmp_path / "n", "nexus", tasks=[task("nexus")], roles={}))
    shown = with_monitor.ok("plugins", "enable", "nexus", "--env", 1, "--dry-run").out
    assert "+ nexus" in shown
    with_monitor.ok("plugins", "install", package(tmp_path / "m", "second"))
    refused = with_monitor("plugins", "enable", "second", "--env", 1, "--dry-run")
    assert (refused.code, "P074" in refused.err) == (6, True)
    assert with_monitor.ok("env", "show", 1, "-f", "value", "-c", "name").out == "prod\n"
    listed = with_monitor.ok("plugins", "show", "nexus", "-f", "json").json
    assert listed["environments"] == []


def test_an_assignment_says_which_tasks_of_two_plugins_meet(tiny: CommandLine, tmp_path: Path) -> None:
    for name, owned in (("one", "reader"), ("two", "writer")):
        tasks, roles = [task("watch", role=[owned])], {owned: role()}
        tiny.ok("plugins", "install", package(tmp_path / name, name, tasks=tasks, roles=roles))
        tiny.ok("plugins", "enable", name, "--env", 1)
    apart = tiny.ok("node", "create", "a", "--env", 1, "--roles", "reader", "--executor", "noop")
    together = tiny.ok("node", "create", "b", "--env", 1, "--roles", "reader", "writer", "--executor", "noop")
    assert "G044" not in apart.err
    assert together.err.count("G044") == 1
    tiny.ok("node", "create", "c", "--executor", "noop")
    added = tiny.ok("env", "add", "nodes", "--env", 1, "--nodes", "c", "--roles", "reader", "writer")
    assert "warning: task watch" in added.err
    nodes = "[{name: d, executor: noop, roles: [reader]}]"
    assert "G044" in tiny.ok("node", "import", "-", "--env", 1, stdin=nodes).err


def test_enabling_says_what_a_dry_run_says_of_overrides(tiny: CommandLine, tmp_path: Path) -> None:
    tasks = [{"id": "keystone", "type": "shell", "version": "2.0.0", "role": ["compute"], "parameters": {"cmd": "a"}}]
    tiny.ok("plugins", "install", package(tmp_path / "p", tasks=tasks))
    shown = tiny.ok("plugins", "enable", "monitor", "--env", 1, "--dry-run")
    enabled = tiny.ok("plugins", "enable", "monitor", "--env", 1)
    told = {code for code in ("G060", "G061", "G062", "G063") if code in shown.err}
    assert told
    assert told == {code for code in ("G060", "G061", "G062", "G063") if code in enabled.err}
    assert "[G06" not in tiny.ok("plugins", "enable", "monitor", "--env", 1).err, "nothing changes any more"


def test_assumed_nodes_are_told_once(tiny: CommandLine, tmp_path: Path) -> None:
    tiny.ok("plugins", "install", package(tmp_path / "p"))
    tiny.ok("env", "create", "empty", "--release", 1)
    assert tiny.ok("graph", "diff", "env:empty", "--with", "plugin:monitor").err.count("Assumed: ") == 1


def test_enabling_a_plugin_warns_of_the_cycle_that_it_closes(tiny: CommandLine, tmp_path: Path) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        files = {"deployment_tasks.yaml": [task(f"{name}-task", role=["compute"], requires=[f"{other}-task"])]}
        tiny.ok("plugins", "install", write_package(tmp_path / name, name, releases=TINY, files=files))
    tiny.ok("plugins", "enable", "one", "--env", 1)
    done = tiny.ok("plugins", "enable", "two", "--env", 1)
    assert "G050" in done.err
    assert tiny("graph", "execute", "--env", 1, "--noop").code == Exit.INVALID
