"""What an environment consists of: its release, its enabled plugins, their layers, roles and tags.

Every function reads through the connection of its caller, so that all they return is of one moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.engine import lookup
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import DEFAULT_TYPE, Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, Role, primary_tags_in, roles_in
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection


@dataclass(frozen=True, slots=True)
class Environment:
    """A cluster with what it is made of; `plugins` are the enabled ones by name and version."""

    cluster: Cluster
    release: Release
    plugins: tuple[Plugin, ...]

    @property
    def owners(self) -> tuple[Owner, ...]:
        """All owners of its graphs, least important first."""
        return (
            lookup.release_owner(self.release),
            *(lookup.plugin_owner(plugin) for plugin in self.plugins),
            Owner(Level.CLUSTER, self.cluster.id, self.cluster.name),
        )

    @property
    def roles(self) -> dict[str, Role]:
        """The roles of the release, then those of the plugins; a plugin's role of the same name takes its place."""
        roles = roles_in(self.release.metadata)
        for plugin in self.plugins:
            roles.update(roles_in(plugin.metadata, lookup.plugin_owner(plugin).label))
        return roles

    @property
    def primary_tags(self) -> frozenset[str]:
        """The tags of which one node is the primary: the release's, the plugins', and those of plugin roles that
        say `has_primary` themselves."""
        found = set(primary_tags_in(self.release.metadata))
        for plugin in self.plugins:
            found |= primary_tags_in(plugin.metadata)
            for role in roles_in(plugin.metadata).values():
                if role.metadata.get("has_primary"):
                    found.update(role.tags)
        return frozenset(found)


def read(connection: Connection, cluster_id: int) -> Environment:
    """The environment; `NotFound` when there is none."""
    cluster = lookup.cluster(connection, cluster_id)
    release = lookup.release(connection, cluster.release_id)
    return Environment(cluster, release, tuple(plugins.of_cluster(connection, cluster_id)))


def types(connection: Connection, environment: Environment) -> list[str]:
    """The graph types of an environment, whichever layer has them; the default type is always there."""
    found = {DEFAULT_TYPE}
    for owner in environment.owners:
        found.update(graphs.types(connection, owner.level, owner.id))
    return sorted(found)


def layers(
    connection: Connection, environment: Environment, graph_type: str, levels: Sequence[Level] = ()
) -> tuple[Layer, ...]:
    """The layers of one type, least important first; with `levels` those of these classes of owners only.

    `NotFound` when no layer of the environment, whatever its level, has the type.
    """
    known = types(connection, environment)
    if graph_type not in known:
        raise lookup.unknown_type(graph_type, known, f"environment {environment.cluster.id}")
    by_id = {plugin.id: plugin for plugin in environment.plugins}
    found = []
    for owner in environment.owners:
        if levels and owner.level not in levels:
            continue
        graph = graphs.find(connection, owner.level, owner.id, graph_type)
        if graph is None:
            continue
        if owner.level is Level.PLUGIN:
            found.append(_plugin_layer(by_id[owner.id], graph.tasks, graph.metadata))
        else:
            found.append(Layer(owner, graph.tasks, graph.metadata))
    return tuple(found)


def _plugin_layer(plugin: Plugin, tasks: tuple[Any, ...], metadata: Any) -> Layer:
    """A plugin's layer with the defaults that Nailgun gives to plugin tasks.

    Source: Nailgun's plugin adapters: the working directory of its tasks, and the fault tolerance of the groups
    that are named after its roles.
    """
    tolerance = {
        name: role.metadata["fault_tolerance"]
        for name, role in roles_in(plugin.metadata).items()
        if "fault_tolerance" in role.metadata
    }
    cwd = f"/etc/fuel/plugins/{plugin.directory}/"
    return Layer(lookup.plugin_owner(plugin), tasks, metadata, cwd, tolerance)
