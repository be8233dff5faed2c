"""Answers of a real Nailgun, reproduced by the whole plan: its layers, its nodes, and conditions on its facts."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest
from recorded_expansion import CASES, recorded
from recorded_snapshots import snapshot

from fuelclient.errors import CycleDetected
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import RunRequest
from fuelclient.plan.plan import Plan, plan
from fuelclient.plan.work import InstanceKind

pytestmark = pytest.mark.corpus

CLIQUE = "x_own"
"""The task of case 6a that waits for itself on every other controller."""

REASONS = {"stage": "type", "skipped-type": "type", "filter": "filtered", "condition": "condition"}
Instance = tuple[str, str | None]


@functools.cache
def planned(name: str, without: str = "") -> Plan:
    """A case as we plan it; `without` one task, by its id."""
    case = recorded(name)
    assert case["old_facts"] is None
    assert case["options"]["nodes"] is None
    request = RunRequest(1, (case["options"]["graph_type"],), task_names=tuple(case["options"]["tasks"] or ()))
    facts = DeploymentFacts(case["facts"]["common"], case["facts"]["nodes"])
    return plan(snapshot(case, without), request, Expressions(facts))


def run_of(name: str) -> tuple[Plan, str]:
    """The plan of a case, and the task that had to go so that there is one."""
    without = CLIQUE if name == "6a" else ""
    return planned(name, without), without


def instance(made: Plan, vertex: int) -> Instance:
    task, uid = made.at(vertex)
    return task.id, None if uid is None else str(uid)


def pairs(rows: Sequence[Sequence[Any]], without: str) -> set[tuple[Instance, Instance]]:
    """Recorded edges between different instances."""
    result = {((one[0], one[1]), (one[2], one[3])) for one in rows if without not in (one[0], one[2])}
    return {pair for pair in result if pair[0] != pair[1]}


@pytest.mark.parametrize("name", CASES)
def test_the_nodes_and_their_tags_are_nailguns(name: str) -> None:
    """Those that take part by the graph's own filter, and who of them is primary."""
    made, _ = run_of(name)
    wanted = {int(node["uid"]): set(node["all_tags"]) for node in recorded(name)["nodes"] if node["participates"]}

    assert {node.uid: set(node.tags) for node in made.fleet.nodes if isinstance(node.uid, int)} == wanted


@pytest.mark.parametrize("name", CASES)
def test_the_instances_are_nailguns_and_skipped_for_its_reasons(name: str) -> None:
    made, without = run_of(name)
    expected = recorded(name)["expected"]
    work = made.work
    wanted = {(task, uid): "runs" for task, uid, _ in expected["vertices"] if task != without}
    wanted |= {(task, uid): REASONS[why] for task, uid, why in expected["skipped"] if task != without}
    wanted |= {(task, uid): "sync_point" for task, uid, _ in expected["skipped"] if uid is None}

    assert {
        instance(made, v): "runs" if work.kinds[v] is InstanceKind.REAL else str(work.passed_because(v))
        for v in range(work.size)
    } == wanted


@pytest.mark.parametrize("name", CASES)
def test_the_parameters_are_nailguns(name: str) -> None:
    made, without = run_of(name)
    number = {instance(made, vertex): vertex for vertex in range(made.work.size)}
    sample = recorded(name)["expected"]["parameters_sample"]
    compared = 0
    for task, by_node in sample.items():
        for uid, wanted in by_node.items() if task != without else ():
            rendered = made.rendered.get(number[task, uid])
            if rendered is None:
                assert made.work.kinds[number[task, uid]] is not InstanceKind.REAL
                continue
            assert {key: rendered[key] for key in ("parameters", "fail_on_error")} == wanted, (task, uid)
            assert made.work.fail_on_error[number[task, uid]] == wanted["fail_on_error"]
            compared += 1

    assert compared >= 10


@pytest.mark.parametrize("name", CASES)
def test_the_fault_tolerance_is_nailguns(name: str) -> None:
    made, _ = run_of(name)
    result = [
        {
            "name": group.group,
            "node_ids": [str(made.fleet.nodes[node].uid) for node in group.nodes],
            "fault_tolerance": group.tolerated,
        }
        for group in made.work.fault_tolerance
    ]

    assert sorted(result, key=lambda group: str(group["name"])) == recorded(name)["expected"]["fault_tolerance_groups"]


@pytest.mark.parametrize("name", CASES)
def test_the_edges_are_nailguns(name: str) -> None:
    """All of them, those of expressions too. Where a policy lets any node of several be waited for, Nailgun's choice
    is arbitrary and ours is the first: edges from or to the others are looked at on that node."""
    made, without = run_of(name)
    expected = recorded(name)["expected"]
    result = {(instance(made, a), instance(made, b)) for a, b in made.expansion.edges.pairs()}
    wanted = pairs(expected["edges"], without)
    differing = [choice for choice in expected["policy_any"] if choice["chosen"][0] != choice["candidates"][0]]

    assert bool(differing) == (name == "6a")
    if not differing:
        assert result == wanted
        return
    (choice,) = differing
    theirs, ours = choice["chosen"][0], choice["candidates"][0]
    assert {edge[0][1] for edge in wanted - result} <= {theirs}
    assert {edge[0][1] for edge in result - wanted} <= {ours}
    assert {(edge[0][0], edge[1]) for edge in wanted - result} == {(edge[0][0], edge[1]) for edge in result - wanted}


def test_case_6a_is_cyclic_as_it_was_recorded() -> None:
    """Nailgun sends cycles out unchecked; a plan refuses them. There is no other one in it: without the task that
    waits for itself there is a plan."""
    edges = pairs(recorded("6a")["expected"]["edges"], without="")
    assert ((CLIQUE, "1"), (CLIQUE, "2")) in edges
    assert ((CLIQUE, "2"), (CLIQUE, "1")) in edges

    with pytest.raises(CycleDetected) as caught:
        planned("6a")

    assert caught.value.cycle == ("x_own@1", "x_own@2")
    assert planned("6a", CLIQUE).order.generations > 0
