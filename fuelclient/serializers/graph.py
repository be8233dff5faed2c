"""Read graphs and layers from documents and Nailgun's JSON, and write them.

A graph file is a list of tasks, or a mapping with `tasks` besides the graph's name and metadata. Records of layers are
not part of Nailgun's API: a plugin can have a different graph for each release, and only an engine that has its package
can select the one for an environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.errors import InvalidDocument, did_you_mean
from fuelclient.model.document import Document
from fuelclient.model.finding import MOST_FINDINGS, Finding, Place, errors_in
from fuelclient.model.graph import METADATA, Graph, GraphDocument, GraphSummary, Layer, Level, Owner
from fuelclient.model.node import DELETED, NodeStatus
from fuelclient.model.task import NOWHERE, Source, Task
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.finding import finding_to, findings_from
from fuelclient.serializers.report import Report
from fuelclient.serializers.task import generated_id, is_generated, nailgun_task_to, task_from, task_to
from fuelclient.serializers.values import in_words, items_of, key_text, line_of, mappings, plain

_LEGACY = "legacy"
"""The key of layers and downloads for the ids of legacy entries, most of which are generated."""

_SOURCES = "sources"
"""The key of layers for the file and lines of each task, in the order of the tasks."""

_KEYS = ("tasks", "name", *METADATA)
_IGNORED = ("id", "relations", "type", _LEGACY, _SOURCES)
"""Keys that servers return but that are not settings of the graph."""


def document_from(document: Document, *, owner_label: str) -> GraphDocument:
    """Read a graph file, with all findings; tasks with an error are left out.

    A document that is not a graph has no tasks and a finding about that. An empty document (only comments) is an empty
    graph. `owner_label` names tasks that have no id of their own.
    """
    return _Reader(owner_label).read([document], None)


def documents_from(
    documents: Sequence[Document], metadata: Document | None = None, *, owner_label: str
) -> GraphDocument:
    """Read several files as one graph, with their tasks one after another; see `document_from`.

    `metadata` is the file with the graph's name and metadata.
    """
    return _Reader(owner_label).read(documents, metadata)


def layer_to(
    tasks: Iterable[Task], *, label: str = "", name: str | None = None, metadata: Mapping[str, Any] | None = None
) -> list[dict[str, Any]] | dict[str, Any]:
    """The document of a download: a list of tasks, or a mapping if there is also a name or metadata.

    Uploading it again gives the same graph. Legacy entries are written as their author wrote them, without id, where
    a reader of the owner with this `label` gives them the same id again; those with an id of their own are listed.
    """
    tasks = tuple(tasks)
    records = [
        task_to(task, known=generated_id(label, task.attributes.get("stage"), position))
        for position, task in enumerate(tasks, start=1)
    ]
    marked = [
        task.id
        for task, record in zip(tasks, records, strict=True)
        if task.follows_stage and "id" in record and not is_generated(task.id, task.attributes)
    ]
    if name is None and not metadata and not marked:
        return records
    graph: dict[str, Any] = {} if name is None else {"name": name}
    graph.update((key, value) for key, value in (metadata or {}).items() if key in METADATA)
    graph.update({_LEGACY: marked} if marked else {})
    return {**graph, "tasks": records}


def graph_to(graph: Graph) -> dict[str, Any]:
    """Write a graph with both of Nailgun's spellings, and only with metadata that is set."""
    return _record(graph, nailgun_task_to)


def _record(graph: Graph, write: Callable[[Task], Any]) -> dict[str, Any]:
    return {
        "id": graph.id,
        "name": graph.name,
        "tasks": list(map(write, graph.tasks)),
        "relations": [{"type": graph.type, "model": str(graph.owner.level), "model_id": graph.owner.id}],
        **{key: graph.metadata[key] for key in METADATA if key in graph.metadata},
    }


def _sources_to(tasks: Sequence[Task]) -> dict[str, Any]:
    """The field with the file and lines of the tasks, if they have any.

    >>> _sources_to([Task("a", {}, Source("a.yaml", 2, {"type": 3}))])
    {'sources': [{'file': 'a.yaml', 'line': 2, 'lines': {'type': 3}}]}
    """
    if all(task.source == NOWHERE for task in tasks):
        return {}
    places = [{"file": task.source.file, "line": task.source.line, "lines": dict(task.source.lines)} for task in tasks]
    return {_SOURCES: places}


def _with_sources(tasks: Sequence[Task], graph: Answer) -> tuple[Task, ...]:
    """Add the files and lines to the tasks; a Fuel master has none. Raise `InvalidDocument` if they are malformed."""
    places = [Answer(item, "place") for item in graph.items(_SOURCES)]
    if len(places) != len(tasks):
        return tuple(tasks)
    tasks_with_sources = []
    for task, place in zip(tasks, places, strict=True):
        lines = Answer(place.mapping("lines"), "place")
        numbers = {attribute: lines.identifier(attribute) for attribute in lines.data}
        tasks_with_sources.append(replace(task, source=Source(place.text("file"), place.number("line"), numbers)))
    return tuple(tasks_with_sources)


