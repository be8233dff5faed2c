"""What only reads makes no engine file, and says of a named one that it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from fuelclient.main import main

READING = (
    "release list", "env list", "node list", "graph list", "plugins list", "task list",
)  # fmt: skip


@pytest.fixture
def absent(tmp_path: Path) -> CommandLine:
    """`fuel2` with an engine file whose directory is not there either."""
    return CommandLine(tmp_path / "no" / "typo.db")


@pytest.mark.parametrize("line", READING)
def test_reading_makes_nothing_and_names_the_file(absent: CommandLine, tmp_path: Path, line: str) -> None:
    done = absent(*line.split(), "-f", "json")
    assert (done.code, done.out.strip()) == (0, "[]")
    assert done.err.splitlines()[0] == (
        f"Engine file {absent.engine} does not exist yet; it is read as empty. If the name is right, "
        f"'fuel2 --engine {absent.engine} start' shows how to fill it."
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ["env show 1", "graph preview --env 1", "graph download --env 1 --all", "task show 1"])
def test_what_is_not_found_may_be_in_another_file(absent: CommandLine, tmp_path: Path, line: str) -> None:
    done = absent(*line.split())
    assert (done.code, done.out) == (5, "")
    assert done.err.splitlines()[-1].startswith(f"Engine file {absent.engine} does not exist yet")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_environment_names_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FUEL_ENGINE", str(tmp_path / "typo.db"))
    assert main(["env", "list"]) == 0
    assert f"Engine file {tmp_path / 'typo.db'} does not exist yet" in capsys.readouterr().err


def test_nobody_speaks_of_the_file_that_nobody_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("FUEL_ENGINE", "FUELCLIENT_CUSTOM_SETTINGS", "SERVER_ADDRESS", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert main(["graph", "list", "-f", "json", "-q"]) == 0
    assert capsys.readouterr() == ("[]\n", "")
    assert list(tmp_path.iterdir()) == []


def test_the_first_write_makes_it(absent: CommandLine) -> None:
    done = absent.ok("demo", "-q")
    assert "does not exist yet" not in done.err
    assert absent.engine.exists()
    assert absent.ok("env", "list", "-q").err == ""


@pytest.mark.parametrize("noun", ["release", "env", "node", "graph", "plugins", "task"])
def test_an_empty_table_says_what_to_do(absent: CommandLine, noun: str) -> None:
    cause, hint = absent.ok(noun, "list").err.splitlines()
    assert "does not exist yet" in cause
    assert hint.startswith(("There is no ", "There are no ", "No "))
    assert "fuel2 " in hint
