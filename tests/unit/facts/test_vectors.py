"""Facts that a real Nailgun sent, computed from their inputs; and its conditions, from nodes with roles alone."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from building import tasks_from
from corpus import corpus
from recorded_facts import bare, leaves, ubuntu, vectors, whole

from fuelclient.expressions.evaluation import Expressions
from fuelclient.expressions.facts import Facts, Past
from fuelclient.facts.compute import Computed, computed
from fuelclient.facts.given import Given, Kept
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.task import Task

pytestmark = pytest.mark.corpus

CASES = ("1", "2")


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def ranked(case: str, ranks: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The computed and the recorded leaves of keys of these ranks."""
    facts, expected = computed(*whole(case)).facts, vectors()["cases"][case]["expected"]
    both: list[dict[str, Any]] = []
    for common, nodes in ((facts.common, facts.nodes), (expected["common"], expected["nodes"])):
        kept = {"common": {key: common.get(key) for key, rank in vectors()["ranks"]["common"].items() if rank in ranks}}
        for uid in expected["nodes"]:
            names = vectors()["ranks"]["node"].items()
            kept[uid] = {key: nodes[uid].get(key) for key, rank in names if rank in ranks}
        both.append(dict(leaves(as_json(kept))))
    return both[0], both[1]


@pytest.mark.parametrize("case", CASES)
def test_each_leaf_that_libraries_read_is_nailguns(case: str) -> None:
    ours, theirs = ranked(case, ("must",))

    assert len(theirs) > 1000
    assert ours == theirs


@pytest.mark.parametrize("case", CASES)
def test_so_are_all_other_leaves(case: str) -> None:
    ours, theirs = ranked(case, ("should", "may"))

    assert ours == theirs


@pytest.mark.parametrize("case", CASES)
def test_there_are_no_other_keys(case: str) -> None:
    facts, expected = computed(*whole(case)).facts, vectors()["cases"][case]["expected"]

    assert set(facts.common) == set(expected["common"])
    assert {uid: set(part) for uid, part in facts.nodes.items()} == {
        uid: set(part) for uid, part in expected["nodes"].items()
    }


@functools.cache
def recorded_plan(case: str) -> Mapping[str, Any]:
    text = corpus("oracles", "expansion", f"case-{case}.json").read_text(encoding="utf-8")
    plan: Mapping[str, Any] = json.loads(text)
    return plan


@pytest.mark.parametrize("case", CASES)
def test_with_nothing_but_roles_all_conditions_are_nailguns(case: str) -> None:
    evaluation = Expressions(computed(bare(case), Given()).facts)
    tasks = {task.id: task for task in tasks_from(recorded_plan(case)["tasks"]) if "condition" in task.attributes}
    expected = recorded_plan(case)["expected"]
    skipped = {(task, node) for task, node, why in expected["skipped"] if why == "condition"}
    running = {(task, node) for task, node, kind in expected["vertices"] if kind != "skipped" and task in tasks}
    wanted = {**dict.fromkeys(skipped, False), **dict.fromkeys(running, True)}

    def key(node: str) -> int | str:
        return int(node) if node.isdigit() else node

    assert {(task, node): evaluation.condition(tasks[task], key(node))[0] for task, node in wanted} == wanted
    assert len(wanted) == vectors()["cases"][case]["condition_count"]


@pytest.mark.parametrize("case", CASES)
def test_with_nothing_but_roles_the_keys_are_nailguns(case: str) -> None:
    facts, expected = computed(bare(case), Given()).facts, vectors()["cases"][case]["expected"]

    assert set(facts.common) == set(expected["common"])
    assert {uid: set(part) for uid, part in facts.nodes.items()} == {
        uid: set(part) for uid, part in expected["nodes"].items()
    }


def of_roles(version: str, *, segmentation: str = "vlan") -> Environment:
    """Three controllers, a compute and a cinder node, which is all that anybody said."""
    roles = ("controller", "controller", "controller", "compute", "cinder")
    nodes = tuple(Node(number, f"n{number}", 1, pending_roles=(role,)) for number, role in enumerate(roles, start=1))
    base = bare("1")
    cluster = replace(base.cluster, net_segment_type=segmentation)
    return Environment(cluster, ubuntu(version), (), nodes)


