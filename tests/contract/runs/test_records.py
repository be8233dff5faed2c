"""What is left of a run: its history, its place in the list, until it is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from executions import TOLERANT, Executions, shell, stage
from refusals import missing, refused

from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.node import Node
from fuelclient.model.run import HistoryFilter


def test_histories_are_filtered(env: Executions) -> None:
    env.graph(
        stage("s"), shell("a"), shell("b", condition=False), shell("nowhere", roles=["storage"]), TOLERANT,
    )  # fmt: skip
    found = env.run()
    history = env.backend.runs.history

    assert [(row.task, row.node, row.status, row.time_start) for row in history(found.id)][-1] == (
        "nowhere", "-", "skipped", None,
    )  # fmt: skip
    assert history(found.id)[-1].message == "none of the nodes of this run has its roles"
    assert len(history(found.id)) == 8
    assert {row.task for row in history(found.id, HistoryFilter(nodes=("1",)))} == {"a", "b"}
    assert {row.task for row in history(found.id, HistoryFilter(nodes=("null",)))} == {"s"}
    assert {row.task for row in history(found.id, HistoryFilter(statuses=("skipped",)))} == {"s", "b", "nowhere"}
    assert {row.node for row in history(found.id, HistoryFilter(tasks=("nowhere", "s")))} == {None, "-"}
    assert history(found.id)[1].definition["parameters"]["cmd"] == "true"
    with pytest.raises(UsageError) as caught:
        history(found.id, HistoryFilter(statuses=("NOTEXISTING",)))
    text = "Statuses parameter could be only: pending, ready, running, error, skipped"
    assert caught.value.message.startswith(text)  # Nailgun's own text, which scripts match


def test_unknown_filters_are_refused_with_the_nearest_name(env: Executions) -> None:
    env.graph(stage("s"), shell("netconfig"), shell("nowhere", roles=["storage"]), graph_type="one")
    env.graph(shell("keystone"), graph_type="two")
    found = env.run("one", "two")
    history = env.backend.runs.history
    with missing("task", f"netconfg of run {found.id}", "netconfig"):
        history(found.id, HistoryFilter(tasks=("keystone", "netconfg")))
    with missing("node", f"9 of run {found.id}", "3"):
        history(found.id, HistoryFilter(nodes=("1", "9")))
    with missing("task", f"keystone of run {found.children[0].id}"):
        history(found.children[0].id, HistoryFilter(tasks=("keystone",)))
    assert history(found.id, HistoryFilter(nodes=("master",), tasks=("nowhere",))) == []
    assert history(found.id, HistoryFilter(("1",), ("error",), ("keystone",))) == []
    (spare,) = env.backend.nodes.create([Node(0, "spare")])
    assert history(found.id, HistoryFilter(nodes=(str(spare.id),))) == []
    assert len(history(found.id, HistoryFilter(tasks=("keystone",)))) == 3
    with refused(UsageError, "deploiment", "deployment"):
        env.backend.runs.list(names=("deploiment",))
    assert env.backend.runs.list(names=("provision",)) == []


def test_a_task_of_a_graph_that_was_not_planned_yet_may_come(env: Executions) -> None:
    env.graph(shell("slow", env.held("began")), graph_type="one")
    env.graph(shell("later"), graph_type="two")
    begun = env.begin("one", "two")
    assert env.backend.runs.history(begun.id, HistoryFilter(tasks=("later",))) == []
    env.let_go()
    env.ended(begun.id)


def test_a_run_is_deleted_with_everything_of_it(env: Executions) -> None:
    env.graph(shell("a", "echo x"))
    found = env.run()
    files = Path(f"{env.engine}.runs")
    assert any(files.iterdir())

    with refused(Conflict, f"run {found.children[0].id}", f"run {found.id}"):
        env.backend.runs.delete(found.children[0].id)
    env.backend.runs.delete(found.id)

    assert env.backend.runs.list() == []
    assert not any(files.iterdir())
    with pytest.raises(NotFound) as missing:
        env.backend.runs.get(found.id)
    assert (missing.value.noun, missing.value.key) == ("run", found.id)


def test_environment_with_a_running_execution_is_not_deleted(env: Executions) -> None:
    env.graph(shell("slow", env.held("began")))
    begun = env.begin()
    env.until(begun.id, lambda _: env.noted())

    with refused(Conflict, f"run {begun.id}", "environment 1", f"task stop {begun.id}"):
        env.backend.clusters.delete(1, force=True)
    env.let_go()
    assert env.ended(begun.id).status == "ready"
    with refused(Conflict, "operational environment", "--force"):
        env.backend.clusters.delete(1)
    env.backend.clusters.delete(1, force=True)

    assert env.backend.runs.list() == []
    assert [node.cluster_id for node in env.backend.nodes.list()] == [None] * 3
    assert not any(Path(f"{env.engine}.runs").iterdir())


def test_runs_are_listed_by_what_they_are(env: Executions) -> None:
    env.graph(shell("a"))
    env.graph(shell("b", "false"), graph_type="bad")
    ready, failed = env.run(), env.run("bad")

    everything = env.backend.runs.list(cluster_id=1)
    assert [(one.name, one.parent_id) for one in everything] == [
        ("deploy", None), ("deployment", ready.id), ("deploy", None), ("deployment", failed.id),
    ]  # fmt: skip
    found = env.backend.runs.list(statuses=("error",), names=("deploy",))
    assert [one.id for one in found] == [failed.id]
    with refused(UsageError, "broken"):
        env.backend.runs.list(statuses=("broken",))
