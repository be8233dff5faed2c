"""A copy of an environment remembers what the runs of its original do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from command_line import CommandLine
from executions import Executions, shell
from refusals import refused

from fuelclient.backends.copies import all_inputs, copy_of
from fuelclient.backends.local import LocalBackend
from fuelclient.backends.plans import simulated
from fuelclient.errors import Conflict
from fuelclient.executors.registry import KINDS, connector
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
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


@pytest.fixture
def copy(env: Executions) -> Iterator[Executions]:
    """A copy of an environment, whose nodes 1 and 2 are copied; node 9 is one of its own."""
    env.graph(shell("here", env.note("here")))
    with closing(LocalBackend(str(env.directory / "copy.db"))) as engine:
        assert engine.copies.store(copy_of(env.backend, 1)).cluster_id == 1
        engine.nodes.create([Node(9, "own", 1, pending_roles=("compute",), executor="local")])
        yield replace(env, backend=engine)


@pytest.mark.parametrize("way", [{}, {"noop": True}, {"executor": "noop"}, {"dry_run": True, "executor": "local"}])
def test_a_run_on_a_copy_reaches_no_copied_node(copy: Executions, way: dict[str, Any]) -> None:
    run = copy.run(node_ids=(1, 2), **way)
    assert str(run.status) == "ready"
    assert copy.noted() == []


def test_another_executor_needs_on_originals(copy: Executions) -> None:
    for executor, noop, node_ids in product(KINDS, (False, True), ((), (2,), (2, 9))):
        kind = connector(executor)
        if kind.runs and not (noop and kind.needs_address):  # which does not look at a node without an address
            with refused(Conflict, "is a copy", f"executor {executor}") as caught:
                copy.begin(executor=executor, noop=noop, node_ids=node_ids)
            assert "--on-originals" in caught.value.hint
    assert [run for run in copy.backend.runs.list() if run.parent_id is None] == []


def test_own_nodes_are_reached_and_originals_on_request(copy: Executions) -> None:
    assert str(copy.run(node_ids=(9,), executor="local").status) == "ready"
    assert copy.noted() == ["here"]
    run = copy.run(executor="local", node_ids=(1,), on_originals=True)
    assert str(run.status) == "ready"
    assert run.request.on_originals
    assert copy.noted() == ["here", "here"]


def test_commands_and_saved_plans_say_what_they_are_meant_for(copy: Executions) -> None:
    fuel2, plan = CommandLine(copy.directory / "copy.db"), copy.directory / "plan.json"
    way = ("--env", 1, "--node", 1, "--executor", "local")
    done = fuel2("graph", "execute", *way, "--wait")
    assert (done.code, copy.noted()) == (6, [])
    assert "--on-originals" in done.err
    fuel2.ok("graph", "execute", *way, "--wait", "--on-originals")
    for option, code, count in (([], 6, 1), (["--on-originals"], 0, 2)):
        fuel2.ok("plan", "create", plan, *way, "--force", *option)
        assert fuel2("plan", "apply", plan, "--wait").code == code
        assert len(copy.noted()) == count
