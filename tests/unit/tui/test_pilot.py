"""The named use, driven by keys: from environments to roles to graph order; why a task comes after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from textual import events
from textual.widgets import Static
from tui_driving import Driven, connecting, driven, until

from fuelclient.tui.routes import View
from fuelclient.tui.screens.browse import BrowseScreen
from fuelclient.tui.screens.graph import PreviewScreen
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.details import Details

Story = Callable[[Driven], Coroutine[Any, Any, None]]


def tell(engine: Path, story: Story, size: tuple[int, int] = (140, 40), **options: Any) -> None:
    """Run a story on an app of its own."""

    async def run() -> None:
        async with driven(connecting(engine), size, **options) as one:
            await story(one)

    asyncio.run(run())


def test_environments_to_roles_to_graph_order(demo: Path) -> None:
    async def story(one: Driven) -> None:
        assert one.ids == ["1"]
        assert "ocata-ubuntu" in one.text()
        await one.press("enter")
        assert one.view() is View.ROLES
        assert one.ids == ["controller", "compute", "storage", "gateway", "telemetry", "image-cache"]
        await one.press("j")
        said = one.text()
        for words in ("recommended", "volume", "12 tasks in execution order", "pending on"):
            assert words in said
        await one.press("enter")
        assert one.view() is View.LANES
        assert one.screen.filter_bar.text == "role:compute"
        assert one.ids[:3] == ["remove-stale-facts", "fetch-scripts", "hand-out-cluster-facts"]
        assert "compute-agent" in one.ids
        assert "volume-backend" not in one.ids
        assert one.screen.query_one("#chip", Bar).text.strip() == f"{len(one.ids)}/49"
        await one.press("escape")
        assert len(one.ids) == 49
        await one.press("left_square_bracket")
        assert one.view() is View.ROLES
        assert one.screen.name_here() == "compute"

    tell(demo, story)


def test_find_a_task_see_who_set_what(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3", "slash")
        await one.type("host-n")
        await one.press("enter")
        assert one.ids == ["host-network"]
        assert one.screen.query_one("#chip", Bar).text.strip() == "1/55"
        assert isinstance(one.screen, PreviewScreen)
        rows = [[str(cell) for cell in row] for row in one.screen.blame.table.rows]
        changed = {row[0].removeprefix("~ "): place for place, row in enumerate(rows) if row[2] == "cluster"}
        assert changed
        place = next(iter(changed.values()))
        assert rows[place][3].startswith("cluster/override.yaml:")
        assert rows[place + 1][0].strip() == "╰ was"
        assert rows[place + 1][2] == "release"
        await one.press("exclamation_mark")
        assert len(one.ids) == 54
        assert "!/" in one.text()

    tell(demo, story)


def test_why_a_task_comes_after_another(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        await one.cursor_to("base-packages")
        await one.press("m")
        assert "marked: base-packages" in one.text()
        await one.cursor_to("primary-database")
        await one.press("w")
        assert one.view() is View.WHY
        rows = [[str(cell) for cell in row] for row in one.main.table.rows]
        assert rows[0][1].startswith("base-packages@")
        assert rows[-1][2].startswith("→ primary-database@")
        assert all(": " in row[3] and row[4] and row[5] for row in rows)
        assert "primary-database runs after base-packages" in one.text()
        await one.press("escape")
        assert one.screen.name_here() == "primary-database"

    tell(demo, story)


def test_browse_walks_along_edges_and_back(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        await one.cursor_to("load-balancer")
        await one.press("enter")
        screen = one.screen
        assert isinstance(screen, BrowseScreen)
        reduced = len(screen.downstream.table)
        await one.press("r")
        assert len(screen.downstream.table) > reduced
        await one.press("r", "l", "enter")
        assert isinstance(one.screen, BrowseScreen)
        assert one.screen.centre != screen.centre
        await one.press("left_square_bracket")
        assert isinstance(one.screen, BrowseScreen)
        assert one.screen.centre == screen.centre
        await one.press("right_square_bracket")
        assert isinstance(one.screen, BrowseScreen)
        assert one.screen.centre != screen.centre

    tell(demo, story)


def test_instances_of_a_node(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("2")
        await one.press("enter")
        assert one.screen.filter_bar.text == "node=1"
        assert one.ids
        assert all(row.endswith("@1") for row in one.ids)
        await one.press("i")
        assert len(one.main.table) == 55

    tell(demo, story)


def test_every_action_shows_its_command_line(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        assert one.screen.query_one("#line", Bar).text.strip() == "$ fuel2 graph preview --env 1"
        await one.press("c")
        assert one.ui.clipboard == "fuel2 graph preview --env 1"
        await one.press("y")
        assert one.ui.clipboard == "pre_deployment_start"
        await one.press("Y")
        assert one.ui.clipboard.startswith("- id: pre_deployment_start\n  type: stage\n")
        await one.press("at")
        assert "fuel2 env list" in one.text()
        assert "fuel2 graph preview --env 1" in one.text()

    tell(demo, story)


def test_help_names_the_keys_of_the_focused_widget(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("question_mark")
        assert "next row" in one.text()
        await one.press("escape", "tab", "question_mark")
        assert "next row" not in one.text()
        assert "scroll down" in one.text()

    tell(demo, story)


def test_palette_finds_a_task(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("1", "colon")
        await one.type("hostnet")
        await one.pilot.pause(0.3)
        await one.press("enter")
        assert one.view() is View.PREVIEW
        assert one.screen.name_here() == "host-network"

    tell(demo, story)


@pytest.mark.slow
def test_nothing_but_ascii(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for key in "1234567":
            await one.press(key)
            assert one.text().isascii(), one.text()

    tell(demo, story, ascii_only=True)


@pytest.mark.slow
def test_resized_to_nothing_and_back(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for key in "1234567":
            await one.press(key)
            before = one.text()
            for width, height in ((20, 5), (1, 1), (140, 40)):
                await one.pilot.resize_terminal(width, height)
                await one.settle()
            assert one.text() == before

    tell(demo, story)


def test_no_environment_says_how_to_get_one(tmp_path: Path) -> None:
    async def story(one: Driven) -> None:
        for command in ("fuel2 demo", "fuel2 plugins install", "fuel2 release import"):
            assert command in one.text()
        CommandLine(tmp_path / "empty.db").ok("demo")
        await one.press("ctrl+r")
        assert one.ids == ["1"]
        assert one.screen.query_one(Details).display

    tell(tmp_path / "empty.db", story)


def test_a_narrow_terminal_shows_one_pane_and_tabs(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        panes = one.screen.panes.panes
        assert [pane.display and pane.size.area > 0 for pane in panes] == [True, False, False]
        await one.press("tab")
        assert [pane.size.area > 0 and pane.has_class("active") for pane in panes] == [False, True, False]
        assert "who set what" in one.text()

    tell(demo, story, (80, 24))


@pytest.mark.slow
def test_side_panes_say_nothing_where_no_row_answers(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for key, word in (
            ("1", "controller"),
            ("2", "status"),
            ("3", "generation"),
            ("4", "generation"),
            ("7", "package"),
        ):
            await one.press(key)
            assert word in str(one.screen.query(Details).last().query_one(Static).content)
            await one.press("slash")
            await one.type("zzz")
            assert "matches the filter" in one.text()
            assert str(one.screen.query(Details).last().query_one(Static).content) == ""
            await one.press("escape")
            assert word in str(one.screen.query(Details).last().query_one(Static).content)

    tell(demo, story)


def test_keys_typed_ahead_wait_for_their_screen(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for key in ("enter", "j", "enter", "3", "slash", *"host", "minus", "n", "enter", "enter"):
            one.ui.post_message(events.Key(key, key if len(key) == 1 else "-" if key == "minus" else None))
        await until(lambda: one.view() is View.BROWSE and one.screen.filled)
        assert isinstance(one.screen, BrowseScreen)
        assert one.screen.data.study.rows[one.screen.centre].task == "host-network"

    tell(demo, story)


def test_cut_attribute_stands_in_full_in_the_next_pane(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        await one.cursor_to("host-network")
        await one.press("tab")
        screen = one.screen
        assert isinstance(screen, PreviewScreen)
        await one.cursor_to("requires", screen.blame)
        await one.press("tab")
        task = screen.data.study.task(screen.task_row())
        shown = str(screen.query_one(Details).query_one(Static).content)
        assert shown.startswith("requires\n")
        assert all(name in shown for name in task.task.names("requires"))
        place = task.origin("requires").place
        assert f"{place.file}:{place.line}" in shown

    tell(demo, story, (80, 24))


def test_twenty_columns_and_five_lines_show_the_rows(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        lines = one.text().splitlines()
        assert lines[0].startswith("─ tasks")
        assert lines[1].split()[:2] == ["#", "task"]
        assert sum(line.split()[0].isdigit() for line in (line.lstrip("▌ ") for line in lines[2:])) == 3
        await one.press("slash")
        await one.type("host-n")
        assert "host-n" in one.text()
        await one.press("enter")
        assert len(one.text().splitlines()) >= 3
        await one.press("tab")
        assert "who set what" in one.text()

    tell(demo, story, (20, 5))
