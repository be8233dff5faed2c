"""Simulations: what would run when, what holds the end up, and the real graph of a release."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from building import snapshot
from corpus_graphs import default_graph, release
from schedule_traces import skips, vertex_of, work_from

from fuelclient.graph.merge import merge_layers
from fuelclient.insight.forecast import Simulation, simulate
from fuelclient.model.release import primary_tags_in, roles_in
from fuelclient.model.status import InstanceStatus, Verdict
from fuelclient.plan.expand import expand
from fuelclient.plan.fleet import SYNC, fleet_of
from fuelclient.plan.schedule import Change
from fuelclient.plan.work import Work, work_of


def _chain(work: Work, simulation: Simulation) -> list[str]:
    return [work.name(vertex) for vertex in simulation.critical]


def test_the_critical_chain_follows_dependencies() -> None:
    work = work_from({"n1": ["a"], "n2": ["b", "d"], "n3": ["c"]}, ["a@n1 -> b@n2", "c@n3 -> d@n2", "b@n2 -> d@n2"])
    at = vertex_of(work)
    takes = [0.0] * work.size
    for name, seconds in {"a@n1": 5, "b@n2": 2.5, "c@n3": 7, "d@n2": 1}.items():
        takes[at[name]] = seconds

    simulation = simulate(work, takes)
    assert _chain(work, simulation) == ["a@n1", "b@n2", "d@n2"]
    assert simulation.makespan == 8.5


def test_the_critical_chain_passes_sync_points_and_places() -> None:
    work = work_from(
        {"n1": ["a"], "n2": ["a", "z"], "sync": ["stage"]},
        ["a@n1 -> stage", "a@n2 -> stage", "stage -> z@n2"],
        limits={"a": 1},
    )
    simulation = simulate(work, [2.0] * work.size)

    assert _chain(work, simulation) == ["a@n1", "a@n2", "z@n2"]
    assert simulation.makespan == 6
    stage = vertex_of(work)["stage"]
    assert [moment.at for moment in simulation.moments if moment.change.vertex == stage] == [4]


def test_the_rest_of_a_run_is_simulated_from_its_history() -> None:
    work = work_from({"n1": ["a", "b"], "n2": ["a", "b"]}, ["a@n1 -> b@n1", "a@n2 -> b@n2", "b@n1 -> b@n2"])
    at = vertex_of(work)
    history = [Change(at["a@n1"], InstanceStatus.READY), Change(at["a@n2"], InstanceStatus.RUNNING)]

    simulation = simulate(work, [3] * work.size, history=history)
    assert at["a@n1"] not in simulation.last()
    assert _chain(work, simulation)[-1] == "b@n2"
    assert simulation.makespan == 6


def test_a_stop_after_the_end_comes_too_late() -> None:
    work = work_from({"n1": ["a"]})

    assert simulate(work, [2], stop_at=2).result.verdict is Verdict.READY
    assert simulate(work, [2], stop_at=1.9).result.verdict is Verdict.STOPPED


def _newton(assume: str) -> Work:
    metadata = release("newton").metadata
    taken = snapshot([default_graph("newton")], known=roles_in(metadata), primary=primary_tags_in(metadata))
    return work_of(expand(merge_layers(taken.layers).tasks, fleet_of(taken, assume=assume)))


def _starts(simulation: Simulation) -> dict[int, float]:
    return {m.change.vertex: m.at for m in simulation.moments if m.change.status is InstanceStatus.RUNNING}


def _between(simulation: Simulation, work: Work, begin: str, end: str) -> Sequence[float]:
    at, passed = vertex_of(work), {moment.change.vertex: moment.at for moment in simulation.moments}
    return passed[at[begin]], passed[at[end]]


@pytest.mark.corpus
@pytest.mark.slow
def test_newton_on_fifty_nodes() -> None:
    """The primary controller's own tasks take as long as everything: more nodes take no more time."""
    work = _newton("controller=3,compute+cinder=47")
    simulation = simulate(work, [1.0] * work.size)
    own = sum(node == 2 and kind == "real" for node, kind in zip(work.node_of, work.kinds, strict=True))

    assert simulation.result.verdict is Verdict.READY
    assert simulation.result.message == f"All {work.size} task instances ended."
    assert own <= simulation.makespan <= own + 20
    assert sum(1.0 for _ in simulation.critical) == simulation.makespan
    begin, end = _between(simulation, work, "deploy_start", "deploy_end")
    at = vertex_of(work)
    assert begin <= _starts(simulation)[at["netconfig@50"]] < end


@pytest.mark.corpus
def test_failed_compute_is_tolerated_and_failed_primary_not() -> None:
    """Of its computes 2% may fail: one of sixty, none of forty-nine."""
    work = _newton("controller=3,compute=60")
    at = vertex_of(work)
    simulation = simulate(work, [1.0] * work.size, {at["netconfig@20"]})
    told = skips(work, simulation)

    assert simulation.result.tolerated == (at["netconfig@20"],)
    assert simulation.result.verdict is Verdict.READY
    assert {name.partition("@")[2] for name, why in told.items() if why.startswith("node_failed")} == {"20"}

    simulation = simulate(work, [1.0] * work.size, {at["netconfig@1"]})
    assert simulation.result.verdict is Verdict.ERROR
    assert simulation.result.exceeded[0].group == "primary-controller"
    never = {vertex for vertex, change in simulation.last().items() if change.reason == "stopped"}
    assert any(work.node_of[vertex] == SYNC for vertex in never)
