"""Merged graphs and layers as lists of tasks, and pictures of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuelclient.backends.base import OwnerRef
from fuelclient.errors import NotFound, UsageError
from fuelclient.model.graph import DEFAULT_TYPE, Level
from fuelclient.model.task import Task
from fuelclient.serializers.graph import layer_record_to
from fuelclient.serializers.task import task_to
from fuelclient.server import graphs
from fuelclient.server.dot import dot
from fuelclient.server.refusals import Refused
from fuelclient.server.routes import Call, Kind, Query, Reply, Route
from fuelclient.server.schemas import LAYER, TASKS, Schema, listed, opened
from fuelclient.server.solver import INTERNAL, filtered, solved, subgraph

_LEVELS = {"own": Level.CLUSTER, "plugins": Level.PLUGIN, "release": Level.RELEASE}


def graph_type_of(call: Call) -> str:
    """The graph type that is asked for; an empty one is the default one, as in Nailgun."""
    return str(call.only.get("graph_type", DEFAULT_TYPE))


def merged(call: Call, levels: Sequence[Level] = ()) -> list[Task]:
    """The tasks of an environment, of some levels or of all; none for a type that no layer has, as in Nailgun."""
    try:
        found = call.backend.graphs.layers(call.id("cluster_id"), levels, graph_type_of(call))
    except NotFound as error:
        if error.noun != "graph type":
            raise
        return []
    return [one.task for one in found.tasks]


def of_cluster(call: Call) -> Any:
    return _told(call, merged(call))


def of_level(call: Call) -> Any:
    return [task_to(task) for task in merged(call, (_LEVELS[call.path["level"]],))]


def of_release(call: Call) -> Any:
    ref = graphs.owner_of(call)
    call.backend.graphs.owner(ref)
    try:
        return _told(call, call.backend.graphs.get(ref, graph_type_of(call)).tasks)
    except NotFound:
        return []


def replace(call: Call) -> Any:
    """The owner's own graph of the type has the tasks of the body; it is created where it is absent."""
    ref: OwnerRef = graphs.owner_of(call)
    with call.connections.alone() as backend:
        return graphs.upload(backend, ref, graph_type_of(call), {"tasks": call.body})["tasks"]


def layers(call: Call) -> Any:
    """The layers of an environment, from one read, each as its plugin brings it for this release."""
    graph_type = graph_type_of(call)
    found = call.backend.graphs.snapshot(call.id("cluster_id"), graph_type).layers
    return [layer_record_to(one, graph_type) for one in found]


def picture(call: Call) -> Reply:
    """The merged graph in DOT; `tasks` greys all others, `parents_for` leaves one with what precedes it, `remove`
    leaves out types that nodes do not execute."""
    graph = solved(merged(call))
    only, remove = call.only.get("tasks", ()), call.only.get("remove", ())
    unknown = sorted(set(only) - set(graph.tasks))
    if unknown:
        raise _refused(f"Tasks {','.join(unknown)} are not present in deployment graph")
    odd = sorted(set(remove) - set(INTERNAL))
    if odd:
        raise _refused(f"Task types {','.join(odd)} do not exist")
    kept = {name for name, task in graph.tasks.items() if task is None or task.type not in remove}
    wanted = call.only.get("parents_for")
    if wanted is not None:
        if wanted not in graph.tasks:
            raise _refused(f"Task {wanted} is not present in graph")
        kept &= {wanted, *graph.predecessors()[wanted]}
    return Reply(dot(graph, only=only, kept=kept), mimetype="text/vnd.graphviz")


def _told(call: Call, tasks: Sequence[Task]) -> Any:
    """The tasks, or those between `start` and `end` that nodes execute."""
    start, end = call.only.get("start", ""), call.only.get("end", "")
    if not start and not end:
        return [task_to(task) for task in tasks]
    graph = solved(tasks)
    if graph.is_task_based:
        raise _refused('Both "start" and "end" parameters are not allowed for task-based deployment.')
    try:
        kept = subgraph(graph, start, end)
    except KeyError as error:
        raise _refused(f"Cannot find task {error.args[0]} by its name.") from error
    return [task_to(task) for task in filtered(graph, kept, call.only.get("include", ()))]


def _refused(message: str) -> Refused:
    return Refused(400, message, UsageError(message))


_TYPE = Query("graph_type", Kind.WORD, "default: default")
_PART = (
    Query("start", Kind.WORD, "only what follows this task"),
    Query("end", Kind.WORD, "only what precedes this task"),
    Query("include", Kind.REPEATED, "tasks to give although nodes do not execute them"),
)
_PICTURE = (
    _TYPE,
    Query("tasks", Kind.WORDS, "grey all other tasks"),
    Query("parents_for", Kind.WORD, "only this task and what it waits for"),
    Query("remove", Kind.WORDS, "group, stage, skipped"),
)
_ANSWER: Schema = listed(opened(("id",), id={"type": "string"}))
_PATH = "deployment_tasks"

ROUTES = (
    *(
        route
        for owner, read in (("clusters/{cluster_id}", of_cluster), ("releases/{release_id}", of_release))
        for route in (
            Route("GET", f"{owner}/{_PATH}", read, "Tasks of a graph", {200: _ANSWER}, (_TYPE, *_PART)),
            Route("PUT", f"{owner}/{_PATH}", replace, "Replace the own tasks", {200: _ANSWER}, (_TYPE,), TASKS),
        )
    ),
    Route("GET", f"clusters/{{cluster_id}}/{_PATH}/{{level}}", of_level, "Tasks of some layers", {200: _ANSWER},
          (_TYPE,)),
    Route("GET", "clusters/{cluster_id}/layers", layers, "The layers of an environment, not merged; Nailgun has none",
          {200: listed(LAYER)}, (_TYPE,)),
    Route("GET", "clusters/{cluster_id}/deploy_tasks/graph.gv", picture, "The merged graph in DOT",
          {200: {"type": "string"}}, _PICTURE, mimetypes=("text/vnd.graphviz",)),
)  # fmt: skip
