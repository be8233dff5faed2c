"""Graphs: by their owner and type, and by their id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fuelclient.backends.base import Backend, OwnerRef
from fuelclient.errors import InvalidGraph, NotFound
from fuelclient.model.document import Document
from fuelclient.model.graph import Graph, GraphDocument, GraphSummary, Level
from fuelclient.serializers.finding import finding_to
from fuelclient.serializers.graph import document_from, graph_to
from fuelclient.server.refusals import Refused, exists
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import GRAPH, PLUGIN_TASKS, Schema, graph_body, listed

_LEVELS = {"release_id": Level.RELEASE, "plugin_id": Level.PLUGIN, "cluster_id": Level.CLUSTER}


def owner_of(call: Call) -> OwnerRef:
    """The owner that the path names."""
    name = next(name for name in _LEVELS if name in call.path)
    return OwnerRef(_LEVELS[name], call.id(name))


def of_owner(call: Call) -> Any:
    """The graphs of one owner only, whatever `fetch_related` says, as in Nailgun."""
    ref = owner_of(call)
    call.backend.graphs.owner(ref)
    return _read(call.backend, [one for one in _summaries(call.backend) if _ref(one) == ref])


def one(call: Call) -> Any:
    return graph_to(call.backend.graphs.get(owner_of(call), call.path["graph_type"]))


def create(call: Call) -> Any:
    """A graph of a type that the owner does not have yet."""
    ref, graph_type = owner_of(call), call.path["graph_type"]
    with call.connections.alone() as backend:
        backend.graphs.owner(ref)
        if _find(backend, ref, graph_type) is not None:
            raise exists(graph_type)
        return upload(backend, ref, graph_type, {"tasks": [], **call.body})


def update(call: Call) -> Any:
    """What the body states of the graph is replaced, all else stays."""
    ref, graph_type = owner_of(call), call.path["graph_type"]
    with call.connections.alone() as backend:
        return _updated(backend, backend.graphs.get(ref, graph_type), ref, call.body)


def delete(call: Call) -> None:
    call.backend.graphs.delete(owner_of(call), call.path["graph_type"])


def every(call: Call) -> Any:
    """All graphs, or those of some owners and types. `fetch_related` adds to those of environments the graphs of
    their releases and of their enabled plugins."""
    only, backend = call.only, call.backend
    wanted: set[OwnerRef] | None = None
    for level in _LEVELS.values():
        ids = only.get(f"{level}s_ids")
        if ids is not None:
            wanted = (wanted or set()) | {OwnerRef(level, one) for one in ids}
    if call.truth("fetch_related"):
        wanted = _related(backend, wanted)
    types = only.get("graph_types")
    found = [
        one
        for one in _summaries(backend)
        if (wanted is None or _ref(one) in wanted) and (not types or one.type in types)
    ]
    return _read(backend, found)


def by_id(call: Call) -> Any:
    ref, graph_type = _located(call)
    return graph_to(call.backend.graphs.get(ref, graph_type))


def update_by_id(call: Call) -> Any:
    with call.connections.alone() as backend:
        ref, graph_type = _located(call)
        return _updated(backend, backend.graphs.get(ref, graph_type), ref, call.body)


def delete_by_id(call: Call) -> None:
    with call.connections.alone() as backend:
        backend.graphs.delete(*_located(call))


def upload(backend: Backend, ref: OwnerRef, graph_type: str, body: Mapping[str, Any]) -> Any:
    """The owner's graph of this type is what the body states; the answer has the warnings about it as `findings`."""
    _require_once(body["tasks"])
    owner = backend.graphs.owner(ref)
    label = owner.name if owner.level is Level.PLUGIN else str(owner.level)
    document = document_from(Document(dict(body), ""), owner_label=label)
    return _stored(backend, ref, graph_type, document)


def _updated(backend: Backend, before: Graph, ref: OwnerRef, body: Mapping[str, Any]) -> Any:
    """A body without tasks changes name and metadata only."""
    if "tasks" in body:
        return upload(backend, ref, before.type, body)
    document = document_from(Document({**body, "tasks": []}, ""), owner_label=str(ref.level))
    return _stored(backend, ref, before.type, replace(document, tasks=before.tasks))


