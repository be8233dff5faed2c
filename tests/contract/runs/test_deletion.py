"""Nodes leave their environment: at once, or after the graph that deletes them."""

from __future__ import annotations

from typing import Any

import pytest
from executions import Executions, shell, stage
from refusals import refused

from fuelclient.errors import NotFound
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Task

MARKED = {"node_filter": "$.pending_deletion or $.error_type = 'deletion'"}
STATUSES = {
    "discover": False, "provisioning": False, "provisioned": False, "deploying": True, "ready": True, "stopped": True,
    "error": True,
}  # fmt: skip
"""Whether a node with this status was deployed."""


def members(env: Executions) -> dict[int, bool]:
    """Return the nodes of the environment, and whether each is marked."""
    return {node.id: node.pending_deletion for node in env.backend.nodes.list(1)}


def deletion(env: Executions, *tasks: Task, **metadata: Any) -> None:
    env.graph(*tasks, graph_type="deletion", metadata={**MARKED, **metadata})


@pytest.fixture
def deployed(env: Executions) -> Executions:
    """The environment, after a run on all of its nodes."""
    env.graph(shell("a", env.note("a")))
    assert env.run().status == "ready"
    env.notes.unlink()
    return env


@pytest.mark.parametrize("kind", ["none", "without tasks", "one", "forced"])
def test_only_what_was_deployed_waits_for_a_graph_that_deletes(env: Executions, kind: str) -> None:
    if kind != "none":
        deletion(env, *([] if kind == "without tasks" else [shell("erase")]))
    made = env.backend.nodes.create(
        [Node(0, status, cluster_id=1, status=status, roles=("compute",), executor="local") for status in STATUSES]
    )
    marks = {node.id: True for node in made if kind == "one" and STATUSES[node.name]}

    removed = env.backend.clusters.remove_nodes(1, [node.id for node in made], force=kind == "forced")

    assert list(removed) == [node.id for node in made]
    assert members(env) == {1: False, 2: False, 3: False, **marks}
    for node in (env.backend.nodes.get(node.id) for node in made if node.id not in marks):
        assert (node.cluster_id, node.roles, node.pending_deletion) == (None, (), False)
        assert node.status == ("provisioned" if STATUSES[node.name] else node.name)


@pytest.mark.parametrize("tasks", [[shell("erase")], [stage("s")], []], ids=["task", "stages", "no-task"])
def test_the_end_of_a_deletion_frees_what_was_marked(deployed: Executions, tasks: list[Task]) -> None:
    deletion(deployed, shell("erase"))
    deployed.backend.clusters.remove_nodes(1, [2, 3])
    deletion(deployed, *tasks)

    assert deployed.run("deletion", "default", force=True).status == "ready"

    assert members(deployed) == {1: False}
    assert [str(deployed.backend.nodes.get(node_id).status) for node_id in (2, 3)] == ["discover"] * 2
    assert deployed.noted() == ["a"]


def test_node_marked_for_deletion_joins_no_other_graph(deployed: Executions) -> None:
    deletion(deployed, shell("erase", "false"))
    deployed.backend.clusters.remove_nodes(1, [2])
    assert deployed.run(force=True).status == "ready"
    assert sorted(deployed.noted()) == ["a"] * 2

    deployed.backend.clusters.add_nodes(1, [2], ["compute"])

    assert members(deployed) == dict.fromkeys((1, 2, 3), False)
    assert deployed.backend.nodes.get(2).roles == ("compute",)
    assert deployed.run(force=True).status == "ready"
    assert sorted(deployed.noted()) == ["a"] * 5


@pytest.mark.parametrize(
    ("tasks", "metadata", "options"),
    [
        ([shell("erase", "false")], {}, {}),
        ([shell("erase")], {"on_success": {"node_attributes": {}}}, {}),
        ([shell("erase"), shell("other", roles=["storage"])], {}, {"task_names": ("other", "erase"), "node_ids": (1,)}),
        ([shell("erase"), stage("s")], {}, {"noop": True}),
    ],
    ids=["it-fails", "its-metadata-keep-the-node", "on-others", "noop"],
)
def test_a_deletion_that_deleted_nothing_frees_nothing(
    deployed: Executions, tasks: list[Task], metadata: dict[str, Any], options: dict[str, Any]
) -> None:
    deletion(deployed, *tasks, **metadata)
    deployed.backend.clusters.remove_nodes(1, [2, 3])

    deployed.run("deletion", **options)

    assert members(deployed) == {1: False, 2: True, 3: True}


def test_an_environment_with_marked_nodes_is_deleted(deployed: Executions) -> None:
    deletion(deployed, shell("erase"))
    deployed.backend.clusters.remove_nodes(1, None)
    assert members(deployed) == dict.fromkeys((1, 2, 3), True)

    deployed.backend.clusters.delete(1, force=True)

    assert [node.cluster_id for node in deployed.backend.nodes.list()] == [None] * 3
    assert not any(node.pending_deletion for node in deployed.backend.nodes.list())
    with refused(NotFound, "environment 1"):
        deployed.backend.runs.begin(RunRequest(1))
