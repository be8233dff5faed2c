"""Skeletons are complete packages: they load without findings, and are written completely or not at all."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from refusals import missing, refused

from fuelclient.errors import Conflict, Unavailable, UsageError
from fuelclient.plugins import skeleton
from fuelclient.plugins.load import load_package, read_package, require_usable
from fuelclient.plugins.skeleton import LATEST, VERSIONS, Skeleton, create

EVERY = [
    *((Skeleton.PLUGIN, version) for version in VERSIONS),
    (Skeleton.RELEASE, "5.0.0"),
    (Skeleton.MULTI_RELEASE, "5.0.0"),
]
NAMES = ["my-plugin", "a", "1_1", "0x1f", "1e3", "null", "on", "---", "_", "2016-01-01", "x" * 100]
"""Valid names of plugins that YAML could take for something else."""


@pytest.mark.parametrize(("skeleton", "version"), EVERY)
@pytest.mark.parametrize("name", NAMES)
def test_every_skeleton_loads_without_a_finding(tmp_path: Path, skeleton: Skeleton, version: str, name: str) -> None:
    create(tmp_path / name, package_version=version, skeleton=skeleton)
    reading = read_package(tmp_path / name)
    package = require_usable(reading)
    assert (package.name, package.package_version, reading.files.findings) == (name, version, ())
    assert bool(package.releases) == (skeleton is Skeleton.RELEASE)


@pytest.mark.parametrize(("skeleton", "version"), EVERY)
def test_every_skeleton_passes_the_check_and_builds(tmp_path: Path, skeleton: Skeleton, version: str) -> None:
    create(tmp_path / "mine", package_version=version, skeleton=skeleton)
    fuel2 = CommandLine(tmp_path / "engine.db")
    found = fuel2.ok("plugins", "check", tmp_path / "mine", "--strict", "-f", "json").json
    assert [finding for finding in found if finding["severity"] != "info"] == []
    fuel2.ok("plugins", "build", tmp_path / "mine", "--output", tmp_path)
    (built,) = tmp_path.glob("mine-*")
    assert built.suffix == (".fp" if version == "1.0.0" else ".rpm")


def test_the_files_are_those_that_stand_there(tmp_path: Path) -> None:
    files = create(tmp_path / "mine")
    assert files == sorted(path for path in (tmp_path / "mine").rglob("*") if path.is_file())
    assert os.listdir(tmp_path) == ["mine"]


@pytest.mark.parametrize(("skeleton", "version"), EVERY)
def test_files_of_each_package_version(tmp_path: Path, skeleton: Skeleton, version: str) -> None:
    names = {path.relative_to(tmp_path / "p").as_posix() for path in create(tmp_path / "p", package_version=version)}
    assert ("tasks.yaml" in names) == (version < "3.0.0")
    assert ("node_tags.yaml" in names) == (version == "6.0.0")
    assert ("components.yaml" in names) == (version > "3.0.0")
    assert {"node_config.yaml", "nic_config.yaml", "bond_config.yaml"}.isdisjoint(names) == (version < "5.0.0")
    shutil.rmtree(tmp_path / "p")
    for path in create(tmp_path / "p", package_version=version, skeleton=skeleton):
        text = path.read_text(encoding="utf-8")
        assert "@" not in text, path
        assert all(len(line) <= 120 for line in text.splitlines() if path.suffix != ".md"), path


@pytest.mark.parametrize(("skeleton", "version"), EVERY)
def test_scripts_are_executable_and_end_well(tmp_path: Path, skeleton: Skeleton, version: str) -> None:
    scripts = [
        path for path in create(tmp_path / "p", package_version=version, skeleton=skeleton) if path.suffix == ".sh"
    ]
    assert scripts
    for path in scripts:
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
        subprocess.run(["sh", "-n", str(path)], check=True)


@pytest.mark.parametrize(("skeleton", "version"), EVERY)
def test_every_manifest_and_script_that_a_task_names_is_there(tmp_path: Path, skeleton: Skeleton, version: str) -> None:
    files = create(tmp_path / "p", package_version=version, skeleton=skeleton)
    text = "\n".join(path.read_text(encoding="utf-8") for path in files if path.suffix == ".yaml")
    named = set(re.findall(r"(?:\./|sh |puppet_manifest: )([a-z-]+\.(?:sh|pp))", text))
    assert named == {path.name for path in files if path.suffix in (".sh", ".pp")}


@pytest.mark.parametrize("name", ["Bad_Name", "a.b", "a b", "ä", "a\n", ""])
def test_a_bad_name_is_refused_in_the_words_of_the_original(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        create(Path(f"{tmp_path}/Parent/{name}") if name else Path("/"))
    assert caught.value.message == "Plugin name is invalid, use only lower case letters, numbers, '_', '-' symbols"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    for kind in ("file", "directory", "link"):
        path = tmp_path / kind
        if kind == "directory":
            path.mkdir()
        elif kind == "link":
            path.symlink_to("nowhere")
        else:
            path.write_text("mine", encoding="utf-8")
        before = path.lstat()
        with pytest.raises(Conflict) as refused:
            create(path)
        assert str(refused.value) == f"Plugins directory {path} already exists, choose another name."
        assert path.lstat() == before
    assert sorted(os.listdir(tmp_path)) == ["directory", "file", "link"]


@pytest.mark.parametrize("version", ["7", "0", "5.0.1", "5.", "latest", ""])
def test_other_versions_are_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(UsageError) as caught:
        create(tmp_path / "p", package_version=version)
    assert caught.value.message == f'Wrong package version "{version}".'  # the words of the original
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("skeleton", [Skeleton.RELEASE, Skeleton.MULTI_RELEASE])
def test_only_the_latest_version_knows_releases(tmp_path: Path, skeleton: Skeleton) -> None:
    with refused(UsageError, LATEST):
        create(tmp_path / "p", package_version="4", skeleton=skeleton)


def test_the_directory_above_has_to_be_there(tmp_path: Path) -> None:
    with missing("directory", tmp_path / "no"):
        create(tmp_path / "no" / "p")
    assert not os.listdir(tmp_path)


def test_a_directory_that_cannot_be_written_to() -> None:
    """`/proc` takes no directories, not even from root."""
    with refused(Unavailable, "/proc/p"):
        create(Path("/proc/p"))


def test_nothing_is_left_behind_when_writing_fails_half_way(tmp_path: Path) -> None:
    """A process that cannot write files longer than 512 bytes stops at the first longer one."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from fuelclient.plugins.skeleton import create;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)); create(Path(sys.argv[1]))"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code, str(tmp_path / "p")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "Unavailable" in done.stderr
    assert "file too large" in done.stderr
    assert not os.listdir(tmp_path)


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert create(Path("mine"))[0].is_absolute()
    assert load_package(tmp_path / "mine").name == "mine"
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    create(Path("../other/"))
    assert (tmp_path / "other" / "metadata.yaml").is_file()


def test_every_template_belongs_to_a_skeleton() -> None:
    layers = {layer for names in skeleton._LAYERS.values() for layer in names}
    assert {path.name for path in skeleton._TEMPLATES.iterdir()} == layers
