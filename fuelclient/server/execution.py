"""Begin and stop runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.deploy_changes import changes_of, graph_for
from fuelclient.errors import NotFound, Unsupported, UsageError
from fuelclient.model.run import RunRequest
from fuelclient.plan.deploy_changes import RESET_TYPES
from fuelclient.serializers.run import execution_from
from fuelclient.server.errors import HttpError
from fuelclient.server.layers import graph_type_of, merged
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import EXECUTION, TASK_RUN, listed
from fuelclient.server.transactions import DETAILS, run_record


def begin(call: Call, request: RunRequest) -> Any:
    """Begin a run and return it. Errors about nodes and graph types have Nailgun's words.

    As in Nailgun, a selection of tasks that do nothing is accepted, unless the client asks for `strict`.
    """
    try:
        return run_record(call, call.backend.runs.begin(request, may_idle=not call.flag("strict")))
    except NotFound as error:
        if error.noun == "node":
            known = {node.id for node in call.backend.nodes.list(request.cluster_id)}
            unknown = ", ".join(str(node_id) for node_id in request.node_ids if node_id not in known)
            text = f"Nodes {unknown} do not belong to the same cluster {request.cluster_id}"
            raise HttpError(400, text, error) from error
        if error.noun == "graph type":
            release = call.backend.clusters.get(request.cluster_id).release_id
            text = (
                f"There are no deployment tasks for graph type '{error.key}'."
                f" Checked cluster (ID={request.cluster_id}), its plugins and release (ID={release})."
            )
            raise HttpError(400, text, error) from error
        raise


def execute(call: Call) -> Any:
    return begin(call, execution_from(call.body))


def deploy(call: Call) -> Any:
    """Run one graph on some nodes, or on all that can be deployed."""
    return begin(call, replace(_request(call, (graph_type_of(call),)), node_ids=_nodes(call)))


def deploy_tasks(call: Call) -> Any:
    """Run some tasks of a graph and skip the others."""
    names = tuple(dict.fromkeys(call.body))
    if not names:
        raise HttpError(400, "Tasks list must be specified.", UsageError("No tasks are named."))
    known = {task.id for task in merged(call)}
    unknown = [name for name in names if name not in known]
    if unknown:
        text = f"Tasks {','.join(unknown)} are not present in deployment graph"
        raise HttpError(400, text, NotFound("task", unknown[0], known=sorted(known)))
    return begin(call, replace(_request(call, (graph_type_of(call),)), node_ids=_nodes(call), task_names=names))


def changes(call: Call) -> Any:
    """Run the graphs that deploy the environment as it is, or those of its release's own sequence for that."""
    return begin(call, _request(call, _types_of_changes(call)))


def redeploy(call: Call) -> Any:
    """Do what `changes` does as if nothing had ever run."""
    return begin(call, replace(_request(call, _types_of_changes(call)), force=True))


def stop(call: Call) -> Any:
    return run_record(call, call.backend.runs.stop_cluster(call.id("cluster_id")))


def reset(call: Call) -> Any:
    """Run the graph that resets the environment; HttpError (400) if it has no such graph."""
    try:
        graph_type = graph_for(call.backend, call.id("cluster_id"), RESET_TYPES, "resets")
    except Unsupported as error:
        raise HttpError(400, str(error), error) from error
    return begin(call, _request(call, (graph_type,)))


def _request(call: Call, graph_types: Sequence[str]) -> RunRequest:
    return RunRequest(
        call.id("cluster_id"), tuple(graph_types), force=call.flag("force"), dry_run=call.flag("dry_run"),
        noop=call.flag("noop_run"),
    )  # fmt: skip


def _nodes(call: Call) -> tuple[int, ...]:
    return tuple(dict.fromkeys(call.query.get("nodes", ())))


def _types_of_changes(call: Call) -> Sequence[str]:
    if "graph_type" in call.query:
        return (graph_type_of(call),)
    return changes_of(call.backend, call.id("cluster_id")).graph_types


_FLAGS = (
    Query("graph_type", QueryType.WORD, "graph type (default: default)"),
    Query("dry_run", QueryType.FLAG, "plan the run without executing anything"),
    Query("noop_run", QueryType.FLAG, "execute tasks in no-op mode, which changes nothing"),
    Query("force", QueryType.FLAG, "run everything as if nothing had ever run"),
    DETAILS,
)
_STRICT = Query("strict", QueryType.FLAG, "refuse a selection in which nothing would run, which Nailgun accepts")
_NODES = Query("nodes", QueryType.NUMBERS, "only these nodes")
_STARTED = {202: TASK_RUN}
_PATH = "clusters/{cluster_id}"

ROUTES = (
    Route("POST", "graphs/execute", execute, "Run graphs one after another", _STARTED, (_STRICT, DETAILS),
          EXECUTION),
    Route("PUT", f"{_PATH}/deploy", deploy, "Run a graph on some nodes", _STARTED, (_NODES, *_FLAGS)),
    Route("PUT", f"{_PATH}/deploy_tasks", deploy_tasks, "Run some tasks", _STARTED, (_NODES, *_FLAGS),
          listed({"type": "string"})),
    Route("PUT", f"{_PATH}/changes", changes, "Deploy an environment", _STARTED, _FLAGS),
    Route("PUT", f"{_PATH}/changes/redeploy", redeploy, "Deploy an environment from scratch", _STARTED, _FLAGS),
    Route("PUT", f"{_PATH}/reset", reset, "Run the graph that resets an environment", _STARTED, _FLAGS[1:]),
    Route("PUT", f"{_PATH}/stop_deployment", stop, "Stop the run on an environment", _STARTED, (DETAILS,)),
)  # fmt: skip
