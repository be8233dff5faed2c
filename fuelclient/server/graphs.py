"""Graphs: by their owner and type, and by their id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, InvalidGraph, NotFound
from fuelclient.model.document import Document
from fuelclient.model.graph import GraphDocument, GraphSummary, Level, OwnerRef
from fuelclient.serializers.graph import document_from, graph_to
from fuelclient.server.errors import HttpError
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import GRAPH, PLUGIN_TASKS, Schema, graph_body, listed

_LEVELS = {"release_id": Level.RELEASE, "plugin_id": Level.PLUGIN, "cluster_id": Level.CLUSTER}


def owner_of(call: Call) -> OwnerRef:
    """Return the owner that the path names."""
    name = next(name for name in _LEVELS if name in call.path)
    return OwnerRef(_LEVELS[name], call.id(name))


def list_of_owner(call: Call) -> Any:
    """Answer GET deployment_graphs: the graphs of one owner only, regardless of `fetch_related`, as in Nailgun."""
    owner = owner_of(call)
    call.backend.graphs.owner(owner)
    return _read(call, [summary for summary in call.backend.graphs.list() if _owner(summary) == owner])


def show(call: Call) -> Any:
    return graph_to(call.backend.graphs.get(*_locate(call)))


def create(call: Call) -> Any:
    owner, graph_type = owner_of(call), call.path["graph_type"]
    with call.connections.exclusive() as backend:
        backend.graphs.owner(owner)
        if any(_owner(summary) == owner and summary.type == graph_type for summary in backend.graphs.list()):
            message = f'Deployment graph with type "{graph_type}" already exist.'
            raise HttpError(409, message, Conflict(message, hint="Use PUT to replace its tasks."))
        return upload(call, owner, graph_type, {"tasks": [], **call.body})


def update(call: Call) -> Any:
    """Answer PUT or PATCH of a graph: replace what the body states of it; the rest stays.

    A body without tasks changes only name and metadata.
    """
    with call.connections.exclusive() as backend:
        owner, graph_type = _locate(call)
        before = backend.graphs.get(owner, graph_type)
        if "tasks" in call.body:
            return upload(call, owner, graph_type, call.body)
        document = document_from(Document({**call.body, "tasks": []}, ""), owner_label=str(owner.level))
        return _store(call, owner, graph_type, replace(document, tasks=before.tasks))


def delete(call: Call) -> None:
    with call.connections.exclusive() as backend:
        backend.graphs.delete(*_locate(call))


def list_all(call: Call) -> Any:
    """Answer GET graphs: all graphs, or those of some owners and types.

    `fetch_related` adds to the graphs of environments those of their releases and enabled plugins.
    """
    query, backend = call.query, call.backend
    wanted: set[OwnerRef] | None = None
    for level in _LEVELS.values():
        ids = query.get(f"{level}s_ids")
        if ids is not None:
            wanted = (wanted or set()) | {OwnerRef(level, owner_id) for owner_id in ids}
    if wanted is not None and call.flag("fetch_related"):
        wanted |= _related(backend, {owner.id for owner in wanted if owner.level is Level.CLUSTER})
    types = query.get("graph_types")
    summaries = [
        summary
        for summary in backend.graphs.list()
        if (wanted is None or _owner(summary) in wanted) and (not types or summary.type in types)
    ]
    return _read(call, summaries)


def upload(call: Call, ref: OwnerRef, graph_type: str, body: Mapping[str, Any]) -> Any:
    """Store the body as the owner's graph of this type, and return it."""
    counted = Counter(task.get("id") for task in body["tasks"])
    repeated = sorted(name for name, number in counted.items() if name is not None and number > 1)
    if repeated:
        message = f"Tasks duplication found: {', '.join(repeated)}"
        raise HttpError(400, message, InvalidGraph(message, hint="Give each task of a graph an id of its own."))
    owner = call.backend.graphs.owner(ref)
    label = owner.name if owner.level is Level.PLUGIN else str(owner.level)
    document = document_from(Document(dict(body), ""), owner_label=label)
    return _store(call, ref, graph_type, document)


