"""What commands say to lines that ask for nothing, for too much, or for something else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import GRAPH, CommandLine


def test_a_type_without_an_environment_is_refused(tiny: CommandLine, tmp_path: Path) -> None:
    graph = tmp_path / "graph.yaml"
    graph.write_text(GRAPH, encoding="utf-8")
    done = tiny("graph", "validate", "--file", graph, "--type", "default")
    assert (done.code, done.out) == (2, "")
    assert "--type needs --env" in done.err
    assert tiny("graph", "validate", "--env", 1, "--type", "defualt").code == 5
    assert tiny.ok("graph", "validate", "--env", 1).out == tiny.ok("graph", "validate", "-e", 1, "-t", "default").out


def test_a_picture_has_no_other_format(tiny: CommandLine) -> None:
    done = tiny("graph", "simulate", "--env", 1, "--dot", "-f", "json")
    assert (done.code, done.out) == (2, "")
    assert tiny.ok("graph", "simulate", "--env", 1, "--dot").out.startswith("digraph")


def test_help_of_more_than_a_command_is_refused(tiny: CommandLine) -> None:
    done = tiny("help", "graph", "upload", "extra")
    assert (done.code, done.out) == (2, "")
    assert "fuel2 help graph upload" in done.err


def test_a_redeployment_says_that_it_is_always_forced(tiny: CommandLine) -> None:
    assert "always on in this command" in tiny.ok("help", "env", "redeploy").out
    assert "always on in this command" not in tiny.ok("help", "env", "deploy").out


@pytest.mark.parametrize(("name", "asked", "is_json"), [
    ("a.json", (), True), ("a.yaml", (), False), ("a.txt", (), False), ("b.json", ("--format", "yaml"), False),
])  # fmt: skip
def test_a_download_has_the_format_of_its_name(
    tiny: CommandLine, tmp_path: Path, name: str, asked: tuple[str, ...], is_json: bool
) -> None:
    tiny.ok("graph", "download", "--env", 1, "--all", "--file", tmp_path / name, *asked)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.startswith("#") != is_json
    if is_json:
        assert {one["id"] for one in json.loads(text)} >= {"keystone", "banner"}


def test_missing_node_keeps_the_facts_of_the_others(tiny: CommandLine) -> None:
    done = tiny("node", "delete", 1, 2, 999, "--force")
    assert (done.code, done.err.splitlines()[-1]) == (5, "Node 999 does not exist. Known: 1, 2.")


def test_nodes_without_an_address_are_not_said_to_have_no_role(tiny: CommandLine) -> None:
    tiny.ok("env", "create", "two", "--release", 1)
    tiny.ok("node", "create", "node-3", "--env", 2, "--roles", "compute")
    told = tiny.ok("node", "ansible-inventory", "--env", 2, "--pending").err
    assert "Node 3 (node-3) has no address" in told
    assert "No node has a role" not in told
    tiny.ok("node", "create", "node-4", "--env", 2, "--ip", "10.20.0.9")
    assert "No node has a role" in tiny.ok("node", "ansible-inventory", "--env", 2, "--pending").err


@pytest.mark.parametrize("line", ["plugins show", "role show --env 1", "release create x --version", "release create"])
def test_an_empty_name_is_a_usage_error(tiny: CommandLine, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tiny(*line.split(), "").code == 2
    assert "is empty" in capsys.readouterr().err


def test_a_log_file_that_cannot_be_written_is_named(tiny: CommandLine, tmp_path: Path) -> None:
    done = tiny("env", "list", "--log-file", tmp_path)
    assert (done.code, done.err) == (
        2, f"The log file {tmp_path} cannot be written: is a directory. Name another one.\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    "line", ["engine backup {}/copy.db", "env list --log-file {}/log", "graph download -a --env 1 --file {}/graph.yaml"]
)
def test_an_absent_directory_is_the_same_everywhere(tiny: CommandLine, tmp_path: Path, line: str) -> None:
    done = tiny(*line.format(tmp_path / "nope" / "below").split())
    assert (done.code, done.err) == (5, f"Directory {tmp_path}/nope does not exist. Create it first.\n")


def test_a_loop_of_links_is_a_matter_of_the_path(tiny: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "loop.rpm").symlink_to("loop.rpm")
    done = tiny("plugins", "install", tmp_path / "loop.rpm")
    assert done.code == 3
    assert "[Errno" not in done.err
    assert done.err.splitlines()[-1].endswith("Check the path.")


def test_known_ids_are_ranges(tiny: CommandLine) -> None:
    for number in range(12):
        tiny.ok("node", "create", f"more-{number}")
    assert tiny("node", "show", 999).err == "Node 999 does not exist. Known: 1-14.\n"


def test_a_bad_section_of_settings_names_its_file(tiny: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("storage: 2\n", encoding="utf-8")
    done = tiny("env", "settings", "upload", 1, "--file", path)
    assert (done.code, done.out) == (7, "")
    assert f"{path}:1: error: the section storage of the settings is the number 2, not a mapping [N003]" in done.err
    assert "?" not in tiny("env", "settings", "upload", 1, "--file", path, stdin="y\n", terminal=True).err
    path.write_text("storage: {metadata: {enabled: 3}}\n", encoding="utf-8")
    wrong = tiny("env", "settings", "upload", 1, "--file", path, stdin="y\n", terminal=True)
    assert (wrong.code, "[y/N]" in wrong.err) == (7, False)


def test_lines_are_completed_in_a_bash_without_the_package(tiny: CommandLine) -> None:
    script = tiny.ok("complete").out + (
        'COMP_WORDS=(fuel2 graph upl) COMP_CWORD=2; _fuel2 fuel2; echo "${COMPREPLY[@]}"\n'
        'COMP_WORDS=(fuel2 graph upload --graph-t) COMP_CWORD=3; _fuel2 fuel2; echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "--noprofile"], input=script, capture_output=True, text=True, check=True,
        env={"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.defpath))},
    )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (["upload", "--graph-type"], "")
