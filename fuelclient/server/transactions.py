"""Runs, which Nailgun's wire calls transactions: their history, events and logs, and how to stop and resume them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from fuelclient.errors import Unsupported
from fuelclient.model.run import HistoryFilter, HistoryRow, Run
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.serializers.fact import info_to
from fuelclient.serializers.history import event_to, history_row_to, logs_to
from fuelclient.serializers.run import nailgun_transaction_to, run_to
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError
from fuelclient.server.routes import Call, Query, QueryType, Reply, Route
from fuelclient.server.schemas import BOOLEAN, HISTORY_ROW, LEFT, MAPPING, RUN, closed, listed, maybe, opened

CSV = "text/csv"
_COLUMNS = ("task_name", "node_id", "status", "type", "time_start", "time_end")
_MOST_EVENTS = 1000
"""How many events one response has at most."""


def list_all(call: Call) -> Any:
    query = call.query
    runs = call.backend.runs.list(
        cluster_id=query.get("cluster_id"),
        statuses=query.get("statuses", ()),
        names=query.get("transaction_types", ()),
    )
    if call.flag("include_details"):
        return [run_to(run) for run in runs]
    names = {cluster.id: cluster.name for cluster in call.backend.clusters.list()}
    return [nailgun_transaction_to(run, names.get(run.cluster_id, "")) for run in runs]


def show(call: Call) -> Any:
    return run_record(call, call.backend.runs.get(call.id("transaction_id")))


def run_record(call: Call, run: Run) -> dict[str, Any]:
    """Return a run with Nailgun's fields or, if the client asks for details, with all that is known about it."""
    if call.flag("include_details"):
        return run_to(run)
    return nailgun_transaction_to(run, call.backend.clusters.get(run.cluster_id).name)


def delete(call: Call) -> Reply:
    """Reply without a body, as Nailgun does, unless files stay behind on nodes."""
    left = call.backend.runs.delete(call.id("transaction_id"), force=call.flag("force"))
    return Reply(json.dumps({"left": left})) if left else Reply(status=204)


def history(call: Call) -> Any:
    """Return the task instances as JSON or, if the client prefers it, as CSV."""
    query = call.query
    filters = HistoryFilter(
        tuple(query.get("nodes", ())), tuple(query.get("statuses", ())), tuple(query.get("tasks_names", ()))
    )
    rows = call.backend.runs.history(call.id("transaction_id"), filters)
    if CSV in call.headers.get("accept", ""):
        return Reply(_csv(rows), mimetype=CSV)
    summary, instance = call.flag("include_summary"), call.flag("include_instance")
    return [history_row_to(row, include_summary=summary, include_instance=instance) for row in rows]


def deployment_info(call: Call) -> Any:
    return info_to(call.backend.runs.deployment_info(call.id("transaction_id")))


def settings(call: Call) -> Any:
    return {"editable": plain(call.backend.runs.settings(call.id("transaction_id")))}


def network_configuration(call: Call) -> Any:
    """Return the networks that a run saw. Without a record of them Nailgun returns null; with `strict` this is an
    error."""
    try:
        return plain(call.backend.runs.network_configuration(call.id("transaction_id")))
    except Unsupported as error:
        if call.flag("strict"):
            raise HttpError(404, str(error), error) from error
        return None


def events(call: Call) -> Any:
    run_id, after = call.id("transaction_id"), call.query.get("after", 0)
    limit = min(call.query.get("limit", _MOST_EVENTS), _MOST_EVENTS)
    return [event_to(event) for event in call.backend.runs.events(run_id, after=after, limit=limit)]


def logs(call: Call) -> Any:
    return logs_to(call.backend.runs.logs(call.id("transaction_id"), call.query["task"], call.query["node"]))


def stop(call: Call) -> Any:
    """Start nothing more. Running tasks may finish, unless `kill` ends them."""
    kill = (call.body or {}).get("kill", False)
    return run_record(call, call.backend.runs.stop(call.id("transaction_id"), kill=kill))


