"""Clusters in the store, and the plugins that are enabled on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.cluster import Cluster
from fuelclient.similar import normal
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, column, encoded_or_null, mapping, update_row

_CLUSTERS = Table("clusters", Cluster, ("id", "name", "release_id", "status", "net_segment_type"), {})

every, find, ids = _CLUSTERS.select, _CLUSTERS.find, _CLUSTERS.ids
insert, update = _CLUSTERS.insert, _CLUSTERS.update
delete = _CLUSTERS.delete
"""Removes a cluster with its graphs. Its nodes stay, without a cluster."""


def named(connection: Connection, name: str) -> Cluster | None:
    """Return the cluster with this name, or None."""
    return next((cluster for cluster in every(connection) if normal(cluster.name) == normal(name)), None)


def of_release(connection: Connection, release_id: int) -> list[Cluster]:
    """Return the clusters of a release by id."""
    return _CLUSTERS.select(connection, "release_id = ?", release_id)


def settings(connection: Connection, cluster_id: int) -> dict[str, Any]:
    """Return the settings of a cluster by section, without defaults."""
    return mapping(column(connection, "clusters", "settings", cluster_id))


def put_settings(connection: Connection, cluster_id: int, settings: Mapping[str, Any]) -> None:
    """Replace the settings of a cluster."""
    update_row(connection, "clusters", cluster_id, {"settings": encoded_or_null(settings)})


def metadata(connection: Connection, cluster_id: int) -> dict[str, Any]:
    """Return the roles, tags and volumes that a cluster describes itself, under the same names as in a release."""
    return mapping(column(connection, "clusters", "metadata", cluster_id))


def put_metadata(connection: Connection, cluster_id: int, metadata: Mapping[str, Any]) -> None:
    """Replace the metadata that a cluster describes itself."""
    update_row(connection, "clusters", cluster_id, {"metadata": encoded_or_null(metadata)})


def enable(connection: Connection, cluster_id: int, plugin_id: int) -> None:
    """Enable a plugin on a cluster; nothing changes if it is enabled already."""
    connection.execute(
        "INSERT OR IGNORE INTO cluster_plugins (cluster_id, plugin_id) VALUES (?, ?)", (cluster_id, plugin_id)
    )


def disable(connection: Connection, cluster_id: int, plugin_id: int) -> None:
    """Disable a plugin on a cluster; nothing changes if it is disabled already."""
    connection.execute("DELETE FROM cluster_plugins WHERE cluster_id = ? AND plugin_id = ?", (cluster_id, plugin_id))


def put_copied_graphs(connection: Connection, cluster_id: int, digests: Mapping[str, str]) -> None:
    """Store the digests of the graphs that an environment was copied from, over all earlier ones."""
    update_row(connection, "clusters", cluster_id, {"copied_graphs": encoded_or_null(dict(digests))})


def copied_graphs(connection: Connection, cluster_id: int) -> dict[str, str]:
    """Return the digests of the graphs that an environment was copied from; none if it is no copy."""
    return mapping(column(connection, "clusters", "copied_graphs", cluster_id))
