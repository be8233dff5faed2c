"""Answers of a real Nailgun, reproduced: merged tasks, task instances, edges, fault tolerance."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from corpus import corpus
from corpus_graphs import default_graph
from orders import ordered

from fuelclient.errors import CycleDetected
from fuelclient.graph.merge import merge_layers
from fuelclient.model.graph import METADATA, Layer, Level, MergedTask, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.task import Task
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import MASTER, Fleet, FleetNode
from fuelclient.serializers.task import task_from

pytestmark = pytest.mark.corpus

CASES = ("1", "2", "4a", "4b", "6a", "7")
RELEASE = Owner(Level.RELEASE, 1)
Edge = tuple[str, str | None, str, str | None]


@functools.cache
def _case(name: str) -> Mapping[str, Any]:
    text = corpus("oracles", "expansion", f"case-{name}.json").read_text(encoding="utf-8")
    case: Mapping[str, Any] = json.loads(text)
    return case


def _tasks(records: Sequence[Any]) -> tuple[Task, ...]:
    result = []
    for position, record in enumerate(records, start=1):
        task, findings = task_from(record, file="", owner_label="oracle", position=position)
        assert task is not None, [str(finding) for finding in findings]
        result.append(task)
    return tuple(result)


def _layers(case: Mapping[str, Any]) -> list[Layer]:
    """The unmerged layers, the plugins' with the defaults that belong to their owners."""
    stated = case["layers"]
    layers = [_layer(RELEASE, stated["release"]), _layer(Owner(Level.CLUSTER, 1), stated["cluster"])]
    for record in stated["plugins"]:
        plugin = Plugin(record["id"], record["name"], record["version"], package_version=record["package_version"])
        owner = Owner(Level.PLUGIN, plugin.id, plugin.name, plugin.version)
        layers.append(_layer(owner, record["graph"], f"/etc/fuel/plugins/{plugin.directory}/"))
    return layers


def _layer(owner: Owner, graph: Mapping[str, Any], cwd: str = "") -> Layer:
    return Layer(owner, _tasks(graph["tasks"]), {key: graph[key] for key in METADATA if key in graph}, cwd)


def _expansion(name: str) -> Expansion:
    """The case expanded by us: its own merged tasks on its own nodes, `policy: any` as Nailgun chose."""
    case = _case(name)
    taking_part = sorted((node for node in case["nodes"] if node["participates"]), key=lambda node: int(node["uid"]))
    nodes = [FleetNode(int(node["uid"]), tuple(node["all_tags"])) for node in taking_part]
    fleet = Fleet((FleetNode(None), FleetNode(MASTER), *nodes))
    chosen = {tuple(any_of["candidates"]): any_of["chosen"] for any_of in case["expected"]["policy_any"]}

    def choose(candidates: Sequence[int]) -> int:
        uids = [str(fleet.nodes[index].uid) for index in candidates]
        (wanted,) = chosen[tuple(uids)]
        return candidates[uids.index(wanted)]

    return expand([MergedTask(task, RELEASE) for task in _tasks(case["tasks"])], fleet, choose=choose)


def _uid(expansion: Expansion, vertex: int) -> tuple[str, str | None]:
    uid = expansion.fleet.nodes[expansion.node_of[vertex]].uid
    return expansion.tasks[expansion.task_of[vertex]].id, None if uid is None else str(uid)


NETWORK = {("virtual_ips", "netconfig"), ("hiera_default_route", "netconfig"), ("tools", "hiera_default_route")}
WAITING: Mapping[str, set[tuple[str, str]]] = {
    "1": {*NETWORK, ("primary-cluster", "cluster")},
    "2": NETWORK,
    "4a": {*NETWORK, ("primary-cluster", "cluster")},
    "4b": set(),
    "6a": {("everywhere", f"y_{kind}") for kind in ("whole", "item", "name", "uidname")} | {("shared", "y_uidname")},
    "7": set(),
}
"""Which tasks wait for which because a YAQL expression says so: all that a plan without facts leaves out."""
COUNTS = {"1": 23, "2": 8, "4a": 31, "4b": 0, "6a": 15, "7": 0}


