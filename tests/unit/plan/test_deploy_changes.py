"""Which graphs deploy an environment as it is."""

from __future__ import annotations

import pytest

from fuelclient.model.node import Node
from fuelclient.plan.deploy_changes import Changes, changes

FRESH = Node(1, "fresh", status="discover")
FAILED = Node(2, "failed", status="error", error_type="provision")
LEAVING = Node(3, "leaving", pending_deletion=True)
STUCK = Node(4, "stuck", status="error", error_type="deletion")
USED = Node(5, "used")
AWAY = Node(6, "away", status="discover", online=False)
EVERY = ("deletion", "provision", "provisioning", "default")


@pytest.mark.parametrize(
    ("nodes", "known", "expected"),
    [
        ([], EVERY, Changes(("default",))),
        ([USED], EVERY, Changes(("default",))),
        ([FRESH, USED], EVERY, Changes(("provision", "default"))),
        ([FAILED], EVERY[2:], Changes(("provisioning", "default"))),
        ([FRESH, FAILED], ("default",), Changes(("default",), unprovisioned=(1, 2))),
        ([LEAVING, USED], EVERY, Changes(("deletion", "default"))),
        ([LEAVING, STUCK], EVERY, Changes(("deletion",))),
        ([LEAVING, STUCK], ("default",), Changes(("default",), leaving=(3, 4))),
        ([LEAVING, FRESH], EVERY, Changes(("deletion", "provision", "default"))),
        ([AWAY], EVERY, Changes(("default",))),
        ([Node(7, "both", status="discover", pending_deletion=True), USED], EVERY, Changes(("deletion", "default"))),
    ],
)
def test_graphs_by_the_nodes_there_are(nodes: list[Node], known: tuple[str, ...], expected: Changes) -> None:
    assert changes(nodes, known.__contains__) == expected


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([USED], ("mine", "default")),
        ([FRESH], ("provision", "mine", "default")),
        ([LEAVING], ("deletion", "mine", "default")),
        ([FRESH, LEAVING], ("deletion", "provision", "mine", "default")),
    ],
)
def test_sequence_runs_its_types_where_nodes_exist(nodes: list[Node], expected: tuple[str, ...]) -> None:
    stated = ("deletion", "provision", "mine", "default")
    assert changes(nodes, lambda _: False, stated) == Changes(expected, sequence="deploy-changes")
