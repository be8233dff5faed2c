"""Runs, which Nailgun's wire calls transactions: their history, events and logs, and how to stop and resume them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from fuelclient.errors import Conflict, NotFound
from fuelclient.model.run import HistoryFilter, HistoryRow, Run
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.serializers.fact import info_to
from fuelclient.serializers.run import history_row_to, nailgun_transaction_to
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError
from fuelclient.server.routes import Call, Query, QueryType, Reply, Route
from fuelclient.server.schemas import HISTORY_ROW, MAPPING, RUN, TASK_RUN, listed, maybe, opened

CSV = "text/csv"
_COLUMNS = ("task_name", "node_id", "status", "type", "time_start", "time_end")
_STATUSES = tuple(map(str, (RunStatus.PENDING, RunStatus.READY, RunStatus.RUNNING, RunStatus.ERROR)))
_INSTANCES = (*_STATUSES, str(InstanceStatus.SKIPPED))
"""The statuses in the order of Nailgun's messages, which scripts match."""


_RUNS = "You cannot delete running task manually"
"""Nailgun's words for a run that has not ended."""


def list_all(call: Call) -> Any:
    query = call.query
    statuses, names = query.get("statuses", ()), query.get("transaction_types", ())
    runs = call.backend.runs.list(cluster_id=query.get("cluster_id"), statuses=statuses, names=names)
    return list(map(nailgun_transaction_to, runs))


def run_record(run: Run) -> dict[str, Any]:
    """Return a run as a task of Nailgun, which names its parent."""
    return nailgun_transaction_to(run, with_parent=True)


def _is_parent(call: Call) -> bool:
    """Return whether the run in the path is one of graphs, which alone have a history and records, as in Nailgun."""
    return call.backend.runs.get(call.id("transaction_id")).parent_id is None


def delete(call: Call) -> None:
    run_id, runs = call.id("transaction_id"), call.backend.runs
    try:
        runs.delete(run_id, force=call.flag("force"))
    except Conflict as error:
        if runs.get(run_id).is_final:  # a part of a run, which Nailgun would delete alone
            raise
        raise HttpError(400, _RUNS, error) from error


def delete_task(call: Call) -> Any:
    """Answer DELETE of a task: delete a whole run that has ended, as Nailgun does at once or later."""
    run = call.backend.runs.get(call.id("transaction_id"))
    if not run.is_final or run.parent_id is not None:
        why = "it is a part of another one" if run.is_final else "it has not ended"
        text = f"Task {run.id} cannot be deleted: {why}." if run.is_final else _RUNS
        raise HttpError(400, text, Conflict(f"Run {run.id} stays: {why}."))
    call.backend.runs.delete(run.id)
    return {}


def history(call: Call) -> Any:
    """Answer GET deployment_history: the task instances of a run as JSON or, if the client prefers it, as CSV."""
    rows: list[HistoryRow] = []
    if not _is_parent(call):
        nodes, statuses, tasks = (tuple(call.query.get(name, ())) for name in ("nodes", "statuses", "tasks_names"))
        rows += call.backend.runs.history(call.id("transaction_id"), HistoryFilter(statuses=statuses))
        rows = list(filter(HistoryFilter(nodes, statuses, tasks).passes, rows))  # Nailgun takes any tasks and nodes
    if CSV in call.headers.get("accept", ""):
        return Reply(_csv(rows), mimetype=CSV)
    return [history_row_to(row, include_summary=call.flag("include_summary")) for row in rows]


def deployment_info(call: Call) -> Any:
    if _is_parent(call):
        return {}
    return info_to(call.backend.runs.deployment_info(call.id("transaction_id")))


def settings(call: Call) -> Any:
    if _is_parent(call):
        return None
    return {"editable": plain(call.backend.runs.settings(call.id("transaction_id"))), "generated": {}}


def network_configuration(call: Call) -> Any:
    """Answer GET network_configuration: the networks that a run saw. null without a record of them."""
    if _is_parent(call):
        return None
    try:
        return plain(call.backend.runs.network_configuration(call.id("transaction_id")))
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


_PATH = "transactions/{transaction_id}"
_FILTERS = (
    Query("cluster_id", QueryType.NUMBER, "only runs on this environment"),
    Query("statuses", QueryType.WORDS, f"only runs that are {', '.join(_STATUSES)}", words=_STATUSES,
          complaint="could only be one of"),
    Query("transaction_types", QueryType.WORDS, "only runs with these names: deploy, deployment"),
)  # fmt: skip
_HISTORY = (
    Query("nodes", QueryType.WORDS, "only on these nodes: ids, master, null"),
    Query("statuses", QueryType.WORDS, f"only instances that are {', '.join(_INSTANCES)}", words=_INSTANCES),
    Query("tasks_names", QueryType.WORDS, "only these tasks"),
    Query("include_summary", QueryType.FLAG, "also what tasks reported"),
)

ROUTES = (
    Route("GET", "transactions", list_all, "List runs", {200: listed(RUN)}, _FILTERS),
    Route("GET", _PATH, lambda call: nailgun_transaction_to(call.backend.runs.get(call.id("transaction_id"))),
          "Show a run", {200: RUN}),
    Route("GET", "tasks",
          lambda call: list(map(run_record, call.backend.runs.list(cluster_id=call.query.get("cluster_id")))),
          "List runs with the runs that they are parts of", {200: listed(TASK_RUN)}, _FILTERS[:1]),
    Route("GET", "tasks/{transaction_id}",
          lambda call: run_record(call.backend.runs.get(call.id("transaction_id"))),
          "Show a run with the run that it is a part of", {200: TASK_RUN}),
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
