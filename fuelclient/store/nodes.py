"""Nodes in the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fuelclient.model.node import Node
from fuelclient.store import rows
from fuelclient.store.database import Connection
from fuelclient.store.rows import encoded_or_null, insert_row, mapping, names, update_row

_COLUMNS = (
    "id", "name", "cluster_id", "status", "roles", "pending_roles", "primary_tags", "ip", "mac", "online", "executor",
    "ssh", "attributes", "error_type", "pending_addition", "pending_deletion", "labels",
)  # fmt: skip
"""In the order of the fields of `Node`."""
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM nodes "  # noqa: S608 - the names are our own
_READ: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("roles", "pending_roles", "primary_tags"), names),
    **dict.fromkeys(("ssh", "attributes", "labels"), mapping),
    **dict.fromkeys(("online", "pending_addition", "pending_deletion"), bool),
}
"""How to read the columns that do not hold the value of their field itself."""
_READERS = tuple((_COLUMNS.index(column), read) for column, read in _READ.items())
_TEXTS = frozenset(column for column, read in _READ.items() if read is not bool)


def every(connection: Connection) -> list[Node]:
    """Return all nodes by id."""
    return [_node(row) for row in connection.execute(_SELECT + "ORDER BY id")]


def of_cluster(connection: Connection, cluster_id: int) -> list[Node]:
    """Return the nodes of a cluster by id."""
    return [_node(row) for row in connection.execute(_SELECT + "WHERE cluster_id = ? ORDER BY id", (cluster_id,))]


def find(connection: Connection, node_id: int) -> Node | None:
    """Return a node, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (node_id,)).fetchone()
    return _node(row) if row else None


def ids(connection: Connection) -> list[int]:
    """Return all ids in ascending order."""
    return rows.ids(connection, "nodes")


def insert(connection: Connection, node: Node) -> int:
    """Store a node under its id, or under a new one if that is 0, and return the id."""
    return insert_row(connection, "nodes", {"id": node.id or None, **_row(node)})


def update(connection: Connection, node: Node) -> None:
    """Store all fields of a node."""
    update_row(connection, "nodes", node.id, _row(node))


def delete(connection: Connection, node_id: int) -> None:
    """Remove a node."""
    connection.execute("DELETE FROM nodes WHERE id = ?", (node_id,))


def _row(node: Node) -> dict[str, Any]:
    fields = {column: getattr(node, column) for column in _COLUMNS[1:]}
    return {column: encoded_or_null(value) if column in _TEXTS else value for column, value in fields.items()}


def _node(row: tuple[Any, ...]) -> Node:
    values = list(row)
    for index, read in _READERS:
        values[index] = read(values[index])
    return Node(*values)
