"""The command table, the entry points and the commands agree."""

from __future__ import annotations

import argparse
import configparser
import inspect
from importlib import import_module
from pathlib import Path

import pytest
from failures import failures

from fuelclient.commands.base import Command
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS

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


def test_every_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    def check(name: str) -> None:
        assert FuelShell().run([*name.split(), "--help"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"usage: fuel2 {name}")
        assert err == ""

    assert failures(COMMANDS, check) == {}


def test_every_option_has_a_help_text() -> None:
    def check(name: str) -> None:
        shell = FuelShell()
        parser = command_class(name)(shell, None, cmd_name=name).get_parser(name)
        silent = [action.dest for action in parser._actions if not action.help and action.help != argparse.SUPPRESS]
        assert not silent

    assert failures(COMMANDS, check) == {}
