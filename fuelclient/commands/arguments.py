"""Options that several commands share, and how their values are read.

Environments, releases, nodes, plugins and sequences are named by id or by name. A number is always an id. A name is
looked up right before the command runs, so that every command only sees ids; a name that several things share is
refused with their ids.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuelclient.errors import FIRST_STEPS, FuelError, NotFound, UsageError
from fuelclient.similar import is_id, normal

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.graph import OwnerRef

ENV = ("-e", "--env", "--environment")
BY_OPTION = "by_option"
"""Where argparse keeps the option that stands for the first argument of a command, see `argument_or_option`."""
OUTPUT_SPELLINGS = ("-o", "--output")
"""The option for the file of a result; older spellings such as `--file` stay beside it."""
RELEASE = ("-r", "--release")
ID_NAME = "ID|NAME"
"""The placeholder of a value that is an id or a name."""

_NOT_NODES = ("master", "null", "-")
"""Words that can take the place of a node in a task instance, but are not names of nodes."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a `noun`, which `resolve` replaces by the id, or by `prefix` + id if there is a `prefix`."""

    noun: str
    name: str
    prefix: str | None = None


def reference(noun: str) -> Callable[[str], int | Reference]:
    """The argparse type of an argument that takes the id or the name of a `noun`."""

    def read(word: str) -> int | Reference:
        if not word.strip():
            raise argparse.ArgumentTypeError(f"'{word}' is empty; name the {noun} or give its id")
        return int(word) if is_id(word) else Reference(noun, word.strip())

    return read


def instance(word: str) -> str | Reference:
    """Read TASK/NODE or TASK@NODE; the name of a node becomes a `Reference`. Other texts are returned unchanged.

    >>> instance("netconfig/3"), instance("netconfig@master"), instance("a@b/3")
    ('netconfig/3', 'netconfig/master', 'a@b/3')
    >>> instance("netconfig/node-1")
    Reference(noun='node', name='node-1', prefix='netconfig/')
    """
    if not word.strip():
        raise argparse.ArgumentTypeError(f"'{word}' is empty; write TASK/NODE")
    word = word if "/" in word else "/".join(word.rsplit("@", 1))
    task, slash, node = word.rpartition("/")
    return Reference("node", node, f"{task}/") if slash and task and _is_name(node) else word


def node_words(word: str) -> list[str | Reference]:
    """Read `1,master,node-3` as the texts that filters take.

    >>> node_words("1,master,node-3")
    ['1', 'master', Reference(noun='node', name='node-3', prefix='')]
    """
    return [Reference("node", part, "") if _is_name(part) else part for part in names(word)]


def _is_name(node: str) -> bool:
    return bool(node) and not is_id(node) and node not in _NOT_NODES


def resolve(parsed_args: argparse.Namespace, backend: Callable[[], Backend], spelled: dict[str, str]) -> None:
    """Replace all references among the arguments by ids; `backend` is called only if there are any.

    If a node is among them, put the names of all nodes into `spelled`, for the messages that answer, by what these call
    them (`node 7`); and so for environments.

    Raise `NotFound` for an unknown name, and `UsageError` with the ids for a name that several things share.
    """
    lookup = _Lookup(parsed_args, backend, spelled)
    arguments = vars(parsed_args)
    for name in sorted(arguments, key=lambda name: name not in ("env", "release")):  # the others may depend on these
        setattr(parsed_args, name, lookup.resolved(arguments[name]))


_LONGEST_RANGE, _MOST_NODES = 20, 10_000
"""Of how many characters a range of nodes may be, and how many nodes a filter takes from one."""


