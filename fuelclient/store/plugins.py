"""Plugins in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from fuelclient.model.package import Package
from fuelclient.model.plugin import Plugin
from fuelclient.store import packages
from fuelclient.store.database import Connection
from fuelclient.store.encoding import encoded_or_null, mapping

_SELECT = "SELECT id, name, version, title, package_version, metadata, directory, by_release, origin FROM plugins "
_SELECT_ALL = _SELECT + "ORDER BY name, version, id"
_SELECT_ENABLED = _SELECT + ("JOIN cluster_plugins ON plugin_id = id WHERE cluster_id = ? ORDER BY name, version, id")


def every(connection: Connection) -> list[Plugin]:
    """All plugins by name and version."""
    enabled = _grouped(
        connection.execute("SELECT plugin_id, cluster_id FROM cluster_plugins ORDER BY plugin_id, cluster_id")
    )
    defined = _grouped(
        connection.execute("SELECT plugin_id, id FROM releases WHERE plugin_id IS NOT NULL ORDER BY plugin_id, id")
    )
    return [_plugin(row, enabled[row[0]], defined[row[0]]) for row in connection.execute(_SELECT_ALL)]


def of_cluster(connection: Connection, cluster_id: int) -> list[Plugin]:
    """The plugins that are enabled on one cluster, by name and version."""
    rows = connection.execute(_SELECT_ENABLED, (cluster_id,)).fetchall()
    return [_whole(connection, row) for row in rows]


def find(connection: Connection, plugin_id: int) -> Plugin | None:
    """One plugin, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (plugin_id,)).fetchone()
    return _whole(connection, row) if row else None


def defining(connection: Connection, release_id: int) -> Plugin | None:
    """The plugin that a release came with; None for one that was imported or created."""
    found = connection.execute("SELECT plugin_id FROM releases WHERE id = ?", (release_id,)).fetchone()
    return find(connection, found[0]) if found and found[0] else None


def ids(connection: Connection) -> list[int]:
    """The ids there are, in rising order."""
    return [row[0] for row in connection.execute("SELECT id FROM plugins ORDER BY id")]


def insert(connection: Connection, plugin: Plugin) -> int:
    """Store a plugin under a new id; the id. On which clusters it is enabled, and which releases it defines, is
    not part of it."""
    cursor = connection.execute(
        "INSERT INTO plugins (name, version, title, package_version, metadata, directory, by_release, origin) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        _columns(plugin),
    )
    return int(cursor.lastrowid or 0)


def update(connection: Connection, plugin: Plugin) -> None:
    """Store what changed of a plugin; see `insert`."""
    connection.execute(
        "UPDATE plugins SET name = ?, version = ?, title = ?, package_version = ?, metadata = ?, directory = ?, "
        "by_release = ?, origin = ? WHERE id = ?",
        (*_columns(plugin), plugin.id),
    )


def put_package(connection: Connection, plugin_id: int, package: Package) -> None:
    """Store what the package of a plugin holds, whatever was stored before."""
    connection.execute("UPDATE plugins SET package = ? WHERE id = ?", (packages.encoded(package), plugin_id))


def package(connection: Connection, plugin_id: int) -> Package | None:
    """What the package of a plugin holds; None for a plugin that was registered before packages were stored."""
    row = connection.execute("SELECT package FROM plugins WHERE id = ?", (plugin_id,)).fetchone()
    return packages.decoded(row[0]) if row and row[0] else None


def delete(connection: Connection, plugin_id: int) -> None:
    """Remove a plugin with its graphs; it must not be enabled anywhere, nor own a release."""
    connection.execute("DELETE FROM plugins WHERE id = ?", (plugin_id,))


def _grouped(rows: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for plugin_id, one in rows:
        found[plugin_id].append(one)
    return found


def _whole(connection: Connection, row: tuple[Any, ...]) -> Plugin:
    clusters = connection.execute("SELECT cluster_id FROM cluster_plugins WHERE plugin_id = ? ORDER BY 1", row[:1])
    releases = connection.execute("SELECT id FROM releases WHERE plugin_id = ? ORDER BY 1", row[:1])
    return _plugin(row, [one for (one,) in clusters.fetchall()], [one for (one,) in releases.fetchall()])


def _columns(plugin: Plugin) -> tuple[Any, ...]:
    return (
        plugin.name,
        plugin.version,
        plugin.title,
        plugin.package_version,
        encoded_or_null(plugin.metadata),
        plugin.unpacked,
        plugin.by_release,
        plugin.origin,
    )


def _plugin(row: tuple[Any, ...], clusters: list[int], releases: list[int]) -> Plugin:
    return Plugin(
        id=row[0],
        name=row[1],
        version=row[2],
        title=row[3],
        package_version=row[4],
        metadata=mapping(row[5]),
        clusters=tuple(clusters),
        releases=tuple(releases),
        unpacked=row[6],
        by_release=bool(row[7]),
        origin=row[8],
    )
