"""`fuel2 start`: it finds what a directory holds, and its commands lead to a first preview and nothing else."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from command_line import fuel2 as anywhere
from corpus import corpus
from package_trees import task, write_package
from scripted_master import scripted

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
    assert "Lab lab-1.0" in proposed[2]
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


def test_a_plugin_is_tried_on_a_release_that_is_there(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "own", "--multi-release")
    fuel2.ok("release", "create", "Newton", "--version", "newton-10.0", "--operating-system", "Ubuntu")
    steps = fuel2.ok("start", tmp_path / "own").out
    assert "release create" not in steps
    assert "'Newton newton-10.0'" in steps


def test_a_plugin_that_supports_no_release_is_checked(fuel2: CommandLine, tmp_path: Path) -> None:
    metadata = 'name: tool\ntitle: Tool\nversion: 1.0.0\npackage_version: "5.0.0"\nreleases: []\n'
    here = written(tmp_path / "tool", metadata=metadata)
    assert commands_of(fuel2, here) == [["plugins", "check", str(here)]]
    assert fuel2("start", here, "--yes").code == 7


def test_it_stops_at_the_first_command_that_fails(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", release=RELEASES, tasks=TASKS)
    fuel2.ok("release", "create", "Old", "--version", "lab-0.9")
    refused = fuel2("start", here, "--yes")
    assert refused.code == 6
    assert "graph upload" not in refused.err


def test_only_what_is_left_is_proposed(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", release=RELEASES, tasks=TASKS)
    for words in commands_of(fuel2, here)[:-1]:
        fuel2.ok(*words)
    assert [words[:2] for words in commands_of(fuel2, here)] == [["graph", "preview"]]
    (here / "tasks.yaml").write_text(TASKS.replace("true", "false"), encoding="utf-8")
    assert [words[:2] for words in commands_of(fuel2, here)] == [["graph", "upload"], ["graph", "preview"]]
    assert "| a " in fuel2.ok("start", here, "--yes").out
    fuel2.ok("env", "delete", "lab", "--yes")
    assert [words[:2] for words in commands_of(fuel2, here)] == [["env", "create"], ["graph", "preview"]]


def test_a_plugin_is_installed_and_enabled_once(fuel2: CommandLine, tmp_path: Path) -> None:
    package = write_package(tmp_path / "tool", files={"deployment_tasks.yaml": [task("first")]})
    done = fuel2.ok("start", package, "--yes")
    assert "To use it" not in done.err
    assert "Target:" not in done.err
    assert "1 task, 1 instance" in done.err
    assert [words[:2] for words in commands_of(fuel2, Path(package))] == [["graph", "preview"], ["plugins", "check"]]


def test_directories_of_one_name_have_releases_of_their_own(fuel2: CommandLine, tmp_path: Path) -> None:
    for parent, task_id in (("x", "a"), ("y", "b")):
        here = written(tmp_path / parent / "lab", tasks=TASKS.replace("id: a", f"id: {task_id}"))
        for _ in range(2):  # the second time, only the preview is left
            assert f"| {task_id} " in fuel2.ok("start", here, "--yes").out
    assert [row["name"] for row in fuel2.ok("release", "list", "-f", "json").json] == ["lab", "lab-2"]


def test_a_graph_beside_its_metadata_is_not_part_of_the_default_one(fuel2: CommandLine, tmp_path: Path) -> None:
    here = tmp_path / "library"
    written(here / "puppet" / "module", tasks=TASKS)
    written(here / "graphs" / "wipe", tasks=TASKS, metadata="name: wipe\n")
    done = fuel2.ok("start", here, "--yes")
    assert "| a " in done.out
    assert f"{here / 'graphs' / 'wipe'} has a graph of another type." in done.err
    assert "a graph of 1 task," in fuel2.ok("start", here / "graphs").err
    written(here / "graphs" / "scan", tasks=TASKS, metadata="name: scan\n")
    assert [words[-1] for words in commands_of(fuel2, here / "graphs")] == [
        str(here / "graphs" / name) for name in ("scan", "wipe")
    ]


@pytest.mark.parametrize(("name", "text"), [("release", "- {name: Lab\n"), ("module/tasks", "- id: [\n")])
def test_what_is_broken_beside_good_files_is_named_with_its_line(
    fuel2: CommandLine, tmp_path: Path, name: str, text: str
) -> None:
    here = written(tmp_path / "lab", tasks=TASKS)
    (here / name).parent.mkdir(exist_ok=True)
    (here / f"{name}.yaml").write_text(text, encoding="utf-8")
    done = fuel2.ok("start", here)
    assert f"{here / name}.yaml:" in done.err
    assert "[G001]" in done.err
    assert "graph upload" in done.out
    (here / "tasks.yaml").unlink()
    assert fuel2("start", here).code == 7


def test_invalid_tasks_are_named_before_anything_is_run(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", tasks=TASKS + "- {id: b, type: nonsense, roles: [web]}\n")
    assert f"{here / 'tasks.yaml'}:2: error:" in fuel2.ok("start", here).err


def test_more_than_one_preview_holds_is_not_mixed(fuel2: CommandLine, tmp_path: Path) -> None:
    here = tmp_path / "all"
    written(here / "old", release=RELEASES, tasks=TASKS)
    written(here / "new", release=RELEASES, tasks=TASKS)
    for number in range(14):
        write_package(here / f"plugin-{number:02}", files={"deployment_tasks.yaml": [task("first")]})
    done = fuel2.ok("start", here)
    assert "14 plugins" in done.err
    assert "2 release files" in done.err
    assert "Look at one of its 16 parts" in done.err
    assert len(done.out.splitlines()) == 24
    assert "# 1 release file, 1 task file" in done.out
    refused = fuel2("start", here, "--yes")
    assert (refused.code, refused.out) == (2, "")
    assert not fuel2.engine.exists()


def test_a_release_that_all_plugins_support_is_proposed(fuel2: CommandLine, tmp_path: Path) -> None:
    newton, mitaka = ({"os": "ubuntu", "version": each, "mode": ["ha"]} for each in ("newton-10.0", "mitaka-9.0"))
    for name, releases in (("one", [mitaka, newton]), ("two", [newton, mitaka]), ("three", [newton])):
        write_package(tmp_path / "all" / name, name, releases=releases)
    proposed = "fuel2 release create lab --version newton-10.0 --operating-system Ubuntu"
    assert f"All of its plugins support ubuntu newton-10.0: `{proposed}`." in fuel2.ok("start", tmp_path / "all").err
    write_package(tmp_path / "all" / "four", "four", releases=[mitaka])
    assert "All of its plugins" not in fuel2.ok("start", tmp_path / "all").err


def test_a_graph_with_another_name_is_found_in_a_directory(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", notes="a: b\n", upgrade=TASKS)
    assert ["--file", str(here / "upgrade.yaml")] == commands_of(fuel2, here)[1][-3:-1]
    assert "| a " in fuel2.ok("start", here, "--yes").out
    (here / "downgrade.yaml").write_text(TASKS, encoding="utf-8")
    assert [Path(words[1]).name for words in commands_of(fuel2, here)] == ["downgrade.yaml", "upgrade.yaml"]


def test_a_release_without_tasks_says_what_is_missing(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", release=RELEASES)
    assert [words[:2] for words in commands_of(fuel2, here)] == [["release", "import"]]
    done = fuel2.ok("start", here, "--yes")
    assert "it has no tasks" in done.err
    assert "graph upload --release 'Lab lab-1.0' --type default --dir DIR" in done.err
    assert [words[:2] for words in commands_of(fuel2, here)] == [["release", "show"]]
    fuel2.ok("graph", "upload", "--release", "Lab", "--file", "-", stdin=TASKS)
    assert [words[:2] for words in commands_of(fuel2, here)] == [["env", "create"], ["graph", "preview"]]


@pytest.mark.parametrize("name", ["my lab", "lábor", "-x", "it's", "7", "a,b", "$HOME"])
def test_its_commands_work_when_pasted(
    fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    written(tmp_path / name, tasks=TASKS)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for words in commands_of(fuel2, Path("..", name)):
        done = fuel2.ok(*words)
    assert "| a " in done.out


def test_a_cycle_ends_it_with_the_code_of_the_preview(fuel2: CommandLine, tmp_path: Path) -> None:
    cyclic = "- {id: a, type: shell, version: 2.1.0, roles: [web], requires: [a2], parameters: {cmd: 'true'}}\n"
    other = "- {id: a2, type: shell, version: 2.1.0, roles: [web], requires: [a], parameters: {cmd: 'true'}}\n"
    assert fuel2("start", written(tmp_path / "lab", tasks=cyclic + other), "--yes").code == 7


def test_what_cannot_be_read_to_its_end_is_left_out(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", tasks=TASKS)
    (here / "x" / "metadata.yaml").mkdir(parents=True)
    for name in ("openstack.yaml", "y/metadata.yaml", "y/tasks.yaml"):
        (here / name).parent.mkdir(exist_ok=True)
        os.mkfifo(here / name)
    (here / "release.yaml").symlink_to("nowhere")
    done = fuel2.ok("start", here)
    assert f"File {here / 'release.yaml'} does not exist." in done.err
    assert "a graph of 1 task," in done.err
    assert fuel2("start", here / "openstack.yaml").code == 5
    assert (refused := fuel2("start", "x" * 300)).code in (3, 5)
    assert "unexpected" not in refused.err


def test_a_search_has_an_end(fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walked: Iterator[object] = iter((str(tmp_path), [], []) for _ in range(10**9))
    monkeypatch.setattr("os.walk", lambda _: walked)
    before = time.process_time()
    assert fuel2("start", tmp_path).code == 5
    assert time.process_time() - before < 5


def test_installed_copies_and_what_an_engine_keeps_are_no_parts(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "home", tasks=TASKS)
    written(here / "venv" / "examples", tasks=TASKS)
    (here / "venv" / "pyvenv.cfg").touch()
    written(here / "lab.db.plugins" / "kept-1.0", tasks=TASKS)
    (here / "lab.db").touch()
    (here / "lab.db.lock").touch()
    assert "has a graph of" in fuel2.ok("start", here).err


def test_a_task_file_without_a_task_says_why(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "lab", tasks="- {id: a, type: shell, roles: 5}\n")
    done = fuel2("start", here)
    assert (done.code, done.out) == (5, "")
    assert f"{here / 'tasks.yaml'}:1: error: task a: roles must be a list of names" in done.err


def test_names_from_files_become_no_options_and_move_no_cursor(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "\x1b[2Jlab", tasks=TASKS.replace("web,", 'web, "--yes", "\\e[2J", "a b",'))
    assert commands_of(fuel2, here)[0][-4:] == ["--roles", "web", "a b", "primary-db"]
    done = fuel2.ok("start", here)
    assert "\x1b" not in done.out + done.err
    assert "\\x1b[2Jlab" in done.out


@pytest.mark.parametrize("name", ["nothing", "missing"])
def test_nothing_is_found(fuel2: CommandLine, tmp_path: Path, name: str) -> None:
    written(tmp_path / "nothing", notes="a: b\n")
    done = fuel2("start", tmp_path / name)
    assert (done.code, done.out) == (5, "")


def test_settings_are_no_parts_but_lead_to_a_master(fuel2: CommandLine, tmp_path: Path) -> None:
    here = written(tmp_path / "own", fuel_client="SERVER_ADDRESS: 10.20.0.2\n")
    done = fuel2("start", here)
    assert (done.code, done.out) == (5, "")
    assert f"FUELCLIENT_CUSTOM_SETTINGS={here}/fuel_client.yaml fuel2 " in done.err


def test_a_master_is_where_the_commands_begin(tmp_path: Path) -> None:
    nothing, tasks = written(tmp_path / "nothing"), written(tmp_path / "graph", tasks=TASKS)
    master = ("--server", "http://127.0.0.1:1", "start")
    assert "env list" in anywhere(*master, nothing).out
    refused = anywhere(*master, tasks, "--yes")
    assert (refused.code, refused.out) == (2, "")


def test_first_steps_on_a_master_are_those_that_it_takes(tmp_path: Path) -> None:
    refused = ("plugins install", "node import", "node create", "fuel2 demo")
    with scripted({"GET clusters": [], "GET nodes": [], "GET plugins": [], "GET releases": []}) as master:
        for line in ("env list", "node list", "plugins list", "plugins show x", "release list", "release show x"):
            told = anywhere("--server", master.url, *line.split()).err
            assert (line, "no " in told and " yet" in told, [each for each in refused if each in told]) == (
                line,
                True,
                [],
            )


def test_a_plugin_is_installed_on_the_machine_of_its_server(tmp_path: Path) -> None:
    write_package(tmp_path / "plug", tasks=[task("a")])
    done = anywhere("--server", "http://127.0.0.1:1", "start", tmp_path / "plug")
    assert ("Install it on the server's machine" in done.err, "plugins install" in done.out) == (True, False)
    assert "plugins enable" in done.out


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
        (("fuel-library", "newton"), 7),
    ],
)
def test_public_ones_lead_to_a_preview(fuel2: CommandLine, parts: tuple[str, ...], code: int) -> None:
    done = fuel2("start", corpus(*parts), "--yes")
    assert done.code == code
    assert "| order | " in done.out


def test_the_whole_of_the_corpus_is_told_in_few_lines(fuel2: CommandLine) -> None:
    done = fuel2.ok("start", corpus())
    assert len((done.out + done.err).splitlines()) < 30
    assert "2 release files" in done.err
    assert all(fuel2("start", *words[1:]).code == 0 for words in commands_of(fuel2, corpus()))
