"""`plugins check --release|--env|--all-releases`: what a package does to a release, before it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from package_trees import role, task, write_package

DEMO = [{"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}]
TYPO = [task("go", role=["controler"], requires=["kernel-setings"])]


@pytest.fixture
def demo(fuel2: CommandLine) -> CommandLine:
    """The packaged examples: release 1, environment 1 with two plugins."""
    fuel2.ok("demo")
    return fuel2


def found(demo: CommandLine, package: str, *arguments: object) -> dict[str, str]:
    """The code and the hint of the findings about a package that are no notices."""
    rows = demo("plugins", "check", package, *arguments, "-f", "json").json
    return {row["code"]: row["hint"] for row in rows if row["severity"] != "info"}


@pytest.mark.parametrize("beside", [("--release", 1), ("--env", 1), ("--env", "demo"), ("--all-releases",)])
def test_misspelt_names_are_found_against_a_release(
    demo: CommandLine, tmp_path: Path, beside: tuple[object, ...]
) -> None:
    files = {"deployment_tasks.yaml": TYPO}
    package = write_package(tmp_path / "p", package_version="4.0.0", releases=DEMO, files=files)
    assert not {"G030", "G041"} & set(found(demo, package))
    together = found(demo, package, *beside)
    assert "kernel-settings" in together["G030"]
    assert "controller" in together["G041"]
    assert "monitor" not in demo.ok("plugins", "list", "-f", "value", "-c", "name").out.split()


def test_a_cycle_through_the_release(demo: CommandLine, tmp_path: Path) -> None:
    tasks = [task("go", role=["/.*/"], requires=["deploy_end"], required_for=["deploy_start"])]
    package = write_package(tmp_path / "p", releases=DEMO, files={"deployment_tasks.yaml": tasks})
    done = demo("plugins", "check", package, "--release", 1)
    assert (done.code, "G050" in done.out) == (7, True)


def test_roles_that_the_release_has(demo: CommandLine, tmp_path: Path) -> None:
    files: dict[str, Any] = {"node_roles.yaml": {"compute": role()}}
    package = write_package(tmp_path / "p", releases=DEMO, files=files)
    assert "P074" in found(demo, package, "--env", 1)


def test_a_sound_package_has_nothing_more_beside_a_release(demo: CommandLine, tmp_path: Path) -> None:
    roles = {"db": role(has_primary=True)}
    files = {"node_roles.yaml": roles, "deployment_tasks.yaml": [task("go", role=["db", "primary-db"])]}
    package = write_package(tmp_path / "p", releases=DEMO, files=files)
    assert found(demo, package) == found(demo, package, "--env", 1)


def test_a_release_that_is_not_supported(demo: CommandLine, tmp_path: Path) -> None:
    package = write_package(tmp_path / "p")
    assert "P071" in found(demo, package, "--release", 1)
    assert "P071" not in found(demo, package, "--all-releases")


def test_what_the_release_lacks_anyway_is_not_the_packages(fuel2: CommandLine, tmp_path: Path) -> None:
    release = "- {name: R, version: ocata-11.0, operating_system: ubuntu, roles_metadata: {controller: {name: C}}}"
    graph = "- {id: t, type: shell, version: 2.0.0, roles: [controller, db, log], parameters: {cmd: 'true'}}"
    fuel2.ok("release", "import", "-", stdin=release)
    fuel2.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=graph)
    package = write_package(tmp_path / "p", releases=DEMO, files={"node_roles.yaml": {"db": role()}})
    assert "G041" not in found(fuel2, package, "--release", 1)


def test_releases_without_tasks_are_left_out(demo: CommandLine, tmp_path: Path) -> None:
    release = "- {name: Bare, version: ocata-11.0, operating_system: ubuntu, roles_metadata: {controller: {name: C}}}"
    demo.ok("release", "import", "-", stdin=release)
    files = {"deployment_tasks.yaml": [task("go", requires=["kernel-settings"])]}
    package = write_package(tmp_path / "p", releases=DEMO, files=files)

    assert "G030" in found(demo, package, "--release", 2), "the bare release is named, and so it is checked"
    done = demo("plugins", "check", package, "--all-releases", "-f", "json")
    assert "G030" not in {row["code"] for row in done.json}
    assert done.err.count("2 (Bare ocata-11.0)") == 1
    matrix = demo("plugins", "matrix", package, "-f", "json")
    assert "Bare" not in matrix.out
    assert "2 (Bare ocata-11.0)" in matrix.err