class _Lookup:
    """What the references of one command line name. The things of a noun are listed once."""

    def __init__(
        self, parsed_args: argparse.Namespace, backend: Callable[[], Backend], spelled: dict[str, str]
    ) -> None:
        self.parsed_args = parsed_args
        self.backend = backend
        self.spelled = spelled
        self.named = cache(self._named)

    def resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            single = [each for part in value for each in self._single_nodes(part)]
            parts = [self.resolved(part) for part in single]
            if parts == value or any(isinstance(part, list) for part in parts):
                return parts
            return list(dict.fromkeys(parts))  # a name and an id may be the same thing
        if not isinstance(value, Reference):
            return value
        number = self._id_of(value)
        return number if value.prefix is None else f"{value.prefix}{number}"

    def _named(self, noun: str) -> list[tuple[Any, list[str]]]:
        """The things of a noun, each with its names."""
        facet, patterns, _ = _NAMED_NOUNS[noun]
        things = getattr(self.backend(), facet).list()
        return [(thing, [pattern.format(thing) for pattern in patterns]) for thing in things]

    def _single_nodes(self, part: Any) -> list[Any]:
        """The ids in a range of nodes such as `6-9`, as messages print them; anything else, and a name, as it is."""
        if not isinstance(part, Reference) or part.noun != "node" or part.prefix:
            return [part]
        first, _, last = part.name.partition("-")
        if not (is_id(first) and is_id(last) and len(part.name) < _LONGEST_RANGE):
            return [part]
        nodes = [node for node, _ in self.named("node")]
        if any(node.name == part.name for node in nodes):
            return [part]
        # one id too many is enough to be refused; filters also take those of nodes that are gone
        above = max((node.id for node in nodes), default=0) + 1 if part.prefix is None else int(first) + _MOST_NODES
        numbers = range(int(first), min(int(last), above) + 1)
        return [number if part.prefix is None else str(number) for number in numbers] or [part]

    def _id_of(self, wanted: Reference) -> int:
        noun, name, named = wanted.noun, wanted.name, self.named(wanted.noun)
        if noun == "plugin" and getattr(self.parsed_args, "version", None):
            name = f"{name} {self.parsed_args.version}"
        matching = [thing for thing, names in named if name in names]
        if not matching:
            matching = [thing for thing, names in named if normal(name) in map(normal, names)]
        if len(matching) != 1:
            preferred = _preferred(noun, self.parsed_args, self.backend())
            matching = [thing for thing in matching if thing.id in preferred] or matching
        if not matching:
            fitting = [own[0] for thing, own in named if thing.id in preferred]
            if name != wanted.name:  # of a plugin, what stands in the place of the version is wrong, too
                fitting = [own[2] for _, own in named if wanted.name in own]
            if noun == "plugin" and os.path.isdir(name):
                raise NotFound(noun, name, hint=f"There is a directory of that name: write ./{name}.")
            known = list(dict.fromkeys(fitting or (own[0] for _, own in named)))
            raise NotFound(noun, name, known=known, hint="" if named else FIRST_STEPS[noun])
        if len(matching) > 1:
            ids = ", ".join(f"{thing.id} ({_NAMED_NOUNS[noun][2].format(thing)})" for thing in matching)
            ids = ids.replace("in environment None", "in no environment")
            raise UsageError(f"Several {noun}s are named {name}: {ids}.", hint="Use an id.")
        if noun in ("node", "environment"):
            master = {"node master": "master"} if noun == "node" else {}
            self.spelled.update(master, **{f"{noun} {thing.id}": thing.name for thing, _ in named})
        number: int = matching[0].id
        return number


def _preferred(noun: str, parsed_args: argparse.Namespace, backend: Backend) -> set[int]:
    """The ids to prefer among things of the same name: those in the environment or release of the command line.

    Empty for a command that sets `elsewhere`, because the things that it names do not belong there yet.
    """
    env, release = getattr(parsed_args, "env", None), getattr(parsed_args, "release", None)
    if getattr(parsed_args, "elsewhere", False):
        return set()
    if noun == "sequence" and (env is not None or release is not None):
        return {sequence.id for sequence in backend.sequences.list(release_id=release, cluster_id=env)}
    if env is None or noun not in ("node", "plugin"):
        return set()
    return {thing.id for thing in (backend.nodes.list(env) if noun == "node" else backend.plugins.enabled(env))}


