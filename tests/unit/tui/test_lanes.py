"""Lanes mark what runs before and after the task under the cursor."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from command_line import CommandLine
from hypothesis import given
from hypothesis import strategies as st
from tui_driving import Driven, connecting, driven

from fuelclient.insight import lanes
from fuelclient.insight.lanes import Reach
from fuelclient.tui.presenters.table import Cell, Tone


def selected(engine: Path, query: str) -> set[str]:
    rows = CommandLine(engine).ok("graph", "query", query, "--env", 1, "-f", "json").json["selected"]
    return {row["task"] for row in rows}


def marked(one: Driven, sign: str) -> set[str]:
    return {
        task for task, row in zip(one.main.table.ids, one.main.table.rows, strict=True) if str(row[3]).startswith(sign)
    }


def dim(one: Driven) -> set[str]:
    """Return the tasks whose names are dim."""
    cells = {task: row[4] for task, row in zip(one.main.table.ids, one.main.table.rows, strict=True)}
    return {task for task, cell in cells.items() if isinstance(cell, Cell) and cell.tone is Tone.DIM}


def test_the_signs_follow_the_cursor(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), env=1) as one:
            await one.press("4")
            for task in ("load-balancer", "host-network"):
                await one.cursor_to(task)
                shown = set(one.main.table.ids)
                assert marked(one, one.ui.glyphs.up) == (selected(demo, f"+{task}") - {task}) & shown
                assert marked(one, one.ui.glyphs.down) == (selected(demo, f"{task}+") - {task}) & shown
                assert dim(one) == shown - selected(demo, f"+{task}+")
            one.screen.filter_bar.text = "role:compute"
            await one.settle()
            assert one.screen.name_here() == "host-network"
            assert marked(one, one.ui.glyphs.down) <= selected(demo, "host-network+,role:compute")
            assert "metering-agent" in marked(one, one.ui.glyphs.down)

    asyncio.run(story())


@pytest.mark.parametrize("most", [lanes.MAX_REDUCED_VERTICES, 0], ids=["bit sets", "large"])
@given(edges=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda edge: edge[0] < edge[1])))
def test_around_is_what_the_counts_count(most: int, edges: set[tuple[int, int]]) -> None:
    before, lanes.MAX_REDUCED_VERTICES = lanes.MAX_REDUCED_VERTICES, most
    try:
        reach = Reach([{after for vertex, after in edges if vertex == number} for number in range(9)])
    finally:
        lanes.MAX_REDUCED_VERTICES = before
    for vertex in range(9):
        above, below = reach.around(vertex)
        assert (len(above), len(below)) == (reach.ancestors(vertex), reach.descendants(vertex))
        assert all(vertex in reach.around(other)[1] for other in above)
        assert all(vertex in reach.around(other)[0] for other in below)
