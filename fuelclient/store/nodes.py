"""Nodes in the store."""

from __future__ import annotations

from fuelclient.model.node import Node
from fuelclient.store import facts
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, column, columns_of, mapping, names

_NODES = Table(
    "nodes",
    Node,
    columns_of(Node),
    {
        **dict.fromkeys(("roles", "pending_roles", "primary_tags"), names),
        **dict.fromkeys(("ssh", "attributes", "labels"), mapping),
        **dict.fromkeys(("online", "pending_addition", "pending_deletion"), bool),
    },
)

every, find, ids = _NODES.select, _NODES.find, _NODES.ids


def insert(connection: Connection, node: Node) -> int:
    """Store a node under its id, or under a new one if that is 0, and return the id."""
    node_id = _NODES.insert(connection, node)
    facts.forget_node(connection, node_id)  # those that an earlier version kept of another node
    return node_id


def update(connection: Connection, node: Node) -> None:
    """Store all fields of a node. Its uploaded facts are removed when its environment changes."""
    before = column(connection, "nodes", "cluster_id", node.id)
    _NODES.update(connection, node)
    if before != node.cluster_id:
        facts.forget_node(connection, node.id)


def delete(connection: Connection, node_id: int) -> None:
    """Remove a node, with the facts that were uploaded for it."""
    _NODES.delete(connection, node_id)
    facts.forget_node(connection, node_id)


def of_cluster(connection: Connection, cluster_id: int) -> list[Node]:
    """Return the nodes of a cluster by id."""
    return _NODES.select(connection, "cluster_id = ?", cluster_id)
