"""Use cases of environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.reading import environment, lookup, node_names, role_checks
from fuelclient.environment import settings
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.cluster import Cluster, ClusterStatus
from fuelclient.model.environment import Environment
from fuelclient.model.graph import DEFAULT_TYPE, Level
from fuelclient.model.node import Node, NodeStatus
from fuelclient.store import clusters, graphs, nodes, runs
from fuelclient.store.database import Connection, Database

_UNTOUCHED = frozenset({NodeStatus.DISCOVER, NodeStatus.PROVISIONING, NodeStatus.PROVISIONED})


class Clusters:
    """Environments; see `backends.base.Clusters`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> Sequence[Cluster]:
        """All environments by id."""
        with self._database.read() as connection:
            return clusters.every(connection)

    def get(self, cluster_id: int) -> Cluster:
        """One environment; `NotFound` when there is none."""
        with self._database.read() as connection:
            return lookup.cluster(connection, cluster_id)

    def create(self, name: str, release_id: int, *, net_segment_type: str = "vlan") -> Cluster:
        """A new environment with an empty graph of the default type, unless its release has graphs of other types
        only. Settings with generators have their values from now on. `Conflict` when the name is taken."""
        from fuelclient.engine.reading import generators

        with self._database.write() as connection:
            lookup.release(connection, release_id)
            _require_free(connection, name)
            wanted = Cluster(0, name, release_id, net_segment_type=net_segment_type)
            cluster = replace(wanted, id=clusters.insert(connection, wanted))
            kinds = graphs.types(connection, Level.RELEASE, release_id)
            if not kinds or DEFAULT_TYPE in kinds:
                graphs.create(connection, Level.CLUSTER, cluster.id, DEFAULT_TYPE)
            generators.evaluate(connection, cluster.id)
            return cluster

    def rename(self, cluster_id: int, name: str) -> Cluster:
        """The environment under its new name. `Conflict` when another one has it."""
        with self._database.write() as connection:
            cluster = lookup.cluster(connection, cluster_id)
            if name != cluster.name:
                _require_free(connection, name)
            renamed = replace(cluster, name=name)
            clusters.update(connection, renamed)
            return renamed

    def delete(self, cluster_id: int, *, force: bool = False) -> tuple[str, ...]:
        """Remove an environment with its graphs, its executions, their histories and their files, those on nodes
        included; a sentence for each node on which they stay. Its nodes stay, free. `Conflict` when it is operational
        and not `force`, and while an execution on it has not ended."""
        from fuelclient.engine.runs import delete, guards  # most of what is asked here needs no runs
        from fuelclient.engine.runs.executors import executor_for

        with self._database.write() as connection:
            cluster = lookup.cluster(connection, cluster_id)
            if cluster.status == ClusterStatus.OPERATIONAL and not force:
                raise Conflict(
                    "Deleting an operational environment is a dangerous operation.",
                    hint="Please use --force to bypass this message.",
                )
            removed = guards.deletable_with_cluster(connection, cluster_id)
            leftovers = delete.leftovers(connection, removed)
            for run in removed:
                runs.delete(connection, run.id)
            for node in nodes.of_cluster(connection, cluster_id):
                nodes.update(connection, freed(node))
            clusters.delete(connection, cluster_id)
        path = self._database.path
        for run in removed:
            delete.remove_files(path, run)
        return delete.remove_leftovers(leftovers, executor_for(path, removed[0])) if leftovers else ()

    def add_nodes(self, cluster_id: int, node_ids: Sequence[int], roles: Sequence[str]) -> None:
        """Give the nodes to the environment with `roles` pending, in the place of what waited. All or nothing.

        `NotFound` for an unknown node or role, a role that a node brings along included; `Conflict` for a node of
        another environment, for a name that another node has there, and for roles that may not be assigned.
        """
        with self._database.write() as connection:
            members = environment.read(connection, cluster_id)
            known = roles_of(members)
            lookup.require_roles(roles, known)
            before = nodes.of_cluster(connection, cluster_id)
            coming = [_free_node(connection, node_id, cluster_id) for node_id in dict.fromkeys(node_ids)]
            added = [node for node in coming if node.cluster_id is None]
            node_names.require_free_names(before, added, f"Environment {cluster_id}")
            for node in (joined(node, cluster_id, roles) for node in coming):
                lookup.require_roles(node.all_roles, known)
                nodes.update(connection, node)
            role_checks.require(members, before, nodes.of_cluster(connection, cluster_id))

    def remove_nodes(self, cluster_id: int, node_ids: Sequence[int] | None) -> Sequence[int]:
        """Take nodes (None: all) out of the environment; the ids that were removed. `NotFound` for a node that is
        not in it, `Conflict` while an execution runs on it."""
        from fuelclient.engine.runs import guards

        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            present = {node.id: node for node in nodes.of_cluster(connection, cluster_id)}
            removed = tuple(present) if node_ids is None else tuple(dict.fromkeys(node_ids))
            guards.require_idle(connection, cluster_id, removed)
            for node_id in removed:
                if node_id not in present:
                    hint = f"Its nodes: {', '.join(map(str, present))}." if present else "It has no nodes."
                    known = [str(one) for one in present]
                    raise NotFound(f"node of environment {cluster_id} with id", node_id, known=known, hint=hint)
                nodes.update(connection, freed(present[node_id]))
            return removed

    def environment(self, cluster_id: int) -> Environment:
        """Return an environment with everything it is made of, from one read."""
        with self._database.read() as connection:
            return environment.read(connection, cluster_id)

    def settings(self, cluster_id: int) -> Mapping[str, Any]:
        """The settings of an environment by section, defaults included."""
        with self._database.read() as connection:
            return settings.effective(environment.read(connection, cluster_id))

    def set_settings(self, cluster_id: int, stated: Mapping[str, Any]) -> Mapping[str, Any]:
        """The environment's own settings are `stated`, without what equals a default; the effective ones. Values that
        were generated stay where `stated` has none.
        `InvalidDocument` for a section that is no mapping."""
        from fuelclient.engine.reading import generators

        with self._database.write() as connection:
            members = environment.read(connection, cluster_id)
            own = settings.own_from(stated, members)
            own = generators.filled(settings.defaults(members), own, members.own_settings)
            clusters.put_settings(connection, cluster_id, own)
            return settings.effective(environment.read(connection, cluster_id))


