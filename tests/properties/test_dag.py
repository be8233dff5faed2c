"""Laws of orders and cycles: ours agree with the standard library's, and with brute force."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from properties.strategies import digraphs

from fuelclient.graph.dag import components, connected, order, reachable, shortest_cycle

Graph = Sequence[Sequence[int]]


def generations_by_graphlib(successors: Graph) -> list[int] | None:
    """The generation of every vertex as the batches in which `graphlib` hands them out; None for a cycle."""
    sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(len(successors)), ()))
    for vertex, following in enumerate(successors):
        for after in following:
            sorter.add(after, vertex)
    try:
        sorter.prepare()
    except CycleError:
        return None
    result, rank = [0] * len(successors), 0
    while sorter.is_active():
        batch = sorter.get_ready()
        for vertex in batch:
            result[vertex] = rank
        sorter.done(*batch)
        rank += 1
    return result


def shortest_by_brute_force(successors: Graph) -> int:
    """The length of a shortest cycle, or 0: a breadth-first search from every vertex."""
    best = 0
    for start in range(len(successors)):
        distance = {start: 0}
        queue = deque([start])
        while queue:
            vertex = queue.popleft()
            for after in successors[vertex]:
                if after == start and (not best or distance[vertex] + 1 < best):
                    best = distance[vertex] + 1
                if after not in distance:
                    distance[after] = distance[vertex] + 1
                    queue.append(after)
    return best


def dissolved(successors: Graph, real: int) -> list[list[int]]:
    """The graph of the real vertices, with every way through barriers as an edge."""
    result: list[list[int]] = []
    for vertex in range(real):
        reached: set[int] = set()
        seen: set[int] = set()
        queue = deque(successors[vertex])
        while queue:
            after = queue.popleft()
            if after < real:
                reached.add(after)
            elif after not in seen:
                seen.add(after)
                queue.extend(successors[after])
        result.append(sorted(reached - {vertex}))
    return result


@st.composite
def with_barriers(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """A graph whose last vertices are barriers, each from some vertices to others."""
    plain = draw(digraphs())
    real = len(plain)
    vertices = st.lists(st.integers(0, real - 1), unique=True, max_size=4)
    for _ in range(draw(st.integers(0, 3))):
        before, after = draw(vertices), draw(vertices)
        barrier = len(plain)
        plain.append([vertex for vertex in after if vertex not in before])
        for vertex in before:
            plain[vertex].append(barrier)
    return plain, real


@given(digraphs())
def test_generations_are_those_of_graphlib(successors: list[list[int]]) -> None:
    expected = generations_by_graphlib(successors)
    result = order(successors, len(successors))

    assert bool(result.stuck) is (expected is None)
    if expected is not None:
        assert result.generation == expected
        assert sorted(result.topological) == list(range(len(successors)))


@given(digraphs())
def test_whatever_can_be_ordered_is(successors: list[list[int]]) -> None:
    result = order(successors, len(successors))
    place = {vertex: index for index, vertex in enumerate(result.topological)}

    assert sorted([*result.topological, *result.stuck]) == list(range(len(successors)))
    for vertex, following in enumerate(successors):
        for after in following:
            assert after in result.stuck or place[vertex] < place[after]


@given(with_barriers())
def test_barriers_carry_order_and_take_no_place(graph: tuple[list[list[int]], int]) -> None:
    successors, real = graph
    expected = generations_by_graphlib(dissolved(successors, real))
    result = order(successors, real)

    assert bool(result.stuck) is (expected is None)
    if expected is not None:
        assert result.generation == expected


@given(with_barriers())
def test_a_shortest_cycle_is_a_cycle_and_none_is_shorter(graph: tuple[list[list[int]], int]) -> None:
    successors, real = graph
    plain = dissolved(successors, real)
    cycle = shortest_cycle(successors, real, order(successors, real).stuck)

    assert len(cycle) == shortest_by_brute_force(plain)
    assert len(set(cycle)) == len(cycle)
    assert not cycle or cycle[0] == min(cycle)
    for vertex, after in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True):
        assert after in plain[vertex]


@given(digraphs())
def test_components_hold_what_reaches_itself(successors: list[list[int]]) -> None:
    """Two vertices are in one component when each can be reached from the other, and in none when on no cycle."""
    reachable = [set(following) for following in successors]
    for _ in successors:
        reachable = [component | {far for near in component for far in reachable[near]} for component in reachable]
    expected = {
        frozenset(other for other in reachable[vertex] if vertex in reachable[other])
        for vertex in range(len(successors))
        if vertex in reachable[vertex]
    }
    result = components(successors, order(successors, len(successors)).stuck)

    assert {frozenset(component) for component in result} == expected
    assert len(result) == len(expected)
    assert result == sorted(sorted(component) for component in result)


@given(digraphs())
def test_what_is_connected_can_be_reached(successors: list[list[int]]) -> None:
    pairs = {(start, goal) for start in range(len(successors)) for goal in range(len(successors))}
    expected = {(start, goal) for start, goal in pairs if goal in reachable(successors, [start])}

    assert connected(successors, pairs) == expected
    assert connected(successors, {pair for pair in pairs if sum(pair) % 3}) == {
        pair for pair in expected if sum(pair) % 3
    }


def test_pairs_in_a_large_graph_are_answered_in_slices() -> None:
    """Two hundred vertices with 64 bits each, of which a ring holds a third."""
    ring = [[(vertex + 1) % 70] for vertex in range(70)]
    tail = [[vertex + 1] for vertex in range(70, 199)] + [[0]]
    pairs = {(start, goal) for start in range(200) for goal in range(200)}

    expected = {(start, goal) for start, goal in pairs if goal < 70 or (start <= goal and start >= 70)}
    assert connected([*ring, *tail], pairs, most_bits=0) == expected


class Counted(list[list[int]]):
    """Edges that count how often somebody asks for those of a vertex."""

    asked = 0

    def __getitem__(self, vertex: Any) -> Any:
        self.asked += 1
        return super().__getitem__(vertex)


def test_a_long_chain_in_both_directions_is_walked_a_few_times() -> None:
    """Set by set, what the last vertex leads to would take a walk for each vertex to reach the first one."""
    size = 2_000
    chain = Counted([[other for other in (vertex - 1, vertex + 1) if 0 <= other < size] for vertex in range(size)])

    pairs = {(vertex, size - vertex - 1) for vertex in range(size)}
    assert connected(chain, pairs) == pairs
    assert chain.asked <= 4 * size


def test_what_lies_between_two_cycles_is_not_searched() -> None:
    """Fifty thousand vertices that only pass from one cycle to another would each cost a walk to the second."""
    size = 50_000
    chain = [[vertex + 1] for vertex in range(size)] + [[size + 1], [size]]
    begin = [[size + 3, 0], [size + 2]]

    assert shortest_cycle([*chain, *begin], size + 4, range(size + 4)) == [size, size + 1]


def test_of_equally_short_cycles_the_first_is_told() -> None:
    assert shortest_cycle([[1], [2], [0], [4], [5], [3]], 6, range(6)) == [0, 1, 2]


def test_an_empty_graph_has_an_order() -> None:
    assert order([], 0).topological == []
    assert shortest_cycle([], 0, []) == []


def test_a_long_chain_needs_no_recursion() -> None:
    size = 50_000
    chain = [[vertex + 1] for vertex in range(size - 1)]

    assert order([*chain, []], size).generation[-1] == size - 1
    assert len(shortest_cycle([*chain, [0]], size, range(size))) == size
