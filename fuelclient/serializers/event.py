"""What followers of a run read: its events, and what a task instance printed. No Nailgun tells either."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.run import Event, EventKind, Logs
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.history import node_key_from, node_key_to


def event_to(event: Event) -> dict[str, Any]:
    """The record of an event; reading it again gives the same event."""
    return {
        "id": event.id,
        "time": event.time,
        "kind": str(event.kind),
        "parent_id": event.parent_id,
        "transaction_id": event.run_id,
        "graph_type": event.graph_type,
        "task_name": event.task,
        "node_id": node_key_to(event.node),
        "status": event.status,
        "reason": event.reason,
        "message": event.message,
        "progress": event.progress,
    }


def event_from(data: Any) -> Event:
    """The event that a server tells of; `InvalidDocument` for what is none."""
    answer = Answer(data, "event")
    kind = answer.stated("kind")
    if kind not in set(EventKind):
        raise InvalidDocument(f"{kind!r} is no kind of event.", hint=f"Known: {', '.join(EventKind)}.")
    return Event(
        answer.identifier(),
        answer.stated("time"),
        EventKind(kind),
        answer.identifier("parent_id"),
        answer.identifier("transaction_id"),
        answer.text("graph_type"),
        answer.text("task_name"),
        node_key_from(answer.data.get("node_id")),
        answer.text("status"),
        answer.text("reason"),
        answer.text("message"),
        answer.number("progress"),
    )


def logs_to(logs: Logs) -> dict[str, Any]:
    """The record of what a task instance printed."""
    return {
        "task_name": logs.task,
        "node_id": node_key_to(logs.node),
        "output": logs.output,
        "errors": logs.errors,
        "return_code": logs.return_code,
    }


def logs_from(data: Any) -> Logs:
    """What a server says that a task instance printed; `InvalidDocument` for anything else."""
    answer = Answer(data, "log")
    return Logs(
        answer.stated("task_name"),
        node_key_from(answer.data.get("node_id")),
        answer.text("output"),
        answer.text("errors"),
        answer.optional("return_code"),
    )
