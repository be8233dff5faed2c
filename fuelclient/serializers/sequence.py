"""Read and write sequences of graphs in Nailgun's shape, and read them from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Document
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import items_of, key_text, line_of


def sequence_to(sequence: DeploymentSequence) -> dict[str, Any]:
    return {
        "id": sequence.id,
        "name": sequence.name,
        "graphs": [{"type": graph_type} for graph_type in sequence.graph_types],
        "release_id": sequence.release_id,
    }


def sequence_from(data: Any) -> DeploymentSequence:
    answer = Answer(data, "sequence")
    graphs = tuple(Answer(graph, "graph of a sequence").required("type") for graph in answer.items("graphs"))
    return DeploymentSequence(answer.identifier(), answer.identifier("release_id"), answer.required("name"), graphs)


_KEYS = ("id", "name", "graphs", "release_id", "release")
"""Keys that a file may have. Ids and releases belong to the server it was downloaded from, and are ignored."""


def sequence_document_from(document: Document) -> tuple[str, list[str]]:
    """Read the name and the graph types of a sequence.

    A graph is a mapping with its `type`, or just the type. Raise `InvalidDocument` with all findings: G002 for a
    missing name, G006 for wrong shapes, G010 for unknown keys.
    """
    report = Report(document.file)
    data = document.data
    if not isinstance(data, Mapping):
        report.misshapen(1, "a sequence is a mapping", data, "Write `name:` and `graphs:`.")
        report.raise_errors()
    report.check_keys(data, _KEYS, "a sequence", 0)
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        report.error("G002", line_of(data, "name"), "a sequence needs a name", "Write `name:` with a string.")
    types = _types(data, report)
    report.raise_errors()
    return str(name), types


def _types(data: Mapping[str, Any], report: Report) -> list[str]:
    graphs = data.get("graphs")
    line = line_of(data, "graphs")
    hint = "Write `graphs: [{type: default}]`, in the order in which they run."
    if not isinstance(graphs, list | tuple) or not graphs:
        report.misshapen(line, "graphs are a list of graph types", graphs, hint)
        return []
    types = []
    for item, at in items_of(graphs, line):
        where = line_of(item) or at
        graph_type = item.get("type") if isinstance(item, Mapping) else item
        if not isinstance(graph_type, str) or not graph_type.strip():
            report.misshapen(where, "a graph of a sequence is a type", graph_type, hint)
            continue
        more = [key_text(key) for key in item if key != "type"] if isinstance(item, Mapping) else []
        if more:
            report.error(
                "G010", where, f"graph {graph_type} of the sequence has {', '.join(more)}, but only its type is used",
                "Leave it out. A sequence runs on all nodes of an environment.",
            )  # fmt: skip
        types.append(graph_type)
    return types
