"""Create, change and delete environments, and give them nodes and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment import settings
from fuelclient.environment.checks import require_deletable, require_free_names, require_name
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.graph import DEFAULT_TYPE, Level
from fuelclient.model.node import Node
from fuelclient.plan.deploy_changes import DELETION_TYPES
from fuelclient.plan.fleet import require_nodes_in
from fuelclient.plan.inputs import EnvironmentChange
from fuelclient.store import graphs
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, nodes


class Clusters(Facet):
    """Environments; see `backends.base.Clusters`."""

    @reads
    def list(self, connection: Connection) -> Sequence[Cluster]:
        return clusters.every(connection)

    @reads
    def get(self, connection: Connection, cluster_id: int) -> Cluster:
        return lookup.cluster(connection, cluster_id)

    def create(self, name: str, release_id: int, *, net_segment_type: str = "vlan") -> Cluster:
        """Generate the values of settings that have a generator. The environment gets an empty default graph, unless
        its release has only graphs of other types."""
        from fuelclient.engine.reading import generated_settings

        with self._database.write() as connection:
            lookup.release(connection, release_id)
            _require_free(connection, name)
            wanted = Cluster(0, name, release_id, net_segment_type=net_segment_type)
            cluster = replace(wanted, id=clusters.insert(connection, wanted))
            if not (graph_types := graphs.types(connection, Level.RELEASE, release_id)) or DEFAULT_TYPE in graph_types:
                graphs.create(connection, Level.CLUSTER, cluster.id, DEFAULT_TYPE)
            generated_settings.generate(connection, cluster.id)
            return cluster

    @writes
    def rename(self, connection: Connection, cluster_id: int, name: str) -> Cluster:
        cluster = lookup.cluster(connection, cluster_id)
        if name != cluster.name:
            _require_free(connection, name)
        renamed = replace(cluster, name=name)
        clusters.update(connection, renamed)
        return renamed

    def change_release(self, cluster_id: int, release_id: int, *, dry_run: bool = False) -> EnvironmentChange:
        from fuelclient.engine.inventory.release_change import change_release  # loads packages and runs

        return change_release(self._database, cluster_id, release_id, dry_run=dry_run)

    def delete(self, cluster_id: int, *, force: bool = False) -> tuple[str, ...]:
        """After the transaction that deletes the environment, remove the files of its runs."""
        from fuelclient.engine.runs import sweep  # most methods here do not need it
        from fuelclient.engine.runs.jobs import executor_for
        from fuelclient.engine.runs.records import deletable_with_cluster

        with self._database.write() as connection:
            require_deletable(lookup.cluster(connection, cluster_id), force=force)
            leftovers = sweep.forget(connection, deletable_with_cluster(connection, cluster_id))
            for node in nodes.every(connection, cluster_id=cluster_id):
                nodes.update(connection, node.freed())
            clusters.delete(connection, cluster_id)
        return sweep.remove(self._database, leftovers, executor_for)

    @writes
    def add_nodes(self, connection: Connection, cluster_id: int, node_ids: Sequence[int], roles: Sequence[str]) -> None:
        """Replace the pending roles by the new ones. Roles that a node already has are checked too."""
        from fuelclient.engine.inventory.nodes import join_environment  # only this method needs it

        with environment.checking_rules(connection, [cluster_id]) as (target,):
            known = roles_of(target)
            lookup.require_roles([("", roles)], known)
            requested = [_free_node(connection, node_id, cluster_id) for node_id in dict.fromkeys(node_ids)]
            require_free_names(target.nodes, [node for node in requested if node.cluster_id is None], cluster_id)
            for node in (join_environment(node, cluster_id, roles) for node in requested):
                lookup.require_roles([(node.name, node.all_roles)], known)
                nodes.update(connection, replace(node, pending_deletion=False))

    def remove_nodes(self, cluster_id: int, node_ids: Sequence[int] | None, *, force: bool = False) -> Sequence[int]:
        """Raise `Conflict` if a run is working on one of the nodes."""
        from fuelclient.engine.runs.records import require_idle

        with self._database.write() as connection:
            target = environment.read(connection, cluster_id)
            present = {node.id: node for node in target.nodes}
            removed = tuple(present) if node_ids is None else tuple(dict.fromkeys(node_ids))
            require_idle(connection, cluster_id, removed)
            for node_id in sorted({*removed} - present.keys()):
                lookup.node(connection, node_id)  # one that exists nowhere has an error of its own
            require_nodes_in(cluster_id, removed, [*present])
            has_deletion_tasks = not force and any(
                layer.tasks
                for graph_type in set(DELETION_TYPES).intersection(environment.types(connection, target))
                for layer in environment.layers(connection, target, graph_type, strict=False)
            )
            for node in (present[node_id] for node_id in removed):
                waits_for_deletion = has_deletion_tasks and node.was_deployed
                nodes.update(connection, replace(node, pending_deletion=True) if waits_for_deletion else node.freed())
            return removed

    @reads
    def environment(self, connection: Connection, cluster_id: int) -> Environment:
        return environment.read(connection, cluster_id)

    @reads
    def settings(self, connection: Connection, cluster_id: int) -> Mapping[str, Any]:
        return settings.effective(environment.read(connection, cluster_id))

    def set_settings(self, cluster_id: int, stated: Mapping[str, Any], *, force: bool = False) -> Mapping[str, Any]:  # noqa: ARG002
        """Keep generated values for which `stated` has no value. As on a Fuel master, `metadata.enabled` in a plugin's
        section enables or disables it. The engine locks no settings, so `force` has no effect."""
        from fuelclient.engine.packages import plugins
        from fuelclient.engine.reading import generated_settings

        sections = settings.sections_from(stated)
        with self._database.write() as connection, environment.checking_rules(connection, [cluster_id]):
            with plugins.switching_plugins(connection, cluster_id, sections) as values:
                target = environment.read(connection, cluster_id)
                own = settings.own_from(values, target)
                own = generated_settings.with_generated(settings.defaults(target), own, target.own_settings)
                environment.put_settings(connection, cluster_id, own)
            return settings.effective(environment.read(connection, cluster_id))


def _free_node(connection: Connection, node_id: int, cluster_id: int) -> Node:
    """Read a node. Raise `Conflict` if it belongs to another environment."""
    node = lookup.node(connection, node_id)
    if node.cluster_id not in (None, cluster_id):
        raise Conflict(
            f"Node {node_id} belongs to environment {node.cluster_id}.",
            hint=f"Remove it first: `fuel2 env remove nodes --env {node.cluster_id} --nodes {node_id}`.",
        )
    return node


def _require_free(connection: Connection, name: str) -> None:
    require_name("environment", name)
    if (existing := clusters.named(connection, name)) is not None:
        raise Conflict(f"Environment {name} already exists, with id {existing.id}.", hint="Choose another name.")
