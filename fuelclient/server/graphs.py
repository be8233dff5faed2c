"""The routes for graphs, by owner and type or by id; of merged graphs and layers, as lists of tasks; and of
pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.backends.deploy_changes import merged_tasks
from fuelclient.errors import Conflict, InvalidGraph, NotFound, UsageError
from fuelclient.model.document import Document
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, GraphSummary, Level, OwnerRef
from fuelclient.model.task import Task
from fuelclient.serializers.graph import document_from, graph_to
from fuelclient.serializers.task import nailgun_task_to
from fuelclient.server.errors import HttpError
from fuelclient.server.role_based_graph import INTERNAL, dot, executed, role_based, subgraph
from fuelclient.server.routes import Call, Query, QueryType, Reply, Route
from fuelclient.server.schemas import GRAPH, PLUGIN_TASKS, STRING, TASKS, Schema, graph_body, listed, whole

_LEVELS = {"release_id": Level.RELEASE, "plugin_id": Level.PLUGIN, "cluster_id": Level.CLUSTER}


def owner_of(call: Call) -> OwnerRef:
    name = next(name for name in _LEVELS if name in call.path)
    return OwnerRef(_LEVELS[name], call.id(name))


def list_of_owner(call: Call) -> Any:
    """List the graphs of one owner, and of no others: `fetch_related` has no effect here, as in Nailgun."""
    owner = owner_of(call)
    with call.backend.reading():
        call.backend.graphs.owner(owner)
        return _read_graphs(call, [summary for summary in call.backend.graphs.list() if _owner(summary) == owner])


def show(call: Call) -> Any:
    return graph_to(call.backend.graphs.get(*_locate(call)))


def create(call: Call) -> Any:
    owner, graph_type = owner_of(call), call.path["graph_type"]
    with call.backends.exclusive() as backend:
        backend.graphs.owner(owner)
        if any(_owner(summary) == owner and summary.type == graph_type for summary in backend.graphs.list()):
            message = f'Deployment graph with type "{graph_type}" already exist.'
            raise HttpError(409, Conflict(message, hint="Use PUT to replace its tasks."))
        return upload(call, owner, graph_type, {"tasks": [], **call.body})


def update(call: Call) -> Any:
    """Replace the parts of a graph that the body has. Without tasks in the body, the graph keeps its tasks."""
    with call.backends.exclusive() as backend:
        owner, graph_type = _locate(call)
        before = backend.graphs.get(owner, graph_type)
        if "tasks" in call.body:
            return upload(call, owner, graph_type, call.body)
        document = document_from(Document({**call.body, "tasks": []}, ""), owner_label=str(owner.level))
        return _store(call, owner, graph_type, replace(document, tasks=before.tasks))


def delete(call: Call) -> None:
    with call.backends.exclusive() as backend:
        backend.graphs.delete(*_locate(call))


def list_all(call: Call) -> Any:
    """List all graphs, or only those of some owners and types.

    For each selected environment, `fetch_related` adds the graphs of its release and of its enabled plugins.
    """
    query, backend = call.query, call.backend
    wanted: set[OwnerRef] | None = None
    for level in _LEVELS.values():
        if (ids := query.get(f"{level}s_ids")) is not None:
            wanted = (wanted or set()) | {OwnerRef(level, owner_id) for owner_id in ids}
    types = query.get("graph_types")
    with backend.reading():
        if wanted is not None and call.flag("fetch_related"):
            wanted |= _related(backend, {owner.id for owner in wanted if owner.level is Level.CLUSTER})
        summaries = [
            summary
            for summary in backend.graphs.list()
            if (wanted is None or _owner(summary) in wanted) and (not types or summary.type in types)
        ]
        return _read_graphs(call, summaries)


def upload(call: Call, ref: OwnerRef, graph_type: str, body: Mapping[str, Any]) -> Any:
    counted = Counter(task.get("id") for task in body["tasks"])
    if repeated := sorted(name for name, number in counted.items() if name is not None and number > 1):
        message = f"Tasks duplication found: {', '.join(repeated)}"
        raise HttpError(400, InvalidGraph(message, hint="Give each task of a graph an id of its own."))
    owner = call.backend.graphs.owner(ref)
    label = owner.name if owner.level is Level.PLUGIN else str(owner.level)
    return _store(call, ref, graph_type, document_from(Document(dict(body), ""), owner_label=label))


def _store(call: Call, owner: OwnerRef, graph_type: str, document: GraphDocument) -> Any:
    return graph_to(call.backend.graphs.upload(owner, document, graph_type).graph)


def _related(backend: Backend, cluster_ids: set[int]) -> set[OwnerRef]:
    """The releases and the enabled plugins of some environments."""
    clusters = [cluster for cluster in backend.clusters.list() if cluster.id in cluster_ids]
    plugins = [plugin for plugin in backend.plugins.list() if cluster_ids & set(plugin.clusters)]
    releases = {OwnerRef(Level.RELEASE, cluster.release_id) for cluster in clusters}
    return releases | {OwnerRef(Level.PLUGIN, plugin.id) for plugin in plugins}


def _read_graphs(call: Call, summaries: Iterable[GraphSummary]) -> list[dict[str, Any]]:
    """Read the graphs with their tasks; skip graphs that were deleted after they were listed."""
    graphs = []
    for summary in summaries:
        with suppress(NotFound):
            graphs.append(graph_to(call.backend.graphs.get(_owner(summary), summary.type)))
    return graphs


def _locate(call: Call) -> tuple[OwnerRef, str]:
    """The owner and the type of the graph in the path, which has either both or the id of the graph."""
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
    path = f"{owner}/deployment_graphs"
    typed = f"{path}/{{graph_type}}"
    return (
        Route("GET", path, list_of_owner, "List the graphs of an owner", {200: listed(GRAPH)},
              (Query("fetch_related", QueryType.FLAG, "has no effect here"),), is_kept=True),
        Route("GET", typed, show, "Show the graph of a type", {200: GRAPH}),
        Route("POST", typed, create, "Create a graph of a type", {200: GRAPH}, (), body),
        Route("PUT", typed, update, "Change the graph of a type", {200: GRAPH}, (), body),
        Route("PATCH", typed, update, "Change the graph of a type", {200: GRAPH}, (), body),
        Route("DELETE", typed, delete, "Delete the graph of a type", {204: None}),
    )  # fmt: skip


_PARTS = {"own": Level.CLUSTER, "plugins": Level.PLUGIN, "release": Level.RELEASE}


TYPE = Query("graph_type", QueryType.WORD, "graph type (default: default)")


def graph_type_of(call: Call) -> str:
    return str(call.query.get("graph_type", DEFAULT_TYPE))


def merged(call: Call, levels: Sequence[Level] = ()) -> list[Task]:
    """The merged tasks of an environment, from some levels or all; empty for an unknown type, as in Nailgun."""
    return merged_tasks(call.backend, call.cluster_id, graph_type_of(call), levels)


def release_tasks(call: Call) -> Any:
    owner = owner_of(call)
    call.backend.graphs.owner(owner)
    try:
        return _selected_tasks(call, call.backend.graphs.get(owner, graph_type_of(call)).tasks)
    except NotFound:
        return []


def replace_tasks(call: Call) -> Any:
    """Replace the tasks of the owner's own graph. Create the graph if it does not exist."""
    with call.backends.exclusive():
        return upload(call, owner_of(call), graph_type_of(call), {"tasks": call.body})["tasks"]


