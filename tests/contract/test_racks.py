from __future__ import annotations

from fuelclient.backends.base import Backend
from fuelclient.model.node import Node


def test_the_rack_of_a_node_is_kept_and_served(backend: Backend) -> None:
    backend.nodes.create([Node(1, "n1", rack="r7"), Node(2, "n2")])
    assert [node.rack for node in backend.nodes.list()] == ["r7", ""]
    assert backend.nodes.get(1).rack == "r7"