@pytest.mark.parametrize("name", CASES)
def test_the_instances_are_nailguns(name: str) -> None:
    expansion = _expansion(name)
    result = [_uid(expansion, vertex) for vertex in range(expansion.size)]

    assert len(result) == len(set(result))
    assert set(result) == {(task, node) for task, node, _ in _case(name)["expected"]["vertices"]}


@pytest.mark.parametrize("name", CASES)
def test_the_edges_are_nailguns(name: str) -> None:
    """Nothing is extra; missing is exactly what YAQL dependencies state."""
    expansion = _expansion(name)
    recorded: set[Edge] = {tuple(edge) for edge in _case(name)["expected"]["edges"] if edge[:2] != edge[2:]}
    result = {(*_uid(expansion, one), *_uid(expansion, other)) for one, other in expansion.edges.pairs()}

    assert not result - recorded
    missing = recorded - result
    assert {(before, after) for before, _, after, _ in missing} == WAITING[name]
    assert len(missing) == COUNTS[name]


@pytest.mark.parametrize("name", CASES)
def test_the_fault_tolerance_is_nailguns(name: str) -> None:
    expansion = _expansion(name)
    result = [
        {
            "name": group.group,
            "node_ids": [str(expansion.fleet.nodes[node].uid) for node in group.nodes],
            "fault_tolerance": group.tolerated,
        }
        for group in expansion.placement.fault_tolerance
    ]

    assert sorted(result, key=lambda one: str(one["name"])) == _case(name)["expected"]["fault_tolerance_groups"]


@pytest.mark.parametrize("name", ["4a", "4b", "7"])
def test_the_merge_is_nailguns(name: str) -> None:
    """As a set: Nailgun's order has no meaning."""
    case = _case(name)
    merged = merge_layers(_layers(case))
    recorded = {task.id: dict(task.attributes) for task in _tasks(case["tasks"])}

    assert not merged.findings
    assert len(merged.tasks) == len(recorded)
    assert {task.id: dict(task.task.attributes) for task in merged.tasks} == recorded
    metadata = case["options"]["graph_metadata"]
    assert merged.metadata == {key: metadata[key] for key in METADATA if key in metadata}


@pytest.mark.parametrize("name", CASES)
def test_only_the_synthetic_case_has_a_cycle(name: str) -> None:
    expansion = _expansion(name)
    if name != "6a":
        assert ordered(expansion).generations > 0
        return
    with pytest.raises(CycleDetected) as caught:
        ordered(expansion)
    assert caught.value.cycle == ("x_own@1", "x_own@2")


@pytest.mark.parametrize("number", [0, 1])
def test_a_recorded_deployment_ran_our_tasks(number: int) -> None:
    """What Fuel 9.0's Astute logged on one node is what we place there; the recorder left some names out."""
    recording = json.loads(corpus("oracles", "recorded-node-tasks.json").read_text(encoding="utf-8"))[number]
    fleet = Fleet((FleetNode(None), FleetNode(MASTER), FleetNode(1, tuple(recording["node_roles"]))))
    merged = merge_layers([default_graph(recording["fuel_library"])])
    expansion = expand(merged.tasks, fleet)
    here = {_uid(expansion, vertex)[0] for vertex in range(expansion.size) if expansion.node_of[vertex] == 2}

    kept = {name for name in here if not any(word in name for word in recording["not_recorded_substrings"])}

    assert kept - set(recording["not_run_because_of_condition"]) == set(recording["tasks"])


def test_there_are_two_recordings() -> None:
    assert len(json.loads(corpus("oracles", "recorded-node-tasks.json").read_text(encoding="utf-8"))) == 2
