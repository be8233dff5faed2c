"""Option groups that commands share. Every option has the specification's spelling and the original client's."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuelclient.backends.base import OwnerRef

ENV = ("-e", "--env", "--environment")
RELEASE = ("-r", "--release")
_UNITS = {"s": 1, "m": 60, "h": 3600}


def identifier(word: str) -> int:
    """The number that `word` is. 0 is a number like any other; whether it exists is the backend's business."""
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(f"'{word}' is not an id, which is a whole number")
    return int(word)


def identifiers(word: str) -> list[int]:
    """The numbers in `1,2`; at least one, because no number at all could be taken for every one of them.

    >>> identifiers("1,2")
    [1, 2]
    """
    return [identifier(part) for part in names(word)]


def names(word: str) -> list[str]:
    """The names in `a,b`, at least one.

    >>> names("controller, cinder,")
    ['controller', 'cinder']
    """
    found = [part.strip() for part in word.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"'{word}' names nothing")
    return found


def seconds(word: str) -> int:
    """The seconds that a time has, which is not nothing: `90`, `90s`, `30m` or `2h`.

    >>> seconds("90"), seconds("30m")
    (90, 1800)
    """
    number, unit = (word[:-1], word[-1]) if word[-1:] in _UNITS else (word, "s")
    if not (number.isascii() and number.isdigit() and int(number[:10]) > 0 and len(number) < 10):
        raise argparse.ArgumentTypeError(f"'{word}' is no time; write 90, 90s, 30m or 2h")
    return int(number) * _UNITS[unit]


def stated(word: str) -> str:
    """`word` as it is, which must not be empty: a script whose variable is not set means something else."""
    if not word.strip():
        raise argparse.ArgumentTypeError(f"'{word}' says nothing; leave the option out, or give it a value")
    return word


def stated_path(word: str) -> Path:
    """The path `word`; an empty one would be the current directory."""
    return Path(stated(word))


def add_executor(parser: argparse.ArgumentParser, help: str) -> None:
    """Add `executor`, a kind of executor or an empty string.

    The metavar is stated because argparse would list all choices while it adds the option, and other packages would be
    searched for kinds by every command that has it.
    """
    from fuelclient.backends import executor_kinds

    parser.add_argument("--executor", default="", metavar="KIND", choices=executor_kinds(), help=f"{help}: %(choices)s")


class _Joined(argparse.Action):
    """Collects `1 2`, `1,2` and repeated options into one list, each number once."""

    def __call__(  # argparse fixes these parameters
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,  # noqa: ARG002
    ) -> None:
        before = getattr(namespace, self.dest, None) or []
        setattr(namespace, self.dest, list(dict.fromkeys([*before, *(one for part in values for one in part)])))


def add_env(parser: argparse._ActionsContainer, *, required: bool, help: str = "id of the environment") -> None:
    """`--env`: `env` is a number or None."""
    parser.add_argument(*ENV, type=identifier, required=required, metavar="ID", dest="env", help=help)


def add_nodes(parser: argparse._ActionsContainer, *, required: bool, help: str) -> None:
    """`--nodes 1 2` or `--nodes 1,2`: `nodes` is a list of numbers, which is not empty, or None."""
    parser.add_argument(
        "-n", "--nodes", "--node", nargs="+", type=identifiers, action=_Joined, required=required, metavar="ID",
        dest="nodes", help=help,
    )  # fmt: skip


def add_roles(parser: argparse._ActionsContainer, *spellings: str, required: bool) -> None:
    """`--roles a b` or `--roles a,b`: `roles` is a list of names, empty where the option is not given."""
    parser.add_argument(
        *spellings, "--roles", "--role", nargs="+", type=names, action=_Joined, required=required, default=[],
        metavar="ROLE", dest="roles", help="roles: controller cinder or controller,cinder",
    )  # fmt: skip


def add_type(parser: argparse._ActionsContainer, *, default: str | None, required: bool = False) -> None:
    """`--type`: `graph_type`."""
    meaning = f" (default: {default})" if default else ""
    parser.add_argument(
        "-t", "--type", "--graph-type", metavar="TYPE", type=stated, dest="graph_type", default=default,
        required=required, help=f"graph type{meaning}",
    )  # fmt: skip


def add_yes(parser: argparse._ActionsContainer) -> None:
    """`--yes`: `yes`."""
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask, the answer is yes")


def add_owner(parser: argparse.ArgumentParser) -> None:
    """Exactly one of `--env`, `--release` and `--plugin`; read it with `owner_of`."""
    group = parser.add_mutually_exclusive_group(required=True)
    add_env(group, required=False, help="the graph of this environment")
    group.add_argument(*RELEASE, type=identifier, metavar="ID", help="the graph of this release")
    group.add_argument("-p", "--plugin", type=identifier, metavar="ID", help="the graph of this plugin")


def add_holder(parser: argparse.ArgumentParser) -> None:
    """Exactly one of `--release` and `--env`: whose roles."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(*RELEASE, type=identifier, metavar="ID", help="id of the release")
    add_env(group, required=False)


def owner_of(parsed_args: argparse.Namespace) -> OwnerRef:
    """The owner that `add_owner` made the user name."""
    from fuelclient.backends.base import OwnerRef
    from fuelclient.model.graph import Level

    if parsed_args.env is not None:
        return OwnerRef(Level.CLUSTER, parsed_args.env)
    if parsed_args.release is not None:
        return OwnerRef(Level.RELEASE, parsed_args.release)
    return OwnerRef(Level.PLUGIN, parsed_args.plugin)


NOUNS = {"cluster": "environment", "release": "release", "plugin": "plugin"}
"""What the command line calls the owners."""


def described(owner: OwnerRef) -> str:
    """An owner in the words of the command line: `environment 1`."""
    return f"{NOUNS[owner.level]} {owner.id}"


def add_source(parser: argparse.ArgumentParser, *, short: bool) -> argparse._ActionsContainer:
    """Exactly one of `--file` (`-` is stdin) and `--dir`, and whatever the caller adds to the returned group."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        *(["-f"] if short else []), "--file", type=stated, metavar="FILE",
        help="YAML or JSON file with the graph; - is stdin",
    )  # fmt: skip
    group.add_argument(
        "-d", "--dir", type=stated_path, metavar="DIR",
        help="directory: every tasks.yaml below it, in sorted order, and its metadata.yaml",
    )  # fmt: skip
    return group
