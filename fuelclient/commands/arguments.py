"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuelclient.commands.references import Reference, has_names, is_id, reference

if TYPE_CHECKING:
    from fuelclient.model.graph import OwnerRef

ENV = ("-e", "--env", "--environment")
RELEASE = ("-r", "--release")
NAMED = "ID|NAME"
"""The placeholder of what has an id and a name."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def identifier(word: str) -> int:
    """Return the number in `word`. 0 is allowed: the backend decides whether the id exists."""
    if not is_id(word):
        raise argparse.ArgumentTypeError(f"'{word}' is not an id, which is a whole number")
    return int(word)


def node_references(word: str) -> list[int | Reference]:
    """Return the nodes in a text such as `1,node-2`. There must be one, because an empty list could mean all nodes.

    >>> node_references("1,2")
    [1, 2]
    """
    return [reference("node")(part) for part in names(word)]


def names(word: str) -> list[str]:
    """Return the names in a text such as `a,b`. There must be one.

    >>> names("controller, cinder,")
    ['controller', 'cinder']
    """
    parts = [part.strip() for part in word.split(",") if part.strip()]
    if not parts:
        raise argparse.ArgumentTypeError(f"'{word}' names nothing")
    return parts


def seconds(word: str) -> int:
    """Return the seconds of a positive duration: `90`, `90s`, `30m`, `2h` or `7d`.

    >>> seconds("90"), seconds("30m")
    (90, 1800)
    """
    number, unit = (word[:-1], word[-1]) if word[-1:] in _UNITS else (word, "s")
    if not (number.isascii() and number.isdigit() and int(number[:10]) > 0 and len(number) < 10):
        raise argparse.ArgumentTypeError(f"'{word}' is not a duration; write 90, 90s, 30m, 2h or 7d")
    return int(number) * _UNITS[unit]


def stated(word: str) -> str:
    """Return `word`, which must not be empty: in a script that means an unset variable."""
    if not word.strip():
        raise argparse.ArgumentTypeError(f"'{word}' is empty; leave the option out, or give it a value")
    return word


def stated_path(word: str) -> Path:
    """Return the path `word`, which must not be empty: that would mean the current directory."""
    return Path(stated(word))


def add_way(parser: argparse.ArgumentParser) -> None:
    """Add how a run reaches its nodes: `executor` and `on_originals`."""
    add_executor(parser, "how to reach all nodes (default: each by its own executor)")
    parser.add_argument(
        "--on-originals", action="store_true",
        help="let a run on a copy (see 'env clone') reach the machines of the original",
    )  # fmt: skip


def add_executor(parser: argparse.ArgumentParser, help: str) -> None:
    """Add `executor`, a kind of executor or an empty string.

    The metavar is stated because argparse would list all choices while it adds the option, and other packages would be
    searched for kinds by every command that has it.
    """
    from fuelclient.backends import executor_kinds

    parser.add_argument("--executor", default="", metavar="KIND", choices=executor_kinds(), help=f"{help}: %(choices)s")


class _Joined(argparse.Action):
    """Collects `1 2`, `1,2` and repeated options into one list without duplicates."""

    def __call__(  # argparse fixes these parameters
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,  # noqa: ARG002
    ) -> None:
        before = getattr(namespace, self.dest, None) or []
        setattr(namespace, self.dest, list(dict.fromkeys([*before, *(item for part in values for item in part)])))


def add_id(parser: argparse.ArgumentParser, noun: str) -> None:
    """Add the id of a `noun`, or its name if it can have one: `id` is a number when the command runs."""
    if has_names(noun):
        parser.add_argument("id", type=reference(noun), metavar=NAMED, help=f"id or name of the {noun}")
    else:
        parser.add_argument("id", type=identifier, metavar="ID", help=f"id of the {noun}")


def add_env(parser: argparse._ActionsContainer, *, required: bool, help: str = "id or name of the environment") -> None:
    """Add `--env`: `env` is a number, or None, when the command runs."""
    parser.add_argument(*ENV, type=reference("environment"), required=required, metavar=NAMED, dest="env", help=help)


def add_nodes(
    parser: argparse._ActionsContainer, *, required: bool, help: str = "ids or names of the nodes: 1 2 or 1,2"
) -> None:
    """Add `--nodes 1 2` or `--nodes 1,2`: `nodes` is a list of at least one number, or None, when the command runs.

    Of several nodes with one name, that of `--env` is meant.
    """
    parser.add_argument(
        "-n", "--nodes", "--node", nargs="+", type=node_references, action=_Joined, required=required, metavar=NAMED,
        dest="nodes", help=help,
    )  # fmt: skip


def add_nodes_or_all(parser: argparse.ArgumentParser, all_of: str) -> None:
    """Add `--nodes` and `--nodes-all`, of which exactly one is needed: `nodes` is None for all nodes."""
    group = parser.add_mutually_exclusive_group(required=True)
    add_nodes(group, required=False)
    group.add_argument("--nodes-all", action="store_true", help=all_of)


def add_roles(parser: argparse._ActionsContainer, *spellings: str, required: bool) -> None:
    """Add `--roles a b` or `--roles a,b`: `roles` is a list of names, empty by default."""
    parser.add_argument(
        *spellings, "--roles", "--role", nargs="+", type=names, action=_Joined, required=required, default=[],
        metavar="ROLE", dest="roles", help="roles: controller cinder or controller,cinder",
    )  # fmt: skip


def add_type(parser: argparse._ActionsContainer, *, default: str | None, required: bool = False) -> None:
    """Add `--type`: `graph_type`."""
    parser.add_argument(
        "-t", "--type", "--graph-type", metavar="TYPE", type=stated, dest="graph_type", default=default,
        required=required, help=f"graph type (default: {default})" if default else "graph type",
    )  # fmt: skip


def add_types(parser: argparse.ArgumentParser, help: str, *, required: bool = False) -> None:
    """Add `--type a b` or `--type a,b`: `graph_types` is a list of lists of names, or None."""
    parser.add_argument(
        "-t", "--type", "--types", "--graph-type", "--graph-types", nargs="+", type=names, action="extend",
        required=required, metavar="TYPE", dest="graph_types", help=help,
    )  # fmt: skip


def add_as_master(parser: argparse._ActionsContainer) -> None:
    """Add `--as-master`: `as_master`."""
    parser.add_argument(
        "--as-master", action="store_true", help="also report what a Fuel master would refuse or do differently"
    )


def add_yes(parser: argparse._ActionsContainer) -> None:
    """Add `--yes`: `yes`."""
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask on a terminal")


def add_owner(parser: argparse.ArgumentParser) -> None:
    """Add `--env`, `--release` and `--plugin`, of which exactly one is needed; `owner_of` reads it."""
    group = parser.add_mutually_exclusive_group(required=True)
    add_env(group, required=False, help="the graph of this environment")
    group.add_argument(*RELEASE, type=reference("release"), metavar=NAMED, help="the graph of this release")
    group.add_argument("-p", "--plugin", type=reference("plugin"), metavar=NAMED, help="the graph of this plugin")


def add_release(
    parser: argparse._ActionsContainer, *, required: bool = True, help: str = "id, name or version of the release"
) -> None:
    """Add `--release`: `release` is a number, or None, when the command runs."""
    parser.add_argument(*RELEASE, type=reference("release"), required=required, metavar=NAMED, help=help)


def add_plugin(parser: argparse.ArgumentParser, *, several: str | None = None) -> None:
    """Add the argument `plugin`, or `plugins` of which there may be as many as `several` says to argparse."""
    parser.add_argument(
        "plugins" if several else "plugin", nargs=several, type=reference("plugin"), metavar=NAMED,
        help="id of the plugin, or its name if only one version is installed",
    )  # fmt: skip


def add_holder(parser: argparse.ArgumentParser) -> None:
    """Add `--release` and `--env`, of which exactly one is needed; `owner_of` reads it."""
    group = parser.add_mutually_exclusive_group(required=True)
    add_release(group, required=False)
    add_env(group, required=False)


def owner_of(parsed_args: argparse.Namespace) -> OwnerRef:
    """Return the owner that the options of `add_owner` or `add_holder` name."""
    from fuelclient.model.graph import Level, OwnerRef

    if parsed_args.env is not None:
        return OwnerRef(Level.CLUSTER, parsed_args.env)
    if parsed_args.release is not None:
        return OwnerRef(Level.RELEASE, parsed_args.release)
    return OwnerRef(Level.PLUGIN, parsed_args.plugin)


NOUNS = {"cluster": "environment", "release": "release", "plugin": "plugin"}
"""What the command line calls each level."""


def described(owner: OwnerRef) -> str:
    """Return an owner in the words of the command line: `environment 1`."""
    return f"{NOUNS[owner.level]} {owner.id}"


def add_source(parser: argparse.ArgumentParser, *, short: bool) -> argparse._ActionsContainer:
    """Add `--file` (`-` is stdin) and `--dir`, of which exactly one is needed, and return their group."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        *(["-f"] if short else []), "--file", type=stated, metavar="FILE",
        help="YAML or JSON file with the graph; - is stdin",
    )  # fmt: skip
    group.add_argument(
        "-d", "--dir", type=stated_path, metavar="DIR",
        help="directory: its metadata.yaml and every tasks.yaml below it, sorted by path",
    )  # fmt: skip
    return group
