"""Merged graphs and their layers as lists of tasks, and their picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuelclient.errors import NotFound, UsageError
from fuelclient.model.graph import DEFAULT_TYPE, Level, OwnerRef
from fuelclient.model.task import Task
from fuelclient.serializers.task import nailgun_task_to
from fuelclient.server import graphs
from fuelclient.server.errors import HttpError
from fuelclient.server.role_based_graph import INTERNAL, dot, executed, role_based, subgraph
from fuelclient.server.routes import Call, Query, QueryType, Reply, Route
from fuelclient.server.schemas import TASKS, Schema, listed, opened

_LEVELS = {"own": Level.CLUSTER, "plugins": Level.PLUGIN, "release": Level.RELEASE}


def graph_type_of(call: Call) -> str:
    """Return the graph type of the query, or the default one if it is empty, as in Nailgun."""
    return str(call.query.get("graph_type", DEFAULT_TYPE))


def merged(call: Call, levels: Sequence[Level] = ()) -> list[Task]:
    """Return the merged tasks of an environment, from some levels or from all.

    A type that no layer has gives no tasks, as in Nailgun.
    """
    try:
        graph = call.backend.graphs.layers(call.id("cluster_id"), levels, graph_type_of(call))
    except NotFound as error:
        if error.noun != "graph type":
            raise
        return []
    return [merged_task.task for merged_task in graph.tasks]


def show_merged(call: Call) -> Any:
    return _part(call, merged(call))


def show_release(call: Call) -> Any:
    owner = graphs.owner_of(call)
    call.backend.graphs.owner(owner)
    try:
        return _part(call, call.backend.graphs.get(owner, graph_type_of(call)).tasks)
    except NotFound:
        return []


def replace(call: Call) -> Any:
    """Answer PUT deployment_tasks: replace the tasks of the owner's own graph, which is created if it does not
    exist."""
    owner: OwnerRef = graphs.owner_of(call)
    with call.connections.exclusive():
        return graphs.upload(call, owner, graph_type_of(call), {"tasks": call.body})["tasks"]


def picture(call: Call) -> Reply:
    """Answer GET graph.gv: the merged graph in DOT.

    `tasks` greys all others, `parents_for` keeps one task and its predecessors, `remove` drops types that no node
    executes.
    """
    graph = role_based(merged(call))
    only, remove = call.query.get("tasks", ()), call.query.get("remove", ())
    unknown = sorted(set(only) - set(graph.tasks))
    if unknown:
        raise _bad_request(f"Tasks {','.join(unknown)} are not present in deployment graph")
    unknown = sorted(set(remove) - set(INTERNAL))
    if unknown:
        raise _bad_request(f"Task types {','.join(unknown)} do not exist")
    kept = {name for name, task in graph.tasks.items() if task is None or task.type not in remove}
    child = call.query.get("parents_for")
    if child is not None:
        if child not in graph.tasks:
            raise _bad_request(f"Task {child} is not present in graph")
        kept &= {child, *graph.predecessors()[child]}
    return Reply(dot(graph, only=only, kept=kept), mimetype="text/vnd.graphviz")


def _part(call: Call, tasks: Sequence[Task]) -> Any:
    """Return the tasks, or those between `start` and `end` that nodes execute."""
    start, end = call.query.get("start", ""), call.query.get("end", "")
    if not start and not end:
        return list(map(nailgun_task_to, tasks))
    graph = role_based(tasks)
    if graph.is_task_based:
        raise _bad_request('Both "start" and "end" parameters are not allowed for task-based deployment.')
    try:
        kept = subgraph(graph, start, end)
    except KeyError as error:
        raise _bad_request(f"Cannot find task {error.args[0]} by its name.") from error
    return list(map(nailgun_task_to, executed(graph, kept, call.query.get("include", ()))))


def _bad_request(message: str) -> HttpError:
    return HttpError(400, message, UsageError(message))


_TYPE = Query("graph_type", QueryType.WORD, "graph type (default: default)")
_BOUNDS = (
    Query("start", QueryType.WORD, "only this task and what follows it"),
    Query("end", QueryType.WORD, "only this task and what precedes it"),
    Query("include", QueryType.REPEATED, "also these tasks, although no node executes them"),
)
_PICTURE = (
    _TYPE,
    Query("tasks", QueryType.WORDS, "grey all other tasks"),
    Query("parents_for", QueryType.WORD, "only this task and its predecessors"),
    Query("remove", QueryType.WORDS, "group, stage, skipped"),
)
_TASKS: Schema = listed(opened(("id",), id={"type": "string"}))
_PATH = "deployment_tasks"

ROUTES = (
    *(
        route
        for owner, read in (("clusters/{cluster_id}", show_merged), ("releases/{release_id}", show_release))
        for route in (
            Route("GET", f"{owner}/{_PATH}", read, "List the tasks of a graph", {200: _TASKS},
                  (_TYPE, *_BOUNDS)),
            Route("PUT", f"{owner}/{_PATH}", replace, "Replace the tasks of a graph", {200: _TASKS},
                  (_TYPE,), TASKS),
        )
    ),
    Route("GET", f"clusters/{{cluster_id}}/{_PATH}/{{level}}",
          lambda call: list(map(nailgun_task_to, merged(call, (_LEVELS[call.path["level"]],)))),
          "List the tasks of some layers", {200: _TASKS}, (_TYPE,)),
    Route("GET", "clusters/{cluster_id}/deploy_tasks/graph.gv", picture, "Draw the merged graph in DOT",
          {200: {"type": "string"}}, _PICTURE, mimetypes=("text/vnd.graphviz",)),
)  # fmt: skip
