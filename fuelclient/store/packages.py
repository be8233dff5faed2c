"""Packages as the store keeps them: what a selection for a release needs, tasks with their places included.

The releases that a package defines, and their graphs, are left out: they have tables of their own. So are findings,
which belong to the moment of the check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Contents, Package, ReleaseRecord
from fuelclient.model.task import Source, Task
from fuelclient.serializers.values import plain
from fuelclient.store.encoding import decode, encode

_DATA = ("roles", "tags", "volumes", "network_roles", "components", "attributes", "files")


def encoded(package: Package) -> str:
    """The text of a package."""
    return encode(
        {
            "metadata": plain(package.metadata),
            "contents": _contents_to(package.contents),
            "records": [_record_to(record) for record in package.records],
            "scripts": list(package.scripts),
        }
    )


def decoded(text: str) -> Package:
    """The package of a text that `encoded` made, without the releases that it defines."""
    stored = decode(text)
    return Package(
        metadata=stored["metadata"],
        contents=_contents_from(stored["contents"]),
        records=tuple(_record_from(record) for record in stored["records"]),
        scripts=tuple(stored["scripts"]),
    )


def _contents_to(contents: Contents) -> dict[str, Any]:
    return {
        "graphs": {kind: _graph_to(graph) for kind, graph in contents.graphs.items()},
        **{name: plain(getattr(contents, name)) for name in _DATA},
    }


def _contents_from(stored: Mapping[str, Any]) -> Contents:
    return Contents(
        graphs={kind: _graph_from(graph) for kind, graph in stored["graphs"].items()},
        roles=stored["roles"],
        tags=stored["tags"],
        volumes=stored["volumes"],
        network_roles=tuple(stored["network_roles"]),
        components=tuple(stored["components"]),
        attributes=stored["attributes"],
        files=stored["files"],
    )


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
