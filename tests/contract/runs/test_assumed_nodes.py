"""Plans and simulations on nodes that an environment does not have."""

from __future__ import annotations

import pytest
from command_line import CommandLine
from executions import Executions, shell

from fuelclient.backends.plans import planned, simulated
from fuelclient.errors import NotFound, UsageError
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import RunRequest


def places(graph: object) -> dict[str, set[object]]:
    """The nodes of each task in a plan or a simulation."""
    found: dict[str, set[object]] = {}
    for instance in graph.instances:  # type: ignore[attr-defined]  # of both
        found.setdefault(instance.task, set()).add(instance.node)
    return found


def test_conditions_are_computed_for_assumed_nodes(env: Executions) -> None:
    env.graph(
        shell("first", roles=["primary-controller"]),
        shell("many", condition={"yaql_exp": "$.nodes.len() > 4"}),
        shell("word", condition={"yaql_exp": "$.word = own"}),
    )
    env.backend.facts.put(1, DeploymentFacts({"word": "all"}, {"1": {"word": "own"}}))
    env.run()

    (plan,) = planned(env.backend, RunRequest(1), "controller=2,compute=3")

    assert places(plan) == {"first": {1}, "many": {3, 4, 5}, "word": {3, 4, 5}}
    assert {instance.task: instance.runs for instance in plan.instances} == {
        "first": True, "many": True, "word": False,
    }  # fmt: skip
    assert "controller=2,compute=3" in plan.assumption
    assert not [finding for finding in plan.findings if finding.code == "G047"]  # nobody can give them addresses
    (graph,) = simulated(env.backend, RunRequest(1), ["first/1"], "controller=2,compute=3")
    assert (graph.verdict, graph.known, places(graph)) == ("error", 0, places(plan))
    (own,) = planned(env.backend, RunRequest(1))
    assert (places(own), own.assumption) == ({"many": {1, 2, 3}, "word": {1, 2, 3}}, "")


def test_a_simulation_without_nodes_assumes_some(env: Executions) -> None:
    env.graph(shell("first", roles=["primary-controller"]), shell("others", roles=["controller"]))
    env.backend.clusters.remove_nodes(1, None)

    (graph,) = simulated(env.backend, RunRequest(1))

    assert places(graph) == {"first": {1}, "others": {2}}  # two controllers, and one node for each other role
    assert graph.assumption.startswith("The environment has no nodes. Assumed: 4 nodes")
    done = CommandLine(env.engine)("graph", "simulate", "--env", 1, "-f", "json")
    assert (done.code, "Assumed: 4 nodes" in done.err, len(done.json)) == (0, True, 2)
    assert CommandLine(env.engine)("graph", "execute", "--env", 1, "--dry-run").out.count("\n") == 4  # an empty table


def test_what_cannot_be_assumed(env: Executions) -> None:
    env.graph(shell("a"))
    with pytest.raises(NotFound):
        planned(env.backend, RunRequest(1), "compuet=1")
    with pytest.raises(UsageError):
        simulated(env.backend, RunRequest(1, node_ids=(1,)), (), "compute=1")
    fuel2 = CommandLine(env.engine)
    assert fuel2("graph", "execute", "--env", 1, "--assume", "compute=1").code == 2
    done = fuel2("graph", "execute", "--env", 1, "--assume", "compute=2", "--dry-run", "--format", "json")
    assert (done.code, [row["node"] for row in done.json[0]["instances"]]) == (0, [1, 2])
    assert env.backend.runs.list() == []