def picture(call: Call) -> Reply:
    """Draw the merged graph in DOT.

    The query parameter `tasks` greys all other tasks, `parents_for` keeps one task and its direct predecessors, and
    `remove` drops tasks of some types that no node executes.
    """
    graph = role_based(merged(call))
    only, remove = call.query.get("tasks", ()), call.query.get("remove", ())
    if unknown := sorted(set(only) - set(graph.tasks)):
        raise HttpError(400, UsageError(f"Tasks {','.join(unknown)} are not present in deployment graph"))
    if unknown := sorted(set(remove) - set(INTERNAL)):
        raise HttpError(400, UsageError(f"Task types {','.join(unknown)} do not exist"))
    kept = {name for name, task in graph.tasks.items() if task is None or task.type not in remove}
    if (child := call.query.get("parents_for")) is not None:
        if child not in graph.tasks:
            raise HttpError(400, UsageError(f"Task {child} is not present in graph"))
        kept &= {child, *(before for before, after in graph.edges() if after == child)}
    return Reply(dot(graph, only=only, kept=kept), mimetype="text/vnd.graphviz")


def _selected_tasks(call: Call, tasks: Sequence[Task]) -> Any:
    """The JSON of the tasks; with `start` or `end`, only of the tasks between them that nodes execute."""
    start, end = call.query.get("start", ""), call.query.get("end", "")
    if not start and not end:
        return list(map(nailgun_task_to, tasks))
    graph = role_based(tasks)
    if graph.is_task_based:
        raise HttpError(400, UsageError('Both "start" and "end" parameters are not allowed for task-based deployment.'))
    try:
        kept = subgraph(graph, start, end)
    except KeyError as error:
        raise HttpError(400, UsageError(f"Cannot find task {error.args[0]} by its name.")) from error
    return list(map(nailgun_task_to, executed(graph, kept, call.query.get("include", ()))))


