"""Use cases of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuelclient.engine import assignment, environment, lookup, naming
from fuelclient.engine.clusters import joined
from fuelclient.errors import Conflict
from fuelclient.model.node import Node
from fuelclient.store import nodes
from fuelclient.store.database import Connection, Database


class Nodes:
    """Nodes; see `backends.base.Nodes`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, cluster_id: int | None = None) -> Sequence[Node]:
        """All nodes by id, or those of one environment; `NotFound` when that does not exist."""
        with self._database.read() as connection:
            if cluster_id is None:
                return nodes.every(connection)
            lookup.cluster(connection, cluster_id)
            return nodes.of_cluster(connection, cluster_id)

    def get(self, node_id: int) -> Node:
        """One node; `NotFound` when there is none."""
        with self._database.read() as connection:
            return lookup.node(connection, node_id)

    def create(self, wanted: Sequence[Node]) -> Sequence[Node]:
        """Store all of `wanted` or none. An id of 0 gets the next free one, after the given ids are placed.

        `Conflict` for an id that exists or is given twice; `NotFound` for an unknown environment, or a role that
        its release and plugins do not know. A node that names an environment joins it as `env add nodes` would,
        with the same `Conflict` for roles that may not be assigned, and for a name that is taken there; a node of
        no environment must not have the name of another one. `UsageError` for what no node can be called.
        """
        with self._database.write() as connection:
            naming.require_sound(wanted)
            _require_new_ids(connection, wanted)
            _require_free_names(connection, wanted)
            placed = _joined(connection, wanted)
            ids = {index: nodes.insert(connection, node) for index, node in enumerate(placed) if node.id}
            for index, node in enumerate(placed):
                if not node.id:
                    ids[index] = nodes.insert(connection, node)
            return [replace(node, id=ids[index]) for index, node in enumerate(placed)]

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """Remove nodes, all or none; `Conflict` for one that belongs to an environment and not `force`."""
        with self._database.write() as connection:
            for node_id in dict.fromkeys(node_ids):
                node = lookup.node(connection, node_id)
                if node.cluster_id is not None and not force:
                    raise Conflict(
                        f"Node {node_id} belongs to environment {node.cluster_id}.",
                        hint=f"Take it out first (`fuel2 env remove nodes --env {node.cluster_id} --nodes {node_id}`)"
                        ", or use --force.",
                    )
                nodes.delete(connection, node_id)


def _require_free_names(connection: Connection, wanted: Sequence[Node]) -> None:
    present = nodes.every(connection)
    for cluster_id in dict.fromkeys(node.cluster_id for node in wanted):
        where = "The pool of free nodes" if cluster_id is None else f"Environment {cluster_id}"
        here, coming = ([node for node in some if node.cluster_id == cluster_id] for some in (present, wanted))
        naming.require_free_names(here, coming, where)


def _require_new_ids(connection: Connection, wanted: Sequence[Node]) -> None:
    taken = set(nodes.ids(connection))
    given: set[int] = set()
    for node in wanted:
        if node.id in given:
            raise Conflict(f"Node {node.id} is given twice.", hint="Change one id, or leave it out to get a free one.")
        if node.id in taken:
            raise Conflict(
                f"Node {node.id} exists already.", hint="Leave its id out to get a free one, or delete it first."
            )
        if node.id:
            given.add(node.id)


def _joined(connection: Connection, wanted: Sequence[Node]) -> list[Node]:
    """The nodes with their environments' roles checked."""
    members = {
        cluster_id: environment.read(connection, cluster_id)
        for cluster_id in dict.fromkeys(node.cluster_id for node in wanted)
        if cluster_id is not None
    }
    known = {cluster_id: one.roles for cluster_id, one in members.items()}
    placed = []
    for node in wanted:
        if node.cluster_id is not None:
            lookup.require_roles(node.all_roles, known[node.cluster_id])
            placed.append(joined(node, node.cluster_id))
        else:
            placed.append(node)
    for cluster_id, one in members.items():
        before = nodes.of_cluster(connection, cluster_id)
        assignment.require(one, before, [*before, *(node for node in placed if node.cluster_id == cluster_id)])
    return placed
