"""Nodes in the store."""

from __future__ import annotations

from fuelclient.model.node import Node
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, mapping, names

_NODES = Table(
    "nodes",
    Node,
    (
        "id", "name", "cluster_id", "status", "roles", "pending_roles", "primary_tags", "ip", "mac", "online",
        "executor", "ssh", "attributes", "error_type", "pending_addition", "pending_deletion", "labels",
    ),
    {
        **dict.fromkeys(("roles", "pending_roles", "primary_tags"), names),
        **dict.fromkeys(("ssh", "attributes", "labels"), mapping),
        **dict.fromkeys(("online", "pending_addition", "pending_deletion"), bool),
    },
)  # fmt: skip

every, find, ids = _NODES.select, _NODES.find, _NODES.ids
insert, update, delete = _NODES.insert, _NODES.update, _NODES.delete


def of_cluster(connection: Connection, cluster_id: int) -> list[Node]:
    """Return the nodes of a cluster by id."""
    return _NODES.select(connection, "cluster_id = ?", cluster_id)
