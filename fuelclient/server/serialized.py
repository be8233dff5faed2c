"""Serialize the tasks of a graph by node, as an orchestrator would receive them.

Expressions stay as they are written, because they are computed when a run is planned. A graph whose tasks are all older
than version 2.0.0 has to pass the checks that Fuel's role-based engine made before it serialized a graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuelclient.errors import InvalidGraph, NotFound
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import Expansion
from fuelclient.plan.preview import Draft, PreviewOptions, draft
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError
from fuelclient.server.layers import graph_type_of
from fuelclient.server.role_based_graph import INTERNAL, complaint, role_based
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import MAPPING, opened

_SYNC = "null"


def serialized(call: Call) -> Any:
    """Return the task instances of an environment by node, each with the instances it waits for."""
    cluster_id = call.id("cluster_id")
    nodes = tuple(dict.fromkeys(call.query.get("nodes", ())))
    try:
        snapshot = call.backend.graphs.snapshot(cluster_id, graph_type_of(call))
    except NotFound as error:
        if error.noun != "graph type":
            raise
        return _document({_SYNC: []}, [])
    unknown = sorted(set(nodes) - {node.id for node in snapshot.nodes})
    if unknown:
        raise HttpError(404, "NodeCollection not found", NotFound("node", unknown[0]))
    if not snapshot.nodes:  # without roles no nodes are assumed, for which an orchestrator could do nothing
        snapshot = replace(snapshot, roles={})
    made = draft(snapshot, PreviewOptions(node_ids=nodes))
    _require_sound(made)
    wanted = set(call.query.get("tasks", ()))
    tolerance = [
        {"name": group.group, "node_ids": [str(made.expansion.fleet.nodes[node].uid) for node in group.nodes],
         "fault_tolerance": group.tolerated}
        for group in made.expansion.placement.fault_tolerance
    ]  # fmt: skip
    return _document(_instances(made.expansion, wanted), tolerance)


def _require_sound(made: Draft) -> None:
    graph = role_based(merged_task.task for merged_task in made.merged.tasks)
    text = "" if graph.is_task_based else complaint(graph)
    if text:
        raise HttpError(400, text, InvalidGraph(text.strip(), findings=made.findings))


def _instances(expansion: Expansion, wanted: set[str]) -> dict[str, list[dict[str, Any]]]:
    instances: dict[str, list[dict[str, Any]]] = {_SYNC: []}
    predecessors: dict[int, list[int]] = {}
    for before, after in sorted(expansion.edges.pairs()):
        predecessors.setdefault(after, []).append(before)
    for vertex in range(expansion.size):
        task = expansion.tasks[expansion.task_of[vertex]].task
        skipped = task.type in INTERNAL or (bool(wanted) and task.id not in wanted)
        entry: dict[str, Any] = {"id": task.id, "type": str(TaskType.SKIPPED) if skipped else task.type}
        entry["fail_on_error"] = bool(task.attributes.get("fail_on_error", True))
        if "parameters" in task.attributes:
            entry["parameters"] = plain(task.attributes["parameters"])
        entry["requires"] = [
            {"name": expansion.tasks[expansion.task_of[before]].id, "node_id": _uid(expansion, before)}
            for before in predecessors.get(vertex, ())
        ]
        instances.setdefault(_uid(expansion, vertex) or _SYNC, []).append(entry)
    return instances


def _uid(expansion: Expansion, vertex: int) -> str | None:
    uid = expansion.fleet.nodes[expansion.node_of[vertex]].uid
    return None if uid is None else str(uid)


def _document(tasks: dict[str, list[dict[str, Any]]], tolerance: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tasks_graph": tasks,
        "tasks_directory": {},
        "tasks_metadata": {"fault_tolerance_groups": tolerance},
        "dry_run": False,
        "noop_run": False,
    }


_QUERY = (
    Query("graph_type", QueryType.WORD, "graph type (default: default)"),
    Query("nodes", QueryType.NUMBERS, "only these nodes"),
    Query("tasks", QueryType.WORDS, "skip all other tasks"),
)
_SERIALIZED = opened(("tasks_graph", "tasks_directory", "tasks_metadata"), tasks_graph=MAPPING, tasks_directory=MAPPING,
                 tasks_metadata=MAPPING)  # fmt: skip

ROUTES = (
    Route("GET", "clusters/{cluster_id}/serialized_tasks", serialized,
          "Show the tasks as an orchestrator would receive them", {200: _SERIALIZED}, _QUERY),
)  # fmt: skip
