"""Runs in the store: parents, and one child for each of their graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.node import Node
from fuelclient.model.run import CHILD, PARENT, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.store import rows
from fuelclient.store.database import Connection

_CHANGING_FIELDS = ("status", "progress", "message", "result", "time_start", "time_end", "digest", "findings")


def _stored(request: RunRequest) -> str:
    fields = asdict(request)
    if not request.master_only:
        del fields["master_only"]  # earlier versions refuse this field
    return rows.encode(fields)


def _request(text: str) -> RunRequest:
    fields = rows.fields_of(rows.decode(text))
    if "assumed" in fields:
        fields["assumed"] = DeploymentFacts(**fields["assumed"])
    return RunRequest(**fields)


def _findings(text: str | None) -> tuple[Finding, ...]:
    return tuple(
        Finding(**{**stored, "severity": Severity(stored["severity"]), "place": Place(**stored["place"])})
        for stored in (rows.decode(text) if text else ())
    )


table = rows.Table(
    "transactions",
    Run,
    {"status": RunStatus, "request": _request, "findings": _findings},
    fields=rows.columns_of(Run, without=("runner", "children")),
    write={
        "request": lambda run: _stored(run.request),
        "findings": lambda run: rows.encoded_or_null([asdict(finding) for finding in run.findings]),
    },
)

every, find, ids = table.every, table.find, table.ids
"""Runs by id, without their children; a run without its children, or None; all ids in ascending order."""


def insert(connection: Connection, run: Run) -> int:
    """Store a run, without its children, and return its new id."""
    return rows.insert_row(connection, "transactions", {**table.row(run), "counts": not run.dry_run})


def whole(connection: Connection) -> list[int]:
    """The ids of runs that are no part of another one, the latest first."""
    return rows.firsts(connection, "SELECT id FROM transactions WHERE parent_id IS NULL ORDER BY id DESC")


def children(connection: Connection, parent_id: int) -> list[Run]:
    """The children of a parent, in the order in which they run."""
    return table.every(connection, parent_id=parent_id)


def ended_by_age(connection: Connection, before: str = "", cluster_id: int | None = None) -> list[Run]:
    """The parents that have ended (with `before`, earlier than that), oldest first, except those that later runs are
    compared with: the last successes of every instance, and the latest run of each environment. Environments with a run
    that has not ended are left out, because it is compared with the last success at its beginning.
    """
    query = (
        "SELECT DISTINCT o.parent_id FROM transactions o JOIN (SELECT max(t.id) AS last FROM transactions t "
        "JOIN history h ON h.transaction_id = t.id WHERE t.name = ? AND t.counts AND h.status = ? "
        "GROUP BY t.cluster_id, t.graph_type, h.task, h.node) ON o.id = last "
        "UNION SELECT max(id) FROM transactions WHERE name = ? GROUP BY cluster_id"
    )
    remembered = {*rows.firsts(connection, query, CHILD, InstanceStatus.READY, PARENT)}
    parents = every(connection, cluster_id=cluster_id, name=PARENT)
    busy = {run.cluster_id for run in parents if not run.is_final}
    old = (run for run in parents if not before or (run.time_end or run.time_start or "") < before)
    return [run for run in old if run.id not in remembered and run.cluster_id not in busy]


def unfinished(connection: Connection, cluster_id: int) -> Run | None:
    """The parent on a cluster that has not ended, or None."""
    return table.first(connection, cluster_id=cluster_id, name=PARENT, status=(RunStatus.PENDING, RunStatus.RUNNING))


def update(connection: Connection, run: Run) -> None:
    """Store the fields of a run that change after its beginning, which excludes its request and `stop`."""
    rows.update_row(connection, "transactions", run.id, table.row(run, _CHANGING_FIELDS))


def set_progress(connection: Connection, child: Run, progress: int) -> None:
    """Store the progress of a child, and that of its parent: the mean of all its children."""
    connection.execute("UPDATE transactions SET progress = ? WHERE id = ?", (progress, child.id))
    mean = "SELECT coalesce(sum(progress) / count(*), ?) FROM transactions WHERE parent_id = ?"
    connection.execute(
        f"UPDATE transactions SET progress = ({mean}) WHERE id = ?",  # noqa: S608 - our own text
        (progress, child.parent_id, child.parent_id),
    )


def ask_stop(connection: Connection, run_id: int, how: str) -> None:
    """Ask a run to stop: `graceful` or `kill`. A request to kill cannot be weakened."""
    connection.execute("UPDATE transactions SET stop = ? WHERE id = ? AND stop != 'kill'", (how, run_id))


def stop_of(connection: Connection, run_id: int) -> str:
    """The request to stop a run: empty, `graceful` or `kill`; `kill` if it was deleted."""
    stop = rows.column(connection, "transactions", "stop", run_id)
    return "kill" if stop is None else str(stop)


def put_inputs(
    connection: Connection, run_id: int, nodes: Iterable[Node], forgotten: Sequence[str], tasks: Mapping[str, Any]
) -> None:
    """Store the inputs of a child besides its graph and facts: the current nodes, the nodes whose earlier runs are
    ignored, and its merged tasks, for its history."""
    stored_nodes, definitions = rows.encode([asdict(node) for node in nodes]), rows.encode(tasks)
    inputs = {"nodes": stored_nodes, "forgotten": rows.encoded_or_null(forgotten), "definitions": definitions}
    rows.update_row(connection, "transactions", run_id, inputs)


def nodes_of(connection: Connection, run_id: int) -> tuple[Node, ...]:
    """The nodes of a child's environment as they were when it began."""
    stored = rows.column(connection, "transactions", "nodes", run_id)
    return tuple(Node(**rows.fields_of(node)) for node in rows.decode(stored)) if stored else ()


def forgotten_of(connection: Connection, run_id: int) -> tuple[str, ...]:
    """The uids of the nodes whose earlier runs were ignored when a child began."""
    return rows.names(rows.column(connection, "transactions", "forgotten", run_id))


def definitions_of(connection: Connection, run_id: int) -> dict[str, Any]:
    """The merged tasks of a child by id, in the order of the merge."""
    return rows.mapping(rows.column(connection, "transactions", "definitions", run_id))


def delete(connection: Connection, run_id: int) -> None:
    """Remove a run with its children, everything that belongs to them, and the facts that no other run shares."""
    table.delete(connection, run_id)
    connection.execute("DELETE FROM fact_parts WHERE id NOT IN (SELECT part_id FROM transaction_facts)")
