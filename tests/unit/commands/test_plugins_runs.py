"""Packages on nodes: their tasks run with their own scripts, for one release and for several."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from package_trees import definition, role, task, write_package

RELEASES = """
- {name: Kilo, version: 2015.1-8.0, operating_system: ubuntu, roles_metadata: {controller: {name: C}}}
- {name: Liberty, version: liberty-8.0, operating_system: ubuntu, roles_metadata: {controller: {name: C}}}
"""
SETTINGS = "{common: {task_deploy: {value: true}}}"


def node(fuel2: CommandLine, env: int, *roles: str) -> None:
    fuel2.ok("node", "create", f"n{env}", "--executor", "local", "--env", env, "--roles", *roles)


def ready(fuel2: CommandLine, env: int, *arguments: object) -> None:
    done = fuel2("graph", "execute", "--env", env, "--wait", *arguments)
    assert done.code == 0, done


def script(notes: Path, text: str) -> str:
    return f"#!/bin/sh\necho {text} >> {notes}\n"


def shell(name: str, **attributes: Any) -> dict[str, Any]:
    return task(name, parameters={"cmd": "sh ./run.sh", "timeout": 60, "retries": 0}, **attributes)


VARIANTS: Mapping[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "constraints": (
        [{}, {}],
        {
            "deployment_tasks.yaml": [
                shell("kilo", **{"os-version": "==2015.1"}),
                shell("liberty", **{"os-version": ">=liberty"}),
            ]
        },
    ),
    "files": (
        [{"deployment_tasks_path": "kilo.yaml"}, {"deployment_tasks_path": "liberty.yaml"}],
        {"kilo.yaml": [shell("kilo")], "liberty.yaml": [shell("liberty")]},
    ),
    "directories": (
        [{"conf_path": "kilo/"}, {"conf_path": "liberty/"}],
        {"kilo/deployment_tasks.yaml": [shell("kilo")], "liberty/deployment_tasks.yaml": [shell("liberty")]},
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_release_runs_its_own_tasks_with_its_own_scripts(fuel2: CommandLine, tmp_path: Path, variant: str) -> None:
    records, files = VARIANTS[variant]
    notes = tmp_path / "notes"
    versions = {"kilo": "2015.1-8.0", "liberty": "liberty-8.0"}
    releases = [
        {"os": "ubuntu", "version": version, "mode": ["ha"], "deployment_scripts_path": f"scripts-{name}/", **record}
        for (name, version), record in zip(versions.items(), records, strict=True)
    ]
    scripts = {f"scripts-{name}/run.sh": script(notes, name) for name in versions}
    package = write_package(
        tmp_path / "p", "multi", package_version="5.0.0", releases=releases, files={**files, **scripts}
    )
    fuel2.ok("release", "import", "-", stdin=RELEASES)
    fuel2.ok("plugins", "install", package)
    for env, name in enumerate(versions, 1):
        fuel2.ok("env", "create", name, "--release", env)
        fuel2.ok("env", "settings", "upload", env, "--file", "-", stdin=SETTINGS)
        fuel2.ok("plugins", "enable", "multi", "--env", env)
        node(fuel2, env, "controller")
        ready(fuel2, env)
    assert notes.read_text().split() == ["kilo", "liberty"]


def test_the_tasks_of_a_release_run_where_its_scripts_are(fuel2: CommandLine, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    release = definition(
        "Example",
        deployment_scripts_path="ubuntu/scripts/",
        roles={"controller": role()},
        graphs=[{"type": "default", "tasks": [shell("begin")]}],
    )
    files = {"ubuntu/scripts/run.sh": script(notes, "release")}
    package = write_package(tmp_path / "p", "Example", package_version="5.0.0", releases=[release], files=files)
    fuel2.ok("plugins", "install", package)
    fuel2.ok("env", "create", "prod", "--release", 1)
    node(fuel2, 1, "controller")
    ready(fuel2, 1)
    assert notes.read_text().split() == ["release"]


def test_two_engines_of_one_machine_run_their_own_scripts(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    engines = [CommandLine(tmp_path / f"{name}.db") for name in ("a", "b")]
    for name, fuel2 in zip("ab", engines, strict=True):
        record = {"os": "ubuntu", "version": "liberty-8.0", "mode": ["ha"]}
        files = {
            "deployment_tasks.yaml": [shell("go")],
            "deployment_scripts/run.sh": f"#!/bin/sh\ncat $(dirname $0)/name >> {notes}\n",
            "deployment_scripts/name": f"{name}\n",
        }
        package = write_package(tmp_path / name, "shared", releases=[record], files=files)
        fuel2.ok("release", "import", "-", stdin=RELEASES)
        fuel2.ok("plugins", "install", package)
        fuel2.ok("env", "create", "prod", "--release", 2)
        fuel2.ok("plugins", "enable", "shared", "--env", 1)
        node(fuel2, 1, "controller")
    for fuel2 in (*engines, *engines):
        ready(fuel2, 1)
    assert notes.read_text().split() == ["a", "b", "a", "b"]
    assert not Path("/etc/fuel/plugins/shared-1.2").exists()


def test_an_installation_changes_nothing_of_a_run_that_goes_on(fuel2: CommandLine, tmp_path: Path) -> None:
    notes, begun, gate = (tmp_path / name for name in ("notes", "begun", "gate"))
    wait = f"touch {begun}; while [ ! -e {gate} ]; do sleep 0.1; done"
    tasks = [
        task("wait", parameters={"cmd": wait, "timeout": 60}),
        shell("late", requires=["wait"]),
    ]
    record = {"os": "ubuntu", "version": "liberty-8.0", "mode": ["ha"]}

    def package(text: str) -> str:
        files = {"deployment_tasks.yaml": tasks, "deployment_scripts/run.sh": script(notes, text)}
        return write_package(tmp_path / "p", "shared", releases=[record], files=files)

    fuel2.ok("release", "import", "-", stdin=RELEASES)
    fuel2.ok("plugins", "install", package("old"))
    fuel2.ok("env", "create", "prod", "--release", 2)
    fuel2.ok("plugins", "enable", "shared", "--env", 1)
    node(fuel2, 1, "controller")
    fuel2.ok("graph", "execute", "--env", 1)
    deadline = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    fuel2.ok("plugins", "install", package("new"), "--force")
    gate.touch()
    fuel2.ok("task", "watch", 1)
    assert notes.read_text().split() == ["old"]
    ready(fuel2, 1, "--force")
    assert notes.read_text().split() == ["old", "new"]


def test_the_graphs_of_an_environment_are_those_of_its_release(fuel2: CommandLine, tmp_path: Path) -> None:
    versions = {"kilo": "2015.1-8.0", "liberty": "liberty-8.0"}
    releases: list[dict[str, Any]] = [
        {"os": "ubuntu", "version": version, "mode": ["ha"], "deployment_tasks_path": f"{name}.yaml"}
        for name, version in versions.items()
    ]
    releases[1]["graphs"] = [{"type": "check", "tasks": [task("look")]}]
    files = {f"{name}.yaml": [task(name)] for name in versions}
    package = write_package(tmp_path / "p", "multi", package_version="5.0.0", releases=releases, files=files)
    fuel2.ok("release", "import", "-", stdin=RELEASES)
    fuel2.ok("plugins", "install", package)
    listed = {}
    for env, name in enumerate(versions, 1):
        fuel2.ok("env", "create", name, "--release", env)
        fuel2.ok("env", "settings", "upload", env, "--file", "-", stdin=SETTINGS)
        fuel2.ok("plugins", "enable", "multi", "--env", env)
        rows = fuel2.ok("graph", "list", "--env", env, "-f", "json").json
        named = [(row["relations"][0], row["tasks"]) for row in rows]
        listed[name] = {at["type"]: tasks for at, tasks in named if at["model"] == "plugin"}
    assert listed["kilo"] == {"default": ["kilo"]}
    assert listed["liberty"] == {"default": ["liberty"], "check": ["look"]}
    assert "look" in fuel2.ok("graph", "preview", "--env", 2, "--type", "check", "-f", "value", "-c", "task").out
    assert fuel2("graph", "preview", "--env", 1, "--type", "check").code == 5


def test_enabling_says_what_fuel_does_not_support(fuel2: CommandLine, tmp_path: Path) -> None:
    release = "- {name: Old, version: 2015.1-7.0, operating_system: ubuntu, roles_metadata: {controller: {name: C}}}"
    record = {"os": "ubuntu", "version": "2015.1-7.0", "mode": ["ha"]}
    package = write_package(tmp_path / "p", "modern", package_version="5.0.0", releases=[record])
    fuel2.ok("release", "import", "-", stdin=release)
    assert "[P015]" in fuel2.ok("plugins", "install", package).err
    fuel2.ok("env", "create", "prod", "--release", 1)
    assert "[P083]" in fuel2.ok("plugins", "enable", "modern", "--env", 1).err


def test_a_record_that_only_overrides_is_no_legacy_task(fuel2: CommandLine, tmp_path: Path) -> None:
    graph = [task("deploy", version="2.0.0")]
    release = definition(
        "Example", "mitaka-9.0", roles={"controller": role()}, graphs=[{"type": "default", "tasks": graph}]
    )
    fuel2.ok(
        "plugins", "install", write_package(tmp_path / "r", "Example", package_version="5.0.0", releases=[release])
    )
    files = {"deployment_tasks.yaml": [{"id": "deploy", "parameters": {"timeout": 5}}]}
    fuel2.ok("plugins", "install", write_package(tmp_path / "p", "tune", package_version="5.0.0", files=files))
    fuel2.ok("env", "create", "prod", "--release", 1)
    assert "[P081]" not in fuel2.ok("plugins", "enable", "tune", "--env", 1).err


def test_a_package_that_lost_its_graphs_says_which(fuel2: CommandLine, tmp_path: Path) -> None:
    graphs = [{"type": "default", "tasks": [task("start")]}, {"type": "check", "tasks": [task("a"), task("b")]}]
    for kept in (graphs, graphs[:1]):
        release = definition("Example", graphs=kept)
        source = write_package(tmp_path / "r", "Example", package_version="5.0.0", releases=[release])
        done = fuel2.ok("plugins", "install", source, "--force")
    [line] = [line for line in done.err.splitlines() if "[P084]" in line]
    assert "warning" in line
    assert "check" in line
    assert "its tasks are removed (2)" in line