_NAME = ("{0.name}",)
_NAMED_NOUNS = {
    "environment": ("clusters", _NAME, "release {0.release_id}"),
    "release": ("releases", ("{0.name}", "{0.version}", "{0.name} {0.version}"), "{0.name}, {0.version}, {0.state}"),
    "node": ("nodes", _NAME, "in environment {0.cluster_id}"),
    "plugin": ("plugins", ("{0.name}", "{0.label}", "{0.name} {0.version}", "{0.name}=={0.version}"), "{0.version}"),
    "sequence": ("sequences", _NAME, "of release {0.release_id}"),
}
"""For each noun: the facet of a backend that lists such things, the formats of their names, and the format of a detail
that distinguishes things of the same name."""


def kinds_named(name: str, backend: Backend) -> list[str]:
    """The nouns among environment, release and plugin of which something has this name.

    An unreachable backend knows no names: this only improves messages.
    """
    found = []
    with suppress(FuelError):
        for noun in ("environment", "release", "plugin"):
            facet, patterns, _ = _NAMED_NOUNS[noun]
            if any(name == pattern.format(each) for each in getattr(backend, facet).list() for pattern in patterns):
                found.append(noun)
    return found


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def identifier(word: str) -> int:
    """The number in `word`. 0 is allowed: the backend decides whether the id exists."""
    if not is_id(word):
        raise argparse.ArgumentTypeError(f"'{word}' is not an id, which is a whole number")
    return int(word)


def node_references(word: str) -> list[int | Reference]:
    """The nodes in a text such as `1,node-2`. At least one is required, because an empty list could mean all nodes.

    >>> node_references("1,2")
    [1, 2]
    """
    return [reference("node")(part) for part in names(word)]


def names(word: str) -> list[str]:
    """The names in a text such as `a,b`. At least one is required.

    >>> names("controller, cinder,")
    ['controller', 'cinder']
    """
    if not (parts := [part.strip() for part in word.split(",") if part.strip()]):
        raise argparse.ArgumentTypeError(f"'{word}' names nothing")
    return parts


def seconds(word: str) -> int:
    """The seconds of a positive duration: `90`, `90s`, `30m`, `2h` or `7d`.

    >>> seconds("90"), seconds("30m")
    (90, 1800)
    """
    number, unit = (word[:-1], word[-1]) if word[-1:] in _UNITS else (word, "s")
    if not (number.isascii() and number.isdigit() and int(number[:10]) > 0 and len(number) < 10):
        raise argparse.ArgumentTypeError(f"'{word}' is not a duration; write 90, 90s, 30m, 2h or 7d")
    return int(number) * _UNITS[unit]


def nonempty(word: str) -> str:
    """Return `word`, but refuse an empty one: in a script it is usually an unset variable."""
    if not word.strip():
        raise argparse.ArgumentTypeError(f"'{word}' is empty; leave the option out, or give it a value")
    return word


