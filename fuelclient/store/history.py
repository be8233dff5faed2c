"""The history of runs in the store, with a row for each task instance; and their events, which never change."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from typing import Any

from fuelclient.model.run import CHILD, Event, EventKind, HistoryFilter, HistoryRow, NodeKey, Run
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.schedule import Change
from fuelclient.store.database import Connection
from fuelclient.store.rows import encoded_or_null, insert_row, mapping, matching

_UNCONVERTED = ("task", "type", "reason", "message", "time_start", "time_end", "return_code", "attempts")
"""The columns that are fields of `HistoryRow` without conversion."""

_LABEL = "task || coalesce('@' || node, '')"
"""SQL for the name of an instance: `task@node`, or the task alone for a sync point."""

_SAME = "b.transaction_id = history.transaction_id AND b.vertex = history.because"
_SECONDS = "strftime('%s', time_end) - strftime('%s', time_start) - (substr(time_end, 20) < substr(time_start, 20))"
_COMPUTED = {
    "because": f"coalesce((SELECT {_LABEL} FROM history b WHERE {_SAME}), '')",  # noqa: S608 - ours
    "seconds": f"CASE WHEN time_start <> time_end THEN {_SECONDS} END",
}
"""SQL for the name of the instance to blame, or an empty text; and for the whole seconds that an instance took."""


@dataclass(frozen=True, slots=True)
class Written:
    """A change of an instance to write, with the result from its executor."""

    change: Change
    message: str = ""
    return_code: int | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)


def node_key(text: str | None) -> NodeKey:
    """Decode the key of a node from its text in the store.

    >>> node_key("3"), node_key("master"), node_key(None)
    (3, 'master', None)
    """
    return int(text) if text is not None and text.isdecimal() else text


def _selected(connection: Connection, run_id: int, columns: str, more: str = "", *values: object) -> list[Any]:
    """Read columns of the instances of a run. `more` is SQL that filters and orders them."""
    query = f"SELECT {columns} FROM history WHERE transaction_id = ? {more}"  # noqa: S608 - our own names
    return connection.execute(query, (run_id, *values)).fetchall()


def insert(connection: Connection, run_id: int, instances: Iterable[tuple[str, NodeKey, str]]) -> None:
    """Insert the instances of a plan (task, node, type) in their order, all pending."""
    pending = InstanceStatus.PENDING
    connection.executemany(
        "INSERT INTO history (transaction_id, vertex, task, node, type, status) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (run_id, vertex, task, None if node is None else str(node), task_type, pending)
            for vertex, (task, node, task_type) in enumerate(instances)
        ),
    )


def insert_ended(connection: Connection, run_id: int, rows: Sequence[HistoryRow]) -> None:
    """Insert instances that ended in another backend, with their times."""
    for vertex, row in enumerate(rows):
        node, summary = None if row.node is None else str(row.node), encoded_or_null(row.summary)
        stored = {"transaction_id": run_id, "vertex": vertex, "node": node, "status": row.status, "summary": summary}
        insert_row(connection, "history", {**stored, **{name: getattr(row, name) for name in _UNCONVERTED}})


def write(connection: Connection, run_id: int, changes: Iterable[Written], now: str) -> None:
    """Write changes of instances at the time `now`. The last of several changes of an instance remains."""
    starting = "status = ?, time_start = ?, attempts = attempts + 1"
    ending = (
        "status = ?, reason = ?, because = ?, message = ?, return_code = ?, summary = ?, "
        "time_start = coalesce(time_start, ?), time_end = ?"
    )
    for starts, group in groupby(changes, key=lambda written: written.change.status is InstanceStatus.RUNNING):
        rows = []
        for written in group:
            change, values = written.change, list[Any]([now])
            if not starts:
                summary = encoded_or_null(written.summary)
                values = [change.reason, change.because, written.message, written.return_code, summary, now, now]
            rows.append((change.status, *values, run_id, change.vertex))
        query = f"UPDATE history SET {starting if starts else ending} WHERE transaction_id = ? AND vertex = ?"  # noqa: S608 - ours
        connection.executemany(query, rows)


def changes(connection: Connection, run_id: int) -> list[Change]:
    """The last change of every instance that is not pending, from which a schedule resumes."""
    columns, begun = "vertex, status, reason, because", "AND status != ? ORDER BY vertex"
    selected = _selected(connection, run_id, columns, begun, InstanceStatus.PENDING)
    return [Change(vertex, InstanceStatus(status), reason, because) for vertex, status, reason, because in selected]


def attempts(connection: Connection, run_id: int) -> dict[int, int]:
    """The number of attempts of each instance that has begun."""
    return dict(_selected(connection, run_id, "vertex, attempts", "AND attempts"))


def mark_interrupted(connection: Connection, run_id: int, vertices: Iterable[int], reason: str) -> None:
    """Mark running instances whose end is unknown. The user has to decide about them."""
    connection.executemany(
        "UPDATE history SET reason = ? WHERE transaction_id = ? AND vertex = ?",
        [(reason, run_id, vertex) for vertex in vertices],
    )


def begin_again(connection: Connection, run_id: int, vertices: Iterable[int], now: str) -> None:
    connection.executemany(
        "UPDATE history SET reason = '', time_start = ?, attempts = attempts + 1 "
        "WHERE transaction_id = ? AND vertex = ?",
        [(now, run_id, vertex) for vertex in vertices],
    )


def rows(
    connection: Connection,
    run_id: int,
    graph_type: str,
    wanted: HistoryFilter,
    definitions: Mapping[str, Any],
    *,
    samples: bool = False,
    numbers: range | None = None,
) -> list[HistoryRow]:
    """The rows of a run that pass a filter, in the order of its plan; `definitions` are its merged tasks.

    With `samples`, only the first row of each task and of each node; with `numbers`, only these.
    """
    allowed = {"coalesce(node, 'null')": wanted.nodes, "status": wanted.statuses, "task": wanted.tasks}
    where, values = matching({"transaction_id": run_id, **{column: names or None for column, names in allowed.items()}})
    if samples:
        first = "SELECT min(vertex) FROM history WHERE transaction_id = ? GROUP BY"
        where, values = f"{where} AND vertex IN ({first} task UNION {first} node)", [*values, run_id, run_id]
    if numbers is not None:
        where, values = f"{where} AND vertex >= ? AND vertex < ?", [*values, numbers.start, numbers.stop]
    columns = f"node, status, summary, {_COMPUTED['because']}, {', '.join(_UNCONVERTED)}"
    query = f"SELECT {columns} FROM history WHERE {where} ORDER BY vertex"  # noqa: S608 - ours
    instances = []
    for node, status, summary, because, *plain in connection.execute(query, values):
        fields = dict(zip(_UNCONVERTED, plain, strict=True))
        fields |= {"because": because, "summary": mapping(summary), "definition": definitions.get(fields["task"], {})}
        instances.append(HistoryRow(run_id, graph_type, node=node_key(node), status=InstanceStatus(status), **fields))
    return instances


def counts(connection: Connection, run_id: int) -> dict[tuple[str, str], tuple[int, int]]:
    """The number of instances of each status and reason, and the first of them. Most are ready, and are not sorted."""
    columns, ready = "status, reason, count(*), min(vertex)", ("ready", "")
    selected = _selected(connection, run_id, columns, "AND (status, reason) <> (?, ?) GROUP BY 1, 2", *ready)
    found = {(status, reason): (number, first) for status, reason, number, first in selected}
    if first_ready := _selected(connection, run_id, "vertex", "AND (status, reason) = (?, ?) LIMIT 1", *ready):
        ((last,),) = _selected(connection, run_id, "max(vertex)")
        found[ready] = last + 1 - sum(number for number, _ in found.values()), first_ready[0][0]
    return found


def column(connection: Connection, run_id: int, names: Sequence[str]) -> tuple[list[tuple[Any, ...]], Sequence[int]]:
    """See `backends.base.Runs.column`."""
    columns = ", ".join(_COMPUTED.get(name, name) for name in names)
    query = f"SELECT {columns} FROM history WHERE transaction_id = ? ORDER BY vertex"  # noqa: S608 - ours
    numbers = defaultdict[Any, int](count().__next__)
    indices = array("i", map(numbers.__getitem__, connection.execute(query, (run_id,))))
    return list(numbers), indices


def last_successes(connection: Connection, cluster_id: int, before: int) -> dict[tuple[str, str], int]:
    """Find, by task and uid, the last run on a cluster with an id below `before` in which the instance succeeded.

    Dry runs and noop runs do not count.
    """
    selected = connection.execute(
        "SELECT h.task, coalesce(h.node, 'null'), max(h.transaction_id) FROM transactions t "
        "JOIN history h ON h.transaction_id = t.id "
        "WHERE t.cluster_id = ? AND t.name = ? AND t.counts AND t.id < ? AND h.status = ? GROUP BY 1, 2",
        (cluster_id, CHILD, before, InstanceStatus.READY),
    )
    return {(task, uid): run for task, uid, run in selected}


def durations(connection: Connection, cluster_id: int) -> dict[tuple[str, str, str], float]:
    """The seconds that the last success on a cluster took, by graph type, task and uid: graphs of different types may
    have different tasks of one name."""
    selected = connection.execute(
        "SELECT t.graph_type, h.task, coalesce(h.node, 'null'), max(h.transaction_id), "
        "(julianday(h.time_end) - julianday(h.time_start)) * 86400 FROM transactions t "
        "JOIN history h ON h.transaction_id = t.id "
        "WHERE t.cluster_id = ? AND t.name = ? AND t.counts AND h.status = ? GROUP BY 1, 2, 3",
        (cluster_id, CHILD, InstanceStatus.READY),
    )
    return {(graph_type, task, uid): max(0.0, seconds or 0.0) for graph_type, task, uid, _, seconds in selected}


def statuses(connection: Connection, run_id: int) -> list[tuple[int, InstanceStatus]]:
    selected = _selected(connection, run_id, "vertex, status", "ORDER BY vertex")
    return [(vertex, InstanceStatus(status)) for vertex, status in selected]


def by_node(connection: Connection, run_id: int) -> list[tuple[NodeKey, InstanceStatus, str]]:
    """The distinct triples (node, status, reason) of all instances except sync points."""
    distinct, ordered = "DISTINCT node, status, reason", "AND node IS NOT NULL ORDER BY node, status, reason"
    selected = _selected(connection, run_id, distinct, ordered)
    return [(node_key(node), InstanceStatus(status), reason) for node, status, reason in selected]


def nodes_of(connection: Connection, run_id: int) -> set[NodeKey]:
    """The nodes on which a run has instances, including the master."""
    return {node_key(node) for (node,) in _selected(connection, run_id, "DISTINCT node", "AND node IS NOT NULL")}


def begun(connection: Connection, run_id: int) -> set[tuple[NodeKey, str]]:
    """The pairs (node, task type) of all instances of a run that have begun, including those on the master."""
    selected = _selected(connection, run_id, "DISTINCT node, type", "AND attempts AND node IS NOT NULL")
    return {(node_key(node), task_type) for node, task_type in selected}


def running_names(connection: Connection, run_id: int, reason: str = "") -> dict[int, str]:
    """The names (`task@node`) of the running instances by vertex; with `reason`, only those with this reason."""
    chosen = "AND status = ? AND ? IN (reason, '') ORDER BY vertex"
    return dict(_selected(connection, run_id, f"vertex, {_LABEL}", chosen, InstanceStatus.RUNNING, reason))


def placed(connection: Connection, run_id: int) -> set[str]:
    """The tasks that have instances in a run."""
    return {task for (task,) in _selected(connection, run_id, "DISTINCT task")}


def append_event(
    connection: Connection,
    run: Run,
    kind: EventKind,
    status: str,
    now: str,
    message: str = "",
    *,
    node: int | None = None,
    progress: int = 0,
) -> None:
    event = {
        "time": now, "kind": kind, "parent_id": run.parent_id or run.id, "transaction_id": run.id,
        "node": node and str(node), "status": status, "reason": "", "message": message, "progress": progress,
    }  # fmt: skip
    insert_row(connection, "events", event)


def append_events(connection: Connection, run: Run, changes: Iterable[Change], now: str, progress: int) -> None:
    same = (now, EventKind.INSTANCE, run.parent_id or run.id, run.id, progress)
    connection.executemany(
        "INSERT INTO events (time, kind, parent_id, transaction_id, progress, vertex, status, reason, message) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')",
        [(*same, change.vertex, change.status, change.reason) for change in changes],
    )


def events_after(connection: Connection, parent_id: int, event_id: int, limit: int) -> list[Event]:
    """The events of a run after the one with this id, at most `limit`."""
    rows = connection.execute(
        "SELECT e.id, e.time, e.kind, e.parent_id, e.transaction_id, t.graph_type, h.task, h.node, e.node, e.status, "
        "e.reason, CASE WHEN e.vertex IS NULL THEN e.message "
        "WHEN e.status = h.status AND h.status <> 'running' THEN h.message ELSE '' END, e.progress FROM events e "
        "JOIN transactions t ON t.id = e.transaction_id "
        "LEFT JOIN history h ON h.transaction_id = e.transaction_id AND h.vertex = e.vertex "
        "WHERE e.parent_id = ? AND e.id > ? ORDER BY e.id LIMIT ?",
        (parent_id, event_id, limit),
    )
    return [
        Event(row[0], row[1], EventKind(row[2]), row[3], row[4], row[5], row[6] or "",
              node_key(row[7] if row[6] else row[8]), row[9], row[10], row[11], row[12])
        for row in rows
    ]  # fmt: skip
