"""Plugin packages on the command line, without a store: create, check, build."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus

SKELETONS = {
    "v3": ("--package-version", "3"),
    "v4": ("--package-version", "4.0.0"),
    "v5": ("--package-version", "5"),
    "release": ("--release",),
    "multi-release": ("--multi-release",),
}


@pytest.fixture
def broken(fuel2: CommandLine, tmp_path: Path) -> Path:
    """A package with an error: a task lacks the version that packages of version 5 require."""
    fuel2.ok("plugins", "create", tmp_path / "broken")
    tasks = tmp_path / "broken" / "deployment_tasks.yaml"
    text = tasks.read_text(encoding="utf-8")
    tasks.write_text(text.replace("  version: 2.1.0\n", "", 1), encoding="utf-8")
    return tmp_path / "broken"


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_what_is_created_passes_the_check(fuel2: CommandLine, tmp_path: Path, skeleton: str) -> None:
    created = fuel2.ok("plugins", "create", tmp_path / "mine", *SKELETONS[skeleton])
    assert created.out == "Plugin mine was successfully created.\n"
    assert f"fuel2 plugins check {tmp_path / 'mine'}" in created.err
    checked = fuel2.ok("plugins", "check", tmp_path / "mine", "--strict", "-f", "json")
    assert {row["severity"] for row in checked.json} <= {"info"}


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("Bad_Name", "Plugin name is invalid, use only lower case letters, numbers, '_', '-' symbols. The name is", 2),
        ("My Plugin!", "The name is the last part of the path: 'My Plugin!'. For example my-plugin.", 2),
        ("taken", "already exists, choose another name", 6),
        ("no/where", "Directory", 5),
    ],
)
def test_create_refuses(fuel2: CommandLine, tmp_path: Path, name: str, message: str, code: int) -> None:
    (tmp_path / "taken").mkdir()
    done = fuel2("plugins", "create", tmp_path / name)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert not os.listdir(tmp_path / "taken")


def test_create_takes_one_kind(fuel2: CommandLine, tmp_path: Path) -> None:
    assert fuel2("plugins", "create", tmp_path / "p", "--release", "--multi-release").code == 2
    refused = fuel2("plugins", "create", tmp_path / "p", "--package-version", "2999")
    assert (refused.code, 'Wrong package version "2999"' in refused.err) == (2, True)
    assert fuel2("plugins", "create", tmp_path / "p", "--release", "--package-version", "3").code == 2
    assert not (tmp_path / "p").exists()


def test_check_tells_place_task_and_hint(fuel2: CommandLine, broken: Path) -> None:
    done = fuel2("plugins", "check", broken, "-f", "json")
    assert done.code == 7
    [error] = [row for row in done.json if row["severity"] == "error"]
    assert (error["code"], error["task"]) == ("P012", "broken-prepare")
    assert error["place"].startswith(f"{broken / 'deployment_tasks.yaml'}:")
    assert error["place"].rpartition(":")[2].isdigit()
    assert error["hint"]
    assert list(error) == ["severity", "code", "place", "task", "message", "hint"]
    assert done.err.startswith(f"{broken}: 1 error, ")


def test_errors_come_first(fuel2: CommandLine, broken: Path) -> None:
    (broken / "tasks.yaml").write_text("- {role: master, stage: pre_deployment, type: x, parameters: {}}\n")
    ranks = ["error", "warning", "info"]
    found = [ranks.index(row["severity"]) for row in fuel2("plugins", "check", broken, "-f", "json").json]
    assert found == sorted(found)
    assert len(set(found)) > 1


def test_strict_fails_for_warnings(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "mine")
    (tmp_path / "mine" / "deployment_scripts" / "deploy.pp").unlink()
    checked = fuel2.ok("plugins", "check", tmp_path / "mine", "-f", "json")
    assert [row["code"] for row in checked.json if row["severity"] == "warning"] == ["P064"]
    assert fuel2("plugins", "check", tmp_path / "mine", "--strict").code == 7


def test_check_of_several_and_of_archives(fuel2: CommandLine, tmp_path: Path, broken: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "good")
    package = fuel2.ok("plugins", "build", tmp_path / "good", "--output", tmp_path).out.strip()
    done = fuel2("plugins", "check", tmp_path / "good", package, broken, "-f", "json")
    assert done.code == 7
    assert len(done.err.splitlines()) == 3
    assert any(row["place"].startswith(f"{package}!/") for row in done.json)
    assert fuel2.ok("plugins", "check", package, "--strict").code == 0


def test_check_of_what_is_no_package(fuel2: CommandLine, tmp_path: Path) -> None:
    assert fuel2("plugins", "check", tmp_path / "nothing").code == 5
    (tmp_path / "empty").mkdir()
    empty = fuel2("plugins", "check", tmp_path / "empty", "-f", "json")
    assert (empty.code, [row["code"] for row in empty.json]) == (7, ["P001"])
    (tmp_path / "torn.rpm").write_bytes(b"\xed\xab\xee\xdb torn")
    torn = fuel2("plugins", "check", tmp_path / "torn.rpm", "-f", "json")
    assert (torn.code, [row["code"] for row in torn.json]) == (7, ["P001"])
    (tmp_path / "plugin.txt").write_text("x")
    text = fuel2("plugins", "check", tmp_path / "plugin.txt", "-f", "json")
    assert (text.code, "unsupported format .txt" in text.json[0]["message"]) == (7, True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, which is the current one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_build_is_reproducible(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "mine")
    shutil.copytree(tmp_path / "mine", tmp_path / "copy")
    sums = []
    for directory in ("mine", "copy"):
        (tmp_path / f"{directory}.out").mkdir()
        built = fuel2.ok("plugins", "build", tmp_path / directory, "--output", tmp_path / f"{directory}.out")
        path = Path(built.out.strip())
        assert path == tmp_path / f"{directory}.out" / "mine-1.0-1.0.0-1.noarch.rpm"
        sums.append(hashlib.sha256(path.read_bytes()).hexdigest())
    assert sums[0] == sums[1]


def test_build_writes_into_the_current_directory(fuel2: CommandLine, tmp_path: Path, here: Path) -> None:
    source = tmp_path / "mine"
    fuel2.ok("plugins", "create", source)
    before = sorted(source.rglob("*"))

    assert fuel2.ok("plugins", "build", source).out == "mine-1.0-1.0.0-1.noarch.rpm\n"
    assert fuel2.ok("plugins", "build", source, "--format", "fp").out == "mine-1.0.0.fp\n"

    assert sorted(path.name for path in here.iterdir()) == ["mine-1.0-1.0.0-1.noarch.rpm", "mine-1.0.0.fp"]
    assert sorted(source.rglob("*")) == before
    again = fuel2("plugins", "build", source)
    assert (again.code, again.out) == (6, "")
    fuel2.ok("plugins", "build", source, "-f")


@pytest.mark.parametrize("archive", ["rpm", "fp"])
@pytest.mark.parametrize("inside", [".", "deployment_scripts"])
def test_a_package_in_the_source_is_not_part_of_the_next_one(
    fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archive: str, inside: str
) -> None:
    source = tmp_path / "mine"
    fuel2.ok("plugins", "create", source)
    elsewhere = fuel2.ok("plugins", "build", source, "--format", archive, "--output", tmp_path).out.strip()
    monkeypatch.chdir(source / inside)
    (source / inside / "mine-tools-1.0.0.fp").write_text("part of the plugin, whatever its name looks like")

    sizes = set()
    for _ in range(3):
        built = Path(fuel2.ok("plugins", "build", source, "--format", archive, "--force").out.strip())
        assert built.resolve().parent == (source / inside).resolve()
        sizes.add(hashlib.sha256(built.read_bytes()).hexdigest())

    assert len(sizes) == 1
    (source / inside / "mine-tools-1.0.0.fp").unlink()
    fuel2.ok("plugins", "build", source, "--format", archive, "--force")
    assert built.read_bytes() == Path(elsewhere).read_bytes()


def test_nothing_is_built_with_errors(fuel2: CommandLine, broken: Path, here: Path) -> None:
    before = sorted(broken.rglob("*"))
    done = fuel2("plugins", "build", broken)
    assert (done.code, done.out) == (7, "")
    assert "[P012]" in done.err
    assert sorted(broken.rglob("*")) == before
    assert list(here.iterdir()) == []
    assert fuel2("plugins", "build", broken / "metadata.yaml").code == 2
    assert fuel2("plugins", "build", broken / "no").code == 5


@pytest.mark.usefixtures("here")
def test_the_hook_runs_only_where_it_is_asked_for(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "mine")
    hook = tmp_path / "mine" / "pre_build_hook"
    hook.write_text("#!/bin/sh\ntouch made-by-hook\n", encoding="utf-8")
    hook.chmod(0o755)
    assert "--run-hook" in fuel2.ok("plugins", "build", tmp_path / "mine").err
    assert not (tmp_path / "mine" / "made-by-hook").exists()
    fuel2.ok("plugins", "build", tmp_path / "mine", "--force", "--run-hook")
    assert (tmp_path / "mine" / "made-by-hook").exists()


def test_a_hook_that_fails_stops_the_build(fuel2: CommandLine, tmp_path: Path, here: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "mine")
    hook = tmp_path / "mine" / "pre_build_hook"
    hook.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    hook.chmod(0o755)
    done = fuel2("plugins", "build", tmp_path / "mine", "--run-hook")
    assert (done.code, done.out, "exit code 3" in done.err) == (7, "", True)
    assert list(here.iterdir()) == []


def corpus_packages() -> list[str]:
    """Every package of the corpus, by its path in there."""
    try:
        root = corpus()
    except pytest.skip.Exception:
        return []
    kinds = ("plugins", "plugins-branches", "fpb-examples", "release-plugins")
    return sorted(str(path.parent.relative_to(root)) for kind in kinds for path in root.glob(f"{kind}/*/metadata.yaml"))


@pytest.mark.corpus
@pytest.mark.parametrize("name", corpus_packages())
def test_check_of_real_packages_ends_well(fuel2: CommandLine, name: str) -> None:
    done = fuel2("plugins", "check", corpus(name), "-f", "json")
    errors = [row for row in done.json if row["severity"] == "error"]
    assert done.code == (7 if errors else 0)
    assert all(row["code"].startswith(("P", "G")) and row["message"] and row["place"] for row in done.json)
    assert "Traceback" not in done.err
