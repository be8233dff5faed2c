"""A copy of an environment remembers what the runs of its original do."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from executions import Executions, shell

from fuelclient.backends.copies import all_inputs, copy_of
from fuelclient.backends.local import LocalBackend
from fuelclient.backends.plans import simulated
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import RunRequest

CHANGED = {"yaql_exp": "changed($.get('site'))"}


def test_a_copy_plans_like_its_original(env: Executions) -> None:
    env.graph(shell("always"), shell("on-change", condition=CHANGED, requires=["always"]))
    env.backend.facts.put(1, DeploymentFacts({"site": "a"}))
    assert env.run().status == "ready"
    env.backend.facts.put(1, DeploymentFacts({"site": "a"}, {"2": {"site": "b"}}))
    with closing(LocalBackend(str(env.directory / "copy.db"))) as engine:
        copied = engine.copies.store(copy_of(env.backend, 1)).cluster_id
        here, there = all_inputs(engine, copied), all_inputs(env.backend, 1)
        assert here.memory is not None
        assert there.memory is not None
        assert here.memory.last.keys() == there.memory.last.keys()
        assert here.memory.forgotten == there.memory.forgotten == ()
        assert [*here.memory.facts.values()] == [*there.memory.facts.values()]
        assert here.durations == there.durations
        assert here.facts == there.facts
        request = RunRequest(1)
        mine, original = (
            [(row.task, row.node, row.status, row.reason) for row in simulated(backend, asked)[0].instances]
            for backend, asked in ((engine, replace(request, cluster_id=copied)), (env.backend, request))
        )
        assert mine == original
        assert ("on-change", 2) in {(task, node) for task, node, status, _ in mine if status == "ready"}
        assert ("on-change", 1) in {(task, node) for task, node, status, _ in mine if status == "skipped"}
