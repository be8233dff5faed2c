"""Read the graphs that a package lists, turn the `tasks` of roles into groups, and read the entries of a `tasks.yaml`:
most have no id, and only their stages order them.

Sources: the specifications "release-as-a-plugin" (`graphs` of a release, with `tasks_path`; its example package also
has `graph` and `graph_path`) and "plugins-v5" (`tasks` of a role instead of a group).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.graph.validate import IGNORED, IGNORED_HINT
from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import METADATA, GraphDocument
from fuelclient.model.task import NOT_OF_LEGACY, Source, Task, TaskType
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plugins import constraints
from fuelclient.plugins.package_files import SUFFIX, PackageFiles
from fuelclient.plugins.parts import DataPath, Part, without
from fuelclient.serializers.graph import documents_from
from fuelclient.serializers.task import task_from
from fuelclient.serializers.values import in_words, items_of, key_text, line_of, mapping, mappings

_GRAPH_KEYS = ("name", *METADATA)


def graphs_of(
    files: PackageFiles, holder: Mapping[str, Any], *, file: str = "", path: DataPath = ()
) -> dict[str, GraphDocument]:
    """Read the graphs that `holder` (a release record or a plugin's metadata) lists under `graphs`, by type.

    `path` leads to `holder` in its file. A type that is listed twice is an error in the findings of `files`.
    """
    graphs: dict[str, GraphDocument] = {}
    file = file or files.manifest
    for index, record in enumerate(files.shaped(holder, "graphs", list, file=file) or ()):
        if not isinstance(record, Mapping):
            files.misshapen[files.place(holder, "graphs", file=file)] = None
            continue
        # The graph is in the record itself, under `graph`, or in the file that `graph_path` names.
        nested = record.get("graph")
        body, steps = (nested, ("graph",)) if isinstance(nested, Mapping) else (record, ())
        key = "graph" if f"graph{SUFFIX}" in body else "tasks"
        metadata = without(body, *(name for name in body if name not in _GRAPH_KEYS))
        graph = tasks_of(files, body, key, file, (*path, "graphs", index, *steps), metadata)
        graph_type = record.get("type")
        if not isinstance(graph_type, str) or not graph_type:
            files.misshapen[files.place(record, file=file)] = None
        elif graph_type in graphs:
            message = f"the graph {graph_type} is listed twice"
            files.reject("P003", message, files.place(record, file=file), "Keep one of the two.")
        else:
            graphs[graph_type] = graph
    return graphs


def tasks_of(
    files: PackageFiles, body: Mapping[str, Any], key: str, file: str, path: DataPath, metadata: Marked | None = None
) -> GraphDocument:
    """Read the tasks that `body` has under `key`, or in the files that `<key>_path` names."""
    name = body.get(f"{key}{SUFFIX}")
    if isinstance(name, str):
        place = files.place(body, f"{key}{SUFFIX}", file=file)
        documents = files.documents(name, place)
        files.merged(documents, name, place)
        files.add_part(Part("release_tasks", tuple(map(_tasks_in, documents)), place, name, of_release=True))
        documents = [document for document in documents if document.data is not None]
    else:
        documents = [Document(body.get(key) or [], file)]
        if body.get(key) is not None:
            written = Document(body[key], file)
            place = files.place(body, key, file=file)
            files.add_part(Part("release_tasks", (written,), place, path=(*path, key), of_release=True))
    about = None if metadata is None else Document(metadata, file)
    graph = documents_from(documents, about, owner_label=files.name)
    files.graphs.append(graph)
    return graph


def _tasks_in(document: Document) -> Document:
    """The tasks in a graph's file, which may be a mapping with the graph's name and metadata."""
    if isinstance(document.data, Mapping) and "tasks" in document.data:
        return Document(document.data["tasks"], document.file)
    return document


def own_graph(
    files: PackageFiles, legacy: Sequence[Document], groups: Sequence[Task], tasks: Sequence[Document]
) -> GraphDocument:
    """Make a plugin's own graph from the entries of `tasks.yaml` (legacy tasks, even if they have ids), the groups of
    its roles, and `deployment_tasks.yaml`.

    In packages of version 1, tasks for controllers are also for the primary controller.
    """
    documents = [document for document in (*without_ignored_keys(legacy, tasks), *tasks) if document.data is not None]
    graph = documents_from(documents, owner_label=files.name)
    legacy_files = {document.file for document in legacy}
    legacy_count = sum(task.source.file in legacy_files for task in graph.tasks)
    entries = tuple(replace(task, legacy=True) for task in graph.tasks[:legacy_count])
    files.graphs.append(replace(graph, tasks=(*entries, *graph.tasks[legacy_count:])))
    if files.version == 1:
        entries = tuple(map(_with_primary, entries))
    return replace(graph, tasks=(*entries, *fit_groups(groups, graph.tasks), *graph.tasks[legacy_count:]))


def fit_groups(groups: Sequence[Task], tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Fit the groups made from roles to the `tasks` of a graph, which may have tasks with the same ids.

    A group of the graph replaces that of the role. Beside another task, the role's group gets an id that no task of a
    package can have.

    >>> a, b, c = (Task(name, {"type": "group"}) for name in ("web", "db", "log"))
    >>> [group.id for group in fit_groups([a, b, c], [Task("web", {"type": "group"}), Task("db", {"type": "shell"})])]
    ['role:db', 'log']
    """
    types = {task.id: task.type for task in tasks}
    return tuple(
        replace(group, id=f"role:{group.id}") if group.id in types else group
        for group in groups
        if types.get(group.id) != TaskType.GROUP
    )


def _with_primary(task: Task) -> Task:
    """Add the primary controller to a task for controllers. Source: Nailgun, adapter for version 1."""
    roles = task.attributes.get("roles")
    if not isinstance(roles, list) or "controller" not in roles or "primary-controller" in roles:
        return task
    return replace(task, attributes={**task.attributes, "roles": [*roles, "primary-controller"]})


def _placing_words(name: str, role: Mapping[str, Any], tags: Mapping[str, Any]) -> list[str]:
    """The words by which a group finds every node with a role: its tag, and that of the primary node.

    The primary node carries `primary-NAME` instead of the tag, so a group for NAME alone would leave it out. A role
    that lists other tags than its own name is found by these tags. `tags` are the tags that the package defines.

    >>> _placing_words("db", {"has_primary": True}, {}), _placing_words("log", {}, {})
    (['primary-db', 'db'], ['log'])
    >>> _placing_words("db", {"tags": ["sql", "disk"]}, {"sql": {"has_primary": True}})
    ['primary-sql', 'sql', 'disk']
    """
    given = role.get("tags")
    own = [str(tag) for tag in given] if isinstance(given, list) and name not in given else [name]
    words: list[str] = []
    for tag in own:
        described = tags.get(tag)
        tag_has_primary = isinstance(described, Mapping) and bool(described.get("has_primary"))
        words += [f"{PRIMARY}{tag}", tag] if role.get("has_primary") or tag_has_primary else [tag]
    return words


def groups_of(
    files: PackageFiles, roles: Mapping[str, Any], file: str, tags: Mapping[str, Any] | None = None
) -> list[Task]:
    """Make a group task for each role of `file` that has `tasks`, with its fault tolerance and version constraints.

    Its id is the role's name (see `fit_groups`), and its roles are the words that find all nodes with the role, the
    primary one included. `tags` are the tags that the package defines.
    """
    groups = []
    for name, role in roles.items():
        if not isinstance(role, Mapping) or not role.get("tasks"):
            continue
        names = [role["tasks"]] if isinstance(role["tasks"], str) else role["tasks"]
        place = files.place(role, "tasks", file=file)
        if not isinstance(names, list) or not all(isinstance(task_id, str) for task_id in names):
            files.misshapen[place] = None
            continue
        attributes = {
            "type": TaskType.GROUP.value,
            "version": "2.0.0",
            "roles": _placing_words(name, role, tags or {}),
            "tasks": list(names),
            "parameters": {"strategy": {"type": "parallel"}},
            **{key: role[key] for key in ("fault_tolerance", *constraints.KEYS) if key in role},
        }
        groups.append(Task(name, attributes, Source(file, files.place(role, file=file).line, {"tasks": place.line})))
    return groups


_ID_HINT = "Remove it, or write a name that no other task of the package has."


def without_ignored_keys(documents: Iterable[Document], tasks: Iterable[Document]) -> Iterator[Document]:
    """Yield the documents of a `tasks.yaml`, whose entries lack the keys that a Fuel master ignores or cannot read.

    Each dependency and id that is left out is a warning (G029) among the findings of its document. An id is also left
    out if an earlier entry or one of `tasks` has it.
    """
    seen = {entry["id"] for document in tasks for entry in mappings(document.data) if isinstance(entry.get("id"), str)}
    for document in documents:
        if not isinstance(document.data, list):
            yield document
            continue
        entries, lines, findings = [], [], list(document.findings)
        for entry, line in items_of(document.data):
            placing = {key: mapping(entry)[key] for key in ("stage", "version") if key in mapping(entry)}
            is_staged = isinstance(placing.get("stage"), str) and Task("", placing, legacy=True).follows_stage
            left_out = dict(_ignored_keys(entry, seen)) if is_staged else {}
            for key, reason in left_out.items():
                place = Place(document.file, line_of(entry, key) or line)
                hint = _ID_HINT if key == "id" else IGNORED_HINT
                findings.append(Finding(Severity.WARNING, "G029", reason, place, hint=hint))
            entries.append(without(entry, *left_out) if left_out else entry)
            lines.append(line)
        yield Document(MarkedList(entries, lines), document.file, tuple(findings))


def _ignored_keys(entry: Mapping[Any, Any], seen: set[str]) -> Iterator[tuple[Any, str]]:
    """Yield each key of an entry that cannot be used, with the reason. Ids of entries are added to `seen`."""
    given = set[str]()
    for key, value in entry.items():
        if (attribute := key_text(key).replace("-", "_")) == "id":
            if not isinstance(value, str) or not value.strip():
                yield key, f"the id of an entry of tasks.yaml is ignored: it is {in_words(value)}, not a name"
            elif value in seen and not constraints.is_constrained(entry):
                yield key, f"the id {value} of an entry of tasks.yaml is ignored: another task has the same"
            else:
                seen.add(value)
        elif attribute in NOT_OF_LEGACY:
            task, _ = task_from({"id": "entry", key: value}, file="", owner_label="", position=0)
            if task is None or attribute in given:
                yield key, IGNORED.format(key)
            given.add(attribute)