def again(first: Computed, target: Environment) -> Computed:
    return computed(target, Given(first.kept))


@functools.cache
def library(version: str) -> tuple[Task, ...]:
    from corpus_graphs import default_graph

    return tuple(task for task in default_graph(version).tasks if "condition" in task.attributes)


def verdicts(facts: DeploymentFacts, tasks: tuple[Task, ...], before: DeploymentFacts | None = None) -> dict[str, bool]:
    """Whether each condition holds on any node; with facts `before`, as if every task had succeeded on those."""
    nodes = [*(int(uid) for uid in facts.nodes if uid.isdigit())]
    past = Past({}, {})
    if before is not None:
        last = {(task.id, str(node)): 1 for task in tasks for node in nodes}
        past = Past({1: Facts(before.common, before.nodes)}, last)
    evaluation = Expressions(facts, past)
    holding: dict[str, bool] = {}
    for node in nodes:
        for task in tasks:
            holding[task.id] = evaluation.condition(task, node)[0] or holding.get(task.id, False)
    return holding


def asks_for_changes(task: Task) -> bool:
    return "changed" in str(task.attributes["condition"])


@pytest.mark.parametrize("segmentation", ["vlan", "tun", "gre"])
@pytest.mark.parametrize("version", ["9.0", "newton"])
def test_an_unchanged_second_run_sees_no_change(version: str, segmentation: str) -> None:
    """A first run stops reading at the first change, so that this run reads more."""
    target, tasks = of_roles(version, segmentation=segmentation), library(version)
    first = computed(target, Given())
    second = again(first, target)
    assert json.dumps(second.facts.common) == json.dumps(first.facts.common)

    verdicts(first.facts, tasks)
    holding = verdicts(second.facts, tasks, first.facts)
    asking = [task for task in tasks if asks_for_changes(task)]
    assert asking
    assert not [task.id for task in asking if holding[task.id]]


def test_deployed_status_is_seen_by_tasks_that_read_all_facts() -> None:
    target, tasks = of_roles("newton"), library("newton")
    first = computed(target, Given())
    deployed = replace(
        target,
        cluster=replace(target.cluster, status="operational"),
        nodes=tuple(replace(n, status="ready", roles=n.pending_roles, pending_roles=()) for n in target.nodes),
    )
    second = again(first, deployed)
    differing = {
        path for path, value in leaves(second.facts.common) if dict(leaves(first.facts.common)).get(path) != value
    }
    assert differing == {".cluster.status"}

    holding = verdicts(second.facts, tasks, first.facts)
    reading = {task.id for task in tasks if asks_for_changes(task) and "changed($)" in str(task.attributes)}
    assert {task.id for task in tasks if asks_for_changes(task) and holding[task.id]} <= reading


def test_a_node_that_is_added_changes_no_address() -> None:
    target = of_roles("newton")
    first = computed(target, Given())
    more = replace(target, nodes=(Node(10, "n10", 1, pending_roles=("compute",)), *target.nodes))
    second = again(first, more)

    assert second.kept.vips == first.kept.vips
    assert len(first.kept.vips) == 4
    for network, addresses in first.kept.addresses.items():
        assert {node: second.kept.addresses[network][node] for node in addresses} == dict(addresses)
    assert second.kept.addresses["management"][10] == "192.168.0.8"
    assert first.kept.vips == {
        "vrouter": "192.168.0.6", "management": "192.168.0.7", "vrouter_pub": "172.16.0.5", "public": "172.16.0.6",
    }  # fmt: skip


def test_what_is_kept_is_all_that_facts_need_to_stay() -> None:
    target = of_roles("newton")
    first = computed(target, Given())
    through_json = json.loads(json.dumps({"addresses": {n: dict(a) for n, a in first.kept.addresses.items()}}))
    addresses = {name: {int(k): v for k, v in by.items()} for name, by in through_json["addresses"].items()}
    kept = Kept(first.kept.generated, addresses, first.kept.vips)

    assert computed(target, Given(kept)).facts == first.facts
