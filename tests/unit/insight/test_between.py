"""Paths, waypoints and cuts agree with brute force and with a graph library on random graphs."""

from __future__ import annotations

import random

import networkx  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from fuelclient.insight.relation import count_paths, minimum_cut, waypoints

SEEDS = range(500)


def random_dag(seed: int) -> list[list[int]]:
    """Return a graph of up to nine vertices whose edges lead to higher numbers."""
    chance = random.Random(seed)  # noqa: S311 - it is no secret
    size, density = chance.randint(2, 9), chance.choice((0.2, 0.4, 0.7))
    return [[after for after in range(vertex + 1, size) if chance.random() < density] for vertex in range(size)]


def random_graph(seed: int) -> list[list[int]]:
    """Return a graph of up to nine vertices, with cycles."""
    chance = random.Random(seed)  # noqa: S311 - it is no secret
    size, density = chance.randint(2, 9), chance.choice((0.15, 0.3, 0.5))
    return [[after for after in range(size) if after != vertex and chance.random() < density] for vertex in range(size)]


def simple_paths(graph: list[list[int]], start: int, end: int) -> list[list[int]]:
    """Return every path, one by one."""
    paths, open_ends = [], [[start]]
    while open_ends:
        path = open_ends.pop()
        if path[-1] == end:
            paths.append(path)
            continue
        open_ends += [[*path, after] for after in graph[path[-1]] if after not in path]
    return paths


def library_graph(graph: list[list[int]]) -> networkx.DiGraph:
    made: networkx.DiGraph = networkx.DiGraph()
    made.add_nodes_from(range(len(graph)))
    made.add_edges_from((vertex, after) for vertex, following in enumerate(graph) for after in following)
    return made


@pytest.mark.parametrize("block", range(10))
def test_paths_are_counted_as_one_by_one(block: int) -> None:
    for seed in SEEDS[block::10]:
        graph = random_dag(seed)
        assert count_paths(graph, 0, len(graph) - 1) == len(simple_paths(graph, 0, len(graph) - 1)), (seed, graph)


@pytest.mark.parametrize("make", [random_dag, random_graph])
def test_waypoints_are_on_every_path(make: type) -> None:
    for seed in SEEDS:
        graph: list[list[int]] = make(seed)
        paths = sorted(simple_paths(graph, 0, len(graph) - 1), key=len)
        if paths:
            on_all = set.intersection(*map(set, paths)) - {0, len(graph) - 1}
            assert waypoints(graph, paths[0]) == [vertex for vertex in paths[0] if vertex in on_all], (seed, graph)


@pytest.mark.parametrize("make", [random_dag, random_graph])
def test_minimum_cuts_are_those_of_a_library(make: type) -> None:
    for seed in SEEDS:
        graph: list[list[int]] = make(seed)
        end = len(graph) - 1
        cut = minimum_cut(graph, 0, end)
        made = library_graph(graph)
        assert cut is not None
        assert len(cut) == len(networkx.minimum_edge_cut(made, 0, end)), (seed, graph)
        made.remove_edges_from(cut)
        assert not networkx.has_path(made, 0, end), (seed, graph, cut)


def test_huge_numbers_of_paths_and_cycles() -> None:
    ladder = [[2 * step + 2, 2 * step + 3] for step in range(200) for _ in range(2)] + [[402], [402], []]
    assert count_paths(ladder, 0, 402) == 2**200
    assert count_paths([[1], [0, 2], []], 0, 2) is None


def test_a_large_cut_is_not_searched() -> None:
    wide = [list(range(1, 101)), *([101] for _ in range(100)), []]
    assert minimum_cut(wide, 0, 101) is None
    assert minimum_cut(wide, 0, 101, max_edges=100) == [(0, vertex) for vertex in range(1, 101)]
