"""Sequences of graphs in Nailgun's shape, and back."""

from __future__ import annotations

from typing import Any

from fuelclient.model.sequence import DeploymentSequence
from fuelclient.serializers.answer import Answer


def sequence_to(sequence: DeploymentSequence) -> dict[str, Any]:
    """The sequence as Nailgun's REST API returns it."""
    return {
        "id": sequence.id,
        "name": sequence.name,
        "graphs": [{"type": one} for one in sequence.graph_types],
        "release_id": sequence.release_id,
    }


def sequence_from(data: Any) -> DeploymentSequence:
    """The sequence that a server tells of; `InvalidDocument` for what is none."""
    answer = Answer(data, "sequence")
    graphs = [Answer(one, "graph of a sequence").stated("type") for one in answer.items("graphs")]
    return DeploymentSequence(
        answer.identifier(), answer.identifier("release_id"), answer.stated("name"), tuple(graphs)
    )
