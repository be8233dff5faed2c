"""The routes for runs, which Nailgun calls transactions: begin, stop, list and delete them, and show their records."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.deploy_changes import changes_of, graph_for, naming_sequence
from fuelclient.errors import Conflict, NotFound, Unsupported, UsageError
from fuelclient.model.run import HistoryFilter, HistoryRow, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.plan.deploy_changes import PROVISION_TYPES, RESET_TYPES, Changes, is_unprovisioned
from fuelclient.printing import ids_text
from fuelclient.serializers.fact import info_to
from fuelclient.serializers.run import execution_from, history_row_to, nailgun_transaction_to
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError, refusing
from fuelclient.server.graphs import TYPE, graph_type_of, merged
from fuelclient.server.nodes import NODES, members
from fuelclient.server.routes import Call, Query, QueryType, Reply, Route, caller
from fuelclient.server.schemas import EXECUTION, HISTORY_ROW, MAPPING, RUN, STRING, TASK_RUN, listed, maybe, opened

CSV = "text/csv"
_COLUMNS = ("task_name", "node_id", "status", "type", "time_start", "time_end")
_STATUSES = tuple(map(str, (RunStatus.PENDING, RunStatus.READY, RunStatus.RUNNING, RunStatus.ERROR)))
_ALL_STATUSES = (*_STATUSES, str(InstanceStatus.SKIPPED))
"""The statuses of task instances, in the order of Nailgun's messages, which scripts match."""

_UNDELETABLE = "You cannot delete running task manually"
"""Nailgun's message if a run that has not ended is deleted."""

_RUNNING = "Cannot perform the actions because there are another running tasks."
"""Nailgun's message if an environment is changed while a run on it has not ended."""


def list_all(call: Call) -> Any:
    query = call.query
    statuses, names = query.get("statuses", ()), query.get("transaction_types", ())
    runs = call.backend.runs.list(cluster_id=query.get("cluster_id"), statuses=statuses, names=names)
    return list(map(nailgun_transaction_to, runs))


def run_record(run: Run) -> dict[str, Any]:
    return nailgun_transaction_to(run, with_parent=True)


def _is_parent(call: Call) -> bool:
    """Whether the run in the path is a parent run. Only runs of one graph have a history, as in Nailgun."""
    return call.backend.runs.get(call.id("transaction_id")).parent_id is None


def delete(call: Call) -> None:
    run_id, runs = call.id("transaction_id"), call.backend.runs
    try:
        runs.delete(run_id, force=call.flag("force"))
    except Conflict as error:
        if runs.get(run_id).is_final:  # it is a part of a run; Nailgun would delete the part alone
            raise
        raise HttpError(400, error, _UNDELETABLE) from error


def delete_task(call: Call) -> Any:
    """Delete a run that has ended, with its parts. A part alone cannot be deleted."""
    run = call.backend.runs.get(call.id("transaction_id"))
    if not run.is_final or run.parent_id is not None:
        why = "it is a part of another one" if run.is_final else "it has not ended"
        text = f"Task {run.id} cannot be deleted: {why}." if run.is_final else _UNDELETABLE
        raise HttpError(400, Conflict(f"Run {run.id} stays: {why}."), text)
    call.backend.runs.delete(run.id)
    return {}


def history(call: Call) -> Any:
    """List the task instances of a run as JSON or, if the client prefers it, as CSV."""
    rows: list[HistoryRow] = []
    if not _is_parent(call):
        nodes, statuses, tasks = (tuple(call.query.get(name, ())) for name in ("nodes", "statuses", "tasks_names"))
        rows += call.backend.runs.history(call.id("transaction_id"), HistoryFilter(statuses=statuses))
        rows = list(filter(HistoryFilter(nodes, statuses, tasks).passes, rows))  # unknown ones match nothing
    if CSV in call.accept:
        return Reply(_csv(rows), mimetype=CSV)
    return [history_row_to(row, include_summary=call.flag("include_summary")) for row in rows]


def deployment_info(call: Call) -> Any:
    return {} if _is_parent(call) else info_to(call.backend.runs.deployment_info(call.id("transaction_id")))


def settings(call: Call) -> Any:
    if _is_parent(call):
        return None
    return {"editable": plain(call.backend.runs.settings(call.id("transaction_id"))), "generated": {}}


def network_configuration(call: Call) -> Any:
    """The network configuration that the run recorded; None if it recorded none."""
    try:
        return None if _is_parent(call) else plain(call.backend.runs.network_configuration(call.id("transaction_id")))
    except NotFound as error:
        if error.noun == "run":
            raise
        return None


