"""Finding what a request names, or saying that it does not exist and what does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from fuelclient.environment.owners import plugin_owner, release_owner
from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import Level, Owner, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.package import Package
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, Role
from fuelclient.store import clusters, nodes, plugins, releases
from fuelclient.store.database import Connection

_Value = TypeVar("_Value")
LARGEST_ID = 2**31 - 1
"""The largest id that a caller can give, as in Nailgun. The store counts on from the largest one that it ever had, so
that there has to be room above."""

_LARGEST_STORED = 2**63 - 1
_FIRST_STEPS = (
    "Run `fuel2 plugins install PACKAGE` for a release that comes as a plugin, `fuel2 release import FILE` for a"
    " fixture, or `fuel2 demo` for the packaged examples."
)
_FIRST_PLUGIN = "There is no plugin yet. Run `fuel2 plugins install PACKAGE`."


def release(connection: Connection, release_id: int) -> Release:
    """The release; `NotFound` with the ids there are, or with how to get a first one."""
    known = releases.ids(connection)
    hint = "" if known else f"There is no release yet. {_FIRST_STEPS}"
    return _found("release", release_id, releases.find, connection, known, hint)


def cluster(connection: Connection, cluster_id: int) -> Cluster:
    """The environment; `NotFound` with the ids there are, or with how to make a first one."""
    known = [one.id for one in clusters.every(connection)]
    hint = "" if known else "There is no environment yet. Run `fuel2 env create NAME --release ID`."
    return _found("environment", cluster_id, clusters.find, connection, known, hint)


def node(connection: Connection, node_id: int) -> Node:
    """The node; `NotFound` with the ids there are, or with how to get a first one."""
    known = nodes.ids(connection)
    hint = "" if known else "There is no node yet. Run `fuel2 node import FILE`."
    return _found("node", node_id, nodes.find, connection, known, hint)


def plugin(connection: Connection, plugin_id: int) -> Plugin:
    """The plugin; `NotFound` with the ids there are."""
    known = plugins.ids(connection)
    return _found("plugin", plugin_id, plugins.find, connection, known, "" if known else _FIRST_PLUGIN)


def plugin_named(connection: Connection, name: str, version: str = "") -> Plugin:
    """The plugin of this name and version. `NotFound` when there is none; without `version` `UsageError` when there
    are several."""
    known = plugins.every(connection)
    found = [one for one in known if one.name == name and version in ("", one.version)]
    if not found:
        key = f"{name} {version}".strip()
        labels = [f"{one.name} {one.version}" if version else one.name for one in known]
        raise NotFound("plugin", key, known=list(dict.fromkeys(labels)), hint="" if known else _FIRST_PLUGIN)
    if len(found) > 1:
        versions = ", ".join(f"{one.version} (id {one.id})" for one in found)
        raise UsageError(f"Plugin {name} is installed in several versions: {versions}.", hint="Name one of them.")
    return found[0]


def package(connection: Connection, found: Plugin) -> Package:
    """What the package of a plugin holds, without the releases that it defines; `Conflict` when it was registered
    without its package."""
    stored = plugins.package(connection, found.id)
    if stored is None:
        raise Conflict(
            f"Plugin {found.name} {found.version} was registered by an earlier version of fuel2, without its package.",
            hint="Install it again: `fuel2 plugins install PACKAGE --force`.",
        )
    return stored


def owner(connection: Connection, ref: OwnerRef) -> Owner:
    """Return the named owner. Raise `NotFound` if it does not exist."""
    if ref.level is Level.CLUSTER:
        return Owner(ref.level, ref.id, cluster(connection, ref.id).name)
    if ref.level is Level.PLUGIN:
        return plugin_owner(plugin(connection, ref.id))
    return release_owner(release(connection, ref.id))


def require_roles(names: Iterable[str], known: Mapping[str, Role]) -> None:
    """Nothing happens when all of `names` are `known` roles; `NotFound` for the first that is not."""
    for name in names:
        if name not in known:
            raise NotFound("role", name, known=list(known))


def require_id(noun: str, number: int) -> None:
    """Nothing happens for a number that can be given as an id, or for 0, which asks for a free one; `UsageError` for
    all others."""
    if not 0 <= number <= LARGEST_ID:
        raise UsageError(f"{number} cannot be the id of a {noun}.", hint=f"Ids are numbers from 1 to {LARGEST_ID}.")


def _found(
    noun: str,
    key: int,
    find: Callable[[Connection, int], _Value | None],
    connection: Connection,
    known: Sequence[int],
    hint: str,
) -> _Value:
    value = find(connection, key) if 0 < key <= _LARGEST_STORED else None
    if value is None:
        shown = ", ".join(map(str, known[:12])) + (", ..." if len(known) > 12 else ".")
        raise NotFound(noun, key, known=[str(one) for one in known], hint=hint or f"Known: {shown}")
    return value