def _stored(backend: Backend, ref: OwnerRef, graph_type: str, document: GraphDocument) -> Any:
    uploaded = backend.graphs.upload(ref, document, graph_type)
    return {**graph_to(uploaded.graph), "findings": [finding_to(one) for one in uploaded.findings]}


def _require_once(tasks: Iterable[Mapping[str, Any]]) -> None:
    """`Refused` when two tasks have one id."""
    counted = Counter(task.get("id") for task in tasks)
    twice = sorted(name for name, number in counted.items() if name is not None and number > 1)
    if twice:
        message = f"Tasks duplication found: {', '.join(twice)}"
        raise Refused(400, message, InvalidGraph(message, hint="Give each task of a graph an id of its own."))


def _related(backend: Backend, wanted: set[OwnerRef] | None) -> set[OwnerRef] | None:
    ids = {one.id for one in wanted or () if one.level is Level.CLUSTER}
    found = {OwnerRef(Level.RELEASE, one.release_id) for one in backend.clusters.list() if one.id in ids}
    found |= {OwnerRef(Level.PLUGIN, one.id) for one in backend.plugins.list() if ids & set(one.clusters)}
    return None if wanted is None else wanted | found


def _read(backend: Backend, found: Iterable[GraphSummary]) -> list[dict[str, Any]]:
    """The graphs with their tasks, without those that somebody deletes meanwhile."""
    graphs = []
    for summary in found:
        try:
            graphs.append(graph_to(backend.graphs.get(_ref(summary), summary.type)))
        except NotFound:
            continue
    return graphs


def _find(backend: Backend, ref: OwnerRef, graph_type: str) -> GraphSummary | None:
    return next((one for one in _summaries(backend) if _ref(one) == ref and one.type == graph_type), None)


def _located(call: Call) -> tuple[OwnerRef, str]:
    """The owner and the type of the graph whose id the path has."""
    graph_id = call.id("graph_id")
    found = next((one for one in _summaries(call.backend) if one.id == graph_id), None)
    if found is None:
        raise NotFound("graph", graph_id)
    return _ref(found), found.type


def _summaries(backend: Backend) -> Iterable[GraphSummary]:
    return backend.graphs.list()


def _ref(summary: GraphSummary) -> OwnerRef:
    return OwnerRef(summary.owner.level, summary.owner.id)


def _routes(owner: str, body: Schema) -> tuple[Route, ...]:
    """The paths of the graphs of one class of owners."""
    path = f"{owner}/deployment_graphs"
    typed = f"{path}/{{graph_type}}"
    return (
        Route("GET", path, of_owner, "The graphs of an owner", {200: listed(GRAPH)},
              (Query("fetch_related", Kind.TRUTH, "says nothing here"),)),
        Route("GET", typed, one, "The graph of a type", {200: GRAPH}),
        Route("POST", typed, create, "Create a graph of a type", {200: GRAPH}, body=body),
        Route("PUT", typed, update, "Change the graph of a type", {200: GRAPH}, body=body),
        Route("PATCH", typed, update, "Change the graph of a type", {200: GRAPH}, body=body),
        Route("DELETE", typed, delete, "Delete the graph of a type", {204: None}),
    )  # fmt: skip


_FILTERS = (
    Query("clusters_ids", Kind.NUMBERS, "those of these environments"),
    Query("plugins_ids", Kind.NUMBERS, "those of these plugins"),
    Query("releases_ids", Kind.NUMBERS, "those of these releases"),
    Query("graph_types", Kind.WORDS, "only those of these types"),
    Query("fetch_related", Kind.TRUTH, "also those of the releases and plugins of environments"),
)
_ONE = "graphs/{graph_id}"
_ANY = graph_body(PLUGIN_TASKS)

ROUTES = (
    *_routes("releases/{release_id}", graph_body()),
    *_routes("plugins/{plugin_id}", _ANY),
    *_routes("clusters/{cluster_id}", graph_body()),
    Route("GET", "graphs", every, "All graphs", {200: listed(GRAPH)}, _FILTERS),
    Route("GET", _ONE, by_id, "One graph", {200: GRAPH}),
    Route("PUT", _ONE, update_by_id, "Change a graph", {200: GRAPH}, body=_ANY),
    Route("PATCH", _ONE, update_by_id, "Change a graph", {200: GRAPH}, body=_ANY),
    Route("DELETE", _ONE, delete_by_id, "Delete a graph", {204: None}),
)
