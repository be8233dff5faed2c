"""Laws of the order effect: it agrees with a naive closure over pairs of instances."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import pytest
from building import fleet
from hypothesis import given, settings
from hypothesis import strategies as st
from properties.strategies import fleets, graphs

from fuelclient.errors import InvalidGraph
from fuelclient.insight.comparison import Pair, order_effect
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.task import Task
from fuelclient.plan.expand import Expansion, expand

Instance = tuple[str, int | str | None]
Orderings = set[tuple[Instance, Instance]]


def direct(expansion: Expansion) -> Orderings:
    names = [
        (expansion.tasks[task].id, expansion.fleet.nodes[node].uid)
        for task, node in zip(expansion.task_of, expansion.node_of, strict=True)
    ]
    return {(names[before], names[after]) for before, after in expansion.edges.pairs()}


def closure(edges: Orderings, through: Collection[Instance] | None = None) -> Orderings:
    """Return the transitive closure; with `through`, only over paths whose inner vertices are among them."""
    after: dict[Instance, set[Instance]] = {vertex: set() for edge in edges for vertex in edge}
    for one, other in edges:
        after[one].add(other)
    for middle in after if through is None else after.keys() & set(through):
        for following in after.values():
            if middle in following:
                following.update(after[middle])
    return {(one, other) for one, following in after.items() for other in following}


@settings(max_examples=40)
@given(graphs(), graphs(), fleets, st.integers(1, 400))
def test_the_order_effect_is_the_difference_of_the_closures(
    one: list[MergedTask], other: list[MergedTask], nodes: dict[int, list[str]], bits: int
) -> None:
    expansions = expand(one, fleet(nodes)), expand(other, fleet(nodes))
    edges = [direct(expansion) for expansion in expansions]
    closures = [closure(told) for told in edges]
    if any(before == after for closed in closures for before, after in closed):
        with pytest.raises(InvalidGraph):
            order_effect(*expansions)
        return
    instances = [
        {
            (told.tasks[task].id, told.fleet.nodes[node].uid)
            for task, node in zip(told.task_of, told.node_of, strict=True)
        }
        for told in expansions
    ]
    shared = instances[0] & instances[1]
    old, new = ({(before, after) for before, after in closed if {before, after} <= shared} for closed in closures)

    effect = order_effect(*expansions, most_bits=bits)

    assert effect.instances == len(shared)
    assert (effect.orderings_before, effect.orderings_after) == (len(old), len(new))
    assert (effect.orderings_lost, effect.orderings_gained) == (len(old - new), len(new - old))
    for pairs, told, only in ((effect.lost, edges[0], old - new), (effect.gained, edges[1], new - old)):
        near = {pair for pair in closure(told, {vertex for edge in told for vertex in edge} - shared) if pair in only}
        assert {(pair.before, pair.after) for pair in pairs} == {(before[0], after[0]) for before, after in near}
        assert sum(pair.instances for pair in pairs) == len(near)
    named = [{(before[0], after[0]) for before, after in told if before[0] != after[0]} for told in edges]
    assert set(effect.edges_removed) == named[0] - named[1]
    assert set(effect.edges_added) == named[1] - named[0]


@settings(max_examples=20)
@given(graphs(), fleets)
def test_a_graph_has_no_effect_on_itself(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> None:
    expansion = expand(tasks, fleet(nodes))
    try:
        effect = order_effect(expansion, expansion)
    except InvalidGraph:
        return
    assert (effect.orderings_lost, effect.orderings_gained, effect.edges_removed, effect.lost) == (0, 0, (), ())
    assert effect.orderings_before == effect.orderings_after


def placed(stated: Mapping[str, list[str]]) -> Expansion:
    """Tasks with their `requires`, on one node."""
    tasks = [Task(name, {"type": "shell", "roles": ["web"], "requires": names}) for name, names in stated.items()]
    return expand([MergedTask(task, Owner(Level.RELEASE, 1)) for task in tasks], fleet({1: ["web"]}))


def test_of_opposite_orders_one_is_lost_and_one_gained() -> None:
    one, other = ({first: [], second: [first], "last": [second], "alone": []} for first, second in ("ab", "ba"))

    effect = order_effect(placed(one), placed(other))

    assert (effect.orderings_before, effect.orderings_after) == (3, 3)
    assert (effect.lost, effect.gained) == ((Pair("a", "b", 1),), (Pair("b", "a", 1),))


class Counted(list[int]):
    """The vertices before one; `reads` counts how often they were read, of all lists together."""

    reads = 0

    def __iter__(self) -> Iterator[int]:
        Counted.reads += 1
        return super().__iter__()


def test_what_follows_a_chain_that_one_graph_lacks_is_found_without_walking_it_again() -> None:
    links, tasks = range(200), [f"task-{number}" for number in range(200)]
    chain = {f"link-{number}": [f"link-{number - 1}"] if number else ["first"] for number in links}
    after = {task: [f"link-{number}", "link-199"] for number, task in enumerate(tasks)}
    old, new = placed({"first": [], **chain, **after}), placed({"first": [], **{task: [] for task in tasks}})
    vars(old)["predecessors"] = [Counted(before) for before in old.predecessors]

    effect = order_effect(old, new)

    assert set(effect.lost) == {Pair("first", task, 1) for task in tasks}
    assert len(old.predecessors) < Counted.reads < 10 * len(old.predecessors)
