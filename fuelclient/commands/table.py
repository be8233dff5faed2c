"""The command table: every command with its class and its one-line help.

cliff would import the modules of all commands at every start. With this table, help imports nothing, and a command
imports only its own module. The entry points `fuelclient.cli` in setup.cfg serve other programs. Both are
generated from the classes of the commands by docs/reference.py.
"""

from __future__ import annotations

import os

with open(os.path.join(os.path.dirname(__file__), "table.tsv"), encoding="utf-8") as _file:
    COMMANDS = {name: (target, text) for name, target, text in (line.rstrip("\n").split("\t") for line in _file)}
"""Command name -> (module and class, one-line help)."""

ALIASES = {"plugin": "plugins", "environment": "env"}
"""Other spellings of nouns, which the overview does not show."""

PLURALS = {
    "envs": "env", "environments": "env", "graphs": "graph", "nodes": "node", "releases": "release", "roles": "role",
    "sequences": "sequence", "tags": "tag", "tasks": "task",
}  # fmt: skip
"""Plurals of nouns. A plural without a verb lists."""

EXTENSIONS = "fuelclient.extensions"
"""The entry point group in which other packages offer commands.

It is read only for a command that is not in the table, and by `fuel2 help --all`: scanning the metadata of all
installed packages takes longer than most commands.
"""

ORIGINAL = "fuelclient"
"""The entry point group in which packages extend python-fuelclient. Their commands need its classes, so they are named
and not run."""


def verbs(noun: str) -> list[str]:
    """The commands of a noun or of its alias.

    >>> verbs("server")
    ['server run']
    """
    noun = {**ALIASES, **PLURALS}.get(noun, noun)
    return sorted(name for name in COMMANDS if name.split()[0] == noun)