def json_value(word: str) -> Any:
    import json  # few commands need it

    try:
        return json.loads(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{word}' is not JSON: {error}") from None


def nonempty_path(word: str) -> Path:
    """Read a path, but refuse an empty one, which would mean the current directory."""
    return Path(nonempty(word))


Argument = Callable[[argparse._ActionsContainer], object]
"""A function that adds an argument or an option to a parser, or to a group of a parser."""

Arguments = tuple[Argument, ...]


def option(*spellings: str, **keywords: Any) -> Argument:
    """An option, or an argument, with the keywords of `argparse.ArgumentParser.add_argument`.

    Without a type, an empty value is refused: in a script it is usually an unset variable.
    """
    if not keywords.keys() & {"action", "choices", "type"}:
        keywords["type"] = nonempty
    return lambda parser: parser.add_argument(*spellings, **keywords)


def flag(*spellings: str, help: str) -> Argument:
    return option(*spellings, action="store_true", help=help)


def former(spelling: str, dest: str) -> Argument:
    """A spelling of a flag that has another meaning elsewhere: it still works, but help does not show it."""
    return option(spelling, dest=dest, action="store_true", help=argparse.SUPPRESS)


def one_of(*arguments: Argument, required: bool = False) -> Argument:
    """Options that exclude one another; if `required`, the command needs one of them."""

    def add(parser: argparse._ActionsContainer) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for argument in arguments:
            argument(group)

    return add


def defaults(**values: Any) -> Argument:
    """Set values in the parsed arguments for which there is no option."""
    return lambda parser: parser.set_defaults(**values)


class _JoinLists(argparse.Action):
    """Collects `1 2`, `1,2` and repeated options into one list without duplicates."""

    def __call__(self, _parser: Any, namespace: argparse.Namespace, values: Any, _option: str | None = None) -> None:
        before = getattr(namespace, self.dest, None) or []
        setattr(namespace, self.dest, list(dict.fromkeys([*before, *(item for part in values for item in part)])))


def names_option(*spellings: str, **keywords: Any) -> Argument:
    """`--NAMES a b` or `--NAMES a,b`: a list without duplicates of names, or of the values that `type` reads."""
    return option(*spellings, **{"nargs": "+", "type": names, "action": _JoinLists, **keywords})


def id_of(noun: str) -> Argument:
    """The argument `id`, which takes an id or, if a `noun` has names, a name; commands see a number.

    An environment can also be named by `--env`, as everywhere.
    """
    if noun == "environment":
        return env_argument("id")
    if noun in _NAMED_NOUNS:
        return option("id", type=reference(noun), metavar=ID_NAME, help=f"id or name of the {noun}")
    return option("id", type=identifier, metavar="ID", help=f"id of the {noun}")


def argument_or_option(dest: str, *spellings: str, **keywords: Any) -> Argument:
    """A required argument that can also be given as an option; `parser.Parser` puts its value in the argument's
    place. Only the first argument of a command can be one."""

    def add(parser: argparse._ActionsContainer) -> None:
        option(dest, **keywords)(parser)
        parser.add_argument(*spellings, dest=BY_OPTION, metavar=keywords["metavar"], help="the same as an option")

    return add


def env_argument(dest: str) -> Argument:
    """The environment as an argument or as `--env`."""
    text = "id or name of the environment"
    return argument_or_option(dest, *ENV, type=reference("environment"), metavar=ID_NAME, help=text)


def env_option(*, required: bool, help: str = "id or name of the environment") -> Argument:
    """`--env`; when the command runs, `env` is a number or None."""
    return option(*ENV, type=reference("environment"), required=required, metavar=ID_NAME, dest="env", help=help)


OF_ENV = env_option(required=True)


def release_option(*, required: bool = True, help: str = "id, name or version of the release") -> Argument:
    """`--release`; when the command runs, `release` is a number or None."""
    return option(*RELEASE, type=reference("release"), required=required, metavar=ID_NAME, help=help)


def nodes_option(*, required: bool, help: str = "ids or names of the nodes: 1 2 or 1,2") -> Argument:
    """`--nodes 1 2` or `--nodes 1,2`: `nodes` is a list of at least one number, or None, when the command runs.

    If several nodes have the same name, the node of `--env` is meant.
    """
    spellings = ("-n", "--nodes", "--node")
    return names_option(*spellings, type=node_references, required=required, metavar=ID_NAME, dest="nodes", help=help)


def nodes_or_all(all_of: str) -> Argument:
    """`--nodes` or `--nodes-all`, one of which is needed: `nodes` is None for all nodes."""
    return one_of(nodes_option(required=False), flag("--nodes-all", help=all_of), required=True)


def roles_option(*spellings: str, required: bool) -> Argument:
    """`--roles a b` or `--roles a,b`: `roles` is a list of names, empty by default."""
    return names_option(
        *spellings, "--roles", "--role", required=required, default=[], metavar="ROLE", dest="roles",
        help="roles: controller cinder or controller,cinder",
    )  # fmt: skip


def type_option(*, default: str | None, required: bool = False) -> Argument:
    """`--type`, which sets `graph_type`."""
    return option(
        "-t", "--type", "--graph-type", metavar="TYPE", dest="graph_type", default=default,
        required=required, help=f"graph type (default: {default})" if default else "graph type",
    )  # fmt: skip


def types_option(help: str, *, required: bool = False) -> Argument:
    """`--type a b` or `--type a,b`: `graph_types` is a list of lists of names, or None."""
    return option(
        "-t", "--type", "--types", "--graph-type", "--graph-types", nargs="+", type=names, action="extend",
        required=required, metavar="TYPE", dest="graph_types", help=help,
    )  # fmt: skip


def plugin_argument(nargs: str | None = None) -> Argument:
    """The argument `plugin`, or `plugins` if `nargs` is given."""
    return option(
        "plugins" if nargs else "plugin", nargs=nargs, type=reference("plugin"), metavar=ID_NAME,
        help="id of the plugin, or its name if only one version is installed",
    )  # fmt: skip


def executor_option(help: str) -> Argument:
    """`--executor`, which sets `executor` to a kind of executor or an empty string.

    Without a metavar, argparse would list all choices while it adds the option, and every command with the option would
    search other packages for kinds.
    """

    def add(parser: argparse._ActionsContainer) -> None:
        from fuelclient.backends import executor_kinds

        kinds = executor_kinds()
        parser.add_argument("--executor", default="", metavar="KIND", choices=kinds, help=f"{help}: %(choices)s")

    return add


REACH_OPTIONS = (
    executor_option("how to reach all nodes (default: each by its own executor)"),
    flag("--on-originals", help="let a run on a copy (see 'env clone') reach the machines of the original"),
)
"""The options that set how a run reaches its nodes: `executor` and `on_originals`."""

AS_MASTER = flag("--as-master", help="also report what a Fuel master would refuse or do differently")
YES = flag("-y", "--yes", help="do not ask on a terminal")
ASSUME = option("--assume", metavar="SPEC", help="nodes to assume instead: controller=3,compute+cinder=2")
"""Nodes to assume in place of the environment's nodes: `assume`, or None."""
SOME_NODES = nodes_option(required=False, help="only these nodes of the environment: 1 2 or 1,2")
EXIT_CODE = flag("--exit-code", help="exit with 10 if anything differs")

OWNER = one_of(
    env_option(required=False, help="the graph of this environment"),
    release_option(required=False, help="the graph of this release"),
    option("-p", "--plugin", type=reference("plugin"), metavar=ID_NAME, help="the graph of this plugin"),
    required=True,
)
"""`--env`, `--release` or `--plugin`, one of which is needed; `owner_of` reads it."""

SCOPE = one_of(release_option(required=False), env_option(required=False), required=True)
"""`--release` or `--env`, one of which is needed; `owner_of` reads it."""


def owner_of(parsed_args: argparse.Namespace) -> OwnerRef:
    """The owner that the options of `OWNER` or `SCOPE` name."""
    from fuelclient.model.graph import Level, OwnerRef

    if parsed_args.env is not None:
        return OwnerRef(Level.CLUSTER, parsed_args.env)
    if parsed_args.release is not None:
        return OwnerRef(Level.RELEASE, parsed_args.release)
    return OwnerRef(Level.PLUGIN, parsed_args.plugin)


NOUNS = {"cluster": "environment", "release": "release", "plugin": "plugin"}
"""The noun of each level on the command line."""


def owner_text(owner: OwnerRef) -> str:
    """An owner in the words of the command line: `environment 1`."""
    return f"{NOUNS[owner.level]} {owner.id}"


def source_options(*short: str) -> Arguments:
    """`--file` (`-` is stdin), also under a `short` name, and `--dir`: a command needs one of them."""
    return (
        option(*short, "--file", metavar="FILE", help="YAML or JSON file with the graph; - is stdin"),
        option(
            "-d", "--dir", type=nonempty_path, metavar="DIR",
            help="directory: its metadata.yaml and every tasks.yaml below it, sorted by path",
        ),
    )  # fmt: skip
