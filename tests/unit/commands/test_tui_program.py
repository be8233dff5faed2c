"""The command lines of the UI act on what the UI acts on: every option that names it is in them, and no secret."""

from __future__ import annotations

import argparse
import shlex

import pytest

from fuelclient.commands.global_options import MASTER_OPTIONS, global_parser
from fuelclient.commands.shell import program
from fuelclient.settings.registry import KNOWN

NEVER_SHOWN = "s3cr et"


def parsed(*words: str) -> argparse.Namespace:
    return global_parser().parse_args(list(words))


def given(spellings: tuple[str, ...], metavar: str | None, value: str) -> list[str]:
    return [spellings[-1]] if metavar is None else [spellings[-1], value]


PLACES = [
    [],
    ["--engine", "/srv/two words/engine.db"],
    ["--server", "http://10.20.0.2:8000"],
    ["--local"],
    ["--engine", "engine.db", "--local"],
    *(given(spellings, metavar, "a 'b' $c") for name, spellings, metavar, _ in MASTER_OPTIONS
      if not KNOWN[name].secret),
]  # fmt: skip


@pytest.mark.parametrize("words", PLACES, ids=" ".join)
def test_it_is_called_again_as_it_was(words: list[str]) -> None:
    options = parsed(*words)
    line = shlex.split(program(options))
    assert line[0] == "fuel2"
    assert parsed(*line[1:]) == options


def test_all_at_once_without_the_password() -> None:
    words = ["--server", "https://fuel.example:8443"]
    for _, spellings, metavar, _ in MASTER_OPTIONS:
        words += given(spellings, metavar, NEVER_SHOWN if "--os-password" in spellings else "value")
    options = parsed(*words)
    assert options.OS_PASSWORD == NEVER_SHOWN
    line = program(options)
    assert NEVER_SHOWN not in line
    assert "--os-password" not in line
    options.OS_PASSWORD = None
    assert parsed(*shlex.split(line)[1:]) == options
