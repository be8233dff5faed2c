"""Edges: what barriers stand for, and why each edge is there."""

from __future__ import annotations

from building import barriers
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.graph.dag import order
from fuelclient.plan.expand import EdgeReason, Edges

WHY = EdgeReason(0, "cross_depends", "x")
sides = st.lists(st.integers(0, 9), unique=True, max_size=6)


@given(st.lists(st.tuples(sides, sides, st.sampled_from(["", "before", "after"])), max_size=5))
def test_joins_are_every_pair_of_both_sides(joins: list[tuple[list[int], list[int], str]]) -> None:
    """Whatever is shared, and whether the sides overlap: the pairs are those of the sides, but for own ones."""
    edges = Edges(10)
    expected: dict[tuple[int, int], set[int]] = {}
    for number, (before, after, shared) in enumerate(joins):
        side = {"": (), "before": tuple(before), "after": tuple(after)}[shared]
        edges.join(before, after, EdgeReason(number, "cross_depends", "x"), shared=side)
        for one in before:
            for other in after:
                if one != other:
                    expected.setdefault((one, other), set()).add(number)

    assert edges.pairs() == set(expected)
    for (one, other), numbers in expected.items():
        told = {reason.task for reason in edges.reasons_between(one, other)}
        assert told
        assert told <= numbers


def test_many_to_many_costs_one_barrier() -> None:
    edges = Edges(200)
    edges.join(range(100), range(100, 200), WHY)

    assert (barriers(edges), len(edges)) == (1, 200)


def test_who_waits_for_the_same_shares_a_barrier() -> None:
    edges = Edges(300)
    first = tuple(range(100))
    edges.join(first, range(100, 200), WHY, shared=first)
    edges.join(first, range(200, 300), WHY, shared=first)

    assert (barriers(edges), len(edges)) == (1, 300)


def test_few_to_few_need_no_barrier() -> None:
    edges = Edges(5)
    edges.join([0, 1], [2, 3, 4], WHY)

    assert (barriers(edges), len(edges)) == (0, 6)


def test_nothing_joined_is_nothing() -> None:
    edges = Edges(5)
    edges.join([], [1, 2], WHY)
    edges.join([1, 2], [], WHY)
    edges.add(3, 3, WHY)

    assert (barriers(edges), len(edges), edges.pairs()) == (0, 0, set())


def test_what_is_shared_on_one_side_is_not_shared_on_the_other() -> None:
    """The same instances may stand before some and behind others: these are two barriers, or the others would meet."""
    edges = Edges(9)
    shared = (0, 1, 2)
    edges.join(shared, (3, 4, 5), EdgeReason(0, "cross_depends", "x"), shared)
    edges.join((6, 7, 8), shared, EdgeReason(1, "cross_depended_by", "x"), shared)

    assert barriers(edges) == 2
    assert edges.pairs() == {(a, b) for a in shared for b in (3, 4, 5)} | {(a, b) for a in (6, 7, 8) for b in shared}


def test_an_instance_on_both_sides_does_not_wait_for_itself() -> None:
    """A barrier that it stood before and behind would be a cycle that nobody stated."""
    edges = Edges(8)
    edges.join((0, 1, 2, 3), (0, 5, 6, 7), WHY)

    assert not order(edges.successors(), edges.real).stuck
    assert barriers(edges)
    assert (0, 0) not in edges.pairs()
    assert {(1, 0), (0, 5), (3, 7)} <= edges.pairs()
