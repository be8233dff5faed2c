"""Releases, clusters, nodes, sequences, networks and virtual addresses in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fuelclient.model.cluster import Cluster
from fuelclient.model.network import NodePart, Vip
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.similar import normal
from fuelclient.store import facts
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, column, decode, encode, insert_row, one


class _Releases(Table[Release]):
    """Releases. Deleting a release also deletes its graphs."""

    def named(self, connection: Connection, name: str, version: str) -> int | None:
        row_id: int | None = one(connection, "SELECT id FROM releases WHERE name = ? AND version = ?", name, version)
        return row_id


class _Clusters(Table[Cluster]):
    """Clusters. Deleting a cluster also deletes its graphs; its nodes stay, without a cluster.

    `settings` are by section, without defaults; `metadata` has the own roles, tags and volumes of a cluster, under
    the same names as in a release; `copied_graphs` are the digests of the graphs that an environment was copied from.
    """

    def __init__(self) -> None:
        super().__init__("clusters", Cluster, fields=("id", "name", "release_id", "status", "net_segment_type"))
        self.settings, self.put_settings = self.document("settings")
        self.metadata, self.put_metadata = self.document("metadata")
        self.copied_graphs, self.put_copied_graphs = self.document("copied_graphs")

    def named(self, connection: Connection, name: str) -> Cluster | None:
        """The cluster with this name after `similar.normal`, or None."""
        return next((cluster for cluster in self.every(connection) if normal(cluster.name) == normal(name)), None)

    def enable(self, connection: Connection, cluster_id: int, plugin_id: int) -> None:
        """Do nothing if it is enabled already."""
        query = "INSERT OR IGNORE INTO cluster_plugins (cluster_id, plugin_id) VALUES (?, ?)"
        connection.execute(query, (cluster_id, plugin_id))

    def disable(self, connection: Connection, cluster_id: int, plugin_id: int) -> None:
        """Do nothing if it is disabled already."""
        query = "DELETE FROM cluster_plugins WHERE cluster_id = ? AND plugin_id = ?"
        connection.execute(query, (cluster_id, plugin_id))


class _Nodes(Table[Node]):
    """Nodes. The facts that were uploaded for a node are deleted with it, and when it leaves its cluster."""

    def insert(self, connection: Connection, value: Node) -> int:
        node_id = super().insert(connection, value)
        facts.forget_node(connection, node_id)  # earlier versions kept those of a deleted node with this id
        return node_id

    def update(self, connection: Connection, value: Node) -> None:
        before = column(connection, "nodes", "cluster_id", value.id)
        super().update(connection, value)
        if before != value.cluster_id:
            facts.forget_node(connection, value.id)

    def delete(self, connection: Connection, row_id: int) -> None:
        super().delete(connection, row_id)
        facts.forget_node(connection, row_id)


class _Sequences(Table[DeploymentSequence]):
    """Sequences of graphs. Names differ within a release."""

    def named(self, connection: Connection, release_id: int, name: str) -> DeploymentSequence | None:
        of_release = self.every(connection, release_id=release_id)
        return next((sequence for sequence in of_release if normal(sequence.name) == normal(name)), None)


releases = _Releases("releases", Release)
clusters = _Clusters()
nodes = _Nodes("nodes", Node)
sequences = _Sequences("sequences", DeploymentSequence)
_VIPS = Table("vips", Vip)

own_networks, put_own_networks = clusters.document("networks")
"""The network configuration of a cluster where it differs from its release."""


def vips(connection: Connection, cluster_id: int) -> list[Vip]:
    return _VIPS.every(connection, cluster_id=cluster_id)


def put_vip(connection: Connection, cluster_id: int, vip: Vip) -> int:
    """Store a virtual address, in place of one with the same name. Its id is ignored. Return its stored id."""
    if (stored := _VIPS.first(connection, cluster_id=cluster_id, name=vip.name)) is None:
        return insert_row(connection, "vips", {"cluster_id": cluster_id, **_VIPS.row(vip)})
    _VIPS.update(connection, replace(vip, id=stored.id))
    return stored.id


def node_part(connection: Connection, node_id: int, part: NodePart) -> list[Any] | None:
    body = one(connection, "SELECT body FROM node_parts WHERE node_id = ? AND part = ?", node_id, part)
    return None if body is None else list(decode(body))


def node_parts(connection: Connection, cluster_id: int, part: NodePart) -> dict[str, list[Any]]:
    """The disks or interfaces of the nodes of a cluster, by the id of the node."""
    rows = connection.execute(
        "SELECT p.node_id, p.body FROM node_parts p JOIN nodes n ON n.id = p.node_id "
        "WHERE n.cluster_id = ? AND p.part = ? ORDER BY p.node_id",
        (cluster_id, part),
    )
    return {str(node_id): list(decode(body)) for node_id, body in rows}


def put_node_part(connection: Connection, node_id: int, part: NodePart, entries: Sequence[Any]) -> None:
    connection.execute(
        "INSERT INTO node_parts (node_id, part, body) VALUES (?, ?, ?) "
        "ON CONFLICT (node_id, part) DO UPDATE SET body = excluded.body",
        (node_id, part, encode(list(entries))),
    )
