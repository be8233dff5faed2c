"""Begin and stop runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.deploy_changes import changes_of, graph_for, naming
from fuelclient.errors import Conflict, NotFound, Unsupported, UsageError
from fuelclient.model.run import RunRequest
from fuelclient.plan.deploy_changes import PROVISION_TYPES, RESET_TYPES, Changes, is_unprovisioned
from fuelclient.serializers.run import execution_from
from fuelclient.server.errors import HttpError, refusing
from fuelclient.server.graphs import graph_type_of, merged
from fuelclient.server.nodes import members
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import EXECUTION, TASK_RUN, listed
from fuelclient.server.transactions import run_record


def begin(call: Call, request: RunRequest) -> Any:
    """Begin a run and return it. Errors about nodes, graph types and other runs have Nailgun's words.

    As in Nailgun, a selection of tasks that do nothing is accepted, and a dry run is one with `noop_run`, too.
    """
    request = replace(request, noop=request.noop and not request.dry_run)
    try:
        with refusing(Conflict, 409, "Deployment already started"):
            return run_record(call.backend.runs.begin(request, may_idle=True, check=False))
    except NotFound as error:
        if error.noun == "node":
            known = {node.id for node in call.backend.nodes.list(request.cluster_id)}
            unknown = ", ".join(str(node_id) for node_id in request.node_ids if node_id not in known)
            text = f"Nodes {unknown} do not belong to the same cluster {request.cluster_id}"
            raise HttpError(400, text, error) from error
        if error.noun == "graph type":
            raise _without_tasks(call, request.cluster_id, error) from error
        raise


def _without_tasks(call: Call, cluster_id: int, error: NotFound) -> HttpError:
    text = (
        f"There are no deployment tasks for graph type '{error.key}'. Checked cluster (ID={cluster_id}), its plugins "
        f"and release (ID={call.backend.clusters.get(cluster_id).release_id})."
    )
    return HttpError(400, text, error)


def deploy(call: Call) -> Any:
    """Answer PUT deploy: run one graph on some nodes, or on all that can be deployed."""
    cluster_id, graph_type = call.id("cluster_id"), graph_type_of(call)
    nodes = members(call, cluster_id)
    if not merged(call):
        raise _without_tasks(call, cluster_id, NotFound("graph type", graph_type))
    return begin(call, replace(_request(call, (graph_type,)), node_ids=nodes))


def deploy_tasks(call: Call) -> Any:
    """Answer PUT deploy_tasks: run some tasks of a graph and skip the others."""
    names = tuple(dict.fromkeys(call.body if isinstance(call.body, list) else ()))
    if not names:
        raise HttpError(400, "Tasks list must be specified.", UsageError("No tasks are named."))
    known = {task.id for task in merged(call)}
    unknown = [name for name in names if name not in known]
    if unknown:
        text = f"Tasks {','.join(unknown)} are not present in deployment graph"
        raise HttpError(400, text, NotFound("task", unknown[0], known=sorted(known)))
    nodes = members(call, call.id("cluster_id"))
    return begin(call, replace(_request(call, (graph_type_of(call),)), node_ids=nodes, task_names=names))


def provision(call: Call) -> Any:
    """Answer PUT provision: run the graph that provisions nodes on those of the query, by default on all that are not
    provisioned.

    HttpError (400) if the environment has no such graph, or no such node.
    """
    cluster_id = call.id("cluster_id")
    graph_type = _graph_for(call, PROVISION_TYPES, "provisions")
    nodes = members(call, cluster_id) or tuple(
        node.id for node in call.backend.nodes.list(cluster_id) if is_unprovisioned(node)
    )
    if not nodes:
        message = f"Environment {cluster_id} has no nodes to provision."
        raise HttpError(400, message, UsageError(message))
    return _change(call, replace(_request(call, (graph_type,)), node_ids=nodes))


def reset(call: Call) -> Any:
    """Answer PUT reset: run the graph that resets the environment; HttpError (400) if it has no such graph."""
    cluster_id = call.id("cluster_id")
    request = _request(call, (_graph_for(call, RESET_TYPES, "resets"),))
    text = f"Can't reset environment '{cluster_id}' when running deployment task exists."
    with refusing(Conflict, 400, text, plain=True):
        return run_record(call.backend.runs.begin(request, may_idle=True, check=False))


def _graph_for(call: Call, types: Sequence[str], verb: str) -> str:
    try:
        return graph_for(call.backend, call.id("cluster_id"), types, verb)
    except Unsupported as error:
        raise HttpError(400, str(error), error) from error


def _change(call: Call, request: RunRequest) -> Any:
    """Begin a run; while another one has not ended, refuse that as Nailgun's deployment does."""
    with refusing(Conflict, 400, "Cannot perform the actions because there are another running tasks.", plain=True):
        return run_record(call.backend.runs.begin(request, may_idle=True, check=False))


