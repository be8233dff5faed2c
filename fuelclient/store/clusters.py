"""Clusters in the store, and the plugins that are enabled on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.cluster import Cluster
from fuelclient.store.database import Connection
from fuelclient.store.encoding import encoded_or_null, mapping

_SELECT = "SELECT id, name, release_id, status, net_segment_type FROM clusters "


def every(connection: Connection) -> list[Cluster]:
    """All clusters by id."""
    return [Cluster(*row) for row in connection.execute(_SELECT + "ORDER BY id")]


def find(connection: Connection, cluster_id: int) -> Cluster | None:
    """One cluster, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (cluster_id,)).fetchone()
    return Cluster(*row) if row else None


def named(connection: Connection, name: str) -> Cluster | None:
    """The cluster of this name, or None."""
    row = connection.execute(_SELECT + "WHERE name = ?", (name,)).fetchone()
    return Cluster(*row) if row else None


def of_release(connection: Connection, release_id: int) -> list[Cluster]:
    """The clusters that are deployed from a release, by id."""
    return [Cluster(*row) for row in connection.execute(_SELECT + "WHERE release_id = ? ORDER BY id", (release_id,))]


def insert(connection: Connection, cluster: Cluster) -> int:
    """Store a cluster under a new id; the id."""
    cursor = connection.execute(
        "INSERT INTO clusters (name, release_id, status, net_segment_type) VALUES (?, ?, ?, ?)",
        (cluster.name, cluster.release_id, cluster.status, cluster.net_segment_type),
    )
    return int(cursor.lastrowid or 0)


def update(connection: Connection, cluster: Cluster) -> None:
    """Store what changed of a cluster."""
    connection.execute(
        "UPDATE clusters SET name = ?, release_id = ?, status = ?, net_segment_type = ? WHERE id = ?",
        (cluster.name, cluster.release_id, cluster.status, cluster.net_segment_type, cluster.id),
    )


def delete(connection: Connection, cluster_id: int) -> None:
    """Remove a cluster with its graphs; its nodes stay, in no cluster, and keep everything else."""
    connection.execute("DELETE FROM clusters WHERE id = ?", (cluster_id,))


def settings(connection: Connection, cluster_id: int) -> dict[str, Any]:
    """What was set for a cluster, by section; without any default."""
    row = connection.execute("SELECT settings FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    return mapping(row[0]) if row else {}


def put_settings(connection: Connection, cluster_id: int, settings: Mapping[str, Any]) -> None:
    """The cluster's own settings are these, and nothing that was set before."""
    connection.execute("UPDATE clusters SET settings = ? WHERE id = ?", (encoded_or_null(settings), cluster_id))


def metadata(connection: Connection, cluster_id: int) -> dict[str, Any]:
    """The roles, tags and volumes that a cluster describes itself, under the names that a release has them."""
    row = connection.execute("SELECT metadata FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    return mapping(row[0]) if row else {}


def put_metadata(connection: Connection, cluster_id: int, metadata: Mapping[str, Any]) -> None:
    """The cluster describes this itself, and nothing that it did before."""
    connection.execute("UPDATE clusters SET metadata = ? WHERE id = ?", (encoded_or_null(metadata), cluster_id))


def enable(connection: Connection, cluster_id: int, plugin_id: int) -> None:
    """The plugin is enabled on the cluster, whether it was or not."""
    connection.execute(
        "INSERT OR IGNORE INTO cluster_plugins (cluster_id, plugin_id) VALUES (?, ?)", (cluster_id, plugin_id)
    )


def disable(connection: Connection, cluster_id: int, plugin_id: int) -> None:
    """The plugin is not enabled on the cluster, whether it was or not."""
    connection.execute("DELETE FROM cluster_plugins WHERE cluster_id = ? AND plugin_id = ?", (cluster_id, plugin_id))
