"""Transactions: what runs and what ran, with its history and what it saw."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from fuelclient.errors import Unsupported
from fuelclient.model.run import HistoryFilter, HistoryRow, Run
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.serializers.fact import facts_to
from fuelclient.serializers.history import history_row_to
from fuelclient.serializers.run import nailgun_transaction_to, run_to
from fuelclient.serializers.values import plain
from fuelclient.server.refusals import Refused
from fuelclient.server.routes import Call, Kind, Query, Reply, Route
from fuelclient.server.schemas import HISTORY_ROW, LEFT, MAPPING, RUN, listed, maybe, opened

CSV = "text/csv"
_COLUMNS = ("task_name", "node_id", "status", "type", "time_start", "time_end")


def every(call: Call) -> Any:
    only = call.only
    found = call.backend.runs.list(
        cluster_id=only.get("cluster_id"), statuses=only.get("statuses", ()), names=only.get("transaction_types", ())
    )
    if call.truth("include_details"):
        return [run_to(one) for one in found]
    names = {one.id: one.name for one in call.backend.clusters.list()}
    return [nailgun_transaction_to(one, names.get(one.cluster_id, "")) for one in found]


def one(call: Call) -> Any:
    return answer(call, call.backend.runs.get(call.id("transaction_id")))


def answer(call: Call, found: Run) -> dict[str, Any]:
    """A transaction with Nailgun's fields, or with all that is known of it where the client asks for details."""
    if call.truth("include_details"):
        return run_to(found)
    return nailgun_transaction_to(found, call.backend.clusters.get(found.cluster_id).name)


def delete(call: Call) -> Reply:
    """Nailgun's answer, which is none, unless there is something to say of what stays on nodes."""
    left = call.backend.runs.delete(call.id("transaction_id"), force=call.truth("force"))
    return Reply(json.dumps({"left": left})) if left else Reply(status=204)


def history(call: Call) -> Any:
    """The task instances, as JSON or, where the client prefers it, as CSV."""
    only = call.only
    filters = HistoryFilter(
        tuple(only.get("nodes", ())), tuple(only.get("statuses", ())), tuple(only.get("tasks_names", ()))
    )
    rows = call.backend.runs.history(call.id("transaction_id"), filters)
    if CSV in call.headers.get("accept", ""):
        return Reply(_csv(rows), mimetype=CSV)
    summary, instance = call.truth("include_summary"), call.truth("include_instance")
    return [history_row_to(row, include_summary=summary, include_instance=instance) for row in rows]


def deployment_info(call: Call) -> Any:
    return facts_to(call.backend.runs.deployment_info(call.id("transaction_id")))


def settings(call: Call) -> Any:
    return {"editable": plain(call.backend.runs.settings(call.id("transaction_id")))}


def network_configuration(call: Call) -> Any:
    """The networks that a run saw: null where none were recorded, as Nailgun has it, unless that is an error."""
    try:
        return plain(call.backend.runs.network_configuration(call.id("transaction_id")))
    except Unsupported as error:
        if call.truth("strict"):
            raise Refused(404, str(error), error) from error
        return None


def _csv(rows: Iterable[HistoryRow]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for row in rows:
        record = {**history_row_to(row), "type": row.type}
        writer.writerow([record[column] for column in _COLUMNS])
    return out.getvalue()


DETAILS = Query("include_details", Kind.TRUTH, "also what Nailgun does not tell: the request, findings, children")
_STRICT = Query("strict", Kind.TRUTH, "an error where Nailgun answers null")
_ONE = "transactions/{transaction_id}"
_FILTERS = (
    DETAILS,
    Query("cluster_id", Kind.NUMBER, "only those of this environment"),
    Query(
        "statuses",
        Kind.WORDS,
        f"only those that are {', '.join(RunStatus)}",
        words=tuple(map(str, RunStatus)),
    ),
    Query("transaction_types", Kind.WORDS, "only those of these names: deploy, deployment"),
)
_HISTORY = (
    Query("nodes", Kind.WORDS, "only on these nodes: ids, master, null"),
    Query(
        "statuses",
        Kind.WORDS,
        f"only instances that are {', '.join(InstanceStatus)}",
        words=tuple(map(str, InstanceStatus)),
    ),
    Query("tasks_names", Kind.WORDS, "only these tasks"),
    Query("include_summary", Kind.TRUTH, "what tasks reported"),
    Query("include_instance", Kind.TRUTH, "why an instance has its status; Nailgun does not know that"),
)
_INFO = opened(("common", "nodes"), common=MAPPING, nodes=listed(MAPPING))

ROUTES = (
    Route("GET", "transactions", every, "All transactions", {200: listed(RUN)}, _FILTERS),
    Route("GET", _ONE, one, "One transaction", {200: RUN}, (DETAILS,)),
    Route("DELETE", _ONE, delete, "Delete a transaction with its history", {204: None, 200: LEFT},
          (Query("force", Kind.TRUTH, "even one that has not ended, unless it runs"),)),
    Route("GET", f"{_ONE}/deployment_history", history, "What became of each task instance",
          {200: listed(HISTORY_ROW)}, _HISTORY, mimetypes=("application/json", CSV)),
    Route("GET", f"{_ONE}/deployment_info", deployment_info, "The facts that a run saw", {200: _INFO}),
    Route("GET", f"{_ONE}/settings", settings, "The settings that a run saw",
          {200: opened(("editable",), editable=MAPPING)}),
    Route("GET", f"{_ONE}/network_configuration", network_configuration,
          "The networks that a run saw; null: an engine of ours has none", {200: maybe(MAPPING)}, (_STRICT,)),
)  # fmt: skip
