"""Laws of computed dependencies: it does not matter whether a graph or an expression states them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from building import fleet
from hypothesis import given
from properties.strategies import fleets, graphs

from fuelclient.model.graph import MergedTask
from fuelclient.model.task import RELATION_LISTS, Relation
from fuelclient.plan.expand import Expansion, expand

SAME_NODE = ("requires", "required_for")


def hidden(task: MergedTask) -> MergedTask:
    """The task with expressions in place of its dependencies; stages keep theirs, which the chains of plugins read."""
    if task.task.type == "stage":
        return task
    attributes = dict(task.task.attributes)
    for name in (*SAME_NODE, *RELATION_LISTS):
        if name in attributes:
            attributes[name] = {"yaql_exp": "known to the test"}
    return replace(task, task=replace(task.task, attributes=attributes))


def pairs(expansion: Expansion) -> set[tuple[int, int]]:
    return expansion.edges.pairs()


@given(graphs(), fleets)
def test_dependencies_of_expressions_order_like_stated_ones(
    tasks: list[MergedTask], nodes: dict[int, list[str]]
) -> None:
    def computed(task: int, _node: int) -> Iterable[tuple[str, Relation]]:
        stated = tasks[task].task
        assert stated.type != "stage"
        for name in SAME_NODE:
            yield from ((name, Relation(word)) for word in stated.names(name))
        for name in RELATION_LISTS:
            yield from ((name, relation) for relation in stated.relations(name))

    assert pairs(expand([hidden(task) for task in tasks], fleet(nodes), computed=computed)) == pairs(
        expand(tasks, fleet(nodes))
    )


@given(graphs(), fleets)
def test_a_node_states_dependencies_for_itself_alone(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> None:
    """What only one node computes makes the edges that end, or begin, at its own instances, and no others."""
    places = fleet(nodes)
    only = len(places.nodes) - 1

    def computed(task: int, node: int) -> Iterable[tuple[str, Relation]]:
        if node != only:
            return
        for name in SAME_NODE:
            yield from ((name, Relation(word)) for word in tasks[task].task.names(name))

    expanded = expand([hidden(task) for task in tasks], places, computed=computed)
    chained = expand([hidden(task) for task in tasks], places)
    without = [replace(t, task=replace(t.task, attributes={
        k: v for k, v in t.task.attributes.items() if k not in RELATION_LISTS})) for t in tasks]  # fmt: skip
    everything = expand(without, places)
    expected = {
        pair
        for pair in pairs(everything) - pairs(chained)
        if only in (expanded.node_of[pair[0]], expanded.node_of[pair[1]])
    }

    assert pairs(expanded) == pairs(chained) | expected
