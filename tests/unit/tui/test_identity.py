"""What has the cursor, a mark or the middle is a task, not a row: another shell changes the graph meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, tiny_engine
from tui_driving import Driven, connecting, driven

from fuelclient.insight.query import parse
from fuelclient.tui.presenters.table import Column, Table
from fuelclient.tui.routes import View
from fuelclient.tui.screens.browse import BrowseScreen, WhyScreen
from fuelclient.tui.screens.graph import PreviewScreen

Story = Callable[[Driven], Coroutine[Any, Any, None]]


@pytest.fixture
def fuel2(tmp_path: Path) -> CommandLine:
    """An engine whose environment 1 has a graph of type `line`: t0 to t5, one after another."""
    made = tiny_engine(tmp_path)
    upload(made, "t0", "t1", "t2", "t3", "t4", "t5")
    return made


def upload(fuel2: CommandLine, *names: str) -> None:
    """Have tasks run one after another, in place of those that the graph has."""
    lines = [
        f"- {{id: {name}, type: shell, version: 2.0.0, roles: [/.*/], requires: [{before}],"
        " parameters: {cmd: 'true', timeout: 1}}"
        for before, name in zip(("", *names), names, strict=False)
    ]
    fuel2.ok("graph", "upload", "--env", 1, "--type", "line", "--file", "-", stdin="\n".join(lines))


def tell(fuel2: CommandLine, story: Story) -> None:
    async def run() -> None:
        async with driven(connecting(fuel2.engine), env=1, notifications=True) as one:
            await one.press("3", "t")
            assert one.ui.trail.here.graph_type == "line"
            await story(one)

    asyncio.run(run())


def test_a_mark_and_a_cursor_stay_on_their_tasks(fuel2: CommandLine) -> None:
    async def story(one: Driven) -> None:
        await one.cursor_to("t1")
        await one.press("m")
        await one.cursor_to("t3")
        upload(fuel2, "a0", "t0", "t1", "t2", "t3", "t4", "t5")
        await one.press("ctrl+r")
        assert one.ids[0] == "a0"
        assert one.screen.name_here() == "t3"
        assert one.ui.marked == "t1"
        await one.press("w")
        assert "t3 runs after t1: 2 edges" in one.text()

    tell(fuel2, story)


def test_browse_keeps_its_middle_and_says_when_that_is_gone(fuel2: CommandLine) -> None:
    async def story(one: Driven) -> None:
        await one.cursor_to("t2")
        await one.press("5")
        upload(fuel2, "a0", "t0", "t1", "t2", "t3")
        await one.press("ctrl+r")
        assert isinstance(one.screen, BrowseScreen)
        assert one.screen.panes.panes[1].note == "t2"
        assert one.screen.upstream.table.ids == ["t1"]
        upload(fuel2, "a0", "t0", "t1")
        await one.press("ctrl+r")
        assert "t2 is not in this graph any more." in one.text()
        assert one.screen.task_row() == -1
        await one.press("r", "y", "Y", "w", "m")
        upload(fuel2, "t2", "t0")
        await one.press("ctrl+r")
        assert one.screen.downstream.table.ids == ["t0"]

    tell(fuel2, story)


def test_why_says_that_a_task_is_gone(fuel2: CommandLine) -> None:
    async def story(one: Driven) -> None:
        await one.cursor_to("t0")
        await one.press("m", "G", "w")
        assert one.view() is View.WHY
        upload(fuel2, "t0", "t1")
        await one.press("ctrl+r")
        assert "t5 is not in this graph any more." in one.text()
        await one.press("enter", "left_square_bracket", "right_square_bracket")
        assert isinstance(one.screen, WhyScreen)
        assert "t5 is not in this graph any more." in one.text()
        upload(fuel2, "t5", "t1")
        await one.press("ctrl+r")
        assert one.ui.marked == "t0, which is gone"
        assert "t0 is not in this graph any more." in one.text()

    tell(fuel2, story)


def test_cursor_of_a_gone_task_reports_and_stays(fuel2: CommandLine) -> None:
    async def story(one: Driven) -> None:
        await one.cursor_to("t3")
        upload(fuel2, "t0", "t1", "t2", "t4", "t5")
        await one.press("ctrl+r")
        assert one.screen.name_here() == "t4"
        assert "t3 is not in this graph any more." in one.told()

    tell(fuel2, story)


def test_reload_keeps_the_cursor_on_its_instance(fuel2: CommandLine) -> None:
    async def story(one: Driven) -> None:
        await one.press("i")
        await one.cursor_to("t3@2")
        upload(fuel2, "a0", "t0", "t1", "t2", "t3")
        await one.press("ctrl+r")
        assert isinstance(one.screen, PreviewScreen)
        assert one.screen.switched
        assert one.screen.name_here() == "t3@2"
        await one.press("4", "left_square_bracket")
        assert one.screen.name_here() == "t3@2"

    tell(fuel2, story)


def test_a_sort_and_a_turned_filter_stay(fuel2: CommandLine) -> None:
    async def story(one: Driven) -> None:
        await one.press("s", "S", "slash", "t", "5", "enter", "exclamation_mark")
        shown = ["t4", "t3", "t2", "t1", "t0"]
        assert one.ids == shown
        await one.press("ctrl+r")
        assert one.ids == shown
        await one.press("4", "left_square_bracket")
        assert one.ids == shown
        await one.press("5", "r", "ctrl+r")
        assert isinstance(one.screen, BrowseScreen)
        assert one.screen.switched

    tell(fuel2, story)


def test_the_cursor_of_the_history_stays_on_its_run(fuel2: CommandLine) -> None:
    run = ("graph", "execute", "--env", 1, "--type", "line", "--executor", "noop", "--wait")
    for _ in range(2):
        fuel2.ok(*run)

    async def story(one: Driven) -> None:
        await one.press("8", "j")
        here = one.screen.name_here()
        assert here == one.ids[1]
        fuel2.ok(*run)
        await one.press("ctrl+r")
        assert len(one.ids) == 3
        assert one.screen.name_here() == here

    tell(fuel2, story)


def test_enter_on_a_node_shows_that_node_only(tmp_path: Path) -> None:
    fuel2 = tiny_engine(tmp_path)
    for name in ("node-10", "seven", "Rack one, node-1"):
        fuel2.ok("node", "create", name, "--executor", "noop", "--env", 1, "--roles", "compute")
    with closing(sqlite3.connect(fuel2.engine)) as engine, engine:
        engine.execute("UPDATE nodes SET name = '1' WHERE name = 'seven'")  # as earlier versions allowed

    async def story() -> None:
        async with driven(connecting(fuel2.engine), env=1) as one:
            for node in ("1", "3", "4", "5"):
                await one.press("2")
                await one.cursor_to(node)
                await one.press("enter")
                assert isinstance(one.screen, PreviewScreen)
                assert {name.partition("@")[2] for name in one.ids} == {node}
            await one.press("slash")
            one.screen.filter_bar.text = 'node="rack one  node-1"'
            await one.settle()
            assert {name.partition("@")[2] for name in one.ids} == {"5"}

    asyncio.run(story())


def test_a_whole_value_may_have_blanks_and_be_several() -> None:
    table = Table((Column("role", "role"),), [("two words, cinder",), ("two",), ("words, cinder",), ("Two Words",)])
    assert table.select(parse('role="two words"', table.keys)) == [0, 3]
    assert table.select(parse("role=two", table.keys)) == [1]
    assert table.select(parse('role="cinder,words"', table.keys)) == [2]
    assert table.select(parse('role="two words"|two', table.keys)) == [0, 1, 3]
    assert table.select(parse('!role="two words" cinder', table.keys)) == [2]
    assert table.select(parse('x"two words"', table.keys)) == []
