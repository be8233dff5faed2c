"""Events in the store: the log of a run, which is appended to and never changed."""

from __future__ import annotations

from collections.abc import Iterable

from fuelclient.model.run import Event, EventKind
from fuelclient.plan.schedule import Change
from fuelclient.store.database import Connection
from fuelclient.store.history import node_key

_INSERT = (
    "INSERT INTO events (time, kind, parent_id, transaction_id, vertex, node, status, reason, message, progress) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def append(connection: Connection, event: Event) -> None:
    """Append an event under the next id. `append_changes` appends the events of instances."""
    node = None if event.node is None else str(event.node)
    connection.execute(
        _INSERT,
        (event.time, event.kind, event.parent_id, event.run_id, None, node, event.status, event.reason,
         event.message, event.progress),
    )  # fmt: skip


def append_changes(
    connection: Connection, parent_id: int, run_id: int, changes: Iterable[Change], now: str, progress: int
) -> None:
    """Append an event for each change of an instance."""
    kind = EventKind.INSTANCE
    connection.executemany(
        _INSERT,
        [
            (now, kind, parent_id, run_id, change.vertex, None, change.status, change.reason, "", progress)
            for change in changes
        ],
    )


def after(connection: Connection, parent_id: int, event_id: int, limit: int) -> list[Event]:
    """Return the events of a run after the one with this id, at most `limit`."""
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