def _free_node(connection: Connection, node_id: int, cluster_id: int) -> Node:
    """A node that is in this environment or in none; `Conflict` for one of another."""
    node = lookup.node(connection, node_id)
    if node.cluster_id not in (None, cluster_id):
        raise Conflict(
            f"Node {node_id} belongs to environment {node.cluster_id}.",
            hint=f"Take it out first: `fuel2 env remove nodes --env {node.cluster_id} --nodes {node_id}`.",
        )
    return node


def joined(node: Node, cluster_id: int, roles: Sequence[str] = ()) -> Node:
    """The node as a member of an environment: `roles` wait beside those that are deployed, each once.

    They take the place of what waited before, as in Nailgun; without `roles` that stays. A node that was deployed
    already is no addition.

    >>> joined(Node(1, "a", roles=("x",), pending_roles=("y",)), 7, ["x", "z"]).pending_roles
    ('z',)
    """
    pending = dict.fromkeys(role for role in (roles or node.pending_roles) if role not in node.roles)
    addition = node.status != NodeStatus.READY
    return replace(node, cluster_id=cluster_id, pending_roles=tuple(pending), pending_addition=addition)


def freed(node: Node) -> Node:
    """The node in no environment and without roles; what its status said of a deployment is over.

    >>> freed(Node(1, "a", 7, "ready", roles=("x",))).status
    <NodeStatus.PROVISIONED: 'provisioned'>
    """
    return replace(
        node,
        cluster_id=None,
        status=node.status if node.status in _UNTOUCHED else NodeStatus.PROVISIONED,
        roles=(),
        pending_roles=(),
        primary_tags=(),
        error_type="",
        pending_addition=False,
        pending_deletion=False,
    )


def _require_free(connection: Connection, name: str) -> None:
    if not name.strip():
        raise UsageError("An environment needs a name.")
    node_names.require_printable("environment", name)
    existing = clusters.named(connection, name)
    if existing is not None:
        raise Conflict(f"Environment {name} exists already, with id {existing.id}.", hint="Choose another name.")
