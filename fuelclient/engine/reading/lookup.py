"""Find the objects that a request names. Errors list the existing ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from fuelclient.environment import checks
from fuelclient.environment.roles import plugin_owner, release_owner
from fuelclient.errors import FIRST_STEPS, Conflict, FuelError, NotFound
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Level, Owner, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.package import Package
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, Role
from fuelclient.printing import ids_text
from fuelclient.store import plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, nodes, releases
from fuelclient.store.rows import Table

_Value = TypeVar("_Value")


def release(connection: Connection, release_id: int) -> Release:
    """Raise `NotFound`, with the existing ids or the first steps, if the release does not exist."""
    return existing(connection, "release", release_id, releases)


def cluster(connection: Connection, cluster_id: int) -> Cluster:
    """Raise `NotFound`, with the ids that exist, if it does not exist."""
    return connection.once(
        ("cluster", repr(cluster_id)),  # callers may pass a value of any type
        lambda: existing(connection, "environment", cluster_id, clusters),
    )


def node(connection: Connection, node_id: int) -> Node:
    """Raise `NotFound`, with the ids that exist, if it does not exist."""
    return existing(connection, "node", node_id, nodes)


def plugin(connection: Connection, plugin_id: int) -> Plugin:
    """Raise `NotFound`, with the ids that exist, if it does not exist."""
    return existing(connection, "plugin", plugin_id, plugins.table)


def package(connection: Connection, owner: Plugin) -> Package:
    """Read the package of a plugin, without the releases that it defines.

    Raise `Conflict` if an earlier version of fuel2 registered the plugin without its package, and what
    `plugins.load.current_package` raises for a linked plugin.
    """
    if owner.is_linked:
        from fuelclient.plugins.load import current_package  # only linked plugins need it

        return current_package(owner)
    return stored_package(connection, owner)


def last_package(connection: Connection, owner: Plugin) -> Package:
    """Read the package of a plugin; if that of a linked plugin cannot be read, its state when it was linked.

    So an environment with such a plugin can still be shown, and the plugin can be disabled.
    """
    with suppress(FuelError):
        return package(connection, owner)
    return stored_package(connection, owner)


def stored_package(connection: Connection, owner: Plugin) -> Package:
    """Read the package of a plugin from its registration. Raise `Conflict` as `package` does."""
    if (stored := plugins.package(connection, owner.id)) is None:
        raise Conflict(
            f"Plugin {owner.name} {owner.version} was registered by an earlier version of fuel2, without its package.",
            hint="Install it again: `fuel2 plugins install PACKAGE --force`.",
        )
    return stored


def as_now(plugin: Plugin, package: Package) -> Plugin:
    """Update the description of a linked plugin from its current package. Return other plugins unchanged."""
    if not plugin.is_linked:
        return plugin
    from fuelclient.plugins.load import as_now

    return as_now(plugin, package)


def owner(connection: Connection, ref: OwnerRef) -> Owner:
    """Add the name to the reference to an owner. Raise `NotFound` if the owner does not exist."""
    if ref.level is Level.CLUSTER:
        return Owner(ref.level, ref.id, cluster(connection, ref.id).name)
    if ref.level is Level.PLUGIN:
        return plugin_owner(plugin(connection, ref.id))
    return release_owner(release(connection, ref.id))


def environments_with(connection: Connection, owner: OwnerRef | Owner) -> list[int]:
    """Return the ids of the environments that use the graphs and roles of an owner."""
    if owner.level is Level.RELEASE:
        return [cluster.id for cluster in clusters.every(connection, release_id=owner.id)]
    return [*plugin(connection, owner.id).clusters] if owner.level is Level.PLUGIN else [owner.id]


def require_roles(wanted: Iterable[tuple[str, Iterable[str]]], known: Mapping[str, Role]) -> None:
    """Raise `NotFound` for the first role that is not in `known`, with a finding for each of them. `wanted` are the
    names of nodes with their roles."""
    if not (missing := [(node, role) for node, roles in wanted for role in roles if role not in known]):
        return
    errors = [NotFound("role", role, known=list(known)) for _, role in missing]
    errors[0].findings = tuple(
        Finding(Severity.ERROR, "N004", error.message, Place(path=(node, "roles", role)), hint=error.hint)
        for error, (node, role) in zip(errors, missing, strict=True)
    )
    raise errors[0]


def existing(
    connection: Connection,
    noun: str,
    key: int,
    table: Table[_Value],
    ids: Callable[[Connection], list[int]] | None = None,
) -> _Value:
    """Find the row with an id. Raise `NotFound` with the ids that exist, which `ids` lists (default: all), or with the
    first steps if there are none."""
    value = table.find(connection, key) if checks.is_possible(noun, key) else None
    if value is None:
        known = (ids or table.ids)(connection)
        hint = f"Known: {ids_text(known)}." if known else FIRST_STEPS[noun]
        raise NotFound(noun, key, known=[*map(str, known)], hint=hint)
    return value
