"""Networks and virtual addresses of clusters, and the disks and interfaces of nodes, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fuelclient.model.network import NodePart, Vip
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, columns_of, decode, document, encode, insert_row, one

_VIPS = Table("vips", Vip, columns_of(Vip), {"is_user_defined": bool})


own_networks, put_own_networks = document("clusters", "networks")
"""The network configuration of a cluster where it differs from its release."""


def vips(connection: Connection, cluster_id: int) -> list[Vip]:
    """Return the virtual addresses of a cluster by id."""
    return _VIPS.select(connection, "cluster_id = ?", cluster_id)


def put_vip(connection: Connection, cluster_id: int, vip: Vip) -> int:
    """Store a virtual address, over the one of the same name, and return its id. Its own id does not matter."""
    stored = _VIPS.first(connection, "cluster_id = ? AND name = ?", cluster_id, vip.name)
    if stored is None:
        return insert_row(connection, "vips", {"cluster_id": cluster_id, **_VIPS.row(vip)})
    _VIPS.update(connection, replace(vip, id=stored.id))
    return stored.id


def node_part(connection: Connection, node_id: int, part: NodePart) -> list[Any] | None:
    """Return the document that was stored for a part of a node, or None."""
    body = one(connection, "SELECT body FROM node_parts WHERE node_id = ? AND part = ?", node_id, part)
    return None if body is None else list(decode(body))


def node_parts(connection: Connection, cluster_id: int, part: NodePart) -> dict[str, list[Any]]:
    """Return the documents that were stored for a part of the nodes of a cluster, by the id of the node."""
    rows = connection.execute(
        "SELECT p.node_id, p.body FROM node_parts p JOIN nodes n ON n.id = p.node_id "
        "WHERE n.cluster_id = ? AND p.part = ? ORDER BY p.node_id",
        (cluster_id, part),
    )
    return {str(node_id): list(decode(body)) for node_id, body in rows}


def put_node_part(connection: Connection, node_id: int, part: NodePart, entries: Sequence[Any]) -> None:
    """Store the document of a part of a node."""
    connection.execute(
        "INSERT INTO node_parts (node_id, part, body) VALUES (?, ?, ?) "
        "ON CONFLICT (node_id, part) DO UPDATE SET body = excluded.body",
        (node_id, part, encode(list(entries))),
    )
