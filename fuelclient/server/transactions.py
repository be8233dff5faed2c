"""Transactions: what runs and what ran, with its history and what it saw."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from fuelclient.model.status import InstanceStatus, TransactionStatus
from fuelclient.model.transaction import HistoryFilter, HistoryRow
from fuelclient.serializers.fact import facts_to
from fuelclient.serializers.history import history_row_to
from fuelclient.serializers.transaction import transaction_to
from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Kind, Query, Reply, Route
from fuelclient.server.schemas import HISTORY_ROW, MAPPING, TRANSACTION, listed, opened

CSV = "text/csv"
_COLUMNS = ("task_name", "node_id", "status", "type", "time_start", "time_end")


def every(call: Call) -> Any:
    only = call.only
    found = call.backend.transactions.list(
        cluster_id=only.get("cluster_id"), statuses=only.get("statuses", ()), names=only.get("transaction_types", ())
    )
    return [transaction_to(one) for one in found]


def one(call: Call) -> Any:
    return transaction_to(call.backend.transactions.get(call.id("transaction_id")))


def delete(call: Call) -> None:
    call.backend.transactions.delete(call.id("transaction_id"), force=call.truth("force"))


def history(call: Call) -> Any:
    """The task instances, as JSON or, where the client prefers it, as CSV."""
    only = call.only
    filters = HistoryFilter(
        tuple(only.get("nodes", ())), tuple(only.get("statuses", ())), tuple(only.get("tasks_names", ()))
    )
    rows = call.backend.transactions.history(call.id("transaction_id"), filters)
    if CSV in call.headers.get("accept", ""):
        return Reply(_csv(rows), mimetype=CSV)
    summary, instance = call.truth("include_summary"), call.truth("include_instance")
    return [history_row_to(row, include_summary=summary, include_instance=instance) for row in rows]


def deployment_info(call: Call) -> Any:
    return facts_to(call.backend.transactions.deployment_info(call.id("transaction_id")))


def settings(call: Call) -> Any:
    return {"editable": plain(call.backend.transactions.settings(call.id("transaction_id")))}


def _csv(rows: Iterable[HistoryRow]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for row in rows:
        record = {**history_row_to(row), "type": row.type}
        writer.writerow([record[column] for column in _COLUMNS])
    return out.getvalue()


_ONE = "transactions/{transaction_id}"
_FILTERS = (
    Query("cluster_id", Kind.NUMBER),
    Query("statuses", Kind.WORDS, words=tuple(map(str, TransactionStatus))),
    Query("transaction_types", Kind.WORDS, "deploy, deployment"),
)
_HISTORY = (
    Query("nodes", Kind.WORDS, "ids, master, null"),
    Query("statuses", Kind.WORDS, words=tuple(map(str, InstanceStatus))),
    Query("tasks_names", Kind.WORDS),
    Query("include_summary", Kind.TRUTH, "what tasks reported"),
    Query("include_instance", Kind.TRUTH, "why an instance has its status; Nailgun does not know that"),
)
_INFO = opened(("common", "nodes"), common=MAPPING, nodes=listed(MAPPING))

ROUTES = (
    Route("GET", "transactions", every, "All transactions", {200: listed(TRANSACTION)}, _FILTERS),
    Route("GET", _ONE, one, "One transaction", {200: TRANSACTION}),
    Route("DELETE", _ONE, delete, "Delete a transaction with its history", {204: None},
          (Query("force", Kind.TRUTH, "even one that has not ended, unless it runs"),)),
    Route("GET", f"{_ONE}/deployment_history", history, "What became of each task instance",
          {200: listed(HISTORY_ROW)}, _HISTORY, mimetypes=("application/json", CSV)),
    Route("GET", f"{_ONE}/deployment_info", deployment_info, "The facts that a run saw", {200: _INFO}),
    Route("GET", f"{_ONE}/settings", settings, "The settings that a run saw",
          {200: opened(("editable",), editable=MAPPING)}),
)  # fmt: skip
