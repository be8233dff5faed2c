"""Completion: what fits at the cursor, and the scripts in the shells that are installed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2

from fuelclient import main
from fuelclient.commands.completion import answer

BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9
_fuel2 fuel2
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def engine(tiny: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The engine of `tiny`, which the environment names, with a second environment."""
    tiny.ok("env", "create", "lab", "--release", 1)
    monkeypatch.setenv("FUEL_ENGINE", str(tiny.engine))
    return tiny


def words(line: str) -> list[str]:
    """Return what fits at the end of a line; `files` for files."""
    kind, *rows = answer(line.split(" ")).splitlines()
    return [row.partition("\t")[0] for row in rows] if kind == "words" else [kind]


@pytest.mark.parametrize(
    ("line", "fitting"),
    [
        ("gra", ["graph"]),
        ("graph up", ["upload"]),
        ("env deployment-facts up", ["upload"]),
        ("help gra", ["graph"]),
        ("help graph up", ["upload"]),
        ("--debug graph val", ["validate"]),
        ("graph preview --merge-policy o", ["overlay"]),
        ("graph preview --merge-policy=o", ["--merge-policy=overlay"]),
        ("graph upload --file ", ["files"]),
        ("graph upload -f x", ["files"]),
        ("graph upload --dir ", ["directories"]),
        ("plugins check ", ["files"]),
        ("plugins build ", ["directories"]),
        ("--engine ", ["files"]),
        ("nonsense ", []),
        ("graph preview --assume ", []),
    ],
)
def test_words_that_no_engine_decides(line: str, fitting: list[str]) -> None:
    assert words(line) == fitting


def test_options_are_offered_once(engine: CommandLine) -> None:
    assert "--type" in words("graph preview --")
    assert "--type" not in words("graph preview --type default --")
    assert "--node" not in words("graph execute --")  # its long name comes first
    assert words("graph execute --nod") == ["--nodes"]
    assert words("graph preview -- --") == []


@pytest.mark.parametrize(
    ("line", "fitting"),
    [
        ("graph execute --env 1 --type d", ["default"]),
        ("graph execute --env 1 --task-names ne", ["netconfig"]),
        ("graph execute --env 1 --type nothing --task-names ne", []),
        ("graph execute --env 1 --task-names keystone,ne", ["keystone,netconfig"]),
        ("env add nodes --env 1 --roles compute co", ["controller"]),
        ("release show ", ["Tiny"]),
        ("release show 1", ["1"]),
    ],
)
def test_values_come_from_the_engine(engine: CommandLine, line: str, fitting: list[str]) -> None:
    found = words(line)
    assert [word for word in found if word not in ("compute",)] == fitting


@pytest.mark.parametrize("noun", ["graph preview --env ", "env show ", "env delete "])
def test_environments_go_by_id_or_by_name(engine: CommandLine, noun: str) -> None:
    rows = [row.split("\t") for row in answer(noun.split(" ")).splitlines()[1:]]
    assert [{word, *meaning.split()[:1]} for word, meaning in rows] == [{"1", "prod"}, {"2", "lab"}]
    assert "2" in words(f"{noun}2")


def test_nodes_are_those_of_the_environment(engine: CommandLine) -> None:
    assert len(words("graph execute --env 1 --nodes ")) == 2
    assert words("graph execute --env 2 --nodes ") == []
    engine.ok("node", "create", "spare")
    assert len(words("env add nodes --env 2 --nodes ")) == 3
    assert words("graph execute --env 1 --nodes 1,2") == ["1,2"]


def test_another_engine_on_the_line_counts(engine: CommandLine, tmp_path: Path) -> None:
    assert words(f"--engine {tmp_path / 'empty.db'} release show ") == []
    assert not (tmp_path / "empty.db").exists()


@pytest.mark.parametrize("content", ["not a database, but longer than the header of one" * 40, ""])
def test_what_cannot_be_read_offers_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    (tmp_path / "engine.db").write_text(content)
    monkeypatch.setenv("FUEL_ENGINE", str(tmp_path / "engine.db"))
    assert words("release show ") == []
    monkeypatch.setenv("SERVER_ADDRESS", "http://127.0.0.1:9")
    assert words("release show ") == []


