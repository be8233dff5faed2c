"""The graphs that a package lists, and the groups that its roles ask for.

Source: the specifications "release-as-a-plugin" (`graphs` of a release, with `tasks_path`; `graph` and
`graph_path` as its example package has them) and "plugins-v5" (`tasks` of a role instead of a group).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.model.document import Document
from fuelclient.model.graph import METADATA, GraphDocument
from fuelclient.model.task import Source, Task, TaskType
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.serializers.graph import documents_from

_STATED = ("name", *METADATA)


def graphs_of(
    files: PackageFiles, holder: Mapping[str, Any], owner: str, *, file: str = ""
) -> dict[str, GraphDocument]:
    """The graphs by type that `holder`, a release record or the metadata of a plugin, lists under `graphs`.

    A type that is listed twice, and a record without a type, is an error among the findings of `files`.
    """
    listed = holder.get("graphs")
    if listed is None:
        return {}
    if not isinstance(listed, list):
        files.reject(
            "P003", "graphs is not a list", files.place(holder, "graphs", file=file), "Write it as - type: default."
        )
        return {}
    graphs: dict[str, GraphDocument] = {}
    for record in listed:
        kind = record.get("type") if isinstance(record, Mapping) else None
        if not isinstance(kind, str) or not kind:
            place = (
                files.place(record, file=file)
                if isinstance(record, Mapping)
                else files.place(holder, "graphs", file=file)
            )
            files.reject("P003", "a graph has no type", place, "Write type: default.")
        elif kind in graphs:
            files.reject(
                "P003", f"the graph {kind} is listed twice", files.place(record, file=file), "Keep one of the two."
            )
        else:
            graphs[kind] = _graph(files, record, owner, file)
    return graphs


def _graph(files: PackageFiles, record: Mapping[str, Any], owner: str, file: str) -> GraphDocument:
    """A graph as its record states it, flat or under `graph`, or as the file of `graph_path` does."""
    nested = record.get("graph")
    body = nested if isinstance(nested, Mapping) else record
    key = "graph" if "graph_path" in body else "tasks"
    stated = without(body, *(name for name in body if name not in _STATED))
    return tasks_of(files, body, key, owner, metadata=stated, file=file)


def tasks_of(
    files: PackageFiles,
    body: Mapping[str, Any],
    key: str,
    owner: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    file: str = "",
) -> GraphDocument:
    """The tasks that `body` states under `key`, or in the files that `key` with `_path` names."""
    name = body.get(f"{key}_path")
    if isinstance(name, str):
        place = files.place(body, f"{key}_path", file=file)
        documents = files.documents(name, place)
        files.merged(documents, name, place)
        documents = [document for document in documents if document.data is not None]
    else:
        documents = [Document(body.get(key) or [], file or files.manifest)]
    about = None if metadata is None else Document(metadata, file or files.manifest)
    return read(files, documents, owner, about)


def read(
    files: PackageFiles, documents: Sequence[Document], owner: str, metadata: Document | None = None
) -> GraphDocument:
    """The graph that documents state together; what is wrong with it stands among the findings of `files` too."""
    graph = documents_from(documents, metadata, owner_label=owner)
    files.note(graph.findings)
    return graph


def groups_of(files: PackageFiles, roles: Mapping[str, Any]) -> list[Task]:
    """The group tasks that stand for the `tasks` of roles: the id and the role are the role's name."""
    file = str(files.directory / "node_roles.yaml")
    groups = []
    for name, role in roles.items():
        if not isinstance(role, Mapping) or not role.get("tasks"):
            continue
        names = [role["tasks"]] if isinstance(role["tasks"], str) else role["tasks"]
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            place = files.place(role, "tasks", file=file)
            files.reject("P003", f"tasks of the role {name} is no list of names", place, "Write tasks: [hiera].")
            continue
        attributes = {
            "type": TaskType.GROUP.value,
            "version": "2.0.0",
            "roles": [str(name)],
            "tasks": list(names),
            "parameters": {"strategy": {"type": "parallel"}},
        }
        place = files.place(role, "tasks", file=file)
        groups.append(
            Task(str(name), attributes, Source(file, files.place(role, file=file).line, {"tasks": place.line}))
        )
    return groups
