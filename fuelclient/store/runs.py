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
from fuelclient.store.database import Connection
from fuelclient.store.rows import (
    Table,
    column,
    columns_of,
    decode,
    encode,
    encoded_or_null,
    fields_of,
    firsts,
    insert_row,
    mapping,
    names,
    update_row,
)

_CHANGING = ("status", "progress", "message", "result", "time_start", "time_end", "digest", "findings")


def _stored(request: RunRequest) -> dict[str, Any]:
    """Return the fields of a request, without `master_only` unless it is set: earlier versions refuse that field."""
    fields = asdict(request)
    return fields if request.master_only else {key: value for key, value in fields.items() if key != "master_only"}


def _request(text: str) -> RunRequest:
    fields = fields_of(decode(text))
    if "assumed" in fields:
        fields["assumed"] = DeploymentFacts(**fields["assumed"])
    return RunRequest(**fields)


def _findings(text: str | None) -> tuple[Finding, ...]:
    return tuple(
        Finding(**{**stated, "severity": Severity(stated["severity"]), "place": Place(**stated["place"])})
        for stated in (decode(text) if text else ())
    )


_RUNS = Table(
    "transactions",
    Run,
    {"status": RunStatus, "request": _request, "result": mapping, "findings": _findings},
    fields=columns_of(Run, without=("runner", "children")),
    write={
        "request": lambda run: encode(_stored(run.request)),
        "findings": lambda run: encoded_or_null([asdict(finding) for finding in run.findings]),
    },
)

find, ids = _RUNS.find, _RUNS.ids
"""Return a run without its children, or None; return all ids in ascending order."""


def insert(connection: Connection, run: Run) -> int:
    """Store a run, without its children, under a new id, and return the id."""
    return insert_row(connection, "transactions", {**_RUNS.row(run), "counts": not run.dry_run})


def children(connection: Connection, parent_id: int) -> list[Run]:
    """Return the children of a parent, in the order in which they run."""
    return _RUNS.every(connection, "parent_id = ?", parent_id)


def every(
    connection: Connection, *, cluster_id: int | None = None, statuses: Sequence[str] = (), kinds: Sequence[str] = ()
) -> list[Run]:
    """Return runs by id, without their children; only those of the cluster, statuses and names that are given."""
    clauses, values = ["1"], list[object]()
    for name, wanted in (("cluster_id", [cluster_id] if cluster_id is not None else []),
                           ("status", statuses), ("name", kinds)):  # fmt: skip
        if wanted:
            clauses.append(f"{name} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    return _RUNS.every(connection, " AND ".join(clauses), *values)


def ended_by_age(connection: Connection, before: str = "", cluster_id: int | None = None) -> list[Run]:
    """Return the parents that have ended, oldest first, without those that later runs are compared with: the last
    successes of every instance, and the latest run of each environment. Of an environment with a run that has not ended
    they are all kept: that run is compared with what was the last success when it began. With `before`, only those that
    ended earlier.
    """
    query = (
        "SELECT DISTINCT o.parent_id FROM transactions o JOIN (SELECT max(t.id) AS last FROM transactions t "
        "JOIN history h ON h.transaction_id = t.id WHERE t.name = ? AND t.counts AND h.status = ? "
        "GROUP BY t.cluster_id, t.graph_type, h.task, h.node) ON o.id = last "
        "UNION SELECT max(id) FROM transactions WHERE name = ? GROUP BY cluster_id"
    )
    remembered = {*firsts(connection, query, CHILD, InstanceStatus.READY, PARENT)}
    parents = every(connection, cluster_id=cluster_id, kinds=[PARENT])
    busy = {run.cluster_id for run in parents if not run.is_final}
    return [
        run
        for run in parents
        if run.id not in remembered
        and run.cluster_id not in busy
        and (not before or (run.time_end or run.time_start or "") < before)
    ]


def unfinished(connection: Connection, cluster_id: int) -> Run | None:
    """Return the parent on a cluster that has not ended, or None."""
    unfinished = "cluster_id = ? AND name = ? AND status IN (?, ?)"
    return _RUNS.first(connection, unfinished, cluster_id, PARENT, RunStatus.PENDING, RunStatus.RUNNING)


def update(connection: Connection, run: Run) -> None:
    """Store the fields of a run that change; its request and whether it is to stop stay as they are."""
    update_row(connection, "transactions", run.id, _RUNS.row(run, _CHANGING))


def set_progress(connection: Connection, parent_id: int, child_id: int, progress: int) -> None:
    """Store the progress of a child, and that of its parent: the mean of all its children."""
    connection.execute("UPDATE transactions SET progress = ? WHERE id = ?", (progress, child_id))
    mean = "SELECT coalesce(sum(progress) / count(*), ?) FROM transactions WHERE parent_id = ?"
    connection.execute(
        f"UPDATE transactions SET progress = ({mean}) WHERE id = ?",  # noqa: S608 - our own text
        (progress, parent_id, parent_id),
    )


def ask_stop(connection: Connection, run_id: int, how: str) -> None:
    """Ask a run to stop: `graceful` or `kill`. A request to kill cannot be weakened."""
    connection.execute("UPDATE transactions SET stop = ? WHERE id = ? AND stop != 'kill'", (how, run_id))


def stop_of(connection: Connection, run_id: int) -> str:
    """Return how a run was asked to stop: empty, `graceful` or `kill`; `kill` if it was deleted."""
    stop = column(connection, "transactions", "stop", run_id)
    return "kill" if stop is None else str(stop)


def put_inputs(
    connection: Connection,
    run_id: int,
    nodes: Iterable[Node],
    forgotten: Sequence[str],
    definitions: Mapping[str, Any],
) -> None:
    """Store what a child is planned from besides its graph and facts: the nodes as they are, and the nodes whose
    past does not count; and its merged tasks, for its history."""
    inputs = {
        "nodes": encode([asdict(node) for node in nodes]),
        "forgotten": encoded_or_null(forgotten),
        "definitions": encode(definitions),
    }
    update_row(connection, "transactions", run_id, inputs)


def nodes_of(connection: Connection, run_id: int) -> tuple[Node, ...]:
    """Return the nodes of a child's environment as they were when it began."""
    stated = column(connection, "transactions", "nodes", run_id)
    return tuple(Node(**fields_of(node)) for node in decode(stated)) if stated else ()


def forgotten_of(connection: Connection, run_id: int) -> tuple[str, ...]:
    """Return the uids of the nodes whose past did not count when a child began."""
    return names(column(connection, "transactions", "forgotten", run_id))


def definitions_of(connection: Connection, run_id: int) -> dict[str, Any]:
    """Return the merged tasks of a child by id, in merged order."""
    return mapping(column(connection, "transactions", "definitions", run_id))


def delete(connection: Connection, run_id: int) -> None:
    """Remove a run with its children, everything that belongs to them, and the facts that no other run saw."""
    _RUNS.delete(connection, run_id)
    connection.execute("DELETE FROM fact_parts WHERE id NOT IN (SELECT part_id FROM transaction_facts)")
