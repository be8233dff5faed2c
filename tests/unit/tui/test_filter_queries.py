"""Filters read the language of `graph query`, and show how they read a bare word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from executions import Executions, shell
from textual.widgets import Input
from tui_driving import Driven, connecting, driven, until

from fuelclient.backends.base import Backend
from fuelclient.errors import InvalidDocument
from fuelclient.tui.requests import AskResults
from fuelclient.tui.screens.graph import PreviewScreen
from fuelclient.tui.widgets.bar import Bar, QueryError

Story = Callable[[Driven], Coroutine[Any, Any, None]]


def tell(engine: Path, story: Story, size: tuple[int, int] = (140, 40)) -> None:
    async def run() -> None:
        async with driven(connecting(engine), size, env=1) as one:
            await story(one)

    asyncio.run(run())


async def filtered(one: Driven, text: str) -> set[str]:
    """Write a filter, and return the tasks that are shown then."""
    one.screen.filter_bar.text = text
    await one.settle()
    return set(one.ids)


def selected(engine: Path, query: str) -> set[str]:
    rows = CommandLine(engine).ok("graph", "query", query, "--env", 1, "-f", "json").json["selected"]
    return {row["task"] for row in rows}


def complaint(one: Driven) -> list[str]:
    """Return the lines below the filter."""
    shown = one.screen.query_one(QueryError)
    return str(shown.content).splitlines() if shown.display else []


QUERIES = (
    "1+load-balancer+1",
    "role:compute",
    "/^host/ or identity",
    "*network*",
    "role:compute|storage,!type:stage",
    "layer:plugin,!type:stage",
    "host-network..identity",
)


def test_a_query_selects_what_the_command_selects(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        for query in QUERIES:
            assert await filtered(one, query) == selected(demo, query) != set(), query
        await filtered(one, "role:compute")
        await one.press("exclamation_mark")
        assert len(one.ids) == len(one.main.table) - len(selected(demo, "role:compute"))

    tell(demo, story)


def test_lanes_and_instances_take_queries_too(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("4")
        assert await filtered(one, "/^host/ or identity") == selected(demo, "(/^host/ or identity),!state:unplaced")
        await one.press("3", "i")
        everywhere = await filtered(one, "1+load-balancer")
        assert {name.rpartition("@")[0] for name in everywhere} <= selected(demo, "1+load-balancer")
        node = sorted(everywhere)[0].rpartition("@")[2]
        assert isinstance(one.screen, PreviewScreen)
        assert await filtered(one, f"1+load-balancer node={node}") == {
            name for name in everywhere if name.endswith(f"@{node}")
        }

    tell(demo, story)


def test_findings_are_filtered_by_their_task(engine: Executions) -> None:
    engine.graph(shell("first", requires=["nothing"]), shell("last", requires=["first", "nothing"]))

    async def story(one: Driven) -> None:
        await one.press("6")
        assert {"first", "last"} <= set(one.ids)
        assert await filtered(one, "first+,!first") == {"last"}

    tell(Path(engine.engine), story)


def test_bare_words_are_parts_of_ids_and_a_blank_is_and(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        assert await filtered(one, "NETWORK api") == {"network-api"}
        assert await filtered(one, "puppet") == set()
        assert await filtered(one, "role:compute type:shell") == selected(demo, "role:compute,type:shell")
        assert {"identity", "primary-identity"} <= await filtered(one, "identit")
        assert await filtered(one, "identity") == {"identity"}, "the id of a task"
        assert {"network-api", "host-network"} <= await filtered(one, "network")
        assert await filtered(one, "network !host !agent") == {"network-api"}
        assert await filtered(one, "rack-mon task:probe") == {"rack-monitoring-probe"}

    tell(demo, story)


def test_enter_shows_how_a_filter_was_read(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for screen, typed, written in (
            ("3", "rack !probe", "*rack*,!*probe*"),
            ("4", "host or role:compute", "*host* or role:compute"),
            ("2", "!controller", "!*controller*"),
            ("3", "role:", ""),
            ("3", "load-balancer", "load-balancer"),
            ("3", "role:comp", "role:comp"),
        ):
            await one.press(screen)
            shown = await filtered(one, typed)
            await one.press("slash")
            assert one.screen.filter_bar.text == typed
            await one.press("enter")
            assert one.screen.filter_bar.text == written
            assert set(one.ids) == shown != set()

    tell(demo, story)


def test_a_word_matches_any_column_where_rows_are_no_tasks(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("2")
        everything = set(one.ids)
        controllers = await filtered(one, "controller")
        assert set() < controllers < everything
        assert await filtered(one, "*controller*") == controllers
        assert await filtered(one, "!controller") == everything - controllers
        assert await filtered(one, "controller or compute") == controllers | await filtered(one, "compute")

    tell(demo, story)


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
def test_a_wrong_query_is_shown_with_a_caret_and_the_rows_stay(demo: Path, size: tuple[int, int]) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        kept = await filtered(one, "role:compute")
        assert complaint(one) == []
        assert await filtered(one, "role:compute,+identiti") == kept
        lines = complaint(one)
        typed = one.screen.filter_bar.query_one(Input).region.x
        assert lines[0].index("^") == typed + len("role:compute,+")
        assert "identity" in " ".join(lines)
        screen = one.text().splitlines()
        assert screen[one.screen.query_one(QueryError).region.y].index("^") == lines[0].index("^")
        await filtered(one, "")
        assert complaint(one) == []
        assert len(one.ids) == len(one.main.table)

    tell(demo, story, size)


def test_a_filter_asks_how_the_last_run_ended(engine: Executions) -> None:
    engine.graph(shell("first"), shell("last", "false", requires=["first"]))

    async def story(one: Driven) -> None:
        await one.press("3")
        await filtered(one, "result:error")
        assert "no run that ended" in " ".join(complaint(one))
        engine.run("default")
        await one.press("ctrl+r")
        await until(lambda: set(one.ids) == {"last"})
        assert complaint(one) == []
        assert selected(Path(engine.engine), "result:error") == {"last"}

    tell(Path(engine.engine), story)


def test_filter_of_instances_outlives_the_switch_to_tasks(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3", "i")
        kept = await filtered(one, "role:compute node=1")
        assert kept
        assert complaint(one) == []
        await one.press("i")
        assert "node=1" in " ".join(complaint(one))
        for column in one.main.table.keys:
            assert column in " ".join(complaint(one))
        assert len(one.ids) == len(one.main.table)
        await one.press("i")
        assert set(one.ids) == kept
        assert complaint(one) == []

    tell(demo, story)


@pytest.mark.parametrize("screen", ["3", "4"])
def test_reload_with_half_a_query_keeps_the_last_valid_one(demo: Path, screen: str) -> None:
    async def story(one: Driven) -> None:
        await one.press(screen)
        kept = await filtered(one, "role:compute")
        line = one.screen.query_one("#line", Bar).text
        assert "role:compute" in line
        assert await filtered(one, "role:comp") == kept
        assert one.screen.query_one("#line", Bar).text == line
        await one.press("ctrl+r")
        assert set(one.ids) == kept
        assert complaint(one)
        assert one.screen.query_one("#line", Bar).text == line

    tell(demo, story)


def test_results_that_cannot_be_read_are_asked_for_once(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def read(request: AskResults, backend: Backend) -> object:
        asked.append(request)
        raise InvalidDocument("The history is torn.")

    monkeypatch.setattr(AskResults, "read", read)

    async def story(one: Driven) -> None:
        await one.press("3")
        await filtered(one, "result:error")
        assert "torn" in " ".join(complaint(one))
        assert len(asked) == 1
        await one.press("ctrl+r")
        assert len(asked) == 2

    tell(demo, story)


def test_unreadable_filter_does_not_show_an_empty_list(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("3")
        assert await filtered(one, "no-such-task") == set()
        assert "No row matches" in one.text()
        await filtered(one, "no-such-task+")
        assert complaint(one)
        assert "No row matches" not in one.text()

    tell(demo, story)
