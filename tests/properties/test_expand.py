"""Laws of the expansion: barriers change nothing but the number of edges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from building import fleet
from hash_seeds import same_answer
from hypothesis import given
from orders import ordered
from properties.strategies import fleets, graphs
from properties.test_dag import generations_by_graphlib, shortest_by_brute_force

from fuelclient.errors import CycleDetected
from fuelclient.model.graph import MergedTask
from fuelclient.plan.expand import expand

Uid = int | str | None
Instance = tuple[int, Uid]
Why = tuple[int, str, str]


class Naive:
    """A naive expansion: every pair of instances is looked at, every edge is stored."""

    def __init__(self, tasks: Sequence[MergedTask], nodes: Mapping[int, Sequence[str]]) -> None:
        self.tasks, self.nodes = tasks, nodes
        self.bodies = [task.task.attributes for task in tasks]
        self.placed: set[Instance] = {(index, uid) for index in range(len(tasks)) for uid in self._places(index)}
        for group, body in enumerate(self.bodies):
            if body["type"] == "group":
                members = [i for i, task in enumerate(tasks) if task.id in body["tasks"]]
                self.placed |= {
                    (member, uid) for member in members for uid in self._resolve(self.bodies[group]["roles"])
                }
        self.edges: dict[tuple[Instance, Instance], set[Why]] = {}
        for index, uid in self.placed:
            self._edges_of(index, uid)
        self._chain()

    def _matches(self, word: str, name: str) -> bool:
        return re.match(word[1:-1], name) is not None if word[0] == word[-1] == "/" else word == name

    def _resolve(self, stated: str | Sequence[str]) -> list[Uid]:
        words = [stated] if isinstance(stated, str) else list(stated)
        result: list[Uid] = ["master"] if "master" in words else []
        for uid in sorted(self.nodes):
            tags = self.nodes[uid]
            wanted = bool(tags) if words == ["*"] else any(self._matches(w, tag) for w in words for tag in tags)
            result += [uid] if wanted else []
        return result

    def _places(self, index: int) -> list[Uid]:
        kind = self.bodies[index]["type"]
        return [None] if kind == "stage" else [] if kind == "group" else self._resolve(self.bodies[index]["roles"])

    def _on(self, word: str, uid: Uid) -> list[Instance]:
        return [
            (i, uid) for i, task in enumerate(self.tasks) if (i, uid) in self.placed and self._matches(word, task.id)
        ]

    def _add(self, before: Instance, after: Instance, why: Why) -> None:
        if before != after:
            self.edges.setdefault((before, after), set()).add(why)

    def _edges_of(self, index: int, uid: Uid) -> None:
        body = self.bodies[index]
        for attribute in ("requires", "required_for"):
            for word in body.get(attribute, ()):
                for other in {*self._on(word, uid), *self._on(word, None)}:
                    pair = (other, (index, uid)) if attribute == "requires" else ((index, uid), other)
                    self._add(*pair, (index, attribute, word))
        for attribute in ("cross_depends", "cross_depended_by"):
            for entry in body.get(attribute, ()):
                for other in self._others(entry, uid):
                    pair = (other, (index, uid)) if attribute == "cross_depends" else ((index, uid), other)
                    self._add(*pair, (index, attribute, entry["name"]))

    def _others(self, entry: Mapping[str, Any], uid: Uid) -> list[Instance]:
        role = entry["role"]
        if role is None:
            return self._on(entry["name"], None)
        if role == "self":
            return self._on(entry["name"], uid)
        # as in Nailgun, `*` is every node only as a text; in a list of a relation it is an ordinary name
        nodes = self._resolve(role if isinstance(role, str) else [word for word in role if word != "*"])
        if entry.get("policy") == "any":
            nodes = nodes[:1]
        return [other for node in nodes for other in self._on(entry["name"], node)]

    def _chain(self) -> None:
        """The entries of the stage `s`, and of a stage that the graph does not have."""
        ids = [task.id for task in self.tasks]
        end = ids.index("s_end")
        then = [
            (i, None) for i, body in enumerate(self.bodies)
            if body["type"] == "stage" and i != end
            and ("s_end" in body.get("requires", ()) or ids[i] in self.bodies[end].get("required_for", ()))
        ]  # fmt: skip
        for stage in ("s", "ghost"):
            entries = []
            for index, body in enumerate(self.bodies):
                name, _, number = str(body.get("stage")).partition("/")
                if body.get("stage") and name == stage:
                    entries.append((float(number or 0), index))
            before: list[Instance] = [one for one in self.placed if one[0] == end] if stage == "s" else []
            for _, index in sorted(entries):
                here = [one for one in self.placed if one[0] == index]
                for one in here:
                    why = (index, "stage", self.bodies[index]["stage"])
                    for other in before:
                        self._add(other, one, why)
                    for other in then if stage == "s" else ():
                        self._add(one, other, why)
                before = here or before


@given(graphs(), fleets)
def test_barriers_and_direct_edges_order_alike(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> None:
    naive = Naive(tasks, nodes)
    expanded = expand(tasks, fleet(nodes))
    vertex: list[Instance] = [
        (task, expanded.fleet.nodes[node].uid) for task, node in zip(expanded.task_of, expanded.node_of, strict=True)
    ]

    assert len(set(vertex)) == len(vertex)
    assert set(vertex) == naive.placed
    assert {(vertex[before], vertex[after]) for before, after in expanded.edges.pairs()} == set(naive.edges)

    number = {instance: index for index, instance in enumerate(vertex)}
    successors: list[list[int]] = [[] for _ in vertex]
    for before, after in naive.edges:
        successors[number[before]].append(number[after])
    expected = generations_by_graphlib(successors)
    if expected is not None:
        assert ordered(expanded).generation == expected
        return
    with pytest.raises(CycleDetected) as caught:
        ordered(expanded)
    assert len(caught.value.cycle) == shortest_by_brute_force(successors)
    assert len(caught.value.findings) >= len(caught.value.cycle)  # more for cycles of other tasks


@given(graphs(), fleets)
def test_every_edge_knows_why(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> None:
    naive = Naive(tasks, nodes)
    expanded = expand(tasks, fleet(nodes))
    vertex: list[Instance] = [
        (task, expanded.fleet.nodes[node].uid) for task, node in zip(expanded.task_of, expanded.node_of, strict=True)
    ]

    for before, after in expanded.edges.pairs():
        told = {(why.task, why.attribute, why.word) for why in expanded.edges.reasons_between(before, after)}
        assert told, "an edge that nobody asked for"
        assert told <= naive.edges[vertex[before], vertex[after]]


@given(graphs(), fleets)
def test_vertices_are_numbered_by_task_and_node(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> None:
    expanded = expand(tasks, fleet(nodes))

    assert list(zip(expanded.task_of, expanded.node_of, strict=True)) == sorted(
        zip(expanded.task_of, expanded.node_of, strict=True)
    )
    assert [node.uid for node in expanded.fleet.nodes] == [None, "master", *sorted(nodes)]


@given(graphs(), fleets)
def test_the_same_input_gives_the_same_expansion(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> None:
    one, other = expand(tasks, fleet(nodes)), expand(list(tasks), fleet(dict(reversed(nodes.items()))))

    assert (one.edges.heads, one.edges.tails, one.edges.reasons) == (
        other.edges.heads,
        other.edges.tails,
        other.edges.reasons,
    )


_PREVIEW = """
from building import CLUSTER, layer, plugin, snapshot, task
from properties.crowded import PRIMARY, ROLES, layers
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview

more = [
    layer(plugin("zeta", "2.0.0"), task("task-3", type="puppet", requires=["gohst"])),
    layer(plugin("alfa", "2.0.0"), task("task-3", type="puppet", tags=["tag-3"])),
    layer(CLUSTER, task("task-5", parameters={"b": 1, "a": 2})),
]
print(preview(snapshot([*layers(), *more], known=ROLES, primary=PRIMARY), PreviewOptions()))
"""


def test_hash_seeds_do_not_show() -> None:
    """Nothing of the order of sets reaches a preview."""
    assert len(same_answer(_PREVIEW)) > 10_000