def _store(call: Call, owner: OwnerRef, graph_type: str, document: GraphDocument) -> Any:
    return graph_to(call.backend.graphs.upload(owner, document, graph_type).graph)


def _related(backend: Backend, cluster_ids: set[int]) -> set[OwnerRef]:
    """Return the releases and the enabled plugins of some environments."""
    clusters = [cluster for cluster in backend.clusters.list() if cluster.id in cluster_ids]
    plugins = [plugin for plugin in backend.plugins.list() if cluster_ids & set(plugin.clusters)]
    releases = {OwnerRef(Level.RELEASE, cluster.release_id) for cluster in clusters}
    return releases | {OwnerRef(Level.PLUGIN, plugin.id) for plugin in plugins}


def _read(call: Call, summaries: Iterable[GraphSummary]) -> list[dict[str, Any]]:
    """Return the graphs with their tasks, without those that were deleted since they were listed."""
    graphs = []
    for summary in summaries:
        try:
            graphs.append(graph_to(call.backend.graphs.get(_owner(summary), summary.type)))
        except NotFound:
            continue
    return graphs


def _locate(call: Call) -> tuple[OwnerRef, str]:
    """Return the owner and the type of the graph in the path, which has both, or the id of the graph."""
    if "graph_id" not in call.path:
        return owner_of(call), call.path["graph_type"]
    graph_id = call.id("graph_id")
    for summary in call.backend.graphs.list():
        if summary.id == graph_id:
            return _owner(summary), summary.type
    raise NotFound("graph", graph_id)


def _owner(summary: GraphSummary) -> OwnerRef:
    return OwnerRef(summary.owner.level, summary.owner.id)


def _routes(owner: str, body: Schema) -> tuple[Route, ...]:
    """Return the paths of the graphs of releases, plugins or environments."""
    path = f"{owner}/deployment_graphs"
    typed = f"{path}/{{graph_type}}"
    return (
        Route("GET", path, list_of_owner, "List the graphs of an owner", {200: listed(GRAPH)},
              (Query("fetch_related", QueryType.FLAG, "has no effect here"),)),
        Route("GET", typed, show, "Show the graph of a type", {200: GRAPH}),
        Route("POST", typed, create, "Create a graph of a type", {200: GRAPH}, (), body),
        Route("PUT", typed, update, "Change the graph of a type", {200: GRAPH}, (), body),
        Route("PATCH", typed, update, "Change the graph of a type", {200: GRAPH}, (), body),
        Route("DELETE", typed, delete, "Delete the graph of a type", {204: None}),
    )  # fmt: skip


_FILTERS = (
    Query("clusters_ids", QueryType.NUMBERS, "graphs of these environments"),
    Query("plugins_ids", QueryType.NUMBERS, "graphs of these plugins"),
    Query("releases_ids", QueryType.NUMBERS, "graphs of these releases"),
    Query("graph_types", QueryType.WORDS, "only graphs of these types"),
    Query("fetch_related", QueryType.FLAG, "also graphs of the releases and plugins of the environments"),
)
_PATH = "graphs/{graph_id}"
_BODY = graph_body(PLUGIN_TASKS)

ROUTES = (
    *_routes("releases/{release_id}", graph_body()),
    *_routes("plugins/{plugin_id}", _BODY),
    *_routes("clusters/{cluster_id}", graph_body()),
    Route("GET", "graphs", list_all, "List graphs", {200: listed(GRAPH)}, _FILTERS),
    Route("GET", _PATH, show, "Show a graph", {200: GRAPH}),
    Route("PUT", _PATH, update, "Change a graph", {200: GRAPH}, (), _BODY),
    Route("PATCH", _PATH, update, "Change a graph", {200: GRAPH}, (), _BODY),
    Route("DELETE", _PATH, delete, "Delete a graph", {204: None}),
)
