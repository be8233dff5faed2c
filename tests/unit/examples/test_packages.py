"""The packaged examples are whole: every file is read, every script is there, and none changes a machine."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuelclient import examples
from fuelclient.model.finding import Severity
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.package import Package
from fuelclient.model.task import Task
from fuelclient.plugins.checks import check
from fuelclient.plugins.load import load_package, read_package

ROOT = examples.directory()
PACKAGES = ("release", "plugins/image-cache", "plugins/rack-monitoring")


def tasks_of(package: Package) -> Iterator[Task]:
    for graph in (*package.contents.graphs.values(), *(g for one in package.releases for g in one.graphs.values())):
        yield from graph.tasks


def scripts_of(package: Package) -> Iterator[tuple[str, ...]]:
    """The script that each task names, with its arguments."""
    for task in tasks_of(package):
        parameters = task.attributes.get("parameters") or {}
        if "cmd" in parameters:
            program, *words = shlex.split(parameters["cmd"])
            assert program == "sh", task.id
            yield tuple(words)
        if "puppet_manifest" in parameters:
            yield (parameters["puppet_manifest"],)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_loaded_without_a_warning(name: str) -> None:
    findings = read_package(ROOT / name).files.findings
    assert [str(finding) for finding in findings if finding.severity is not Severity.INFO] == []


def test_all_that_a_check_complains_of_is_one_priority() -> None:
    """README.md says why it stays."""
    found = [str(one) for name in PACKAGES for one in check(ROOT / name) if one.severity is not Severity.INFO]
    [warning] = found
    assert warning.startswith(
        f"{ROOT}/plugins/rack-monitoring/tasks.yaml:3: warning: the priority in pre_deployment/-99.9"
    )
    assert "[P063]" in warning
    assert "P063" in (ROOT / "README.md").read_text()


def test_the_release_is_small_but_whole() -> None:
    [packaged] = load_package(ROOT / "release").releases
    metadata = packaged.release.metadata
    assert set(packaged.graphs) == {"default", "provisioning", "deletion", "network_verification"}
    assert 36 <= len(packaged.graphs[DEFAULT_TYPE].tasks) <= 46
    assert set(metadata["roles_metadata"]) == {"controller", "compute", "storage", "gateway", "telemetry"}
    assert set(metadata["volumes_metadata"]["volumes_roles_mapping"]) == set(metadata["roles_metadata"])
    carried = {tag for role in metadata["roles_metadata"].values() for tag in role["tags"]}
    assert carried == set(metadata["tags_metadata"])
    assert metadata["networks_metadata"]
    assert metadata["attributes_metadata"]["editable"]["common"]["propagate_task_deploy"]["value"] is True


def test_the_release_has_a_task_of_every_common_type() -> None:
    types = {task.type for task in tasks_of(load_package(ROOT / "release"))}
    assert types >= {"stage", "group", "shell", "puppet", "upload_file", "copy_files", "sync", "reboot", "skipped"}


def test_plugins_extend_the_release_of_the_examples() -> None:
    [packaged] = load_package(ROOT / "release").releases
    for name in PACKAGES[1:]:
        [extended] = load_package(ROOT / name).records
        assert (extended.os, extended.version) == (packaged.release.operating_system, packaged.release.version)


def sourced(script: Path) -> list[list[str]]:
    """The lines with which a script reads another one."""
    return [line.split() for line in script.read_text().splitlines() if line.startswith(". ")]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_script_is_packaged_and_used(name: str) -> None:
    directory = ROOT / name / "deployment_scripts"
    named = {words[0] for words in scripts_of(load_package(ROOT / name))}
    there = {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}
    read = {words[1].removeprefix("./") for script in directory.glob("*.sh") for words in sourced(script)}
    assert named | read == there


@pytest.mark.parametrize("name", PACKAGES)
def test_scripts_say_something_and_change_nothing(name: str, tmp_path: Path) -> None:
    directory = tmp_path / "scripts"
    shutil.copytree(ROOT / name / "deployment_scripts", directory)
    before = sorted(directory.rglob("*"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory)}
    ran = 0
    for script, *words in scripts_of(load_package(ROOT / name)):
        if script.endswith(".pp"):
            continue
        done = subprocess.run(
            ["sh", script, *words], cwd=directory, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), script
        assert "would" in done.stdout, script
        ran += 1
    assert ran
    assert sorted(directory.rglob("*")) == before


@pytest.mark.parametrize("manifest", sorted(ROOT.rglob("*.pp")), ids=lambda path: path.name)
def test_manifests_manage_nothing(manifest: Path) -> None:
    resources = [line.split()[0] for line in manifest.read_text().splitlines() if line.endswith(":") and "{" in line]
    assert resources == ["notify"]


def test_shell_scripts_say_which_shell_and_can_be_executed() -> None:
    scripts = sorted(ROOT.rglob("*.sh"))
    assert scripts
    for script in scripts:
        assert script.read_text().startswith("#!/bin/sh\n"), script
        assert os.access(script, os.X_OK), script


def test_every_file_is_package_data() -> None:
    """setup.cfg lists the kinds of files that are installed: a file of another kind would be missing."""
    kinds = {path.suffix for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert kinds <= {".yaml", ".md", ".sh", ".pp", ".py"}


def test_the_readme_names_only_what_is_there() -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `")]
    named = [row.split("`")[1] for row in rows]
    assert len(named) >= 8
    assert [name for name in named if not (ROOT / name).exists()] == []