def _mark_legacy(tasks: Iterable[Task], legacy_ids: Any) -> list[Task]:
    """Mark the tasks whose ids are in `legacy_ids` as legacy entries, if they have a stage."""
    names = [name for name in legacy_ids if isinstance(name, str)] if isinstance(legacy_ids, list | tuple) else []
    return [
        replace(task, legacy=True) if task.id in names and isinstance(task.attributes.get("stage"), str) else task
        for task in tasks
    ]


def graph_from(data: Any, owner: Owner | None = None) -> Graph:
    """Read a graph. Raise `InvalidDocument` if it is not one, or has tasks that cannot be read.

    `owner` is the owner with its name, if the caller has it; otherwise only the level and id are read, from the graph's
    first relation.
    """
    answer = Answer(data, "graph")
    graph_type, owner = _relation(answer, owner)
    graph = {"tasks": answer.items("tasks"), _LEGACY: answer.data.get(_LEGACY)}
    document = document_from(Document(graph, ""), owner_label=owner.label)
    _require_readable(answer, document.findings)
    metadata = plain({key: answer.data[key] for key in METADATA if answer.data.get(key) is not None})
    name, tasks = answer.text("name") or None, _with_sources(document.tasks, answer)
    return Graph(answer.identifier(), graph_type, owner, tasks, name, metadata)


