"""Use cases of plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fuelclient.engine import environment, lookup
from fuelclient.engine.graphs import put
from fuelclient.errors import Conflict, UsageError
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.plugin import Plugin
from fuelclient.store import clusters, nodes, plugins
from fuelclient.store.database import Database


class Plugins:
    """Registered plugins; see `backends.base.Plugins`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> Sequence[Plugin]:
        """All plugins by name and version."""
        with self._database.read() as connection:
            return plugins.every(connection)

    def get(self, plugin_id: int) -> Plugin:
        """One plugin; `NotFound` when there is none."""
        with self._database.read() as connection:
            return lookup.plugin(connection, plugin_id)

    def create(self, plugin: Plugin, graphs: Mapping[str, GraphDocument]) -> Plugin:
        """Register a plugin under a new id, with its graphs by type, and an empty one of the default type where
        it brings none. It is enabled nowhere.

        `Conflict` when name and version exist; `InvalidGraph` when one of the graphs cannot be stored. Nothing is
        stored then.
        """
        for graph_type in graphs:
            lookup.require_type(graph_type)
        if not plugin.name or not plugin.version:
            raise UsageError("A plugin needs a name and a version.")
        with self._database.write() as connection:
            existing = plugins.named(connection, plugin.name, plugin.version)
            if existing is not None:
                raise Conflict(
                    f"Plugin {plugin.name} {plugin.version} exists already, as plugin {existing}.",
                    hint="Delete it first, or raise the version.",
                )
            created = replace(plugin, id=plugins.insert(connection, plugin), clusters=())
            owner = lookup.plugin_owner(created)
            for graph_type, document in {DEFAULT_TYPE: GraphDocument(()), **graphs}.items():
                put(connection, owner, document, graph_type, None)
            return created

    def delete(self, plugin_id: int) -> None:
        """Remove a plugin with its graphs; `Conflict` while it is enabled somewhere."""
        with self._database.write() as connection:
            plugin = lookup.plugin(connection, plugin_id)
            if plugin.clusters:
                users = ", ".join(map(str, plugin.clusters))
                raise Conflict(
                    f"Plugin {plugin.name} {plugin.version} is enabled on environment {users}.",
                    hint="Disable it there first.",
                )
            plugins.delete(connection, plugin_id)

    def enable(self, plugin_id: int, cluster_id: int) -> None:
        """The plugin takes part in the environment's merges and roles, whether it did or not."""
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            lookup.plugin(connection, plugin_id)
            clusters.enable(connection, cluster_id, plugin_id)

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        """The plugin takes no part in the environment, whether it did or not. `Conflict` while a node of the
        environment has a role that only this plugin brings."""
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            lookup.plugin(connection, plugin_id)
            clusters.disable(connection, cluster_id, plugin_id)
            known = environment.read(connection, cluster_id).roles
            for node in nodes.of_cluster(connection, cluster_id):
                orphans = [role for role in node.all_roles if role not in known]
                if orphans:
                    raise Conflict(
                        f"Node {node.id} has the role {orphans[0]}, which only this plugin brings.",
                        hint=f"Take it out first: `fuel2 env remove nodes --env {cluster_id} --nodes {node.id}`.",
                    )