def _request(call: Call, graph_types: Sequence[str]) -> RunRequest:
    dry_run = call.flag("dry_run")
    return RunRequest(
        call.id("cluster_id"), tuple(graph_types), force=call.flag("force"), dry_run=dry_run,
        noop=call.flag("noop_run") and not dry_run,
    )  # fmt: skip


def _deployed(call: Call, *, force: bool) -> Any:
    """Answer PUT changes, and with `force` PUT changes/redeploy, which runs everything as if nothing had ever run.

    The run has the graph of the query, or those that deploy the environment as it is: those of its release's own
    sequence for that, if there is one.
    """
    own = (graph_type_of(call),) if "graph_type" in call.query else ()
    chosen = Changes(own) if own else changes_of(call.backend, call.id("cluster_id"))
    with naming(chosen):
        return _change(call, replace(_request(call, chosen.graph_types), force=force))


_FLAGS = (
    Query("graph_type", QueryType.WORD, "graph type (default: default)"),
    Query("dry_run", QueryType.FLAG, "plan the run without executing anything"),
    Query("noop_run", QueryType.FLAG, "execute tasks in no-op mode, which changes nothing"),
    Query("force", QueryType.FLAG, "run everything as if nothing had ever run"),
)
_NODES = Query("nodes", QueryType.NUMBERS, "only these nodes")
_STARTED = {202: TASK_RUN}
_PATH = "clusters/{cluster_id}"

ROUTES = (
    Route("POST", "graphs/execute", lambda call: begin(call, execution_from(call.body)), "Run graphs one after another",
          _STARTED, body=EXECUTION),
    Route("PUT", f"{_PATH}/deploy", deploy, "Run a graph on some nodes", _STARTED, (_NODES, *_FLAGS)),
    Route("PUT", f"{_PATH}/deploy_tasks", deploy_tasks, "Run some tasks", _STARTED, (_NODES, *_FLAGS),
          {"anyOf": [listed({"type": "string"}), {"type": "object", "maxProperties": 0}]}),
    Route("PUT", f"{_PATH}/changes", lambda call: _deployed(call, force=call.flag("force")), "Deploy an environment",
          _STARTED, _FLAGS),
    Route("PUT", f"{_PATH}/changes/redeploy", lambda call: _deployed(call, force=True),
          "Deploy an environment from scratch", _STARTED, _FLAGS),
    Route("PUT", f"{_PATH}/provision", provision, "Run the graph that provisions nodes", _STARTED,
          (_NODES, *_FLAGS[1:])),
    Route("PUT", f"{_PATH}/reset", reset, "Run the graph that resets an environment", _STARTED, _FLAGS[1:]),
    Route("PUT", f"{_PATH}/stop_deployment",
          lambda call: run_record(call.backend.runs.stop_cluster(call.id("cluster_id"))),
          "Stop the run on an environment", _STARTED),
)  # fmt: skip
