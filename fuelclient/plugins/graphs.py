"""The graphs that a package lists, and the groups that its roles ask for.

Source: the specifications "release-as-a-plugin" (`graphs` of a release, with `tasks_path`; `graph` and
`graph_path` as its example package has them) and "plugins-v5" (`tasks` of a role instead of a group).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import METADATA, GraphDocument
from fuelclient.model.task import Source, Task, TaskType
from fuelclient.plugins import constraints
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.serializers.graph import documents_from

_STATED = ("name", *METADATA)
_TASKS = ("tasks", "tasks_path", "graph", "graph_path")


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


def graphs_without_tasks(holder: Mapping[str, Any]) -> frozenset[str]:
    """The types of the graphs under `graphs` that state no tasks, but a name or metadata at most."""
    listed = holder.get("graphs")
    records = [record for record in listed if isinstance(record, Mapping)] if isinstance(listed, list) else []
    return frozenset(str(record.get("type")) for record in records if not any(key in record for key in _TASKS))


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
    files.note(_repeated(graph.tasks))
    for task in graph.tasks:
        files.note(constraints.check(task.attributes, f"task {task.id}", task.source.place))
    return graph


def own_graph(
    files: PackageFiles,
    owner: str,
    legacy: Sequence[Document],
    groups: Sequence[Task],
    tasks: Sequence[Document],
    *,
    with_primary: bool = False,
) -> GraphDocument:
    """The graph of the tasks that a plugin has in files of its own: those of `tasks.yaml`, the groups of its roles,
    those of `deployment_tasks.yaml`.

    A group that is among the tasks wins over the one that a role asks for. `with_primary` says that tasks for
    controllers are for the primary one, too, as it is in packages of version 1.
    """
    graph = read(files, [document for document in (*legacy, *tasks) if document.data is not None], owner)
    known = {task.id for task in graph.tasks}
    first = sum(task.legacy for task in graph.tasks)
    entries = [_with_primary(task) if with_primary else task for task in graph.tasks[:first]]
    added = [group for group in groups if group.id not in known]
    return replace(graph, tasks=(*entries, *added, *graph.tasks[first:]))


def _with_primary(task: Task) -> Task:
    """The task on the primary controller where it is on controllers. Source: Nailgun, adapter of version 1."""
    roles = task.attributes.get("roles")
    if not isinstance(roles, list) or "controller" not in roles or "primary-controller" in roles:
        return task
    return replace(task, attributes={**task.attributes, "roles": [*roles, "primary-controller"]})


def groups_of(files: PackageFiles, roles: Mapping[str, Any], file: str) -> list[Task]:
    """The group tasks that stand for the `tasks` of the roles of `file`: their id and role are the role's name.

    What makes a role one for some releases only holds for its group, too.
    """
    groups = []
    for name, role in roles.items():
        if not isinstance(role, Mapping) or not role.get("tasks"):
            continue
        names = [role["tasks"]] if isinstance(role["tasks"], str) else role["tasks"]
        place = files.place(role, "tasks", file=file)
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            files.reject("P003", f"tasks of the role {name} is no list of names", place, "Write tasks: [hiera].")
            continue
        attributes = {
            "type": TaskType.GROUP.value,
            "version": "2.0.0",
            "roles": [name],
            "tasks": list(names),
            "parameters": {"strategy": {"type": "parallel"}},
            **{key: role[key] for key in constraints.KEYS if key in role},
        }
        source = Source(file, files.place(role, file=file).line, {"tasks": place.line})
        groups.append(Task(name, attributes, source))
    return groups


def _repeated(tasks: Sequence[Task]) -> Iterator[Finding]:
    """A finding for every task whose id another one has, unless version constraints keep the two apart."""
    seen: dict[str, Task] = {}
    for task in tasks:
        if constraints.is_constrained(task.attributes):
            continue
        if task.id in seen:
            message = f"the task {task.id} is defined twice, first at {seen[task.id].source.place()}"
            hint = "Keep one of the two, or say with os-version or fuel-version which releases each is for."
            yield Finding(Severity.ERROR, "P060", message, task.source.place(), task.id, hint)
        seen.setdefault(task.id, task)
