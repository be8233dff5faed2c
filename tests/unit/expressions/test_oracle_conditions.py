"""Answers of a real Nailgun, reproduced on its recorded facts: what is skipped and why, what is rendered, and all
edges, those that YAQL computes included."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from building import RELEASE, tasks_from
from corpus import corpus

from fuelclient.expressions.evaluation import condition_of
from fuelclient.expressions.facts import Facts, View, Views
from fuelclient.expressions.render import Master, computed_relations, render
from fuelclient.model.graph import MergedTask
from fuelclient.model.status import Reason
from fuelclient.model.task import DEPENDENCIES, Relation
from fuelclient.plan.evaluate import evaluate
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import MASTER, Fleet, FleetNode

pytestmark = pytest.mark.corpus

CASES = ("1", "2", "4a", "4b", "6a", "7")
MASTER_SEEN = Master()
REASONS = {"stage": "type", "skipped-type": "type", "filter": "filtered", "condition": "condition"}
"""Ours for the recorded reasons."""

SIMPLE = {"id", "type", "parameters", "fail_on_error"}
Edge = tuple[str, str | None, str, str | None]


@functools.cache
def case(name: str) -> Mapping[str, Any]:
    text = corpus("oracles", "expansion", f"case-{name}.json").read_text(encoding="utf-8")
    result: Mapping[str, Any] = json.loads(text)
    return result


@dataclass(frozen=True)
class Planned:
    """A case as we plan it."""

    expansion: Expansion
    views: Views
    skips: Sequence[Reason | None]

    def view(self, task: int, node: int) -> View:
        return self.views.at(self.expansion.tasks[task].id, self.expansion.fleet.nodes[node].uid)

    def vertex(self, number: int) -> tuple[str, str | None]:
        uid = self.expansion.fleet.nodes[self.expansion.node_of[number]].uid
        return self.expansion.tasks[self.expansion.task_of[number]].id, None if uid is None else str(uid)


@functools.cache
def planned(name: str, memoise: bool = True) -> Planned:
    recorded = case(name)
    assert recorded["old_facts"] is None
    participants = sorted((n for n in recorded["nodes"] if n["participates"]), key=lambda node: int(node["uid"]))
    nodes = [FleetNode(int(node["uid"]), tuple(node["all_tags"])) for node in participants]
    fleet = Fleet((FleetNode(None), FleetNode(MASTER), *nodes))
    tasks = [MergedTask(task, RELEASE) for task in tasks_from(recorded["tasks"])]
    views = Views(Facts(recorded["facts"]["common"], recorded["facts"]["nodes"]), memoise=memoise)
    chosen = {tuple(item["candidates"]): item["chosen"][0] for item in recorded["expected"]["policy_any"]}

    def choose(candidates: Sequence[int]) -> int:
        uids = tuple(str(fleet.nodes[index].uid) for index in candidates)
        return candidates[uids.index(chosen[uids])]

    def computed(task: int, node: int) -> Iterable[tuple[str, Relation]]:
        view = views.at(tasks[task].id, fleet.nodes[node].uid)
        for name in DEPENDENCIES:
            yield from ((name, one) for one in computed_relations(tasks[task].task, name, view, MASTER_SEEN))

    def holds(task: int, node: int) -> bool:
        return condition_of(tasks[task].task, views.at(tasks[task].id, fleet.nodes[node].uid)).holds

    expansion = expand(tasks, fleet, choose=choose, computed=computed)
    return Planned(expansion, views, evaluate(expansion, holds, recorded["options"]["tasks"]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("memoise", [True, False], ids=["memoised", "plain"])
def test_the_skipped_instances_and_their_reasons_are_nailguns(name: str, memoise: bool) -> None:
    result = planned(name, memoise)
    skipped = {(*result.vertex(number), str(why)) for number, why in enumerate(result.skips) if why}
    expected = case(name)["expected"]

    assert skipped == {(task, node, REASONS[why]) for task, node, why in expected["skipped"]}
    ran = {result.vertex(number) for number, why in enumerate(result.skips) if why is None}
    assert ran == {(task, node) for task, node, kind in expected["vertices"] if kind != "skipped"}


@pytest.mark.parametrize("name", CASES)
def test_all_edges_are_nailguns(name: str) -> None:
    result = planned(name)
    edges = {(*result.vertex(item), *result.vertex(other)) for item, other in result.expansion.edges.pairs()}
    recorded: set[Edge] = {tuple(edge) for edge in case(name)["expected"]["edges"] if edge[:2] != edge[2:]}

    assert edges == recorded


@pytest.mark.parametrize("name", CASES)
def test_the_rendered_parameters_are_nailguns(name: str) -> None:
    result = planned(name)
    number = {result.vertex(vertex): vertex for vertex in range(result.expansion.size)}
    compared = 0
    for task_id, nodes in case(name)["expected"]["parameters_sample"].items():
        for uid, recorded in nodes.items():
            vertex = number[task_id, uid]
            task, node = result.expansion.task_of[vertex], result.expansion.node_of[vertex]
            rendered = render(result.expansion.tasks[task].task.attributes, result.view(task, node), MASTER_SEEN)
            assert {key: rendered[key] for key in ("parameters", "fail_on_error")} == recorded, (task_id, uid)
            compared += 1

    assert compared >= 10


def test_what_is_alike_is_evaluated_once() -> None:
    """On six nodes fewer than a third of newton's conditions and their parts are kept for one node alone."""
    views = planned("1").views

    assert len(views.shared) > 3 * len(views.own) > 0
