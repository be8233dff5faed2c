"""The command line of every screen, copied and run, says what the screen says."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, Done
from executions import Executions, shell
from textual.widgets import Input
from tui_driving import Driven, connecting, driven

from fuelclient.insight.progress import NOT_REACHED
from fuelclient.insight.query import MOST_NAMES
from fuelclient.tui.actions import Execute, command_of
from fuelclient.tui.routes import View
from fuelclient.tui.screens.browse import BrowseScreen, WhyScreen
from fuelclient.tui.screens.dialogs import ExecuteDialog
from fuelclient.tui.screens.graph import PreviewScreen
from fuelclient.tui.screens.run import RunScreen
from fuelclient.tui.widgets.bar import Bar

WIDE = (200, 50)


def printed(one: Driven, engine: Path, *options: str) -> Done:
    """Run the command line that the screen shows."""
    words = shlex.split(one.screen.query_one("#line", Bar).text.partition("marked:")[0].strip().removeprefix("$ "))
    assert words[0] == "fuel2"
    return CommandLine(engine).ok(*words[1:], *options)


def column(name: str) -> Callable[[Any], list[str]]:
    return lambda rows: [str(row[name]) for row in rows]


@pytest.mark.parametrize(
    ("key", "view", "ids"),
    [
        ("1", View.ROLES, column("name")),
        ("2", View.NODES, column("id")),
        ("3", View.PREVIEW, column("task")),
        ("7", View.PLUGINS, column("id")),
    ],
)
def test_lists(demo: Path, key: str, view: View, ids: Callable[[Any], list[str]]) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press(key)
            assert one.view() == view
            assert sorted(ids(printed(one, demo, "-f", "json").json)) == sorted(one.main.table.ids)
            assert one.main.table.ids

    asyncio.run(story())


def test_environments(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE) as one:
            assert column("id")(printed(one, demo, "-f", "json").json) == one.ids

    asyncio.run(story())


def test_lanes_are_drawn_alike(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press("4")
            lines = printed(one, demo).out.splitlines()
            drawn = [str(row[2]) for row in one.main.table.rows]
            for line, lane, task in zip(lines, drawn, one.main.table.ids, strict=True):
                assert line.startswith(lane)
                assert task in line[len(lane) :].split()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("text", "inverted"),
    [
        ("api !volume", False), ("2+load-balancer,!type:stage", True), ("rack or api", True),
        *[
            pytest.param(text, inverted, marks=pytest.mark.slow)
            for text in ("role:compute", "rack-mon", "type:puppet")
            for inverted in (False, True)
        ],
    ],
)  # fmt: skip
def test_a_filter_of_the_preview_stands_in_its_command(demo: Path, text: str, inverted: bool) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press("3")
            one.screen.filter_bar.text = text
            await one.settle()
            await one.press(*["exclamation_mark"] * inverted)
            assert 0 < len(one.ids) < len(one.main.table)
            assert column("task")(printed(one, demo, "-f", "json").json) == one.ids

    asyncio.run(story())


def test_a_filter_that_no_query_says_is_left_out_of_the_command(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press("3")
            one.screen.filter_bar.text = "type=shell"  # of a column
            await one.settle()
            assert MOST_NAMES < len(one.ids) < len(one.main.table) - MOST_NAMES
            assert one.screen.query_one("#line", Bar).text.strip() == "$ fuel2 graph preview --env 1"

    asyncio.run(story())


def test_the_pane_with_the_focus_decides_about_the_command(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE) as one:
            assert printed(one, demo, "-f", "json").json[0]["id"] == 1
            await one.press("tab")
            assert printed(one, demo, "-f", "json").json["id"] == 1
            await one.press("shift+tab", "enter", "j", "tab")
            assert printed(one, demo, "-f", "json").json["name"] == one.main.table.ids[one.main.row]
            await one.press("2", "j", "tab")
            assert str(printed(one, demo, "-f", "json").json["id"]) == one.main.table.ids[one.main.row]
            await one.press("7", "tab")
            assert str(printed(one, demo, "-f", "json").json["id"]) == one.main.table.ids[one.main.row]
            await one.press("3")
            await one.cursor_to("host-network")
            await one.press("tab")
            screen = one.screen
            assert isinstance(screen, PreviewScreen)
            document = printed(one, demo, "-f", "json").json
            assert "host-network" in str(document)
            named = {name for name in screen.blame.table.ids if "." in name}
            assert named
            assert all(name in str(document) for name in named)
            await one.press("shift+tab")
            assert column("task")(printed(one, demo, "-f", "json").json) == one.ids

    asyncio.run(story())


def test_filtered_lanes_are_drawn_alike(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press("4")
            one.screen.filter_bar.text = "role:compute"
            await one.settle()
            lines = printed(one, demo).out.splitlines()
            for line, row, task in zip(lines, one.main.table.rows, one.main.table.ids, strict=True):
                assert line.startswith(str(row[2]))
                assert task in line[len(str(row[2])) :].split()

    asyncio.run(story())


def test_browse_selects_what_stands_around_the_task(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press("3")
            await one.cursor_to("load-balancer")
            await one.press("enter", "r")
            screen = one.screen
            assert isinstance(screen, BrowseScreen)
            tables = (screen.upstream, screen.earlier, screen.downstream, screen.later)
            around = {task for table in tables for task in table.table.ids}
            selected = printed(one, demo, "-f", "json").json["selected"]
            assert {task["task"] for task in selected} == {*around, "load-balancer"}

    asyncio.run(story())


def test_why_shows_the_same_chain(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), WIDE, env=1) as one:
            await one.press("3")
            await one.cursor_to("host-network")
            await one.press("m")
            await one.cursor_to("identity")
            await one.press("w")
            screen = one.screen
            assert isinstance(screen, WhyScreen)
            chain = printed(one, demo, "-f", "json").json["chain"]
            shown = {(step.before_task, step.after_task) for step in screen.step_of_row}
            names = screen.data.study.merged.tasks
            assert {(names[before].id, names[after].id) for before, after in shown} == {
                (step["before"].partition("@")[0], step["after"].partition("@")[0]) for step in chain
            }

    asyncio.run(story())


def test_problems_history_and_a_run(engine: Executions) -> None:
    engine.graph(shell("first"), shell("last", "false", requires=["first", "nothing"]))
    engine.run("default")

    async def story() -> None:
        file = Path(engine.engine)
        async with driven(connecting(file), WIDE, env=1) as one:
            await one.press("6")
            found = printed(one, file, "-f", "json").json
            assert sorted(finding["task"] or finding["code"] for finding in found) == sorted(one.main.table.ids)
            await one.press("8")
            assert column("id")(printed(one, file, "-f", "json").json) == one.main.table.ids == ["1"]
            await one.press("enter")
            assert isinstance(one.screen, RunScreen)
            rows = printed(one, file, "-f", "json").json
            state = one.screen._run_state
            assert state is not None
            words = {state.progress.name(number): state.progress.word(number) for number in range(len(state.progress))}
            # a node may fail before the task begins on another one
            shown = {name: "skipped" if word == NOT_REACHED else word for name, word in words.items()}
            assert shown == {f"{row['task_name']}/{row['node_id']}": row["status"] for row in rows}

    asyncio.run(story())


def test_what_is_picked_goes_into_the_execute_dialog(engine: Executions) -> None:
    engine.graph(shell("first"), shell("second"), shell("third"))

    async def story() -> None:
        async with driven(connecting(Path(engine.engine)), WIDE, env=1) as one:
            await one.press("3")
            for task in ("first", "third", "second"):
                await one.cursor_to(task)
                await one.press("space")
            await one.press("space", "2")
            await one.cursor_to("2")
            await one.press("space", "A", "e")
            dialog = one.ui.screen
            assert isinstance(dialog, ExecuteDialog)
            dialog.query_one("#executor", Input).value = "noop"
            action = dialog.action()
            assert isinstance(action, Execute)
            assert (action.request.task_names, action.request.node_ids) == (("first", "third"), (2,))
            assert command_of(action) == "fuel2 graph execute --env 1 --node 2 --task-names first third --executor noop"
            dialog.query_one("#executor", Input).value = "nothing"
            assert isinstance(dialog.action(), str)

    asyncio.run(story())
