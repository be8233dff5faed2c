"""Layers of an environment as records, and back: what a server of ours tells beyond Nailgun's graphs.

A plugin can bring another graph for each release; which one an environment gets, only the engine knows that has its
package.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuelclient.model.graph import Graph, Layer, Level, Owner
from fuelclient.model.task import Source
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.graph import graph_from, graph_to
from fuelclient.serializers.values import plain


def layer_record_to(layer: Layer, graph_type: str) -> dict[str, Any]:
    """Return the record of a layer.

    It is its graph in Nailgun's shape (with the id 0), its owner, the places of its tasks, and their defaults.
    """
    return {
        **graph_to(Graph(0, graph_type, layer.owner, layer.tasks, metadata=layer.metadata)),
        "owner": {
            "level": str(layer.owner.level), "id": layer.owner.id, "name": layer.owner.name,
            "version": layer.owner.version,
        },
        "sources": [
            {"file": task.source.file, "line": task.source.line, "lines": dict(task.source.lines)}
            for task in layer.tasks
        ],
        "cwd": layer.cwd,
        "fault_tolerance": plain(layer.fault_tolerance),
    }  # fmt: skip


def layer_record_from(data: Any) -> Layer:
    """Return the layer of a record. Raise `InvalidDocument` for anything else."""
    answer = Answer(data, "layer")
    stated = Answer(answer.mapping("owner"), "owner of a layer")
    found = graph_from(data)
    owner = Owner(Level(found.owner.level), found.owner.id, stated.text("name"), stated.text("version"))
    graph = graph_from(data, owner)
    places = [Answer(item, "place") for item in answer.items("sources")]
    tasks = [
        replace(task, source=Source(place.text("file"), place.number("line"), place.mapping("lines")))
        for task, place in zip(graph.tasks, places, strict=False)  # a server of an earlier version knows no places
    ]
    return Layer(
        owner, tuple(tasks) or graph.tasks, graph.metadata, answer.text("cwd"), answer.mapping("fault_tolerance")
    )