def summary_from(data: Any, owner: Owner | None = None) -> GraphSummary:
    """Read the part of a graph that a listing needs; `owner` is as in `graph_from`.

    Reading a whole task takes a hundred times longer than its id, so tasks are read only if they have no plain id.
    Raise `InvalidDocument` if the data is not a graph, and for a task without an id for which none can be generated.
    """
    answer = Answer(data, "graph")
    graph_type, owner = _relation(answer, owner)
    names = []
    for position, record in enumerate(answer.items("tasks"), start=1):
        name = record.get("id") if isinstance(record, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            task, findings = task_from(record, file="", owner_label=owner.label, position=position)
            _require_readable(answer, findings)
            name = task.id if task is not None else ""
        names.append(name)
    return GraphSummary(answer.identifier(), graph_type, owner, answer.text("name") or None, tuple(names))


def _relation(answer: Answer, owner: Owner | None) -> tuple[str, Owner]:
    """The type of a graph and its owner: `owner`, or else the one of its first relation."""
    graph_type, relation = "", Answer(next(iter(answer.items("relations")), {}), "relation of a graph")
    if relation.data:
        graph_type = relation.required("type")
        owner = owner or Owner(_level(relation.required("model")), relation.identifier("model_id"))
    if owner is None:
        raise InvalidDocument(f"Graph {answer.identifier()} in the answer has no owner.")
    return graph_type, owner


def _require_readable(answer: Answer, findings: Sequence[Finding]) -> None:
    if errors := errors_in(findings):
        raise InvalidDocument(f"Graph {answer.identifier()} in the answer: {errors[0].message}.", findings=findings)


def _level(model: str) -> Level:
    """The level of a relation. Nailgun's specification writes it with a capital letter."""
    if model.lower() not in set(Level):
        raise InvalidDocument(f"The answer has a graph of a {model!r}.", hint=f"Known: {', '.join(Level)}.")
    return Level(model.lower())


class _Reader:
    def __init__(self, owner_label: str) -> None:
        self.owner_label = owner_label
        self.position = 0
        self.tasks: list[Task] = []
        self.name: str | None = None
        self.metadata: dict[str, Any] = {}
        self.findings: list[Finding] = []
        self.nulls: dict[str, Place] = {}

    def read(self, documents: Sequence[Document], metadata: Document | None) -> GraphDocument:
        for document in (metadata, *documents) if metadata else documents:
            self.findings += document.findings
            report = Report(document.file, self.owner_label)
            (self._metadata if document is metadata else self._document)(document.data, report)
            self.findings += report.findings
        return GraphDocument(tuple(self.tasks), self.name, self.metadata, tuple(self.findings), self.nulls)

    def _document(self, data: Any, report: Report) -> None:
        for each in mappings([data] if isinstance(data, Mapping) else data):
            if not {"pk", "operating_system", "roles_metadata"}.isdisjoint(each) and "type" not in each:
                hint = "Create them: `fuel2 release import FILE`."
                report.error("G006", line_of(each), "these are releases, not tasks of a graph", hint)
                return
        if isinstance(data, Mapping):
            self._graph(data, report)
        elif isinstance(data, list | tuple):
            self._records(data, report.file, line_of(data))
        elif data is not None:
            report.misshapen(1, "a graph is a list of tasks", data, "Begin each task with `- id:`.")

    def _graph(self, data: Mapping[Any, Any], report: Report) -> None:
        self._settings(data, report, (*_KEYS, *_IGNORED))
        line = line_of(data, "tasks")
        if "tasks" not in data:
            hint = "Write a list of tasks, or a mapping with `tasks:`."
            report.error("G006", line_of(data), "this mapping has no tasks, so it is not a graph", hint)
        elif isinstance(data["tasks"], list | tuple):
            before = len(self.tasks)
            self._records(data["tasks"], report.file, line)
            self.tasks[before:] = _mark_legacy(self.tasks[before:], data.get(_LEGACY))
        elif data["tasks"] is not None:
            report.misshapen(line, "tasks must be a list", data["tasks"], "Begin each with `- id:`.")

    def _records(self, records: Sequence[Any], file: str, line: int) -> None:
        for record, at in items_of(records, line):
            if len(self.findings) > MOST_FINDINGS:  # the check of the document reports this
                return
            self.position += 1
            task, findings = task_from(record, file=file, owner_label=self.owner_label, position=self.position, line=at)
            self.findings += findings
            if task is not None:
                self.tasks.append(task)

    def _metadata(self, data: Any, report: Report) -> None:
        if isinstance(data, Mapping):
            self._settings(data, report, ("name", *METADATA, *_IGNORED))
        elif data is not None:
            hint = f"Known keys: name, {', '.join(METADATA)}."
            report.misshapen(1, "the metadata of a graph is a mapping", data, hint)

    def _settings(self, data: Mapping[Any, Any], report: Report, known: tuple[str, ...]) -> None:
        """Read the name and the metadata. Null counts as absent, because Nailgun returns it for a missing name."""
        for raw_key, value in data.items():
            key, line = key_text(raw_key), line_of(data, str(raw_key))
            if key not in known:
                usable = tuple(word for word in known if word not in _IGNORED)
                report.error("G010", line, f"a graph has no key {key!r}", did_you_mean(key, usable))
            elif value is None and key not in _IGNORED:
                self.nulls[key] = Place(report.file, line)
            elif value is None or key in ("tasks", *_IGNORED):
                continue
            elif key in ("name", "node_filter") and not isinstance(value, str):
                report.misshapen(line, f"{key} must be a string", value, "Write it in quotes.")
            elif key == "name":
                self.name = value
            elif key == "node_filter":
                self.metadata[key] = value
            elif not isinstance(value, Mapping) or not isinstance(value.get("node_attributes", {}), Mapping):
                message = f"{key} must be a mapping with a mapping of node_attributes"
                report.error("G006", line, message, f"Write {key}: {{node_attributes: {{status: error}}}}.")
            else:
                self.metadata[key] = plain(value)
                _check_status(key, value.get("node_attributes", {}), report)


def _check_status(key: str, attributes: Mapping[str, Any], report: Report) -> None:
    status = attributes.get("status", DELETED)
    known = (*map(str, NodeStatus), DELETED)
    if status not in known:
        message = f"{key} gives nodes a status that does not exist: {in_words(status)}"
        report.error("G006", line_of(attributes, "status"), message, did_you_mean(str(status), known))


def layer_record_to(layer: Layer, graph_type: str) -> dict[str, Any]:
    """Write a layer: its graph in Nailgun's shape (with the id 0), its owner, and the places and legacy entries of its
    tasks."""
    legacy = [task.id for task in layer.tasks if task.legacy]
    return {
        **_record(Graph(0, graph_type, layer.owner, layer.tasks, metadata=layer.metadata), task_to),
        **({_LEGACY: legacy} if legacy else {}),
        **_sources_to(layer.tasks),
        "owner": {
            "level": str(layer.owner.level), "id": layer.owner.id, "name": layer.owner.name,
            "version": layer.owner.version,
        },
        "cwd": layer.cwd,
        "fault_tolerance": plain(layer.fault_tolerance),
        "warnings": [finding_to(warning) for warning in layer.warnings],
    }  # fmt: skip


def layer_record_from(data: Any) -> Layer:
    """Raise `InvalidDocument` for anything but a record of `layer_record_to`."""
    answer = Answer(data, "layer")
    owner = Answer(answer.mapping("owner"), "owner of a layer")
    _, known = _relation(Answer(data, "graph"), None)
    graph = graph_from(data, Owner(known.level, known.id, owner.text("name"), owner.text("version")))
    cwd, warnings = answer.text("cwd"), findings_from(answer.items("warnings"))
    return Layer(graph.owner, graph.tasks, graph.metadata, cwd, answer.mapping("fault_tolerance"), warnings)
