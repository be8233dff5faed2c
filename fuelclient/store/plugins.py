"""Plugins in the store."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fuelclient.model.plugin import Plugin
from fuelclient.store.database import Connection
from fuelclient.store.encoding import encoded_or_null, mapping

_SELECT = "SELECT id, name, version, title, package_version, metadata FROM plugins "
_SELECT_ALL = _SELECT + "ORDER BY name, version, id"
_SELECT_ENABLED = _SELECT + ("JOIN cluster_plugins ON plugin_id = id WHERE cluster_id = ? ORDER BY name, version, id")


def every(connection: Connection) -> list[Plugin]:
    """All plugins by name and version."""
    enabled: dict[int, list[int]] = defaultdict(list)
    for plugin_id, cluster_id in connection.execute(
        "SELECT plugin_id, cluster_id FROM cluster_plugins ORDER BY plugin_id, cluster_id"
    ):
        enabled[plugin_id].append(cluster_id)
    return [_plugin(row, enabled[row[0]]) for row in connection.execute(_SELECT_ALL)]


def of_cluster(connection: Connection, cluster_id: int) -> list[Plugin]:
    """The plugins that are enabled on one cluster, by name and version."""
    rows = connection.execute(_SELECT_ENABLED, (cluster_id,)).fetchall()
    return [_plugin(row, _clusters(connection, row[0])) for row in rows]


def find(connection: Connection, plugin_id: int) -> Plugin | None:
    """One plugin, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (plugin_id,)).fetchone()
    return _plugin(row, _clusters(connection, plugin_id)) if row else None


def named(connection: Connection, name: str, version: str) -> int | None:
    """The id of the plugin of this name and version, or None."""
    row = connection.execute("SELECT id FROM plugins WHERE name = ? AND version = ?", (name, version)).fetchone()
    return int(row[0]) if row else None


def ids(connection: Connection) -> list[int]:
    """The ids there are, in rising order."""
    return [row[0] for row in connection.execute("SELECT id FROM plugins ORDER BY id")]


def insert(connection: Connection, plugin: Plugin) -> int:
    """Store a plugin under a new id; the id. On which clusters it is enabled is not part of it."""
    cursor = connection.execute(
        "INSERT INTO plugins (name, version, title, package_version, metadata) VALUES (?, ?, ?, ?, ?)",
        (plugin.name, plugin.version, plugin.title, plugin.package_version, encoded_or_null(plugin.metadata)),
    )
    return int(cursor.lastrowid or 0)


def delete(connection: Connection, plugin_id: int) -> None:
    """Remove a plugin with its graphs; it must not be enabled anywhere."""
    connection.execute("DELETE FROM plugins WHERE id = ?", (plugin_id,))


def _clusters(connection: Connection, plugin_id: int) -> list[int]:
    rows = connection.execute("SELECT cluster_id FROM cluster_plugins WHERE plugin_id = ? ORDER BY 1", (plugin_id,))
    return [row[0] for row in rows]


def _plugin(row: tuple[Any, ...], clusters: list[int]) -> Plugin:
    values = (*row[:5], mapping(row[5]), tuple(clusters))
    return Plugin(*values)
