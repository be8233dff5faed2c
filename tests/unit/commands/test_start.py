"""`fuel2 start`: it finds what a directory holds, and its commands lead to a first preview and nothing else."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from command_line import CommandLine
from command_line import fuel2 as anywhere
from corpus import corpus
from package_trees import task, write_package

TASKS = "- {id: a, type: shell, version: 2.1.0, roles: [web, primary-db], parameters: {cmd: 'true'}}\n"
RELEASES = """
- {name: Old, version: lab-0.9, operating_system: Ubuntu, state: unavailable}
- {name: Lab, version: lab-1.0, operating_system: Ubuntu, roles_metadata: {web: {name: Web}, db: {name: DB}}}
"""


def written(directory: Path, **texts: str) -> Path:
    directory.mkdir(parents=True)
    for name, text in texts.items():
        (directory / f"{name}.yaml").write_text(text, encoding="utf-8")
    return directory


def commands_of(fuel2: CommandLine, path: Path, *more: str) -> list[list[str]]:
    """The proposed commands without the program, after a check that each has its reason above it."""
    given = f"./{path}" if str(path).startswith("-") else path
    lines = fuel2.ok("start", given, *more).out.splitlines()
    assert all(line.startswith("# ") for line in lines[::2])
    called = f"fuel2 --engine {fuel2.engine} "
    assert all(line.startswith(called) for line in lines[1::2])
    return [shlex.split(line.removeprefix(called)) for line in lines[1::2]]


def test_a_release_and_its_tasks(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", release=RELEASES, tasks=TASKS)
    proposed = commands_of(fuel2, here)
    assert [words[:2] for words in proposed] == [
        ["release", "import"], ["graph", "upload"], ["env", "create"], ["graph", "preview"],
    ]  # fmt: skip
    assert not fuel2.engine.exists()
    for words in proposed[:-1]:
        fuel2.ok(*words)
    assert "Lab" in proposed[2]
    assert [row["task"] for row in fuel2.ok(*proposed[-1], "-f", "json").json] == ["a"]


def test_tasks_alone_get_a_release_with_the_roles_that_they_name(fuel2: CommandLine, tmp_path: Path) -> None:
    for path in (written(tmp_path / "graph", tasks=TASKS), tmp_path / "graph" / "tasks.yaml"):
        assert commands_of(fuel2, path)[0][-3:] == ["--roles", "web", "primary-db"]
    done = fuel2.ok("start", tmp_path / "graph", "--yes")
    assert "| a " in done.out
    roles = fuel2.ok("release", "show", "graph", "-f", "json").json["roles_metadata"]
    assert roles == {"web": {"name": "web"}, "db": {"name": "db", "has_primary": True}}


def test_a_plugin_is_enabled_on_a_release_that_it_supports(fuel2: CommandLine, tmp_path: Path) -> None:
    package = write_package(tmp_path / "tool", files={"deployment_tasks.yaml": [task("first")]})
    done = fuel2.ok("start", package, "--yes")
    assert "| first " in done.out
    assert "# what is wrong with the plugin by itself" in done.err


def test_it_stops_at_the_first_command_that_fails(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", release=RELEASES, tasks=TASKS)
    fuel2.ok("start", here, "--yes")
    again = fuel2("start", here, "--yes")
    assert again.code == 6
    assert "graph upload" not in again.err


def test_a_cycle_ends_it_with_the_code_of_the_preview(fuel2: CommandLine, tmp_path: Path) -> None:
    cyclic = "- {id: a, type: shell, version: 2.1.0, roles: [web], requires: [a2], parameters: {cmd: 'true'}}\n"
    other = "- {id: a2, type: shell, version: 2.1.0, roles: [web], requires: [a], parameters: {cmd: 'true'}}\n"
    assert fuel2("start", written(tmp_path / "lab", tasks=cyclic + other), "--yes").code == 7


@pytest.mark.parametrize("name", ["nothing", "missing"])
def test_nothing_is_found(fuel2: CommandLine, tmp_path: Path, name: str) -> None:
    written(tmp_path / "nothing", notes="a: b\n")
    done = fuel2("start", tmp_path / name)
    assert (done.code, done.out) == (5, "")


def test_a_master_is_where_the_commands_begin(tmp_path: Path) -> None:
    nothing, tasks = written(tmp_path / "nothing"), written(tmp_path / "graph", tasks=TASKS)
    master = ("--server", "http://127.0.0.1:1", "start")
    assert "env list" in anywhere(*master, nothing).out
    refused = anywhere(*master, tasks, "--yes")
    assert (refused.code, refused.out) == (2, "")


def test_a_path_is_no_option(fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = written(tmp_path / "-x", tasks=TASKS)
    monkeypatch.chdir(tmp_path)
    assert "./-x" in commands_of(fuel2, Path("./-x"))[1]
    fuel2.ok("start", "./-x", "--yes")
    monkeypatch.chdir(here)
    assert "this directory has a graph" in fuel2.ok("start").err


def test_commands_are_run_or_printed(fuel2: CommandLine, tmp_path: Path) -> None:
    done = fuel2("start", written(tmp_path / "lab", tasks=TASKS), "--yes", "-f", "json")
    assert (done.code, done.out) == (2, "")


def test_for_programs(fuel2: CommandLine, tmp_path: Path) -> None:
    document = fuel2.ok("start", written(tmp_path / "7", tasks=TASKS), "-f", "json").json
    assert document["format_version"] == 1
    assert document["steps"][-1]["command"] == ["graph", "preview", "--env", "lab-7"]


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        (("fuel-library", "9.0"), 0),
        (("plugins", "fuel-plugin-vmware-dvs"), 0),
        (("release-plugins", "fuel_plugin_example_v5_release@365418-ps5"), 0),
        (("fuel-library", "newton", "deployment", "puppet"), 7),  # a task names a role that only facts decide
    ],
)
def test_public_ones_lead_to_a_preview(fuel2: CommandLine, parts: tuple[str, ...], code: int) -> None:
    done = fuel2("start", corpus(*parts), "--yes")
    assert done.code == code
    assert "| order | " in done.out
