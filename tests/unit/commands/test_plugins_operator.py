"""An operator's session: install and upgrade plugins, clashes, refusals, wrong input and pipes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus

RELEASE = """
- name: Mitaka
  version: mitaka-9.0
  operating_system: Ubuntu
  roles_metadata:
    controller: {name: Controller, has_primary: true}
    compute: {name: Compute}
"""

METADATA = """
name: '{name}'
title: '{name}'
version: {version}
package_version: 4.0.0
description: x
fuel_version: ['9.0']
licenses: [Apache]
authors: [me]
homepage: https://example.org
groups: []
is_hotpluggable: false
releases:
- {{os: ubuntu, version: mitaka-9.0, mode: [ha], deployment_scripts_path: s/, repository_path: r/}}
"""


def package(directory: Path, name: str, version: str = "1.0.0", tasks: str = "[]", roles: str = "") -> Path:
    """A small package of version 4, made anew in a directory of its name."""
    path = directory / f"{name}-{version}"
    for part in ("s", "r"):
        (path / part).mkdir(parents=True, exist_ok=True)
    (path / "metadata.yaml").write_text(METADATA.format(name=name, version=version), encoding="utf-8")
    (path / "environment_config.yaml").write_text("attributes: {}\n", encoding="utf-8")
    (path / "deployment_tasks.yaml").write_text(tasks, encoding="utf-8")
    if roles:
        (path / "node_roles.yaml").write_text(roles, encoding="utf-8")
    return path


@pytest.fixture
def mitaka(fuel2: CommandLine) -> CommandLine:
    """Release 1, environment 1 of it, no plugin."""
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    return fuel2


def versions(fuel2: CommandLine) -> list[tuple[int, str, str]]:
    listed = fuel2.ok("plugins", "list", "-f", "json").json
    return [(row["id"], row["name"], row["version"]) for row in listed]


def test_list_in_the_words_of_the_original(mitaka: CommandLine, tmp_path: Path) -> None:
    assert "There is no plugin yet" in mitaka.ok("plugins", "list").err
    source = package(tmp_path, "many")
    text = (source / "metadata.yaml").read_text(encoding="utf-8")
    record = "\n- {{os: {}, version: {}, mode: [ha], deployment_scripts_path: s/, repository_path: r/}}"
    more = "".join(record.format(os, version) for os, version in [("ubuntu", "newton-10.0"), ("centos", "kilo-7.0")])
    (source / "metadata.yaml").write_text(text.rstrip() + more + "\n", encoding="utf-8")
    mitaka.ok("plugins", "install", source)
    line = "1 many 1.0.0 4.0.0 ubuntu (mitaka-9.0, newton-10.0), centos (kilo-7.0)\n"
    assert mitaka.ok("plugins", "list", "-f", "value").out == line
    assert mitaka.ok("plugin", "list", "-f", "value").out == line
    [row] = mitaka.ok("plugins", "list", "-f", "json").json
    assert row["releases"][2] == {"os": "centos", "version": "kilo-7.0"}


def test_upgrades_inside_one_series(mitaka: CommandLine, tmp_path: Path) -> None:
    mitaka.ok("plugins", "install", package(tmp_path, "plug", "1.0.0"))
    mitaka.ok("plugins", "enable", "plug", "-e", 1)
    again = mitaka("plugins", "install", package(tmp_path, "plug", "1.0.0"))
    assert (again.code, again.out) == (6, "")
    mitaka.ok("plugins", "install", package(tmp_path, "plug", "1.0.0"), "--force")
    updated = mitaka.ok("plugins", "install", package(tmp_path, "plug", "1.0.1"))
    assert "which was 1.0.0" in updated.err
    assert "enabled on environment 1." in updated.err
    older = mitaka("plugins", "install", package(tmp_path, "plug", "1.0.0"))
    assert (older.code, older.out, versions(mitaka)) == (6, "", [(1, "plug", "1.0.1")])
    beside = mitaka.ok("plugins", "install", package(tmp_path, "plug", "1.1.0"))
    assert " plugins enable 2 --env 1" in beside.err
    assert versions(mitaka) == [(1, "plug", "1.0.1"), (2, "plug", "1.1.0")]
    unclear = mitaka("plugins", "show", "plug")
    assert (unclear.code, "1.0.1" in unclear.err, "1.1.0" in unclear.err) == (2, True, True)
    mitaka.ok("plugins", "disable", "plug", "-e", 1)
    assert mitaka.ok("plugins", "remove", "plug", "1.1.0").out == "Plugin plug was successfully removed.\n"
    assert mitaka.ok("plugins", "remove", 1).out == "Plugin plug was successfully removed.\n"
    assert versions(mitaka) == []


def test_a_number_is_always_an_id(mitaka: CommandLine, tmp_path: Path) -> None:
    mitaka.ok("plugins", "install", package(tmp_path, "2016"))
    assert mitaka("plugins", "show", 2016).code == 5
    assert mitaka.ok("plugins", "show", 1, "-f", "value", "-c", "name").out == "2016\n"


def test_a_role_of_two_plugins(mitaka: CommandLine, tmp_path: Path) -> None:
    for name in ("one", "two"):
        mitaka.ok("plugins", "install", package(tmp_path, name, roles="probe: {name: Probe, description: d}\n"))
    mitaka.ok("plugins", "enable", "one", "--env", 1)
    refused = mitaka("plugins", "enable", "two", "--env", 1)
    assert (refused.code, refused.out) == (6, "")
    assert "probe" in refused.err
    owners = [row["owner"] for row in [mitaka.ok("role", "show", "probe", "-e", 1, "-f", "json").json]]
    assert "one" in owners[0]


VOLUMES = "volumes_roles_mapping: {}\nvolumes: [{id: %s, type: vg}]\n"
COMPONENT = "- {name: 'storage:%s', label: S}\n"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "volumes.yaml",
            VOLUMES % "data",
            'Plugin two-1.0.0 is overlapping with plugin one-1.0.0 by introducing the same volume with id "data"',
        ),
        (
            "components.yaml",
            COMPONENT % "data",
            'Plugin two is overlapping with one by introducing the same component with name "storage:data"',
        ),
    ],
)
def test_clashes_in_the_words_of_the_original(
    mitaka: CommandLine, tmp_path: Path, file: str, text: str, said: str
) -> None:
    for name in ("one", "two"):
        source = package(tmp_path, name)
        (source / file).write_text(text, encoding="utf-8")
        mitaka.ok("plugins", "install", source)
    refused = mitaka("plugins", "enable", "one", "two", "--env", 1)
    assert (refused.code, refused.out) == (6, "Plugin one was successfully enabled on environment 1.\n")
    assert said in refused.err
    assert mitaka.ok("plugins", "show", "two", "-f", "json").json["environments"] == []


def test_a_task_of_two_plugins_is_told_where_their_roles_meet(mitaka: CommandLine, tmp_path: Path) -> None:
    tasks = "- {id: same, type: shell, version: 2.0.0, role: [%s], parameters: {cmd: x, timeout: 1}}\n"
    for name in ("one", "two"):
        roles = f"{name}: {{name: N, description: d}}\n"
        mitaka.ok("plugins", "install", package(tmp_path, name, tasks=tasks % name, roles=roles))
    mitaka.ok("plugins", "enable", "one", "two", "--env", 1)
    apart = mitaka.ok("graph", "preview", "--env", 1, "--assume", "one=1,two=1", "-f", "json")
    assert [row["task"] for row in apart.json].count("same") == 2
    assert "error: " not in apart.err
    together = mitaka("graph", "preview", "--env", 1, "--assume", "one+two=1", "-f", "json")
    assert "error: " in together.err
    assert "same" in together.err


def test_a_release_that_is_not_supported(mitaka: CommandLine, tmp_path: Path) -> None:
    mitaka.ok("release", "create", "Kilo", "--version", "2015.1-7.0", "--operating-system", "Ubuntu")
    mitaka.ok("env", "create", "old", "--release", 2)
    mitaka.ok("plugins", "install", package(tmp_path, "plug"))
    refused = mitaka("plugins", "enable", "plug", "--env", 2)
    assert (refused.code, refused.out, "2015.1-7.0" in refused.err) == (6, "", True)
    shown = mitaka.ok("plugins", "show", "plug", "--release", 2, "-f", "json").json
    assert shown["record"] == ""
    assert "it extends ubuntu mitaka-9.0" in shown["why"][0]


def test_enable_of_several_names_them_before_the_first(mitaka: CommandLine, tmp_path: Path) -> None:
    mitaka.ok("plugins", "install", package(tmp_path, "one"))
    assert mitaka("plugins", "enable", "one", "tow", "--env", 1).code == 5
    assert mitaka.ok("plugins", "show", "one", "-f", "json").json["environments"] == []
    mitaka.ok("plugins", "install", package(tmp_path, "two"))
    done = mitaka.ok("plugins", "enable", "one", "two", "one", "--env", 1)
    assert len(done.out.splitlines()) == 2


def test_what_is_wrong_is_said_and_installed_all_the_same(mitaka: CommandLine, tmp_path: Path) -> None:
    tasks = "- {id: t, type: shell, role: [compute], cross-depends: [{name: x}], parameters: {cmd: x, timeout: 1}}\n"
    done = mitaka.ok("plugins", "install", package(tmp_path, "plug", tasks=tasks))
    assert "[P016]" in done.err
    assert "warning: " in done.err
    assert "error: " not in done.err


def wrong(directory: Path) -> dict[str, tuple[Path, int, str]]:
    """Wrong input by name: the path, the exit code, and what has to be said."""
    (directory / "plugin.txt").write_text("x", encoding="utf-8")
    (directory / "torn.rpm").write_bytes(b"\xed\xab\xee\xdb" + b"\0" * 200)
    (directory / "torn.fp").write_bytes(b"\x1f\x8b\x08 no")
    (directory / "empty.fp").write_bytes(b"")
    (directory / "bare").mkdir()
    listed = package(directory, "listed")
    (listed / "metadata.yaml").write_text("- 1\n", encoding="utf-8")
    future = package(directory, "future")
    text = (future / "metadata.yaml").read_text(encoding="utf-8")
    (future / "metadata.yaml").write_text(text.replace("4.0.0", "7.0.0"), encoding="utf-8")
    double = package(directory, "double", tasks="- {id: t, type: skipped}\n- {id: t, type: skipped}\n")
    return {
        "missing": (directory / "no.rpm", 5, "no.rpm"),
        "text": (directory / "plugin.txt", 7, "unsupported format .txt"),
        "torn rpm": (directory / "torn.rpm", 7, "torn.rpm"),
        "torn fp": (directory / "torn.fp", 7, "torn.fp"),
        "empty fp": (directory / "empty.fp", 7, "empty.fp"),
        "directory": (directory / "bare", 7, "metadata.yaml"),
        "a list": (listed, 7, "P001"),
        "future": (future, 7, "P002"),
        "duplicate": (double, 7, "P060"),
    }


@pytest.mark.parametrize(
    "case", ["missing", "text", "torn rpm", "torn fp", "empty fp", "directory", "a list", "future", "duplicate"]
)
def test_wrong_input_leaves_everything_as_it_was(fuel2: CommandLine, tmp_path: Path, case: str) -> None:
    path, code, said = wrong(tmp_path)[case]
    before = sorted(os.listdir(tmp_path))
    for force in ([], ["--force"]):
        done = fuel2("plugins", "install", path, *force)
        assert (done.code, done.out) == (code, ""), done.err
        assert said in done.err
        assert "Traceback" not in done.err
    assert versions(fuel2) == []
    assert [name for name in sorted(os.listdir(tmp_path)) if not name.startswith("engine.db")] == before
    assert not list(tmp_path.glob("*.plugins/*"))


def test_what_does_not_exist(mitaka: CommandLine) -> None:
    for line in (
        ("show", 7), ("show", "no"), ("remove", 7), ("remove", "no", "1.0.0"), ("sync", 7),
        ("enable", 7, "-e", 1), ("disable", "no", "-e", 1),
    ):  # fmt: skip
        done = mitaka("plugins", *line)
        assert (done.code, done.out) == (5, ""), line


def test_unknown_environment_and_release(mitaka: CommandLine, tmp_path: Path) -> None:
    mitaka.ok("plugins", "install", package(tmp_path, "plug"))
    assert mitaka("plugins", "enable", "plug", "-e", 9).code == 5
    assert mitaka("plugins", "disable", "plug", "-e", 9).code == 5
    assert mitaka("plugins", "show", "plug", "--release", 9).code == 5


def test_the_noun_has_two_spellings(fuel2: CommandLine) -> None:
    assert fuel2.ok("help", "plugin").out == fuel2.ok("help", "plugins").out
    assert "\nusage: fuel2 plugins install" in fuel2.ok("help", "plugin", "install").out
    assert fuel2.ok("plugin", "install", "--help").out == fuel2.ok("plugins", "install", "--help").out
    lines = [line for line in fuel2.ok("help").out.splitlines() if line.startswith("  plugin")]
    assert {line.split()[0] for line in lines} == {"plugins"}
    unknown = fuel2("plugin", "instal-it")
    assert (unknown.code, "Did you mean 'plugins install'?" in unknown.err) == (2, True)
    assert "plugins' is not a complete" in fuel2("plugin").err


def test_a_reader_that_leaves_early_is_no_error(mitaka: CommandLine, tmp_path: Path) -> None:
    tasks = "".join(
        f"- {{id: {'t' * 60}{number}, type: skipped, groups: [a], version: 2.0.0}}\n" for number in range(900)
    )
    source = package(tmp_path, "big", tasks=tasks)
    line = [sys.executable, "-m", "fuelclient.main", "plugins", "check", str(source)]
    script = '"$@" | head -1; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *line], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.stdout.splitlines()[1:] == ["141"]
    assert "Traceback" not in done.stderr


@pytest.mark.corpus
@pytest.mark.parametrize("form", ["directory", "rpm", "fp"])
def test_a_real_plugin(mitaka: CommandLine, tmp_path: Path, form: str) -> None:
    source = tmp_path / "source"
    shutil.copytree(corpus("plugins", "fuel-plugin-detach-rabbitmq"), source)
    path: object = source
    if form != "directory":
        path = mitaka.ok("plugins", "build", source, "--format", form, "--output", tmp_path).out.strip()
    mitaka.ok("plugins", "install", path)
    assert mitaka.ok("plugins", "list", "-f", "value", "-c", "releases").out == "ubuntu (mitaka-9.0, newton-10.0)\n"
    mitaka.ok("plugins", "enable", "detach-rabbitmq", "--env", 1)
    shown = mitaka.ok("plugins", "show", 1, "--release", 1, "-f", "json").json
    assert shown["record"] == "ubuntu mitaka-9.0"
    assert shown["roles"] == mitaka.ok("plugins", "show", 1, "-f", "json").json["roles"]
    assert {row["owner"] for row in [mitaka.ok("role", "show", shown["roles"][0], "-e", 1, "-f", "json").json]}
