"""Plugins in the store, with those parts of their packages that the engine needs.

The column `package` (JSON) has everything that is needed to select a plugin's content for a release, including the file
and line of each task. It has neither the releases that a package defines and their graphs, which have tables of their
own, nor findings, which each check makes anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Contents, Package, ReleaseRecord
from fuelclient.model.plugin import Plugin
from fuelclient.model.task import Source, Task
from fuelclient.serializers.values import plain
from fuelclient.store import rows
from fuelclient.store.database import Connection


class _Plugins(rows.Table[Plugin]):
    """Plugins, each with its clusters and its releases, in the order of names and versions.

    Deleting a plugin also deletes its graphs. It must not be enabled anywhere, nor define a release.
    """

    def every(self, connection: Connection, **columns: Any) -> list[Plugin]:
        clusters = "SELECT cluster_id FROM cluster_plugins WHERE plugin_id = ? ORDER BY 1"
        releases = "SELECT id FROM releases WHERE plugin_id = ? ORDER BY 1"
        return [
            replace(
                plugin,
                clusters=tuple(rows.firsts(connection, clusters, plugin.id)),
                releases=tuple(rows.firsts(connection, releases, plugin.id)),
            )
            for plugin in super().every(connection, **columns)
        ]


table = _Plugins(
    "plugins",
    Plugin,
    {"metadata": rows.mapping, "by_release": bool},
    fields=rows.columns_of(Plugin, without=("clusters", "releases")),
    renamed={"unpacked": "directory"},
    order="name, version, id",
)

every, find, ids, update, delete = table.every, table.find, table.ids, table.update, table.delete


def of_cluster(connection: Connection, cluster_id: int) -> list[Plugin]:
    """The plugins that are enabled on a cluster, by name and version."""
    enabled = rows.firsts(connection, "SELECT plugin_id FROM cluster_plugins WHERE cluster_id = ?", cluster_id)
    return every(connection, id=enabled)


def defining(connection: Connection, release_id: int) -> Plugin | None:
    """The plugin that defines a release; None for a release that was imported or created."""
    plugin_id = rows.column(connection, "releases", "plugin_id", release_id)
    return find(connection, plugin_id) if plugin_id else None


def names(connection: Connection) -> set[str]:
    return {*rows.firsts(connection, "SELECT DISTINCT name FROM plugins")}


def has_linked(connection: Connection) -> bool:
    return bool(rows.firsts(connection, "SELECT 1 FROM plugins WHERE directory LIKE '/%'"))


def insert(connection: Connection, plugin: Plugin) -> int:
    """Store a plugin, without its clusters and releases, and return its new id."""
    return rows.insert_row(connection, "plugins", table.row(plugin))


def put_package(connection: Connection, plugin_id: int, package: Package) -> None:
    stored = {
        "metadata": plain(package.metadata),
        "contents": _stored_contents(package.contents),
        "records": [_stored_record(record) for record in package.records],
        "scripts": list(package.scripts),
    }
    rows.update_row(connection, "plugins", plugin_id, {"package": rows.encode(stored)})


def package(connection: Connection, plugin_id: int) -> Package | None:
    """The package of a plugin, without the releases that it defines; None if the plugin was registered before packages
    were stored."""
    if not (text := rows.column(connection, "plugins", "package", plugin_id)):
        return None
    stored = rows.decode(text)
    return Package(
        metadata=stored["metadata"],
        contents=_contents_from(stored["contents"]),
        records=tuple(_record_from(record) for record in stored["records"]),
        scripts=tuple(stored["scripts"]),
    )


def _stored_contents(contents: Contents) -> dict[str, Any]:
    return {
        "graphs": {graph_type: _stored_graph(graph) for graph_type, graph in contents.graphs.items()},
        **{name: plain(getattr(contents, name)) for name in rows.columns_of(Contents, without=("graphs",))},
    }


def _contents_from(stored: Mapping[str, Any]) -> Contents:
    graphs = {graph_type: _graph_from(graph) for graph_type, graph in stored["graphs"].items()}
    return Contents(**{**rows.fields_of(stored), "graphs": graphs})


def _stored_record(record: ReleaseRecord) -> dict[str, Any]:
    contents = None if record.contents is None else _stored_contents(record.contents)
    return {**asdict(replace(record, metadata=plain(record.metadata), contents=None)), "contents": contents}


def _record_from(stored: Mapping[str, Any]) -> ReleaseRecord:
    contents = None if stored["contents"] is None else _contents_from(stored["contents"])
    return ReleaseRecord(**{**rows.fields_of(stored), "contents": contents})


def _stored_graph(graph: GraphDocument) -> dict[str, Any]:
    tasks = [
        [task.id, task.attributes, task.source.file, task.source.line, dict(task.source.lines), task.legacy]
        for task in graph.tasks
    ]
    return {"tasks": tasks, "name": graph.name, "metadata": graph.metadata}


def _graph_from(stored: Mapping[str, Any]) -> GraphDocument:
    tasks = tuple(
        Task(task_id, attributes, Source(file, line, lines), legacy)
        for task_id, attributes, file, line, lines, legacy in stored["tasks"]
    )
    return GraphDocument(tasks, stored["name"], stored["metadata"])
