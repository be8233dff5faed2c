"""Layers of an environment as records, and back: what a server of ours tells beyond Nailgun's graphs.

A plugin can bring another graph for each release; which one an environment gets, only the engine knows that has its
package.
"""

from __future__ import annotations

from typing import Any

from fuelclient.model.graph import Graph, Layer, Level, Owner
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.graph import graph_from, graph_to
from fuelclient.serializers.values import plain


def layer_record_to(layer: Layer, graph_type: str) -> dict[str, Any]:
    """The record of a layer: its graph in Nailgun's shape (with the id 0), its owner, and the defaults of its tasks."""
    return {
        **graph_to(Graph(0, graph_type, layer.owner, layer.tasks, metadata=layer.metadata)),
        "owner": {
            "level": str(layer.owner.level), "id": layer.owner.id, "name": layer.owner.name,
            "version": layer.owner.version,
        },
        "cwd": layer.cwd,
        "fault_tolerance": plain(layer.fault_tolerance),
    }  # fmt: skip


def layer_record_from(data: Any) -> Layer:
    """The layer that a server tells of; `InvalidDocument` for what is none."""
    answer = Answer(data, "layer")
    stated = Answer(answer.mapping("owner"), "owner of a layer")
    found = graph_from(data)
    owner = Owner(Level(found.owner.level), found.owner.id, stated.text("name"), stated.text("version"))
    graph = graph_from(data, owner)
    return Layer(owner, graph.tasks, graph.metadata, answer.text("cwd"), answer.mapping("fault_tolerance"))