def test_names_cannot_forge_lines(engine: CommandLine) -> None:
    with closing(sqlite3.connect(engine.engine)) as connection, connection:
        connection.execute("UPDATE clusters SET status = 'a' || char(10) || 'b' || char(9) || 'c' WHERE id = 2")
        connection.execute("UPDATE nodes SET name = 'forged' || char(10) || '9'")
    assert [line.count("\t") for line in answer(["graph", "preview", "--env", ""]).splitlines()] == [0, 1, 1]
    assert "9" not in words("node show ")


def test_main_answers_as_the_command_does(engine: CommandLine, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["complete", "--words", "release", "show", ""]
    assert main.main(line) == 0
    assert capsys.readouterr().out == engine.ok("-q", *line).out


def in_bash(tmp_path: Path, *line: str, name: str = "fuel2") -> list[str]:
    """Return what bash is offered, with its own division into words."""
    (tmp_path / "script").write_text(fuel2("complete", "--shell", "bash").out)
    path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", str(tmp_path / "script"), name, *line],
        capture_output=True, text=True, check=True, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.usefixtures("engine")
def test_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_bash(tmp_path, "release", "sh") == ["show"]
    assert in_bash(tmp_path, "release", "show", "") == ["Tiny"]
    assert in_bash(tmp_path, "graph", "preview", "--merge-policy", "=", "ov") == ["overlay"]
    (tmp_path / "my file.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert in_bash(tmp_path, "graph", "upload", "--file", "my") == ["my file.yaml"]
    assert in_bash(tmp_path, "graph", "upload", "--file", "=", "my") == ["my file.yaml"]


def test_bash_quotes_names_for_the_line(tmp_path: Path) -> None:
    (tmp_path / "fuel2").write_text("#!/bin/sh\nprintf 'words\\ntwo words\\tmeaning\\n'\n")
    (tmp_path / "fuel2").chmod(0o755)
    assert in_bash(tmp_path, "env", "show", "two") == ["two\\ words"]
    assert in_bash(tmp_path, "env", "show", '"two') == ["two words"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_install_writes_each_line_once(shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    monkeypatch.setattr("fuelclient.commands.complete._BASH_LOADER", "/nonexistent")
    (tmp_path / f".{shell}rc").write_text("# mine, without an end of line")
    for _ in range(2):
        done = fuel2("complete", "--install")
        assert done.code == 0
    path = Path(done.out.split(" was written")[0])
    assert path.read_text() == fuel2("complete", "--shell", shell).out
    lines = (tmp_path / f".{shell}rc").read_text().splitlines()
    assert len(lines) == (1 if shell == "fish" else 2)
    assert all(str(path) in line for line in lines[1:])
    assert str(path) in fuel2("complete", "--uninstall").out
    assert not path.exists()
    assert (tmp_path / f".{shell}rc").read_text().rstrip("\n") == "# mine, without an end of line"
    assert "no completion" in fuel2("complete", "--uninstall", "--shell", shell).out


def test_install_needs_a_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert fuel2("complete", "--install").code == 2
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    done = fuel2("complete", "--install", "--shell", "bash")
    assert done.code not in (0, 2)
    assert str(tmp_path / "file") in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_sound(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(fuel2("complete", "--shell", shell, "--name", "fuel").out)
    done = subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fuel\n" in (tmp_path / "script").read_text() or "complete -c fuel " in (tmp_path / "script").read_text()


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(engine: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(fuel2("complete", "--shell", "fish").out)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    line = f"source {tmp_path / 'script'}; complete -C 'fuel2 release show '"
    done = subprocess.run(["fish", "-c", line], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("Tiny\t")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh(engine: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(fuel2("complete", "--shell", "zsh").out)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    line = f"""compdef() {{ }}; compadd() {{ print -l -- $values }}; source {tmp_path / "script"}
        words=(fuel2 release show '') CURRENT=4; _fuel2"""
    done = subprocess.run(["zsh", "-fc", line], capture_output=True, text=True, check=True, env=environment)
    assert (done.stdout, done.stderr) == ("Tiny\n", "")