def resume(call: Call) -> Any:
    rerun = (call.body or {}).get("rerun_interrupted", False)
    return run_record(call, call.backend.runs.resume(call.id("transaction_id"), rerun_interrupted=rerun))


def _csv(rows: Iterable[HistoryRow]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for row in rows:
        record = {**history_row_to(row), "type": row.type}
        writer.writerow([record[column] for column in _COLUMNS])
    return out.getvalue()


def _statuses(words: Iterable[str], noun: str) -> Query:
    texts = tuple(map(str, words))
    return Query("statuses", QueryType.WORDS, f"only {noun} that are {', '.join(texts)}", words=texts)


DETAILS = Query("include_details", QueryType.FLAG, "also return what Nailgun does not: the request, findings, children")
_STRICT = Query("strict", QueryType.FLAG, "return an error where Nailgun returns null")
_PATH = "transactions/{transaction_id}"
_FILTERS = (
    DETAILS,
    Query("cluster_id", QueryType.NUMBER, "only runs on this environment"),
    _statuses(RunStatus, "runs"),
    Query("transaction_types", QueryType.WORDS, "only runs with these names: deploy, deployment"),
)
_HISTORY = (
    Query("nodes", QueryType.WORDS, "only on these nodes: ids, master, null"),
    _statuses(InstanceStatus, "instances"),
    Query("tasks_names", QueryType.WORDS, "only these tasks"),
    Query("include_summary", QueryType.FLAG, "also what tasks reported"),
    Query("include_instance", QueryType.FLAG, "also why an instance has its status, which Nailgun does not know"),
)
_INFO = opened(("common", "nodes"), common=MAPPING, nodes=MAPPING)
_EVENT = opened(("id", "time", "kind", "status"), id={"type": "integer"}, time={"type": "string"})
_EVENTS = (
    Query("after", QueryType.NUMBER, "the id of the last known event", least=0),
    Query("limit", QueryType.NUMBER, "at most this many"),
)
_LOGS = opened(("task_name", "node_id", "output", "errors"), output={"type": "string"}, errors={"type": "string"})
_INSTANCE = (
    Query("task", QueryType.WORD, "the id of the task", required=True),
    Query("node", QueryType.WORD, "the id of the node, or master", required=True),
)

ROUTES = (
    Route("GET", "transactions", list_all, "List runs", {200: listed(RUN)}, _FILTERS),
    Route("GET", _PATH, show, "Show a run", {200: RUN}, (DETAILS,)),
    Route("DELETE", _PATH, delete, "Delete a run with its history", {204: None, 200: LEFT},
          (Query("force", QueryType.FLAG, "delete it even if it has not ended, provided that its runner is gone"),)),
    Route("GET", f"{_PATH}/deployment_history", history, "List the task instances of a run with their results",
          {200: listed(HISTORY_ROW)}, _HISTORY, mimetypes=("application/json", CSV)),
    Route("GET", f"{_PATH}/deployment_info", deployment_info, "Show the facts that a run saw", {200: _INFO}),
    Route("GET", f"{_PATH}/settings", settings, "Show the settings that a run saw",
          {200: opened(("editable",), editable=MAPPING)}),
    Route("GET", f"{_PATH}/network_configuration", network_configuration,
          "Show the networks that a run saw: null, because the embedded engine has none", {200: maybe(MAPPING)},
          (_STRICT,)),
    Route("GET", f"{_PATH}/events", events, "List the events of a run in order", {200: listed(_EVENT)}, _EVENTS),
    Route("GET", f"{_PATH}/logs", logs, "Show what a task instance printed", {200: _LOGS}, _INSTANCE),
    Route("POST", f"{_PATH}/stop", stop, "Stop a run", {202: RUN}, (DETAILS,), body=closed(kill=BOOLEAN),
          body_required=False),
    Route("POST", f"{_PATH}/resume", resume, "Resume a run whose runner was killed", {202: RUN},
          (DETAILS,), body=closed(rerun_interrupted=BOOLEAN), body_required=False),
)  # fmt: skip
