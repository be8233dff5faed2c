"""Commands that messages suggest: with the options that name the same engine file or master as this command line."""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import replace
from functools import cache
from typing import Any

from fuelclient.commands.global_options import MASTER_OPTIONS, PROGRAM
from fuelclient.commands.table import COMMANDS
from fuelclient.errors import FuelError


def program(options: argparse.Namespace) -> str:
    """Return how the program was called, for command lines that act on the same target.

    Environment variables and settings files apply to these as well. Secrets are left out, because command lines are
    shown, logged and copied. Without them a command may be refused, but never acts on another target.

    >>> from fuelclient.commands.global_options import global_parser
    >>> program(global_parser().parse_args(["--server", "http://10.20.0.2:8000", "--os-password", "x", "--insecure"]))
    'fuel2 --server http://10.20.0.2:8000 --insecure'
    """
    words = [PROGRAM]
    for option, value in (("--engine", options.engine), ("--server", options.server)):
        words += [option, value] if value else []
    words += ["--local"] * options.local
    for name, spellings, metavar, _ in MASTER_OPTIONS:
        value = getattr(options, name)
        if value is not None and not _is_secret(name):
            words += [spellings[0]] if metavar is None else [spellings[0], value]
    return shlex.join(words)


def aimed(text: str, called: str) -> str:
    """Return a text of ours whose commands begin with `called`, as `program` returns it, instead of the bare program.

    >>> aimed("Run `fuel2 task resume 3`, or ask whoever started fuel2.", "fuel2 --engine 'my engine.db'")
    "Run `fuel2 --engine 'my engine.db' task resume 3`, or ask whoever started fuel2."
    """
    return text if called == PROGRAM else _commands().sub(lambda _: called, text)


def aimed_value(value: Any, called: str) -> Any:
    """Return a finding, or the text of an error, with the commands of its hint as `aimed` returns them, and any other
    value as it is."""
    if called == PROGRAM:
        return value
    from fuelclient.model.finding import Finding

    if isinstance(value, Finding):
        return replace(value, hint=aimed(value.hint, called))
    if isinstance(value, FuelError):
        text = str(value)
        before = text.removesuffix(value.hint)
        return before + aimed(text[len(before) :], called)
    return value


def _is_secret(name: str) -> bool:
    from fuelclient.settings.registry import KNOWN

    return KNOWN[name].secret


_ANYWHERE = ("complete", "help", "plugins build", "plugins check", "plugins create")
"""The commands that act on files only."""


@cache
def _commands() -> re.Pattern[str]:
    """Return the pattern of the program's name where a command follows it that acts on a target."""
    nouns = sorted({re.escape(name.split()[0]) for name in COMMANDS}, reverse=True)
    return re.compile(rf"\b{PROGRAM}(?! (?:{'|'.join(_ANYWHERE)})\b)(?= (?:{'|'.join(nouns)})\b)")
