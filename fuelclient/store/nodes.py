"""Nodes in the store."""

from __future__ import annotations

from typing import Any

from fuelclient.model.node import Node
from fuelclient.store.database import Connection
from fuelclient.store.encoding import encoded_or_null, mapping, names

_SELECT = (
    "SELECT id, name, cluster_id, status, roles, pending_roles, primary_tags, ip, mac, online, executor, ssh, "
    "attributes, error_type, pending_addition, pending_deletion, labels FROM nodes "
)


def every(connection: Connection) -> list[Node]:
    """All nodes by id."""
    return [_node(row) for row in connection.execute(_SELECT + "ORDER BY id")]


def of_cluster(connection: Connection, cluster_id: int) -> list[Node]:
    """The nodes of one cluster by id."""
    return [_node(row) for row in connection.execute(_SELECT + "WHERE cluster_id = ? ORDER BY id", (cluster_id,))]


def find(connection: Connection, node_id: int) -> Node | None:
    """One node, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (node_id,)).fetchone()
    return _node(row) if row else None


def ids(connection: Connection) -> list[int]:
    """The ids there are, in rising order."""
    return [row[0] for row in connection.execute("SELECT id FROM nodes ORDER BY id")]


def insert(connection: Connection, node: Node) -> int:
    """Store a node under its id, or under a new one where that is 0; the id."""
    cursor = connection.execute(
        "INSERT INTO nodes (id, name, cluster_id, status, roles, pending_roles, primary_tags, ip, mac, online, "
        "executor, ssh, attributes, error_type, pending_addition, pending_deletion, labels) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (node.id or None, *_columns(node)),
    )
    return int(cursor.lastrowid or 0)


def update(connection: Connection, node: Node) -> None:
    """Store what changed of a node."""
    connection.execute(
        "UPDATE nodes SET name = ?, cluster_id = ?, status = ?, roles = ?, pending_roles = ?, primary_tags = ?, "
        "ip = ?, mac = ?, online = ?, executor = ?, ssh = ?, attributes = ?, error_type = ?, pending_addition = ?, "
        "pending_deletion = ?, labels = ? WHERE id = ?",
        (*_columns(node), node.id),
    )


def delete(connection: Connection, node_id: int) -> None:
    """Remove a node."""
    connection.execute("DELETE FROM nodes WHERE id = ?", (node_id,))


def _columns(node: Node) -> tuple[Any, ...]:
    return (
        node.name,
        node.cluster_id,
        node.status,
        encoded_or_null(node.roles),
        encoded_or_null(node.pending_roles),
        encoded_or_null(node.primary_tags),
        node.ip,
        node.mac,
        node.online,
        node.executor,
        encoded_or_null(node.ssh),
        encoded_or_null(node.attributes),
        node.error_type,
        node.pending_addition,
        node.pending_deletion,
        encoded_or_null(node.labels),
    )


def _node(row: tuple[Any, ...]) -> Node:
    return Node(
        id=row[0],
        name=row[1],
        cluster_id=row[2],
        status=row[3],
        roles=names(row[4]),
        pending_roles=names(row[5]),
        primary_tags=names(row[6]),
        ip=row[7],
        mac=row[8],
        online=bool(row[9]),
        executor=row[10],
        ssh=mapping(row[11]),
        attributes=mapping(row[12]),
        error_type=row[13],
        pending_addition=bool(row[14]),
        pending_deletion=bool(row[15]),
        labels=mapping(row[16]),
    )