_BOUNDS = (
    Query("start", QueryType.WORD, "only this task and what follows it"),
    Query("end", QueryType.WORD, "only this task and what precedes it"),
    Query("include", QueryType.REPEATED, "also these tasks, although no node executes them"),
)
_PICTURE = (
    TYPE,
    Query("tasks", QueryType.WORDS, "grey all other tasks"),
    Query("parents_for", QueryType.WORD, "only this task and its predecessors"),
    Query("remove", QueryType.WORDS, "group, stage, skipped"),
)
_TASKS: Schema = listed(whole(id=STRING))
_TASKS_PATH = "deployment_tasks"
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
    Route("GET", "graphs", list_all, "List graphs", {200: listed(GRAPH)}, _FILTERS, is_kept=True),
    Route("GET", _PATH, show, "Show a graph", {200: GRAPH}),
    Route("PUT", _PATH, update, "Change a graph", {200: GRAPH}, (), _BODY),
    Route("PATCH", _PATH, update, "Change a graph", {200: GRAPH}, (), _BODY),
    Route("DELETE", _PATH, delete, "Delete a graph", {204: None}),
    *(
        route
        for owner, read in (("clusters/{cluster_id}", lambda call: _selected_tasks(call, merged(call))),
                            ("releases/{release_id}", release_tasks))
        for route in (
            Route("GET", f"{owner}/{_TASKS_PATH}", read, "List the tasks of a graph", {200: _TASKS},
                  (TYPE, *_BOUNDS)),
            Route("PUT", f"{owner}/{_TASKS_PATH}", replace_tasks, "Replace the tasks of a graph", {200: _TASKS},
                  (TYPE,), TASKS),
        )
    ),
    Route("GET", f"clusters/{{cluster_id}}/{_TASKS_PATH}/{{level}}",
          lambda call: list(map(nailgun_task_to, merged(call, (_PARTS[call.path["level"]],)))),
          "List the tasks of some layers", {200: _TASKS}, (TYPE,)),
    Route("GET", "clusters/{cluster_id}/deploy_tasks/graph.gv", picture, "Draw the merged graph in DOT",
          {200: STRING}, _PICTURE, mimetypes=("text/vnd.graphviz",)),
)  # fmt: skip