def _csv(rows: Iterable[HistoryRow]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, _COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({**history_row_to(row), "type": row.type} for row in rows)
    return out.getvalue()


def begin(call: Call, request: RunRequest) -> Any:
    """Begin a run and return its JSON. Errors about nodes, graph types and other runs have Nailgun's messages.

    As in Nailgun, a selection is accepted even if none of its tasks does anything, and `dry_run` has precedence over
    `noop_run`.
    """
    request = replace(request, noop=request.noop and not request.dry_run)
    try:
        return _start(call, request, "Deployment already started", 409, plain=False)
    except NotFound as error:
        if error.noun == "node":
            known = {node.id for node in call.backend.nodes.list(request.cluster_id)}
            unknown = ids_text(node_id for node_id in request.node_ids if node_id not in known)
            text = f"Nodes {unknown} do not belong to the same cluster {request.cluster_id}"
            raise HttpError(400, error, text) from error
        if error.noun == "graph type":
            raise _no_tasks_error(call, request.cluster_id, error) from error
        raise


def _start(call: Call, request: RunRequest, refusal: str = _RUNNING, status: int = 400, *, plain: bool = True) -> Any:
    """Begin a run. If another run has not ended, raise `HttpError` with Nailgun's message."""
    with refusing(Conflict, status, refusal, plain=plain):
        return run_record(call.backend.runs.begin(request, may_idle=True, check=False))


def _no_tasks_error(call: Call, cluster_id: int, error: NotFound) -> HttpError:
    text = (
        f"There are no deployment tasks for graph type '{error.key}'. Checked cluster (ID={cluster_id}), its plugins "
        f"and release (ID={call.backend.clusters.get(cluster_id).release_id})."
    )
    return HttpError(400, error, text)


def deploy(call: Call) -> Any:
    """Run one graph on the nodes in the query, by default on all nodes that can be deployed."""
    cluster_id, graph_type = call.cluster_id, graph_type_of(call)
    nodes = members(call, cluster_id)
    if not merged(call):
        raise _no_tasks_error(call, cluster_id, NotFound("graph type", graph_type))
    return begin(call, replace(_request(call, (graph_type,)), node_ids=nodes))


def deploy_tasks(call: Call) -> Any:
    """Run some tasks of a graph and skip the others."""
    if not (names := tuple(dict.fromkeys(call.body if isinstance(call.body, list) else ()))):
        raise HttpError(400, UsageError("No tasks are named."), "Tasks list must be specified.")
    known = {task.id for task in merged(call)}
    if unknown := [name for name in names if name not in known]:
        text = f"Tasks {','.join(unknown)} are not present in deployment graph"
        raise HttpError(400, NotFound("task", unknown[0], known=sorted(known)), text)
    nodes = members(call, call.cluster_id)
    return begin(call, replace(_request(call, (graph_type_of(call),)), node_ids=nodes, task_names=names))


def provision(call: Call) -> Any:
    """Run the provisioning graph on the nodes in the query, by default on all nodes that are not provisioned."""
    cluster_id = call.cluster_id
    graph_type = _graph_for(call, PROVISION_TYPES, "provisions")
    nodes = members(call, cluster_id) or tuple(
        node.id for node in call.backend.nodes.list(cluster_id) if is_unprovisioned(node)
    )
    if not nodes:
        raise HttpError(400, UsageError(f"Environment {cluster_id} has no nodes to provision."))
    return _start(call, replace(_request(call, (graph_type,)), node_ids=nodes))


def reset(call: Call) -> Any:
    cluster_id = call.cluster_id
    request = _request(call, (_graph_for(call, RESET_TYPES, "resets"),))
    return _start(call, request, f"Can't reset environment '{cluster_id}' when running deployment task exists.")


def _graph_for(call: Call, types: Sequence[str], verb: str) -> str:
    try:
        return graph_for(call.backend, call.cluster_id, types, verb)
    except Unsupported as error:
        raise HttpError(400, error, str(error)) from error


def _request(call: Call, graph_types: Sequence[str]) -> RunRequest:
    dry_run = call.flag("dry_run")
    return RunRequest(
        call.cluster_id, tuple(graph_types), force=call.flag("force"), dry_run=dry_run,
        noop=call.flag("noop_run") and not dry_run,
    )  # fmt: skip


def _deploy_all(call: Call, *, force: bool) -> Any:
    """Run the graph type in the query, or else the graphs that `changes_of` selects to deploy the environment."""
    requested = (graph_type_of(call),) if "graph_type" in call.query else ()
    changes = Changes(requested) if requested else changes_of(call.backend, call.cluster_id)
    with naming_sequence(changes):
        return _start(call, replace(_request(call, changes.graph_types), force=force))


_FLAGS = (
    TYPE,
    Query("dry_run", QueryType.FLAG, "plan the run without executing anything"),
    Query("noop_run", QueryType.FLAG, "execute tasks in no-op mode, which changes nothing"),
    Query("force", QueryType.FLAG, "run everything as if nothing had ever run"),
)
_STARTED = {202: TASK_RUN}
_CLUSTER = "clusters/{cluster_id}"
_PATH = "transactions/{transaction_id}"
_FILTERS = (
    Query("cluster_id", QueryType.NUMBER, "only runs on this environment"),
    Query("statuses", QueryType.WORDS, f"only runs that are {', '.join(_STATUSES)}", words=_STATUSES,
          complaint="could only be one of"),
    Query("transaction_types", QueryType.WORDS, "only runs with these names: deploy, deployment"),
)  # fmt: skip
_HISTORY = (
    Query("nodes", QueryType.WORDS, "only on these nodes: ids, master, null"),
    Query("statuses", QueryType.WORDS, f"only instances that are {', '.join(_ALL_STATUSES)}", words=_ALL_STATUSES),
    Query("tasks_names", QueryType.WORDS, "only these tasks"),
    Query("include_summary", QueryType.FLAG, "also what tasks reported"),
)

ROUTES = (
    Route("POST", "graphs/execute", lambda call: begin(call, execution_from(call.body)), "Run graphs one after another",
          _STARTED, body=EXECUTION),
    Route("PUT", f"{_CLUSTER}/deploy", deploy, "Run a graph on some nodes", _STARTED, (NODES, *_FLAGS)),
    Route("PUT", f"{_CLUSTER}/deploy_tasks", deploy_tasks, "Run some tasks", _STARTED, (NODES, *_FLAGS),
          {"anyOf": [listed(STRING), {"type": "object", "maxProperties": 0}]}),
    Route("PUT", f"{_CLUSTER}/changes", lambda call: _deploy_all(call, force=call.flag("force")),
          "Deploy an environment", _STARTED, _FLAGS),
    Route("PUT", f"{_CLUSTER}/changes/redeploy", lambda call: _deploy_all(call, force=True),
          "Deploy an environment from scratch", _STARTED, _FLAGS),
    Route("PUT", f"{_CLUSTER}/provision", provision, "Run the graph that provisions nodes", _STARTED,
          (NODES, *_FLAGS[1:])),
    Route("PUT", f"{_CLUSTER}/reset", reset, "Run the graph that resets an environment", _STARTED, _FLAGS[1:]),
    Route("PUT", f"{_CLUSTER}/stop_deployment",
          caller(lambda backend: backend.runs.stop_cluster, run_record),
          "Stop the run on an environment", _STARTED),
    Route("GET", "transactions", list_all, "List runs", {200: listed(RUN)}, _FILTERS),
    Route("GET", _PATH, caller(lambda backend: backend.runs.get, nailgun_transaction_to), "Show a run", {200: RUN}),
    Route("GET", "tasks",
          lambda call: list(map(run_record, call.backend.runs.list(cluster_id=call.query.get("cluster_id")))),
          "List runs, each with the id of the run that it is a part of", {200: listed(TASK_RUN)}, _FILTERS[:1]),
    Route("GET", "tasks/{transaction_id}",
          caller(lambda backend: backend.runs.get, run_record),
          "Show a run with the id of the run that it is a part of", {200: TASK_RUN}),
    Route("DELETE", "tasks/{transaction_id}", delete_task, "Delete a run that has ended", {202: MAPPING}),
    Route("DELETE", _PATH, delete, "Delete a run with its history", {204: None},
          (Query("force", QueryType.FLAG, "delete it even if it has not ended, provided that its runner is gone"),)),
    Route("GET", f"{_PATH}/deployment_history", history, "List the task instances of a run with their results",
          {200: listed(HISTORY_ROW)}, _HISTORY, mimetypes=("application/json", CSV)),
    Route("GET", f"{_PATH}/deployment_info", deployment_info, "Show the facts that a run saw",
          {200: opened(common=MAPPING, nodes=MAPPING)}),
    Route("GET", f"{_PATH}/settings", settings, "Show the settings that a run saw",
          {200: maybe(opened(editable=MAPPING, generated=MAPPING))}),
    Route("GET", f"{_PATH}/network_configuration", network_configuration,
          "Show the networks that a run saw; null if they were not recorded", {200: maybe(MAPPING)}),
)  # fmt: skip
