"""What the options and arguments of each command take: generated from the parsers, read when a line is completed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

FILE, DIRECTORY, COMMAND = "file", "directory", "command"

_BY_SPELLING = {
    "--env": "environment",
    "--release": "release",
    "--plugin": "plugin",
    "--node": "node",
    "--nodes": "node",
    "--type": "type",
    "--task-names": "task",
    "--tasks-names": "task",
    "--fail": "task",
    "--role": "role",
    "--roles": "role",
    "--engine": FILE,
    "--dir": DIRECTORY,
    "--directory": DIRECTORY,
}
_BY_METAVAR = {
    "FILE": FILE,
    "PATH": FILE,
    "FILE|DIR": FILE,
    "DIR": DIRECTORY,
    "TASK/NODE": "instance",
    "TASK": "task",
    "A": "task",
    "B": "task",
}
_BY_ARGUMENT = {"env": "environment", "plugin": "plugin", "plugins": "plugin", "command": COMMAND}
_BY_COMMAND = {"env": "environment", "task": "run", "plugins": "plugin"}
_WITH_ID = ("release", "node", "sequence")


@dataclass(frozen=True, slots=True)
class Argument:
    """An option, or a positional argument, which has no spellings.

    `takes` is what its value names (a noun of `backends.names`, a file, a directory, a command), or empty. `named` says
    whether a name is accepted besides an id. A flag takes no value.
    """

    spellings: tuple[str, ...] = ()
    help: str = ""
    takes: str = ""
    choices: tuple[str, ...] = ()
    named: bool = False
    flag: bool = False
    several: bool = False


@cache
def known() -> Mapping[str, tuple[Argument, ...]]:
    """Return the arguments of each command by its name; those that may be anywhere on the line have an empty one."""
    text = Path(__file__).with_name("options.json").read_text(encoding="utf-8")
    return {name: tuple(_read(stated) for stated in arguments) for name, arguments in json.loads(text).items()}


def _read(stated: dict[str, Any]) -> Argument:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in stated.items()}
    return Argument(**values)


def dumped(commands: Mapping[str, Iterable[argparse.Action]]) -> str:
    """Return the text of `options.json` for the actions of each command: one line for each, so that differences can be
    read."""
    lines = []
    for name, actions in sorted(commands.items()):
        arguments = [_stated(described(name, action)) for action in actions if action.help != "==SUPPRESS=="]
        lines.append(f"{json.dumps(name)}: {json.dumps(arguments)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _stated(argument: Argument) -> dict[str, Any]:
    return {key: value for key, value in asdict(argument).items() if value}


def described(command: str, action: argparse.Action) -> Argument:
    """Return what completion has to know of an action of a command's parser."""
    return Argument(
        tuple(action.option_strings),
        _brief(action.help or "") if action.option_strings else "",
        _takes(command, action),
        tuple(map(str, action.choices or ())),
        "NAME" in str(action.metavar),
        bool(action.option_strings) and action.nargs == 0,
        action.nargs in ("+", "*"),
    )


def _takes(command: str, action: argparse.Action) -> str:
    if action.choices or action.nargs == 0:
        return ""
    for spelling in action.option_strings:
        if spelling in _BY_SPELLING:
            return _BY_SPELLING[spelling]
    noun = command.partition(" ")[0]
    if "--name" in action.option_strings and noun == "role" and not command.endswith("create"):
        return "role"
    if str(action.metavar) in _BY_METAVAR:
        return _BY_METAVAR[str(action.metavar)]
    if action.option_strings:
        return ""
    if action.dest in ("id", "ids"):
        return _BY_COMMAND.get(noun, noun if noun in _WITH_ID else "")
    return _BY_ARGUMENT.get(action.dest, "")


def _brief(text: str) -> str:
    """Return the first clause of a help text.

    >>> _brief("ids of the nodes: 1 2 or 1,2")
    'ids of the nodes'
    """
    for end in (": ", "; ", ". ", " ("):
        text = text.partition(end)[0]
    return "" if "%(" in text else " ".join(text.split())
