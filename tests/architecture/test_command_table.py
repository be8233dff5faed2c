"""The command table, the entry points and the commands agree."""

from __future__ import annotations

import argparse
import configparser
import inspect
from importlib import import_module
from pathlib import Path

import pytest
from failures import failures

from fuelclient.commands.base import Command, MasterOnly
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS, GROUPS, grouped
from fuelclient.main import main

ROOT = Path(__file__).resolve().parents[2]


def command_class(name: str) -> type[Command]:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: type[Command] = getattr(import_module(module), attribute)
    assert issubclass(command, Command)
    return command


def test_entry_points_equal_the_table() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = [line for line in setup["options.entry_points"]["fuelclient.cli"].splitlines() if line.strip()]
    points = {line.partition("=")[0].strip(): line.partition("=")[2].strip() for line in lines}
    assert points == {name.replace(" ", "_"): target for name, (target, _) in COMMANDS.items()}


def test_every_command_has_the_help_that_the_table_promises() -> None:
    def check(name: str) -> None:
        first, _, rest = (inspect.getdoc(command_class(name)) or "").partition("\n")
        assert first == COMMANDS[name][1]
        assert not first.endswith(".")
        assert rest == "" or rest.startswith("\n")

    assert failures(COMMANDS, check) == {}


def test_every_command_prints_its_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def check(name: str) -> None:
        assert FuelShell().run([*name.split(), "--help"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"{COMMANDS[name][1]}\n\nusage: fuel2 {name}" if len(COMMANDS[name][1]) < 80 else "")
        assert err == ""
        assert [line for line in out.splitlines() if len(line) > 80] == []
        first_screen = " ".join(out.splitlines()[:24])
        assert f"fuel2 {name}" in first_screen.partition("examples:")[2]

    monkeypatch.setenv("COLUMNS", "200")  # a wide terminal makes no difference
    assert failures(COMMANDS, check) == {}


def test_the_overview_and_the_lists_of_nouns_have_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    nouns = sorted({name.split()[0] for name in COMMANDS})
    for words in ([], *([noun] for noun in nouns)):
        assert main(["help", *words]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


def test_every_command_has_a_group() -> None:
    groups = grouped(COMMANDS)
    assert [*groups] == [*GROUPS]
    assert sorted(name for names in groups.values() for name in names) == sorted(COMMANDS)
    beginnings = [words for group in GROUPS.values() for words in group]
    assert len(beginnings) == len(set(beginnings))
    assert [words for words in beginnings if not any(f"{name} ".startswith(f"{words} ") for name in COMMANDS)] == []


def test_what_only_a_master_has_is_in_a_group_of_its_own() -> None:
    needing = {name for name in COMMANDS if issubclass(command_class(name), MasterOnly)}
    assert needing == set(grouped(COMMANDS)["Only with a Fuel master"])


def test_every_option_has_a_help_text() -> None:
    def check(name: str) -> None:
        shell = FuelShell()
        parser = command_class(name)(shell, None, cmd_name=name).get_parser(name)
        silent = [action.dest for action in parser._actions if not action.help and action.help != argparse.SUPPRESS]
        assert not silent

    assert failures(COMMANDS, check) == {}
