"""Forecasts: which instances of simulated runs fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from building import RELEASE, layer, roles, snapshot, task

from fuelclient.errors import NotFound
from fuelclient.expressions.evaluation import Expressions
from fuelclient.insight.forecast import simulated
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.plan.plan import Plan, plan


def planned(name: str) -> Plan:
    stated = task(name, type="shell", roles=["web"], parameters={"cmd": "true"})
    nodes = [Node(1, "node-1", 1, roles=("web",), executor="local")]
    facts = DeploymentFacts({}, {"1": {}, "master": {}, "null": {}})
    return plan(snapshot([layer(RELEASE, stated)], nodes, roles("web")), RunRequest(1), Expressions(facts))


@pytest.mark.parametrize("fail", [["ghost/1"], ["a/1", "ghost/1"], ["ghost/1", "b/1"]])
def test_an_instance_that_no_graph_has_is_refused(fail: Sequence[str]) -> None:
    with pytest.raises(NotFound) as caught:
        simulated([planned("a"), planned("b")], {}, fail)

    assert (caught.value.noun, caught.value.key) == ("task instance", "ghost/1")
    assert caught.value.known == ("a/1",)


def test_an_instance_of_any_graph_may_fail() -> None:
    graphs = simulated([planned("a"), planned("b")], {}, ["b/1"])

    assert [graph.verdict for graph in graphs] == ["ready", "error"]
