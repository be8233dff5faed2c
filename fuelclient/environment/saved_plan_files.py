"""Saved plans as documents, and back."""

from __future__ import annotations

from typing import Any

from fuelclient.environment.saved_plans import SavedGraph, SavedLayer, SavedPlan
from fuelclient.errors import InvalidDocument
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.graph import layer_record_from, layer_record_to
from fuelclient.serializers.run import execution_from, execution_to

FORMAT_VERSION = 1
"""The version of the documents. It rises when a key changes its meaning or goes; keys may be added."""


def plan_to(plan: SavedPlan) -> dict[str, Any]:
    """Return the document of a saved plan."""
    return {
        "format_version": FORMAT_VERSION,
        "env": plan.request.cluster_id,
        "environment": plan.environment,
        "request": execution_to(plan.request),
        "nodes": dict(plan.nodes),
        "reached_digests": dict(plan.reached),
        "plugins": dict(plan.plugins),
        "facts_digest": plan.facts,
        "graphs": [
            {
                "type": graph.type,
                "digest": graph.digest,
                "layers": [{"digest": one.digest, **layer_record_to(one.layer, graph.type)} for one in graph.layers],
                "instances": [{"task": task, "node": node, "action": action} for task, node, action in graph.instances],
            }
            for graph in plan.graphs
        ],
    }


def plan_from(data: Any, path: str) -> SavedPlan:
    """Return the saved plan of a document. Raise `InvalidDocument` if it is not one, or one of another version."""
    if not isinstance(data, dict) or "facts_digest" not in data:
        raise InvalidDocument(f"{path} is not a saved plan.", hint="`fuel2 plan create` writes one.")
    if data.get("format_version") != FORMAT_VERSION:
        raise InvalidDocument(
            f"{path} has the format version {data.get('format_version')}, and only {FORMAT_VERSION} is known.",
            hint="Create the plan again.",
        )
    answer = Answer(data, "saved plan")
    return SavedPlan(
        execution_from(answer.mapping("request")),
        answer.text("environment"),
        answer.mapping("nodes"),
        answer.text("facts_digest"),
        tuple(_graph(graph) for graph in answer.items("graphs")),
        answer.mapping("reached_digests"),
        answer.mapping("plugins"),
    )


def _graph(data: Any) -> SavedGraph:
    graph = Answer(data, "graph of a saved plan")
    instances = (Answer(one, "task instance") for one in graph.items("instances"))
    return SavedGraph(
        graph.text("type"),
        graph.text("digest"),
        tuple(SavedLayer(layer_record_from(one), Answer(one, "layer").text("digest")) for one in graph.items("layers")),
        tuple((one.text("task"), one.text("node"), one.text("action")) for one in instances),
    )
