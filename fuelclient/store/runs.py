"""Transactions in the store: parents, and one child for each of their graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.node import Node
from fuelclient.model.run import PARENT, Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.store.database import Connection
from fuelclient.store.encoding import decode, encode, encoded_or_null, mapping, names

_SELECT = (
    "SELECT id, uuid, cluster_id, name, status, request, graph_type, parent_id, progress, message, result, "
    "time_start, time_end, stop, digest, findings FROM transactions "
)
_LISTS = ("graph_types", "node_ids", "task_names", "subgraphs")


def insert(connection: Connection, run: Run) -> int:
    """Store a transaction, without its children, under a new id; the id."""
    cursor = connection.execute(
        "INSERT INTO transactions (uuid, cluster_id, parent_id, name, graph_type, status, progress, message, result, "
        "request, counts, time_start, time_end, stop, digest, findings) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run.uuid,
            run.cluster_id,
            run.parent_id,
            run.name,
            run.graph_type,
            run.status,
            run.progress,
            run.message,
            encoded_or_null(run.result),
            encode(asdict(run.request)),
            not run.dry_run,
            run.time_start,
            run.time_end,
            run.stop,
            run.digest,
            _findings_text(run.findings),
        ),
    )
    return int(cursor.lastrowid or 0)


def find(connection: Connection, run_id: int) -> Run | None:
    """One transaction without its children, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (run_id,)).fetchone()
    return _run(row) if row else None


def children(connection: Connection, parent_id: int) -> list[Run]:
    """The children of a parent, in the order in which they run."""
    rows = connection.execute(_SELECT + "WHERE parent_id = ? ORDER BY id", (parent_id,))
    return [_run(row) for row in rows]


def every(
    connection: Connection, *, cluster_id: int | None = None, statuses: Sequence[str] = (), kinds: Sequence[str] = ()
) -> list[Run]:
    """Transactions by id, without their children; of these clusters, statuses and names only."""
    clauses, values = ["1"], list[object]()
    for column, wanted in (("cluster_id", [cluster_id] if cluster_id is not None else []),
                           ("status", statuses), ("name", kinds)):  # fmt: skip
        if wanted:
            clauses.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    rows = connection.execute(f"{_SELECT}WHERE {' AND '.join(clauses)} ORDER BY id", values)
    return [_run(row) for row in rows]


def ids(connection: Connection) -> list[int]:
    """The ids there are, in rising order."""
    return [row[0] for row in connection.execute("SELECT id FROM transactions ORDER BY id")]


def unfinished(connection: Connection, cluster_id: int) -> Run | None:
    """The parent on a cluster that has not ended, or None."""
    row = connection.execute(
        _SELECT + "WHERE cluster_id = ? AND name = ? AND status IN (?, ?) ORDER BY id LIMIT 1",
        (cluster_id, PARENT, RunStatus.PENDING, RunStatus.RUNNING),
    ).fetchone()
    return _run(row) if row else None


def update(connection: Connection, run: Run) -> None:
    """Store what changed of a transaction: everything but what it was asked for, and whether it is to stop."""
    connection.execute(
        "UPDATE transactions SET status = ?, progress = ?, message = ?, result = ?, time_start = ?, time_end = ?, "
        "digest = ?, findings = ? WHERE id = ?",
        (
            run.status,
            run.progress,
            run.message,
            encoded_or_null(run.result),
            run.time_start,
            run.time_end,
            run.digest,
            _findings_text(run.findings),
            run.id,
        ),
    )


def set_progress(connection: Connection, run_id: int, progress: int) -> None:
    """The transaction has come so far."""
    connection.execute("UPDATE transactions SET progress = ? WHERE id = ?", (progress, run_id))


def ask_stop(connection: Connection, run_id: int, how: str) -> None:
    """Somebody asks the transaction to stop: `graceful`, or `kill`; nothing takes that back."""
    connection.execute("UPDATE transactions SET stop = ? WHERE id = ? AND stop != 'kill'", (how, run_id))


def stop_of(connection: Connection, run_id: int) -> str:
    """How the transaction was asked to stop: empty, `graceful` or `kill`."""
    row = connection.execute("SELECT stop FROM transactions WHERE id = ?", (run_id,)).fetchone()
    return str(row[0]) if row else "kill"


def put_inputs(
    connection: Connection,
    run_id: int,
    nodes: Iterable[Node],
    forgotten: Sequence[str],
    definitions: Mapping[str, Any],
) -> None:
    """What a child is planned from, besides its graph and its facts: nodes as they were, nodes whose past does not
    count, and the merged tasks for whoever reads the history."""
    connection.execute(
        "UPDATE transactions SET nodes = ?, forgotten = ?, definitions = ? WHERE id = ?",
        (encode([asdict(node) for node in nodes]), encoded_or_null(forgotten), encode(definitions), run_id),
    )


def nodes_of(connection: Connection, run_id: int) -> tuple[Node, ...]:
    """The nodes of a child's environment as they were when it began."""
    row = connection.execute("SELECT nodes FROM transactions WHERE id = ?", (run_id,)).fetchone()
    return tuple(_node(one) for one in decode(row[0])) if row and row[0] else ()


def forgotten_of(connection: Connection, run_id: int) -> tuple[str, ...]:
    """The uids of nodes whose past did not count when a child began."""
    row = connection.execute("SELECT forgotten FROM transactions WHERE id = ?", (run_id,)).fetchone()
    return names(row[0]) if row else ()


def definitions_of(connection: Connection, run_id: int) -> dict[str, Any]:
    """The merged tasks of a child by id, in merged order."""
    row = connection.execute("SELECT definitions FROM transactions WHERE id = ?", (run_id,)).fetchone()
    return mapping(row[0]) if row else {}


def delete(connection: Connection, run_id: int) -> None:
    """Remove a transaction with its children and everything that belongs to them, and facts that no other needs."""
    connection.execute("DELETE FROM transactions WHERE id = ?", (run_id,))
    connection.execute("DELETE FROM fact_parts WHERE id NOT IN (SELECT part_id FROM transaction_facts)")


def _node(stated: Mapping[str, Any]) -> Node:
    lists = ("roles", "pending_roles", "primary_tags")
    fields: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in stated.items()}
    return Node(**fields)


def _request(text: str) -> RunRequest:
    fields: dict[str, Any] = {key: tuple(value) if key in _LISTS else value for key, value in decode(text).items()}
    return RunRequest(**fields)


def _findings_text(findings: Iterable[Finding]) -> str | None:
    return encoded_or_null([asdict(finding) for finding in findings])


def _finding(stated: Mapping[str, Any]) -> Finding:
    return Finding(**{**stated, "severity": Severity(stated["severity"]), "place": Place(**stated["place"])})


def _run(row: tuple[Any, ...]) -> Run:
    return Run(
        id=row[0],
        uuid=row[1],
        cluster_id=row[2],
        name=row[3],
        status=RunStatus(row[4]),
        request=_request(row[5]),
        graph_type=row[6],
        parent_id=row[7],
        progress=row[8],
        message=row[9],
        result=mapping(row[10]),
        time_start=row[11],
        time_end=row[12],
        stop=row[13],
        digest=row[14],
        findings=tuple(_finding(one) for one in decode(row[15])) if row[15] else (),
    )
