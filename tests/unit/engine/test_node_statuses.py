"""What runs make of nodes and environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fuelclient.engine.runs.close import Fate, cluster_status, node_after_run
from fuelclient.model.node import Node
from fuelclient.model.status import Verdict

NODE = Node(1, "n", 1, "deploying", roles=("a",), pending_roles=("b",), pending_addition=True)


def told(fate: Fate, metadata: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...], tuple[str, ...], bool]:
    found = node_after_run(NODE, fate, metadata)
    return str(found.status), found.error_type, found.roles, found.pending_roles, found.pending_addition


@pytest.mark.parametrize("metadata", [{}, {"on_success": None}, {"on_success": {}}, {"on_success": {"other": 1}}])
def test_a_graph_that_says_nothing_makes_nodes_ready(metadata: Mapping[str, Any]) -> None:
    """Pending roles are deployed then."""
    assert told(Fate.SUCCESS, metadata) == ("ready", "", ("a", "b"), (), False)


def test_a_graph_that_says_nothing_marks_failures_and_stops() -> None:
    assert told(Fate.ERROR, {}) == ("error", "deploy", ("a",), ("b",), True)
    assert told(Fate.STOP, {}) == ("stopped", "", ("a",), ("b",), True)


def test_no_attributes_change_nothing() -> None:
    metadata: dict[str, Any] = {str(fate): {"node_attributes": {}} for fate in Fate}

    for fate in Fate:
        assert told(fate, metadata) == ("deploying", "", ("a",), ("b",), True)


def test_a_graph_says_what_its_nodes_become() -> None:
    """Provisioning: nodes are not deployed yet, and wait no more to be added."""
    provision = {"on_success": {"node_attributes": {"status": "provisioned", "pending_addition": False}}}
    failed = {"on_error": {"node_attributes": {"status": "error", "error_type": "provision"}}}

    assert told(Fate.SUCCESS, provision) == ("provisioned", "", ("a",), ("b",), False)
    assert told(Fate.ERROR, failed) == ("error", "provision", ("a",), ("b",), True)


def test_a_deleted_node_leaves_its_environment() -> None:
    found = node_after_run(NODE, Fate.SUCCESS, {"on_success": {"node_attributes": {"status": "deleted"}}})

    assert (found.cluster_id, found.status, found.all_roles) == (None, "discover", ())


def test_an_environment_is_operational_when_all_of_it_is() -> None:
    ready, failed = Node(1, "a", 1, "ready"), Node(2, "b", 1, "error", error_type="deploy")

    assert cluster_status([ready], Verdict.READY) == "operational"
    assert cluster_status([ready, failed], Verdict.READY) == "partially_deployed"
    assert cluster_status([ready, failed], Verdict.ERROR) == "partially_deployed"
    assert cluster_status([ready], Verdict.STOPPED) == "stopped"
    assert cluster_status([], Verdict.READY) == "partially_deployed"
