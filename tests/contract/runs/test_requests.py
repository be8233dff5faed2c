"""What is asked for decides which nodes and tasks take part, and what cannot be run is refused before anything is."""

from __future__ import annotations

import pytest
from executions import Executions, shell
from refusals import missing

from fuelclient.backends.plans import planned, saved
from fuelclient.errors import InvalidGraph, StalePlan
from fuelclient.model.finding import Finding
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Task


def test_a_run_is_limited_to_nodes_tasks_and_subgraphs(env: Executions) -> None:
    chain = [shell(name, env.note(name), requires=before) for name, before in (("a", []), ("b", ["a"]), ("c", ["b"]))]
    env.graph(*chain)

    assert env.outcomes(env.run(node_ids=(2,)).id).keys() == {"a@2", "b@2", "c@2"}
    found = env.run(task_names=("b",), node_ids=(1,))
    assert env.outcomes(found.id) == {
        "a@1": ("skipped", "filtered"), "b@1": ("ready", ""), "c@1": ("skipped", "filtered"),
    }  # fmt: skip
    found = env.run(subgraphs=("b/1-2:",), node_ids=(1, 2))
    assert env.outcomes(found.id)["a@2"] == ("skipped", "subgraph")
    assert env.outcomes(found.id)["c@2"] == ("ready", "")


def test_pending_nodes_take_part_once_provisioned(env: Executions) -> None:
    """Imported nodes of this machine are that from the beginning; others wait for an operating
    system, and only a graph with a filter of its own, such as provisioning, runs on them."""
    env.backend.nodes.create(
        [Node(0, "bare", status="discover", cluster_id=1, pending_roles=("compute",), executor="local")]
    )
    env.graph(shell("a"))
    env.graph(shell("b"), graph_type="provision", metadata={"node_filter": "$.pending_addition"})
    before = [(node.status, node.pending_addition, node.pending_roles) for node in env.backend.nodes.list(1)]

    plans = planned(env.backend, RunRequest(1, ("default", "provision")))

    assert before == [("provisioned", True, ("compute",))] * 3 + [("discover", True, ("compute",))]
    assert [plan.nodes for plan in plans] == [(1, 2, 3), (1, 2, 3, 4)]


def test_nodes_whose_deployment_failed_are_deployed_again(env: Executions) -> None:
    env.graph(shell("a", "exit 1"))
    env.run(node_ids=(2,))
    assert env.backend.nodes.get(2).error_type == "deploy"

    (plan,) = planned(env.backend, RunRequest(1, ("default",)))

    assert plan.nodes == (1, 2, 3)


@pytest.mark.parametrize(
    ("options", "noun", "key", "suggested"),
    [
        ({"graph_types": ("defualt",)}, "graph type", "defualt", ["default"]),
        ({"graph_types": ("default", "othr")}, "graph type", "othr", ["other"]),
        ({"node_ids": (7,)}, "node", "7", [1, 2, 3]),
        ({"task_names": ("keystne",)}, "task", "keystne", ["keystone"]),
        ({"subgraphs": ("keystne:",)}, "task", "keystne", ["keystone"]),
        ({"subgraphs": ("keystone/9",)}, "task instance", "keystone/9", ["keystone", 1, 2, 3]),
        ({"cluster_id": 9}, "environment", "9", []),
    ],
)
def test_what_does_not_exist_is_an_error(
    env: Executions, options: dict[str, object], noun: str, key: str, suggested: list[object]
) -> None:
    env.graph(shell("keystone"))
    env.graph(shell("later"), graph_type="other")
    request = RunRequest(**{"cluster_id": 1, **options})  # type: ignore[arg-type]  # as the cases say

    with missing(noun, key, *suggested):
        env.backend.runs.begin(request)

    assert env.backend.runs.list() == []


def test_what_cannot_run_is_refused_with_all_reasons(env: Executions) -> None:
    env.graph(
        Task("erase", {"type": "erase_node", "roles": ["compute"]}),
        Task("wrong", {"type": "shell", "roles": ["compute"], "parameters": {"cmd": "true", "timeout": "soon"}}),
    )

    with pytest.raises(InvalidGraph) as caught:
        env.begin()

    errors = {one.task for one in caught.value.findings if isinstance(one, Finding) and one.is_error}
    assert errors == {"erase", "wrong"}
    assert env.backend.runs.list() == []


def test_run_begins_with_the_given_plan_or_not_at_all(env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    request = RunRequest(1, node_ids=(2,))
    made, _ = saved(env.backend, request)
    (digest,) = (graph.digest for graph in made.graphs)
    env.ended(env.backend.runs.begin(request, digest=digest).id)
    assert env.noted() == ["a"]

    env.graph(shell("a", env.note("b")))
    with pytest.raises(StalePlan):
        env.backend.runs.begin(request, digest=digest)
    assert len(env.backend.runs.list(names=["deploy"])) == 1
