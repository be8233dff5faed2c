"""`apt-get update` accepts the repositories of built packages, and then knows their contents.

Everything that apt-get reads and writes is below the directory of the test.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from package_trees import MITAKA, write_package

from fuelclient.plugins.archive import extract
from fuelclient.plugins.pack import build_rpm

pytestmark = pytest.mark.slow

_CONTROL = """Package: {name}
Version: {version}
Architecture: all
Maintainer: Somebody <somebody@example.org>
Description: a package of the tests
"""


def deb(directory: Path, name: str, version: str) -> None:
    """Write a Debian package without files to a directory."""
    tree = directory.parent / f"{name}-{version}"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(_CONTROL.format(name=name, version=version))
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", str(tree), str(directory)], check=True)
    shutil.rmtree(tree)


def built(directory: Path, name: str, packages: Sequence[tuple[str, str]] = ()) -> Path:
    """Return the Ubuntu repository of a plugin package that was built and unpacked again."""
    ubuntu = {**MITAKA, "repository_path": "repositories/ubuntu"}
    source = Path(write_package(directory / "source" / name, name, releases=[ubuntu]))
    for package in packages:
        deb(source / "repositories" / "ubuntu", *package)
    target = directory / "unpacked" / name
    target.mkdir(parents=True)
    metadata = json.loads((source / "metadata.yaml").read_text())
    extract(build_rpm(source, directory, metadata), target)
    (repository,) = target.rglob("repositories/ubuntu")
    return repository


def apt(directory: Path, repositories: Sequence[Path], *command: str) -> subprocess.CompletedProcess[str]:
    """Run an apt program that sees nothing but these repositories."""
    (directory / "etc").mkdir(exist_ok=True)
    (directory / "state" / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (directory / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    (directory / "status").touch()
    sources = directory / "etc" / "sources.list"
    sources.write_text("".join(f"deb [trusted=yes] file:{repository} /\n" for repository in repositories))
    settings = {
        "Dir::Etc": directory / "etc",
        "Dir::State": directory / "state",
        "Dir::State::status": directory / "status",
        "Dir::Cache": directory / "cache",
        "Dir::Log": directory / "log",
        "Acquire::AllowInsecureRepositories": "true",
        "Acquire::AllowWeakRepositories": "true",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "",
        "APT::Update::Post-Invoke-Success": "",
    }
    options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "contents",
    [
        {"empty": []},
        {"one": [("agent", "1.0"), ("agent", "1.1"), ("tools", "2.0")]},
        {"one": [("agent", "1.0")], "empty": [], "two": [("library", "3.0")]},
    ],
    ids=["an empty one", "one with packages", "several"],
)
def test_a_node_can_update_from_the_repositories(
    contents: dict[str, Sequence[tuple[str, str]]], tmp_path: Path
) -> None:
    for program in ("apt-get", "apt-cache", "dpkg-deb"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (it comes with Debian and Ubuntu)")
    repositories = [built(tmp_path, name, packages) for name, packages in contents.items()]

    updated = apt(tmp_path, repositories, "apt-get", "update", "--error-on=any")

    assert updated.returncode == 0, updated
    for name, version in (package for packages in contents.values() for package in packages):
        listed = apt(tmp_path, repositories, "apt-cache", "madison", name)
        assert version in {line.split("|")[1].strip() for line in listed.stdout.splitlines()}, listed
    shutil.rmtree(tmp_path / "state")
    (repositories[0] / "Packages.gz").unlink()
    assert apt(tmp_path, repositories, "apt-get", "update", "--error-on=any").returncode != 0
