"""The terminal UI on the recordings of a real master: a run ends where it ends, and nothing impossible is offered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from recorded_dry_run import SMALL, Recorded
from recordings import Replay, line
from tui_driving import Driven, driven, until

from fuelclient.tui.requests import AskGraph, AskOverview
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.base import active_keys
from fuelclient.tui.screens.run import RunScreen
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.virtual_table import VirtualTable

pytestmark = pytest.mark.corpus

ONE = {"GET clusters/": 656}
"""Only environment 1: the settings of others were not recorded."""

Story = Callable[[Driven], Coroutine[Any, Any, None]]


def tell(replay: Replay, story: Story) -> None:
    """Run a story on an app over a replay."""

    async def run() -> None:
        async with driven(replay.backend, (160, 45), notifications=True) as one:
            await story(one)

    asyncio.run(run())


def keys_of(one: Driven) -> set[str]:
    return {what for _, what in active_keys(one.ui.screen, armed=True)}


@pytest.mark.parametrize(
    ("first", "last", "run_id", "status", "counted"),
    [(421, 482, 27, "ready", "8 ready"), (550, 561, 59, "error", "1 error")],
)
def test_the_screen_of_a_run_ends_where_the_run_ends(
    first: int, last: int, run_id: int, status: str, counted: str
) -> None:
    async def story(one: Driven) -> None:
        one.ui.go(Route(View.RUN, 1, run=run_id))
        await one.settle()
        screen = one.ui.screen
        assert isinstance(screen, RunScreen)

        def ended() -> bool:
            run = screen.run_here()
            return run is not None and run.is_final and status in screen.query_one("#progress", Bar).text

        await until(ended)
        await until(lambda: counted in screen.query_one("#counts", Bar).text)
        await until(lambda: screen._feed is None or not screen._feed.is_alive())
        await one.settle()
        text = one.text()
        assert "just beginning" not in text
        if status == "error":
            assert "/var/log/" in text
            assert "two/2" in text
            assert line(550).response_body["message"][:40] in text

    tell(Replay(first, last, instead=ONE), story)


def test_what_a_master_cannot_do_has_no_keys() -> None:
    async def story(one: Driven) -> None:
        one.ui.go(Route(View.RUN, 1, run=59))
        await one.settle()
        assert {"stop", "delete"} <= keys_of(one)
        assert not {"kill", "resume"} & keys_of(one)
        await one.press("A")
        assert "resumes" not in one.text()

    tell(Replay(547, 561, instead=ONE), story)


def test_nodes_of_a_master_are_not_reached_from_here() -> None:
    async def story(one: Driven) -> None:
        one.ui.go(Route(View.NODES, 1))
        await one.settle()
        text = one.text()
        assert "10.20.0.168" in text
        assert "ssh" not in text

    tell(Replay("runs: after the end", instead=ONE), story)


def test_plugins_of_a_master_are_enabled_by_its_settings() -> None:
    backend = Replay(656).backend()
    overview, graph = AskOverview().read(backend), AskGraph(1).read(backend)
    for plugins in (overview.plugins, graph.plugins):
        assert {plugin.name for plugin in plugins if plugin.clusters} == {"detach-rabbitmq"}
        assert {plugin.clusters for plugin in plugins} == {(), (1,)}


def test_a_dry_run_shows_the_masters_decision_beside_ours() -> None:
    async def story(one: Driven) -> None:
        one.ui.go(Route(View.ROLES, 1, "small"))
        await one.settle()
        await one.press("A", "e", *["tab"] * 5, "space", "space", "enter")
        await one.until("dry run:", "master: 8 would run, 0 differ")
        rows = one.ui.screen.query_one(VirtualTable).table.rows
        words = {(str(row[2]), str(row[3])): str(row[1]) for row in rows}
        assert words == {(task, str(uid)): "run" if runs else "skip" for (task, uid), runs in SMALL.items()}

    replay = Recorded("runs: the other ways to ask for one", instead=ONE)
    tell(replay, story)
    assert replay.posted["dry_run"] is True
