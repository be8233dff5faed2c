"""Read what a dry run on a Fuel master has decided: which task instances would run.

A dry run leaves a history like any other run. Where its rows stay pending, because the master's orchestrator only draws
the graph, the serialized tasks have the same decisions, but not for forced runs and subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterable

from fuelclient.backends.http.errors import About
from fuelclient.backends.http.session import Session
from fuelclient.model.run import NOWHERE, Deciding, Run, RunRequest
from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import TaskType
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.history import history_row_from, node_key_from

_IDLE = frozenset({TaskType.SKIPPED, TaskType.STAGE})


def decided(session: Session, part: Run, request: RunRequest) -> Deciding:
    """Return which instances of one graph would run; nothing if the master does not say."""
    data = session.get(f"transactions/{part.id}/deployment_history/", About("run", part.id))
    every_row = (history_row_from(record, run_id=part.id) for record in objects(data, "row of a history"))
    rows = [row for row in every_row if row.node != NOWHERE]
    if any(row.status is not InstanceStatus.PENDING for row in rows):
        return {
            (row.task, row.node): row.status is not InstanceStatus.SKIPPED and row.type not in _IDLE for row in rows
        }
    if request.force or request.subgraphs:
        return {}
    about = About("environment", request.cluster_id)
    serialized = session.get(
        f"clusters/{request.cluster_id}/serialized_tasks/", about, graph_type=part.graph_type,
        nodes=request.node_ids or None, tasks=request.task_names or None,
    )  # fmt: skip
    graph = Answer(serialized, "serialized graph").mapping("tasks_graph")
    return {
        (task.text("id"), node_key_from(uid)): task.text("type") not in _IDLE
        for uid, tasks in graph.items()
        for task in _answers(tasks)
    }


def _answers(tasks: object) -> Iterable[Answer]:
    return (Answer(task, "serialized task") for task in objects(tasks, "serialized task"))
