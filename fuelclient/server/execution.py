"""Execution: what begins a run, what stops one, and what would be sent to the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.changes import changes_of, graph_for
from fuelclient.errors import NotFound, Unsupported, UsageError
from fuelclient.model.run import RunRequest
from fuelclient.plan.changes import RESET_TYPES
from fuelclient.serializers.run import execution_from
from fuelclient.server.layers import graph_type_of, merged
from fuelclient.server.refusals import Refused
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import EXECUTION, RUN, listed
from fuelclient.server.transactions import DETAILS, answer


def begin(call: Call, request: RunRequest) -> Any:
    """The transaction that runs from now on, with Nailgun's words for what it cannot run on. As there, a selection of
    tasks that do nothing begins, unless the client is `strict`."""
    try:
        return answer(call, call.backend.runs.begin(request, may_idle=not call.truth("strict")))
    except NotFound as error:
        if error.noun == "node":
            known = {node.id for node in call.backend.nodes.list(request.cluster_id)}
            strange = ", ".join(str(one) for one in request.node_ids if one not in known)
            text = f"Nodes {strange} do not belong to the same cluster {request.cluster_id}"
            raise Refused(400, text, error) from error
        if error.noun == "graph type":
            release = call.backend.clusters.get(request.cluster_id).release_id
            text = (
                f"There are no deployment tasks for graph type '{error.key}'."
                f" Checked cluster (ID={request.cluster_id}), its plugins and release (ID={release})."
            )
            raise Refused(400, text, error) from error
        raise


def execute(call: Call) -> Any:
    return begin(call, execution_from(call.body))


def deploy(call: Call) -> Any:
    """One graph on some nodes, or on all that can be deployed."""
    return begin(call, replace(_request(call, (graph_type_of(call),)), node_ids=_nodes(call)))


def deploy_tasks(call: Call) -> Any:
    """Some tasks of a graph; the others are skipped."""
    names = tuple(dict.fromkeys(call.body))
    if not names:
        raise Refused(400, "Tasks list must be specified.", UsageError("No tasks are named."))
    known = {task.id for task in merged(call)}
    unknown = [name for name in names if name not in known]
    if unknown:
        text = f"Tasks {','.join(unknown)} are not present in deployment graph"
        raise Refused(400, text, NotFound("task", unknown[0], known=sorted(known)))
    return begin(call, replace(_request(call, (graph_type_of(call),)), node_ids=_nodes(call), task_names=names))


def changes(call: Call) -> Any:
    """The graphs that deploy the environment as it is: those of its release's own sequence for that, if it has one."""
    return begin(call, _request(call, _types_of_changes(call)))


def redeploy(call: Call) -> Any:
    """As `changes`, as if nothing had ever run."""
    return begin(call, replace(_request(call, _types_of_changes(call)), force=True))


def stop(call: Call) -> Any:
    return answer(call, call.backend.runs.stop_cluster(call.id("cluster_id")))


def reset(call: Call) -> Any:
    """The environment's own graph that resets its nodes runs; without one there is nothing that could."""
    try:
        kind = graph_for(call.backend, call.id("cluster_id"), RESET_TYPES, "resets")
    except Unsupported as error:
        raise Refused(400, str(error), error) from error
    return begin(call, _request(call, (kind,)))


def _request(call: Call, graph_types: Sequence[str]) -> RunRequest:
    return RunRequest(
        call.id("cluster_id"), tuple(graph_types), force=call.truth("force"), dry_run=call.truth("dry_run"),
        noop=call.truth("noop_run"),
    )  # fmt: skip


def _nodes(call: Call) -> tuple[int, ...]:
    return tuple(dict.fromkeys(call.only.get("nodes", ())))


def _types_of_changes(call: Call) -> Sequence[str]:
    if "graph_type" in call.only:
        return (graph_type_of(call),)
    return changes_of(call.backend, call.id("cluster_id")).graph_types


_FLAGS = (
    Query("graph_type", Kind.WORD, "default: default"),
    Query("dry_run", Kind.TRUTH, "plan only"),
    Query("noop_run", Kind.TRUTH, "run everything, change nothing"),
    Query("force", Kind.TRUTH, "as if nothing had ever run"),
    DETAILS,
)
_STRICT = Query("strict", Kind.TRUTH, "refuse a selection of which nothing would run; Nailgun does not")
_NODES = Query("nodes", Kind.NUMBERS, "only these nodes")
_STARTED = {202: RUN}
_ONE = "clusters/{cluster_id}"

ROUTES = (
    Route("POST", "graphs/execute", execute, "Run graphs one after another", _STARTED, (_STRICT, DETAILS),
          EXECUTION),
    Route("PUT", f"{_ONE}/deploy", deploy, "Run a graph on some nodes", _STARTED, (_NODES, *_FLAGS)),
    Route("PUT", f"{_ONE}/deploy_tasks", deploy_tasks, "Run some tasks", _STARTED, (_NODES, *_FLAGS),
          listed({"type": "string"})),
    Route("PUT", f"{_ONE}/changes", changes, "Deploy an environment", _STARTED, _FLAGS),
    Route("PUT", f"{_ONE}/changes/redeploy", redeploy, "Deploy an environment anew", _STARTED, _FLAGS),
    Route("PUT", f"{_ONE}/reset", reset, "Run the graph that resets an environment", _STARTED, _FLAGS[1:]),
    Route("PUT", f"{_ONE}/stop_deployment", stop, "Stop what runs on an environment", _STARTED, (DETAILS,)),
)  # fmt: skip
