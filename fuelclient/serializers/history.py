"""The history of a run in Nailgun's shape, and back: what became of each task instance.

A row of Nailgun is the definition of the task, with the status of its instance over it; our own fields stand below
one key, so that no attribute of a task can be mistaken for one of them.
"""

from __future__ import annotations

from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.run import HistoryRow, NodeKey
from fuelclient.model.status import InstanceStatus
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import kind, plain

_TOLD = ("task_name", "node_id", "status", "time_start", "time_end")
_OURS = "instance"
SYNC_POINTS = "null"
"""The node of sync points, as filters of nodes take it."""

NOWHERE = "-"
"""The node of a task that was placed nowhere."""


def history_row_to(row: HistoryRow, *, include_summary: bool = False, include_instance: bool = False) -> dict[str, Any]:
    """The row as Nailgun's REST API returns it: the task's definition without id, and what became of it.

    `instance`, where it is asked for, has what Nailgun does not know: why, and how it ended. Clients of Nailgun
    would take it for a parameter of the task.
    """
    definition = {key: value for key, value in plain(row.definition).items() if key not in ("id", _OURS)}
    told = {
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
    return {**told, **{key: value for key, value in definition.items() if key not in told}, **summary, **extra}


def history_row_from(data: Any, *, run_id: int = 0) -> HistoryRow:
    """The row that a server tells of; `InvalidDocument` for what is none.

    `transaction_id` is that of the child where the row does not say it. Fuel 9.0 named the task
    `deployment_graph_task_name`.
    """
    answer = Answer(data, "row of a history")
    ours = Answer(answer.mapping(_OURS), "row of a history")
    status = answer.stated("status")
    if status not in set(InstanceStatus):
        raise InvalidDocument(
            f"{status!r} is no status of a task instance.", hint=f"Known: {', '.join(InstanceStatus)}."
        )
    old = "deployment_graph_task_name"
    name = answer.stated("task_name" if "task_name" in answer.data else old)
    definition = answer.rest(*_TOLD, _OURS, "summary", old)
    return HistoryRow(
        run_id=ours.number("transaction_id", run_id),
        graph_type=ours.text("graph_type"),
        task=name,
        node=node_key_from(answer.data.get("node_id")),
        status=InstanceStatus(status),
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
    """Where an instance stands, as a text; null for sync points.

    >>> node_key_to(3), node_key_to("master"), node_key_to(None)
    ('3', 'master', None)
    """
    return None if key is None else str(key)


def node_key_from(value: Any) -> NodeKey:
    """Where an instance stands: numbers are nodes, whatever else is a text keeps it; `InvalidDocument` for the rest.

    >>> node_key_from("3"), node_key_from(3), node_key_from("master"), node_key_from("null")
    (3, 3, 'master', None)
    """
    if value is None or value == SYNC_POINTS:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidDocument(f"A row of a history has {kind(value)} in place of a node.")
    return int(value) if isinstance(value, int) or value.isdecimal() else value
