"""What a run that leaves things out makes of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from executions import Executions, shell, stage
from refusals import refused

from fuelclient.errors import Conflict, InvalidGraph
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.task import Task


@pytest.mark.parametrize(
    ("selection", "named"),
    [({"subgraphs": ("b:a",)}, "--subgraphs b:a"), ({"task_names": ("s", "nothing")}, "--task-names s, nothing")],
)
def test_a_selection_that_leaves_nothing_is_refused(env: Executions, selection: dict[str, Any], named: str) -> None:
    nothing = Task("nothing", {"type": "skipped", "roles": ["compute"]})
    env.graph(stage("s"), nothing, shell("a"), shell("b", requires=["a"]), shell("off", condition=False))

    with refused(InvalidGraph, "selection", "default graph", named):
        env.begin(**selection)

    assert env.backend.runs.list() == []
    assert env.begin(dry_run=True, **selection).status == "ready"
    assert env.run(task_names=("off",)).status == "ready"


def test_a_selection_is_one_of_all_graphs_together(env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    env.graph(shell("b", env.note("b")), graph_type="second")

    with refused(InvalidGraph, "selection", "default and second graphs", "--subgraphs a/1:a/2"):
        env.begin("default", "second", subgraphs=("a/1:a/2",))
    found = env.run("default", "second", task_names=("b",), node_ids=(2,))

    assert found.status == "ready"
    assert env.noted() == ["b"]


def test_nodes_that_a_selection_leaves_out_stay_as_they_are(env: Executions) -> None:
    env.graph(shell("a"), shell("b", requires=["a"]), shell("off", condition=False))

    env.run(subgraphs=("a/1:b/1",))

    assert env.statuses() == {1: "ready", 2: "provisioned", 3: "provisioned"}
    left = env.backend.nodes.get(2)
    assert (left.roles, left.pending_roles, left.pending_addition) == ((), ("compute",), True)
    env.run(task_names=("off",), node_ids=(2,))
    assert env.backend.nodes.get(2).roles == ("compute",)


def test_an_executor_that_runs_nothing_moves_nothing(env: Executions) -> None:
    changed = {"yaql_exp": "changed($.get(wanted))"}
    env.graph(shell("a", env.note("a"), condition=changed))
    env.backend.facts.put(1, DeploymentFacts({"wanted": 1}))
    before, status = env.backend.nodes.list(1), env.backend.clusters.get(1).status

    found = env.run(executor="noop")

    assert (found.status, found.dry_run) == ("ready", True)
    assert env.noted() == []
    assert env.backend.nodes.list(1) == before
    assert env.backend.clusters.get(1).status == status
    env.run()
    assert env.noted() == ["a"] * 3
    assert env.begin(executor="noop", dry_run=True).message.startswith("Dry run: ")


def test_nodes_that_a_run_deploys_stay_until_it_has_ended(env: Executions) -> None:
    env.graph(shell("slow", env.held("began")))
    begun = env.begin(node_ids=(1, 2))
    env.until(begun.id, lambda _: len(env.noted()) == 2)
    told = (f"run {begun.id}", "node 2", "environment 1", f"task stop {begun.id}")

    with refused(Conflict, *told):
        env.backend.clusters.remove_nodes(1, [3, 2])
    with refused(Conflict, f"run {begun.id}", "nodes 1, 2", "environment 1"):
        env.backend.clusters.remove_nodes(1, None)
    with refused(Conflict, *told):
        env.backend.nodes.delete([2], force=True)
    env.backend.clusters.remove_nodes(1, [3])
    env.let_go()
    assert env.ended(begun.id).status == "ready"

    env.backend.clusters.remove_nodes(1, [2])
    env.backend.nodes.delete([1], force=True)
    assert [node.id for node in env.backend.nodes.list()] == [2, 3]


def test_a_node_that_is_left_out_stays_as_it_was(env: Executions) -> None:
    """Even one whose status is that of nodes during a run: imported so, or copied while it was deployed."""
    _, two, *_ = env.backend.nodes.list(1)
    env.backend.nodes.create([replace(two, id=9, name="left", status="deploying", mac="")])
    before = env.backend.nodes.get(9)
    assert before.status == "deploying"
    env.graph(shell("a"), shell("b"))
    assert env.run(subgraphs=("a/1",), node_ids=(1, 9)).status == "ready"
    assert env.backend.nodes.get(9) == before
    assert env.statuses()[1] == "ready"
