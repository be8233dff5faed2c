"""What a command line names: environments, releases, nodes, plugins and sequences, each by its id or by a name.

A number is always an id. A name is looked up right before the command runs, so that every command only sees ids. A name
that several things have is refused with their ids.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuelclient.errors import NotFound, UsageError
from fuelclient.similar import normal

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend

_NOT_NODES = ("master", "null", "-")
"""What stands for a node in the name of a task instance without being the name of one."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a `noun` that is to become its id; with a `prefix`, to become a text that ends with the id."""

    noun: str
    name: str
    prefix: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a name may mean: the names that it has, and what tells it from others of the same name."""

    id: int
    names: tuple[str, ...]
    detail: str


def is_id(word: str) -> bool:
    """Return whether `word` is an id and not a name.

    >>> is_id("12"), is_id("node-12")
    (True, False)
    """
    return word.isascii() and word.isdigit()


def reference(noun: str) -> Callable[[str], int | Reference]:
    """Return what argparse calls to read the id or the name of a `noun`."""

    def read(word: str) -> int | Reference:
        if not word.strip():
            raise argparse.ArgumentTypeError(f"'{word}' is empty; name the {noun} or give its id")
        return int(word) if is_id(word) else Reference(noun, word.strip())

    return read


def instance(word: str) -> str | Reference:
    """Read TASK/NODE, in which the node may be named. Texts of another form are left to whatever uses them.

    >>> instance("netconfig/3"), instance("netconfig/master")
    ('netconfig/3', 'netconfig/master')
    >>> instance("netconfig/node-1")
    Reference(noun='node', name='node-1', prefix='netconfig/')
    """
    if not word.strip():
        raise argparse.ArgumentTypeError(f"'{word}' is empty; write TASK/NODE")
    task, slash, node = word.rpartition("/")
    return Reference("node", node, f"{task}/") if slash and task and _is_name(node) else word


def node_words(word: str) -> list[str | Reference]:
    """Read `1,master,node-3` as the texts that filters take.

    >>> node_words("1,master,node-3")
    ['1', 'master', Reference(noun='node', name='node-3', prefix='')]
    """
    parts = [part.strip() for part in word.split(",") if part.strip()]
    if not parts:
        raise argparse.ArgumentTypeError(f"'{word}' names nothing")
    return [Reference("node", part, "") if _is_name(part) else part for part in parts]


def _is_name(node: str) -> bool:
    return bool(node) and not is_id(node) and node not in _NOT_NODES


def has_names(noun: str) -> bool:
    """Return whether things of this `noun` can be named.

    >>> has_names("environment"), has_names("run")
    (True, False)
    """
    return noun in _NAMED


def resolve(parsed_args: argparse.Namespace, backend: Callable[[], Backend]) -> None:
    """Replace all references among the arguments by ids; `backend` is called only if there are any.

    Raise `NotFound` for a name that nothing has, and `UsageError`, with the ids, for one that several things have.
    """
    arguments = vars(parsed_args)
    for name in sorted(arguments, key=lambda name: name not in ("env", "release")):  # the others may depend on these
        if _has_reference(arguments[name]):
            setattr(parsed_args, name, _resolved(arguments[name], parsed_args, backend()))


def _has_reference(value: Any) -> bool:
    return isinstance(value, Reference) or (isinstance(value, list) and any(map(_has_reference, value)))


def _resolved(value: Any, parsed_args: argparse.Namespace, backend: Backend) -> Any:
    if isinstance(value, list):
        parts = [_resolved(part, parsed_args, backend) for part in value]
        return parts if any(isinstance(part, list) for part in parts) else list(dict.fromkeys(parts))
    if not isinstance(value, Reference):
        return value
    number = _id_of(value, parsed_args, backend)
    return number if value.prefix is None else f"{value.prefix}{number}"


def _id_of(wanted: Reference, parsed_args: argparse.Namespace, backend: Backend) -> int:
    name = wanted.name
    if wanted.noun == "plugin" and getattr(parsed_args, "version", None):
        name = f"{name} {parsed_args.version}"
    things = getattr(backend, _NAMED[wanted.noun][0]).list()
    candidates = [_candidate(wanted.noun, thing) for thing in things]
    matching = [candidate for candidate in candidates if name in candidate.names]
    if not matching:
        matching = [found for found in candidates if normal(name) in map(normal, found.names)]
    if len(matching) > 1:
        preferred = _preferred(wanted.noun, parsed_args, backend)
        matching = [candidate for candidate in matching if candidate.id in preferred] or matching
    if not matching:
        hint = "" if candidates else f"There is no {wanted.noun} yet."
        known = [known for candidate in candidates for known in candidate.names[:1]]
        raise NotFound(wanted.noun, name, known=list(dict.fromkeys(known)), hint=hint)
    if len(matching) > 1:
        ids = ", ".join(f"{candidate.id} ({candidate.detail})" for candidate in matching)
        raise UsageError(f"Several {wanted.noun}s are named {name}: {ids}.", hint="Use an id.")
    return matching[0].id


def _preferred(noun: str, parsed_args: argparse.Namespace, backend: Backend) -> set[int]:
    """Return the ids that belong to the environment or the release of the command line, if that decides.

    It does not for a command that sets `elsewhere`, because what it looks for does not belong there yet.
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
_NAMED = {
    "environment": ("clusters", _NAME, "release {0.release_id}"),
    "release": ("releases", ("{0.name}", "{0.version}", "{0.name} {0.version}"), "{0.name}, {0.version}, {0.state}"),
    "node": ("nodes", _NAME, "in environment {0.cluster_id}"),
    "plugin": ("plugins", ("{0.name}", "{0.label}", "{0.name} {0.version}", "{0.name}=={0.version}"), "{0.version}"),
    "sequence": ("sequences", _NAME, "of release {0.release_id}"),
}
"""Everything that may be named, by noun: where a backend lists it, its names, and what tells it from others of the same
name."""


def _candidate(noun: str, thing: Any) -> Candidate:
    _, names, detail = _NAMED[noun]
    if noun == "node" and thing.cluster_id is None:
        detail = "in no environment"
    return Candidate(thing.id, tuple(name.format(thing) for name in names), detail.format(thing))
