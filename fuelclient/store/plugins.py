"""Plugins in the store, with what the engine needs of their packages.

The text of a package has everything that a selection for a release needs, including the places of tasks. It leaves out
the releases that a package defines, and their graphs, which have tables of their own, and findings, which belong to the
moment of the check.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Contents, Package, ReleaseRecord
from fuelclient.model.plugin import Plugin
from fuelclient.model.task import Source, Task
from fuelclient.serializers.values import plain
from fuelclient.store import rows
from fuelclient.store.database import Connection
from fuelclient.store.rows import column, decode, encode, encoded_or_null, insert_row, mapping, update_row

_SELECT = "SELECT id, name, version, title, package_version, metadata, directory, by_release, origin FROM plugins "
_SELECT_ALL = _SELECT + "ORDER BY name, version, id"
_SELECT_ENABLED = _SELECT + ("JOIN cluster_plugins ON plugin_id = id WHERE cluster_id = ? ORDER BY name, version, id")
_DATA = ("roles", "tags", "volumes", "network_roles", "components", "attributes", "files")
"""Parts of the contents of a package that are plain data."""


def every(connection: Connection) -> list[Plugin]:
    """Return all plugins by name and version."""
    enabled = _grouped(
        connection.execute("SELECT plugin_id, cluster_id FROM cluster_plugins ORDER BY plugin_id, cluster_id")
    )
    defined = _grouped(
        connection.execute("SELECT plugin_id, id FROM releases WHERE plugin_id IS NOT NULL ORDER BY plugin_id, id")
    )
    return [_plugin(row, enabled[row[0]], defined[row[0]]) for row in connection.execute(_SELECT_ALL)]


def of_cluster(connection: Connection, cluster_id: int) -> list[Plugin]:
    """Return the plugins that are enabled on a cluster, by name and version."""
    enabled = connection.execute(_SELECT_ENABLED, (cluster_id,)).fetchall()
    return [_whole(connection, row) for row in enabled]


def find(connection: Connection, plugin_id: int) -> Plugin | None:
    """Return a plugin, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (plugin_id,)).fetchone()
    return _whole(connection, row) if row else None


def defining(connection: Connection, release_id: int) -> Plugin | None:
    """Return the plugin that defines a release; None for a release that was imported or created."""
    plugin_id = column(connection, "releases", "plugin_id", release_id)
    return find(connection, plugin_id) if plugin_id else None


def ids(connection: Connection) -> list[int]:
    """Return all ids in ascending order."""
    return rows.ids(connection, "plugins")


def names(connection: Connection) -> set[str]:
    """Return the names of all plugins."""
    return {name for (name,) in connection.execute("SELECT DISTINCT name FROM plugins")}


def insert(connection: Connection, plugin: Plugin) -> int:
    """Store a plugin under a new id, without its clusters and releases, and return the id."""
    return insert_row(connection, "plugins", _row(plugin))


def update(connection: Connection, plugin: Plugin) -> None:
    """Store the fields of a plugin except its clusters and releases."""
    update_row(connection, "plugins", plugin.id, _row(plugin))


def put_package(connection: Connection, plugin_id: int, package: Package) -> None:
    """Replace the stored package of a plugin."""
    update_row(connection, "plugins", plugin_id, {"package": _package_text(package)})


def package(connection: Connection, plugin_id: int) -> Package | None:
    """Return the package of a plugin; None if the plugin was registered before packages were stored."""
    text = column(connection, "plugins", "package", plugin_id)
    return _package(text) if text else None


def delete(connection: Connection, plugin_id: int) -> None:
    """Remove a plugin with its graphs. It must not be enabled anywhere, nor define a release."""
    connection.execute("DELETE FROM plugins WHERE id = ?", (plugin_id,))


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    ids_by_plugin: dict[int, list[int]] = defaultdict(list)
    for plugin_id, other_id in pairs:
        ids_by_plugin[plugin_id].append(other_id)
    return ids_by_plugin


def _whole(connection: Connection, row: tuple[Any, ...]) -> Plugin:
    clusters = connection.execute("SELECT cluster_id FROM cluster_plugins WHERE plugin_id = ? ORDER BY 1", row[:1])
    releases = connection.execute("SELECT id FROM releases WHERE plugin_id = ? ORDER BY 1", row[:1])
    return _plugin(row, [row[0] for row in clusters.fetchall()], [row[0] for row in releases.fetchall()])


def _row(plugin: Plugin) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "version": plugin.version,
        "title": plugin.title,
        "package_version": plugin.package_version,
        "metadata": encoded_or_null(plugin.metadata),
        "directory": plugin.unpacked,
        "by_release": plugin.by_release,
        "origin": plugin.origin,
    }


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


def _package_text(package: Package) -> str:
    return encode(
        {
            "metadata": plain(package.metadata),
            "contents": _contents_to(package.contents),
            "records": [_record_to(record) for record in package.records],
            "scripts": list(package.scripts),
        }
    )


def _package(text: str) -> Package:
    """Return the package without the releases that it defines."""
    stored = decode(text)
    return Package(
        metadata=stored["metadata"],
        contents=_contents_from(stored["contents"]),
        records=tuple(_record_from(record) for record in stored["records"]),
        scripts=tuple(stored["scripts"]),
    )


def _contents_to(contents: Contents) -> dict[str, Any]:
    return {
        "graphs": {graph_type: _graph_to(graph) for graph_type, graph in contents.graphs.items()},
        **{name: plain(getattr(contents, name)) for name in _DATA},
    }


def _contents_from(stored: Mapping[str, Any]) -> Contents:
    graphs = {graph_type: _graph_from(graph) for graph_type, graph in stored["graphs"].items()}
    data: dict[str, Any] = {
        name: tuple(stored[name]) if isinstance(stored[name], list) else stored[name] for name in _DATA
    }
    return Contents(graphs, **data)


def _record_to(record: ReleaseRecord) -> dict[str, Any]:
    return {
        "os": record.os,
        "version": record.version,
        "modes": list(record.modes),
        "metadata": plain(record.metadata),
        "contents": None if record.contents is None else _contents_to(record.contents),
    }


def _record_from(stored: Mapping[str, Any]) -> ReleaseRecord:
    contents = stored["contents"]
    return ReleaseRecord(
        stored["os"],
        stored["version"],
        tuple(stored["modes"]),
        stored["metadata"],
        None if contents is None else _contents_from(contents),
    )


def _graph_to(graph: GraphDocument) -> dict[str, Any]:
    return {
        "tasks": [
            [task.id, task.attributes, task.source.file, task.source.line, dict(task.source.lines), task.legacy]
            for task in graph.tasks
        ],
        "name": graph.name,
        "metadata": graph.metadata,
    }


def _graph_from(stored: Mapping[str, Any]) -> GraphDocument:
    tasks = tuple(
        Task(task_id, attributes, Source(file, line, lines), legacy)
        for task_id, attributes, file, line, lines, legacy in stored["tasks"]
    )
    return GraphDocument(tasks, stored["name"], stored["metadata"])
