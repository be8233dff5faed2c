"""Pictures of graphs: what is drawn, where it is placed, and what the languages of pictures say."""

from __future__ import annotations

import itertools
import re

import networkx  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from command_line import CommandLine
from hypothesis import given
from hypothesis import strategies as st
from questioned import questioned_engine

from fuelclient.backends.local import LocalBackend
from fuelclient.insight.lanes import ASCII
from fuelclient.insight.picture import Grouping, Picture, dot, fewer, layout, mermaid, picture, text
from fuelclient.insight.query import select
from fuelclient.plan.study import Study


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Study:
    engine: CommandLine = questioned_engine(tmp_path_factory.mktemp("questioned"))
    backend = LocalBackend(str(engine.engine))
    made = Study(backend.graphs.snapshot(1))
    backend.close()
    return made


def edges(drawn: Picture) -> set[tuple[str, str]]:
    return {(drawn.vertices[before].name, drawn.vertices[after].name) for before, after in drawn.edges}


def test_edges_that_others_imply_are_not_drawn(studied: Study) -> None:
    reduced, whole = picture(studied), picture(studied, reduced=False)
    assert ("netconfig", "database") in edges(reduced)
    assert ("netconfig", "keystone") in edges(whole) - edges(reduced)
    assert edges(reduced) < edges(whole)
    assert reduced.implied == len(edges(whole)) - len(edges(reduced))


def test_order_through_tasks_that_are_not_drawn_is_kept(studied: Study) -> None:
    drawn = picture(studied, select(studied, "globals or keystone or horizon"))
    assert edges(drawn) == {("globals", "keystone"), ("keystone", "horizon")}


def test_groups(studied: Study) -> None:
    by_stage, by_role = (picture(studied, grouping=grouping).groups for grouping in (Grouping.STAGE, Grouping.ROLE))
    assert {"deploy", "pre_deployment"} <= by_stage.keys()
    assert {"sync points", "all nodes", "controller", "compute"} == by_role.keys()
    assert picture(studied, grouping=Grouping.NONE).groups.keys() == {""}


def test_fewer_tasks_keep_the_changed_ones_and_the_order(studied: Study) -> None:
    whole = picture(studied)
    part = fewer(whole, 6)
    assert len(part.edges) <= 6
    assert "keystone" in {vertex.name for vertex in part.vertices}
    order = networkx.transitive_closure(networkx.DiGraph(edges(whole)))
    assert edges(part) <= set(order.edges)


def test_dot_has_the_colours_of_fuel(studied: Study) -> None:
    drawn = dot(picture(studied))
    assert re.search(r"keystone \[color=yellowgreen, style=filled", drawn)
    assert re.search(r"deploy_start \[color=red, shape=rect, style=filled", drawn)
    assert "netconfig -> database;" in drawn
    assert "label=deploy;" in drawn


def test_mermaid_has_no_text_that_it_would_read(studied: Study) -> None:
    drawn = mermaid(picture(studied), "two\nlines")
    assert drawn.startswith("%% two")
    assert '["plugin1:pre_deployment#35;1"]' in drawn
    assert drawn.count("-->") == len(picture(studied).edges)


def test_text_has_one_line_for_each_task(studied: Study) -> None:
    drawn = picture(studied)
    lines = list(text(drawn, ASCII))
    assert [line for line in lines if re.search(r"\bkeystone +deploy +cluster$", line)]
    assert len(lines) == len(drawn.vertices)


_GRAPHS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30).map(
    lambda pairs: sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
)


@given(_GRAPHS, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_layout_has_no_overlap_and_edges_go_right(graph: list[tuple[int, int]], drawn_bands: list[int]) -> None:
    bands = [sorted(set(drawn_bands)).index(band) for band in drawn_bands]
    placed = layout(graph, bands)
    for before, after in graph:
        assert placed.columns[before] < placed.columns[after]
    for one, other in itertools.combinations(range(12), 2):
        if placed.columns[one] == placed.columns[other]:
            assert abs(placed.rows[one] - placed.rows[other]) >= 0.98
    for vertex, row in enumerate(placed.rows):
        top, height = placed.bands[bands[vertex]]
        assert top - 0.01 <= row <= top + height + 0.01
    for (before, after), bends in zip(graph, placed.bends, strict=True):
        assert len(bends) == placed.columns[after] - placed.columns[before] - 1
