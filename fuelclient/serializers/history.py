"""The history of a run, its events and its output, in Nailgun's shape if it has one, and back.

A row of Nailgun's history is the definition of the task, overlaid with the status of its instance. Our own fields are
below one key, so that no attribute of a task can be mistaken for one of them. Nailgun has neither events nor output.
"""

from __future__ import annotations

from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.run import Event, EventKind, HistoryRow, Logs, NodeKey
from fuelclient.model.status import InstanceStatus
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.task import nailgun_record
from fuelclient.serializers.values import in_words, plain

_TOLD = ("task_name", "node_id", "status", "time_start", "time_end")
_OURS = "instance"
SYNC_POINTS = "null"
"""The node of sync points in filters of nodes."""


def history_row_to(row: HistoryRow, *, include_summary: bool = False, include_instance: bool = False) -> dict[str, Any]:
    """Return the row as Nailgun's REST API does: the task's definition without id, and the status of the instance.

    With `include_instance`, `instance` has what Nailgun does not know, such as the reason. It is not there by default,
    because clients of Nailgun would take it for a parameter of the task; the definition then has Nailgun's spellings.
    """
    definition = {key: value for key, value in plain(row.definition).items() if key not in ("id", _OURS)}
    if not include_instance:
        definition = nailgun_record(definition)
    record = {
        "task_name": row.task,
        "node_id": node_key_to(row.node),
        "status": str(row.status),
        "time_start": row.time_start,
        "time_end": row.time_end,
    }
    ours: dict[str, Any] = {
        "transaction_id": row.run_id,
        "graph_type": row.graph_type,
        "type": row.type,
        "reason": row.reason,
        "because": row.because,
        "message": row.message,
        "return_code": row.return_code,
        "attempts": row.attempts,
    }
    summary = {"summary": plain(row.summary)} if include_summary else {}
    extra = {_OURS: ours} if include_instance else {}
    return {**record, **{key: value for key, value in definition.items() if key not in record}, **summary, **extra}


def history_row_from(data: Any, *, run_id: int = 0) -> HistoryRow:
    """Return the row in an answer. Raise `InvalidDocument` if it is not one.

    `run_id` is the child run, for rows that do not name it. Fuel 9.0 has `deployment_graph_task_name` instead of
    `task_name`.
    """
    answer = Answer(data, "row of a history")
    ours = Answer(answer.mapping(_OURS), "row of a history")
    old = "deployment_graph_task_name"
    name = answer.stated("task_name" if "task_name" in answer.data else old)
    definition = answer.rest(*_TOLD, _OURS, "summary", old)
    return HistoryRow(
        run_id=ours.number("transaction_id", run_id),
        graph_type=ours.text("graph_type"),
        task=name,
        node=node_key_from(answer.data.get("node_id")),
        status=answer.one_of("status", InstanceStatus),
        type=ours.text("type", str(definition.get("type") or "")),
        reason=ours.text("reason"),
        because=ours.text("because"),
        message=ours.text("message"),
        time_start=answer.moment("time_start"),
        time_end=answer.moment("time_end"),
        return_code=ours.optional("return_code"),
        attempts=ours.number("attempts"),
        summary=answer.mapping("summary"),
        definition=definition,
    )


def node_key_to(key: NodeKey) -> str | None:
    """Return the node of an instance as a string; null for sync points.

    >>> node_key_to(3), node_key_to("master"), node_key_to(None)
    ('3', 'master', None)
    """
    return None if key is None else str(key)


def node_key_from(value: Any) -> NodeKey:
    """Return the node of an instance: numbers are node ids, other strings stay. Raise `InvalidDocument` for the rest.

    >>> node_key_from("3"), node_key_from(3), node_key_from("master"), node_key_from("null")
    (3, 3, 'master', None)
    """
    if value is None or value == SYNC_POINTS:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidDocument(f"A row of a history has {in_words(value)} instead of a node.")
    return int(value) if isinstance(value, int) or value.isdecimal() else value


def event_to(event: Event) -> dict[str, Any]:
    """Return the record of an event, which `event_from` reads."""
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
    """Return the event in an answer. Raise `InvalidDocument` if it is not one."""
    answer = Answer(data, "event")
    return Event(
        answer.identifier(),
        answer.stated("time"),
        answer.one_of("kind", EventKind),
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
    """Return the record of the output of a task instance."""
    return {
        "task_name": logs.task,
        "node_id": node_key_to(logs.node),
        "output": logs.output,
        "errors": logs.errors,
        "return_code": logs.return_code,
    }


def logs_from(data: Any) -> Logs:
    """Return the output of a task instance in an answer. Raise `InvalidDocument` if it is not one."""
    answer = Answer(data, "log")
    return Logs(
        answer.stated("task_name"),
        node_key_from(answer.data.get("node_id")),
        answer.text("output"),
        answer.text("errors"),
        answer.optional("return_code"),
    )
