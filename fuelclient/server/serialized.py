"""Serialized tasks: what an orchestrator would be sent of a graph, by node.

Expressions stand as they are written: they are computed when a run is planned. A graph of versions below 2.0.0 only
is held to the checks that Fuel's role-based engine made before it serialized one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuelclient.errors import InvalidGraph, NotFound
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import Expansion
from fuelclient.plan.preview import Draft, PreviewOptions, draft
from fuelclient.serializers.values import plain
from fuelclient.server.layers import graph_type_of
from fuelclient.server.refusals import Refused
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import MAPPING, opened
from fuelclient.server.solver import INTERNAL, complaint, solved

_SYNC = "null"


def serialized(call: Call) -> Any:
    """The task instances of an environment by node, each with what it waits for."""
    cluster_id = call.id("cluster_id")
    nodes = tuple(dict.fromkeys(call.only.get("nodes", ())))
    try:
        snapshot = call.backend.graphs.snapshot(cluster_id, graph_type_of(call))
    except NotFound as error:
        if error.noun != "graph type":
            raise
        return _document({_SYNC: []}, [])
    unknown = sorted(set(nodes) - {node.id for node in snapshot.nodes})
    if unknown:
        raise Refused(404, "NodeCollection not found", NotFound("node", unknown[0]))
    if not snapshot.nodes:  # without roles no nodes are assumed: nobody can be sent what is for an assumed one
        snapshot = replace(snapshot, roles={})
    made = draft(snapshot, PreviewOptions(node_ids=nodes))
    _require_sound(made)
    wanted = set(call.only.get("tasks", ()))
    tolerance = [
        {"name": one.group, "node_ids": [str(made.expansion.fleet.nodes[node].uid) for node in one.nodes],
         "fault_tolerance": one.tolerated}
        for one in made.expansion.placement.fault_tolerance
    ]  # fmt: skip
    return _document(_instances(made.expansion, wanted), tolerance)


def _require_sound(made: Draft) -> None:
    graph = solved(one.task for one in made.merged.tasks)
    text = "" if graph.is_task_based else complaint(graph)
    if text:
        raise Refused(400, text, InvalidGraph(text.strip(), findings=made.findings))


def _instances(expansion: Expansion, wanted: set[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {_SYNC: []}
    before: dict[int, list[int]] = {}
    for one, other in sorted(expansion.edges.pairs()):
        before.setdefault(other, []).append(one)
    for vertex in range(expansion.size):
        task = expansion.tasks[expansion.task_of[vertex]].task
        skipped = task.type in INTERNAL or (bool(wanted) and task.id not in wanted)
        entry: dict[str, Any] = {"id": task.id, "type": str(TaskType.SKIPPED) if skipped else task.type}
        entry["fail_on_error"] = bool(task.attributes.get("fail_on_error", True))
        if "parameters" in task.attributes:
            entry["parameters"] = plain(task.attributes["parameters"])
        waits = before.get(vertex, ())
        entry["requires"] = [
            {"name": expansion.tasks[expansion.task_of[one]].id, "node_id": _uid(expansion, one)} for one in waits
        ]
        found.setdefault(_uid(expansion, vertex) or _SYNC, []).append(entry)
    return found


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
    Query("graph_type", Kind.WORD, "default: default"),
    Query("nodes", Kind.NUMBERS, "only these nodes"),
    Query("tasks", Kind.WORDS, "skip all other tasks"),
)
_ANSWER = opened(("tasks_graph", "tasks_directory", "tasks_metadata"), tasks_graph=MAPPING, tasks_directory=MAPPING,
                 tasks_metadata=MAPPING)  # fmt: skip

ROUTES = (
    Route("GET", "clusters/{cluster_id}/serialized_tasks", serialized, "What an orchestrator would be sent",
          {200: _ANSWER}, _QUERY),
)  # fmt: skip
