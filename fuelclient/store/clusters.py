"""Clusters in the store, and the plugins that are enabled on them."""

from __future__ import annotations

from fuelclient.model.cluster import Cluster
from fuelclient.similar import normal
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, document

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


settings, put_settings = document("clusters", "settings")
"""The settings of a cluster by section, without defaults."""

metadata, put_metadata = document("clusters", "metadata")
"""The roles, tags and volumes that a cluster describes itself, under the same names as in a release."""

copied_graphs, put_copied_graphs = document("clusters", "copied_graphs")
"""The digests of the graphs that an environment was copied from; none if it is no copy."""


def enable(connection: Connection, cluster_id: int, plugin_id: int) -> None:
    """Enable a plugin on a cluster; nothing changes if it is enabled already."""
    connection.execute(
        "INSERT OR IGNORE INTO cluster_plugins (cluster_id, plugin_id) VALUES (?, ?)", (cluster_id, plugin_id)
    )


def disable(connection: Connection, cluster_id: int, plugin_id: int) -> None:
    """Disable a plugin on a cluster; nothing changes if it is disabled already."""
    connection.execute("DELETE FROM cluster_plugins WHERE cluster_id = ? AND plugin_id = ?", (cluster_id, plugin_id))
