"""The history of a run in Nailgun's shape, and back.

A row of Nailgun's history is the definition of the task, overlaid with the status of its instance.
"""

from __future__ import annotations

from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.run import HistoryRow, NodeKey
from fuelclient.model.status import InstanceStatus
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.task import nailgun_record
from fuelclient.serializers.values import in_words, plain

_TOLD = ("task_name", "node_id", "status", "time_start", "time_end")


def history_row_to(row: HistoryRow, *, include_summary: bool = False) -> dict[str, Any]:
    """Return the row as Nailgun's REST API does: the task's definition without id, in Nailgun's spellings, and the
    status of the instance."""
    definition = nailgun_record({key: value for key, value in plain(row.definition).items() if key != "id"})
    record = {
        "task_name": row.task,
        "node_id": None if row.node is None else str(row.node),
        "status": str(row.status),
        "time_start": row.time_start,
        "time_end": row.time_end,
    }
    summary = {"summary": plain(row.summary)} if include_summary else {}
    return {**record, **{key: value for key, value in definition.items() if key not in record}, **summary}


def history_row_from(data: Any, run_id: int = 0, graph_type: str = "") -> HistoryRow:
    """Return the row in an answer. Raise `InvalidDocument` if it is not one.

    `run_id` is the child run and `graph_type` that of its graph, which rows do not name. Fuel 9.0 has
    `deployment_graph_task_name` instead of `task_name`.
    """
    answer = Answer(data, "row of a history")
    old = "deployment_graph_task_name"
    definition = answer.rest(*_TOLD, "summary", old)
    return HistoryRow(
        run_id=run_id,
        graph_type=graph_type,
        task=answer.stated("task_name" if "task_name" in answer.data else old),
        node=node_key_from(answer.data.get("node_id")),
        status=answer.one_of("status", InstanceStatus),
        type=str(definition.get("type") or ""),
        time_start=answer.moment("time_start"),
        time_end=answer.moment("time_end"),
        summary=answer.mapping("summary"),
        definition=definition,
    )


def node_key_from(value: Any) -> NodeKey:
    """Return the node of an instance: numbers are node ids, other strings stay. Raise `InvalidDocument` for the rest.

    >>> node_key_from("3"), node_key_from(3), node_key_from("master"), node_key_from("null")
    (3, 3, 'master', None)
    """
    if value is None or value == "null":  # sync points, as filters of nodes name them
        return None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidDocument(f"A row of a history has {in_words(value)} instead of a node.")
    return int(value) if isinstance(value, int) or value.isdecimal() else value
