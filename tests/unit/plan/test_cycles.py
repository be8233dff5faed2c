"""Cycles that are certain without the nodes of an environment, and several of them at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from building import task
from call_count import calls

from fuelclient.errors import CycleDetected
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.order import cycles_in
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import cycles_of, preview


def shell(name: str, *roles: str, **attributes: Any) -> Task:
    return task(name, type="shell", roles=list(roles), **attributes)


@pytest.mark.parametrize("roles", [("controller",), ("*",), ("primary-controller",), ()])
def test_two_tasks_of_one_node_that_require_each_other(roles: tuple[str, ...]) -> None:
    tasks = [shell("a", *roles, requires=["b"]), shell("b", *roles, requires=["a"]), shell("c", *roles)]
    findings = cycles_in(tasks)
    assert [(finding.code, finding.task) for finding in findings] == [("G050", ""), ("G050", "b"), ("G050", "a")]


def test_tasks_of_different_roles_need_not_meet() -> None:
    assert cycles_in([shell("a", "controller", requires=["b"]), shell("b", "compute", requires=["a"])]) == ()


def test_tasks_of_different_nodes() -> None:
    tasks = [
        shell("a", "controller", cross_depends=[{"name": "b", "role": "compute"}]),
        shell("b", "compute", cross_depends=[{"name": "a", "role": ["/(primary-)?controller/"]}]),
    ]
    assert {finding.task for finding in cycles_in(tasks)} == {"", "a", "b"}


def test_the_tasks_of_a_group() -> None:
    tasks = [
        task("controller", type="group", roles=["controller"], tasks=["a", "b"]),
        task("a", type="shell", requires=["b"]),
        task("b", type="shell", requires=["a"]),
    ]
    assert {finding.task for finding in cycles_in(tasks)} == {"", "a", "b"}


def test_a_task_that_only_waits_for_itself_is_no_cycle() -> None:
    assert cycles_in([shell("a", "controller", requires=["a", "/.*/"])]) == ()


def snapshot(tasks: list[Task], nodes: int) -> Snapshot:
    layer = Layer(Owner(Level.RELEASE, 1), tuple(tasks))
    fleet = tuple(Node(number, f"n{number}", roles=("r",)) for number in range(1, nodes + 1))
    return Snapshot(Cluster(1, "e", 1), (layer,), fleet, {"r": Role("r", ("r",))})


def rings(*names: str) -> list[Task]:
    """For each name, two tasks that require each other."""
    pairs = ((f"{name}-1", f"{name}-2") for name in names)
    return [shell(one, "r", requires=[other]) for pair in pairs for one, other in (pair, pair[::-1])]


def test_each_of_several_cycles_is_reported_once_for_all_nodes() -> None:
    with pytest.raises(CycleDetected) as caught:
        preview(snapshot(rings("x", "y", "z"), 5), PreviewOptions())
    assert tuple(caught.value.cycle) == ("x-1@1", "x-2@1")
    assert "2 more cycles" in caught.value.message
    tasks = [finding.task for finding in caught.value.findings if isinstance(finding, Finding)]
    assert sorted(tasks) == [""] * 3 + [f"{name}-{number}" for name in "xyz" for number in (1, 2)]


def test_cycles_of_an_environment_are_found_on_few_nodes() -> None:
    assert len(cycles_of(snapshot(rings("x", "y"), 200))) == 6
    across = [shell("a", "r", cross_depends=[{"name": "a", "role": "r"}])]
    assert {finding.task for finding in cycles_of(snapshot(across, 200))} == {"", "a"}
    assert cycles_of(snapshot(across, 1)) == ()


def ring(size: int) -> list[Task]:
    """Tasks that each require the next one, and the last one the first."""
    return [shell(f"t{number}", "controller", requires=[f"t{(number + 1) % size}"]) for number in range(size)]


def test_work_for_a_cycle_grows_with_its_length() -> None:
    cycles_in(ring(10))
    small, large = (calls(partial(cycles_in, ring(size))) for size in (200, 800))
    assert large < 5 * small
    (whole, *edges) = cycles_in(ring(200))
    assert (len(edges), whole.hint.count("drop ")) == (200, 10)
