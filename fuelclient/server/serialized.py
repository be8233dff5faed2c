"""Serialize the tasks of a graph by node, as an orchestrator would receive them.

Types, dependencies and parameters are those of a run before which nothing has run: conditions decide which tasks are
skipped, and expressions are computed from the facts of the environment. On releases before 10.0, a graph whose tasks
all have versions before 2.0.0 must also pass the checks that Fuel's role-based engine made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from fuelclient.environment.layers import snapshot
from fuelclient.environment.plans import evaluation_of
from fuelclient.errors import InvalidGraph, NotFound
from fuelclient.graph.merge import require_merged
from fuelclient.grouping import grouped
from fuelclient.model.graph import MergedGraph
from fuelclient.model.run import RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import TaskType
from fuelclient.plan.evaluate import Decisions, require_computed, require_known
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import NO_NODES, Fleet, fleet_of
from fuelclient.plan.study import Study
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError
from fuelclient.server.graphs import TYPE, graph_type_of
from fuelclient.server.nodes import NODES, members
from fuelclient.server.role_based_graph import error_message, role_based
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import MAPPING, whole

_SYNC = "null"
_SINCE_10 = re.compile(r"-[1-9]\d+\.")
"""Matches releases such as newton-10.0, on which a master does not make these checks."""


def serialized(call: Call) -> Any:
    """List the task instances of an environment by node, each with the instances before and after it.

    With the query parameter `tasks`, all other tasks are skipped; unknown names are ignored.
    """
    graph_type = graph_type_of(call)
    try:
        inputs = call.backend.runs.inputs(RunRequest(call.cluster_id, (graph_type,), force=True))
    except NotFound as error:
        if error.noun != "graph type":
            raise
        return _document({_SYNC: []}, [])
    nodes = members(call, inputs.environment.cluster.id, inputs.environment.nodes)
    graph_snapshot = snapshot(inputs.environment, inputs.layers[graph_type], graph_type)
    evaluation = evaluation_of(inputs)
    study = Study(graph_snapshot, facts=lambda: evaluation, fleet=lambda _: _fleet(graph_snapshot, nodes))
    merged = study.merged
    require_merged(graph_snapshot, merged)
    if not _SINCE_10.search(inputs.environment.release.version):
        _require_role_based(merged)
    expansion = study.expansion
    require_computed(merged.tasks, study.failed)
    decisions = Decisions(expansion, evaluation, dependencies=study.unknown)
    instances = _instances(expansion, decisions, call.query.get("tasks", ()))
    require_known(graph_type, tuple(decisions.findings()))
    tolerance = [
        {"name": group.group, "node_ids": [str(expansion.fleet.nodes[node].uid) for node in group.nodes],
         "fault_tolerance": group.tolerated}
        for group in expansion.placement.fault_tolerance
    ]  # fmt: skip
    return _document(instances, tolerance)


def _fleet(graph_snapshot: Snapshot, node_ids: Sequence[int]) -> Fleet:
    """The fleet of `node_ids`, by default of all nodes that are not to be deleted; without any, of no nodes."""
    node_ids = node_ids or [node.id for node in graph_snapshot.nodes if not node.pending_deletion]
    return fleet_of(graph_snapshot, node_ids=node_ids) if node_ids else NO_NODES


def _require_role_based(merged: MergedGraph) -> None:
    graph = role_based(merged_task.task for merged_task in merged.tasks)
    text = "" if graph.is_task_based else error_message(graph)
    if text:
        raise HttpError(400, InvalidGraph(text.strip(), findings=merged.findings), text)


def _instances(expansion: Expansion, decisions: Decisions, only: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    instances: dict[str, list[dict[str, Any]]] = {_SYNC: []}
    skipped, _ = decisions.skips(only)
    attributes = decisions.rendered(skipped)
    required, required_for = map(sorted, expansion.edges.pairs_by_side())
    waits_for, awaited_by = grouped((after, before) for before, after in required), grouped(required_for)
    for vertex in range(expansion.size):
        task = expansion.tasks[expansion.task_of[vertex]].task
        runs = vertex not in skipped and task.type != TaskType.STAGE
        entry: dict[str, Any] = {"id": task.id, "type": task.type if runs else str(TaskType.SKIPPED)}
        entry["fail_on_error"] = runs and bool(attributes.get(vertex, {}).get("fail_on_error", True))
        if vertex in attributes:
            entry["parameters"] = plain(attributes[vertex]["parameters"])
        for attribute, by_vertex in (("requires", waits_for), ("required_for", awaited_by)):
            if vertex in by_vertex:
                entry[attribute] = [_relation(expansion, other) for other in by_vertex[vertex]]
        instances.setdefault(_uid(expansion, vertex) or _SYNC, []).append(entry)
    return instances


def _relation(expansion: Expansion, vertex: int) -> dict[str, str | None]:
    return {"name": expansion.tasks[expansion.task_of[vertex]].id, "node_id": _uid(expansion, vertex)}


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


_QUERY = (TYPE, NODES, Query("tasks", QueryType.WORDS, "skip all other tasks"))
_SERIALIZED = whole(tasks_graph=MAPPING, tasks_directory=MAPPING, tasks_metadata=MAPPING)

ROUTES = (
    Route("GET", "clusters/{cluster_id}/serialized_tasks", serialized,
          "Show the tasks as an orchestrator would receive them", {200: _SERIALIZED}, _QUERY),
)  # fmt: skip
