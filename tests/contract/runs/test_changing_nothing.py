"""Dry runs, noop runs and simulations tell what would happen, and change nothing."""

from __future__ import annotations

from executions import TOLERANT, Executions, shell
from refusals import missing

from fuelclient.backends.plans import planned, simulated
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Task


def test_a_dry_run_only_plans(env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    before = env.backend.nodes.list(1)

    found = env.begin(dry_run=True)

    assert (found.status, found.dry_run, found.progress) == ("ready", True, 100)
    assert found.message == "Dry run: 3 task instances would run, 0 would be skipped. Nothing was run."
    assert env.noted() == []
    assert env.backend.nodes.list(1) == before
    assert [(row.task, row.node, row.status) for row in env.rows(found.id)] == []
    (plan,) = planned(env.backend, RunRequest(1))
    assert [(one.task, one.node, one.runs) for one in plan.instances] == [
        ("a", 1, True),
        ("a", 2, True),
        ("a", 3, True),
    ]


def test_a_plan_counts_what_directories_leave_out_as_skipped(env: Executions) -> None:
    manifest = {"puppet_manifest": "/a.pp", "puppet_modules": "/m", "timeout": 9}
    env.graph(shell("a"), Task("b", {"type": "puppet", "roles": ["compute"], "parameters": manifest}))

    (plan,) = planned(env.backend, RunRequest(1, executor="directory"))

    assert {(one.task, one.runs, one.reason) for one in plan.instances} == {("a", True, ""), ("b", False, "executor")}


def test_a_noop_run_tells_and_changes_nothing(env: Executions) -> None:
    env.graph(shell("a", env.note("a")), shell("b", "if", requires=["a"]))
    before, status = env.backend.nodes.list(1), env.backend.clusters.get(1).status

    found = env.run(noop=True)

    assert found.status == "ready"
    assert env.noted() == []
    assert env.backend.nodes.list(1) == before
    assert env.backend.clusters.get(1).status == status
    assert env.outcomes(found.id)["a@1"] == ("ready", "")
    assert "script" in env.rows(found.id)[0].summary


def test_a_simulation_tells_what_a_failure_would_do(env: Executions) -> None:
    env.graph(TOLERANT, shell("a"), shell("b", requires=["a"]))

    (found,) = simulated(env.backend, RunRequest(1), ["a/2"])

    assert found.verdict == "ready"
    assert {(one.task, one.node): str(one.status) for one in found.instances}["b", 2] == "skipped"
    assert found.makespan == 2 * found.assumed_seconds
    assert found.known == 0
    with missing("task instance", "a/9"):
        simulated(env.backend, RunRequest(1), ["a/9"])
