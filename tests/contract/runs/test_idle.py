"""What every backend begins although nothing of it would run: graphs without a task for any node, and, where a caller
says that it may be so, selections."""

from __future__ import annotations

from typing import Any

import pytest
from executions import Executions, shell, stage
from refusals import refused

from fuelclient.backends.plans import planned
from fuelclient.errors import InvalidGraph, UsageError
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Task

IDLE = Task("idle", {"type": "skipped", "roles": ["compute"]})

NOTHING: dict[str, tuple[list[Task], dict[str, Any]]] = {
    "no-task": ([], {}),
    "stages": ([stage("s"), stage("t", requires=["s"])], {}),
    "no-node-of-the-role": ([stage("s"), shell("x", roles=["storage"], requires=["s"])], {}),
    "no-node-of-the-filter": ([stage("s"), shell("x", roles=["/.*/"])], {"node_filter": "$.pending_deletion"}),
}
"""Graphs without a task for any node, with their metadata."""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        pytest.param(place, kind, marks=() if place == 1 or kind == "no-task" else pytest.mark.slow)
        for place in (0, 1, 2)
        for kind in NOTHING
    ],
)
def test_graph_with_nothing_to_do_ends_ready_at_any_place(env: Executions, kind: str, place: int) -> None:
    tasks, metadata = NOTHING[kind]
    env.graph(*tasks, graph_type="nothing", metadata=metadata)
    env.graph(shell("a", env.note("a"), cross_depends=[]), graph_type="one")
    env.graph(shell("b", env.note("b")), graph_type="two")
    types = ["one", "two"]
    types.insert(place, "nothing")

    ended = env.run(*types)

    assert (ended.status, ended.message) == ("ready", "All 3 graphs ended. There was nothing to do for nothing.")
    assert sorted(env.noted()) == ["a"] * 3 + ["b"] * 3
    children = {child.graph_type: child for child in ended.children}
    assert [child.status for child in children.values()] == ["ready"] * 3
    assert [name for name, child in children.items() if "G066" in {one.code for one in child.findings}] == ["nothing"]
    assert {row.status for row in env.rows(children["nothing"].id)} <= {"skipped"}


@pytest.mark.parametrize("kind", NOTHING)
def test_a_graph_with_nothing_to_do_touches_no_node(env: Executions, kind: str) -> None:
    tasks, metadata = NOTHING[kind]
    env.graph(*tasks, metadata=metadata)
    before = env.backend.nodes.list(1)

    ended = env.run()

    assert (ended.status, ended.message) == ("ready", "There was nothing to do.")
    assert env.backend.nodes.list(1) == before
    assert env.begin(dry_run=True).status == "ready"


@pytest.mark.parametrize("selection", [{"task_names": ("idle",)}, {"task_names": ("s",)}, {"subgraphs": ("idle/1",)}])
def test_tasks_that_do_nothing(env: Executions, selection: dict[str, Any]) -> None:
    env.graph(stage("s"), IDLE, shell("a", env.note("a")))
    request = RunRequest(1, **selection)
    with refused(InvalidGraph, "selection", "default graph", *next(iter(selection.values()))):
        env.backend.runs.begin(request)

    begun = env.backend.runs.begin(request, may_idle=True)

    assert env.ended(begun.id).status == "ready"
    assert env.noted() == []
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}


def test_a_part_of_nothing_is_refused_all_the_same(env: Executions) -> None:
    env.graph(IDLE, shell("a"), shell("b", requires=["a"]))
    with refused(InvalidGraph, "selection", "default graph", "b:a"):
        env.backend.runs.begin(RunRequest(1, subgraphs=("b:a",)), may_idle=True)
    assert env.backend.runs.list() == []


def test_a_subgraph_without_ends_fails_when_its_turn_comes(env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    request = RunRequest(1, subgraphs=("a", ":"))
    with refused(UsageError, "subgraph"):
        env.backend.runs.begin(request)

    begun = env.backend.runs.begin(request, may_idle=True)

    ended = env.ended(begun.id)
    assert ended.status == "error"
    assert "names no task" in ended.message
    assert env.noted() == []
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}


def test_named_nodes_of_which_none_is_online_are_refused(env: Executions) -> None:
    (away,) = env.backend.nodes.create(
        [Node(0, "away", cluster_id=1, roles=("compute",), executor="local", online=False)]
    )
    env.graph(shell("a", env.note("a")), stage("s"))
    with refused(InvalidGraph, "default graph"):
        env.begin(node_ids=(away.id,))
    assert env.begin(node_ids=(away.id,), dry_run=True).status == "ready"
    assert env.run(node_ids=(away.id, 1)).status == "ready"
    assert env.noted() == ["a"]


def test_a_dry_run_without_a_node_names_the_run_that_has_them(env: Executions) -> None:
    env.graph(shell("a", env.held("a")))
    env.graph(shell("b"), graph_type="two")
    begun = env.begin()
    env.until(begun.id, lambda _: env.noted())

    (plan,) = planned(env.backend, RunRequest(1, ("two",)))
    hints = [finding.hint for finding in plan.findings if finding.code == "G066"]

    env.let_go()
    env.ended(begun.id)
    assert [f"`fuel2 task watch {begun.id}`" in hint for hint in hints] == [True]
