"""Browse shows more than neighbours: what lies beyond them, and the attribute under the cursor in full."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.widgets import Static
from tui_driving import Driven, connecting, driven

from fuelclient.tui.screens.browse import BrowseScreen


async def _browsing(one: Driven, task: str) -> BrowseScreen:
    await one.press("3")
    await one.cursor_to(task)
    await one.press("enter")
    assert isinstance(one.screen, BrowseScreen)
    return one.screen


def test_neighbours_are_all_that_precede_and_follow(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), (140, 40), env=1) as one:
            screen = await _browsing(one, "load-balancer")
            await one.press("r")
            reach, centre = screen.data.reach, screen.centre
            for near, far, total in (
                (screen.upstream, screen.earlier, reach.ancestors(centre)),
                (screen.downstream, screen.later, reach.descendants(centre)),
            ):
                listed = [*near.table.ids, *far.table.ids]
                assert len(listed) == len(set(listed)) == total > len(near.table)
            edges = [int(str(row[1])) for row in screen.later.table.rows]
            assert edges == sorted(edges)
            assert edges[0] == 2

    asyncio.run(story())


def test_an_attribute_is_told_in_full_with_what_it_replaced(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), (140, 40), env=1) as one:
            screen = await _browsing(one, "host-network")
            place = [str(row[0]).split()[-1] for row in screen.middle.table.rows].index("parameters.timeout")
            await one.press(*["j"] * place)
            said = str(screen.full.query_one(Static).content)
            for words in ("parameters.timeout", "cluster", "override.yaml:", "1200", "600", "nodes.yaml:"):
                assert words in said, said

    asyncio.run(story())


def test_enter_on_a_task_beyond_puts_it_in_the_middle(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), (140, 40), env=1) as one:
            screen = await _browsing(one, "load-balancer")
            screen.panes.activate(3)
            await one.press("j")
            wanted = screen.earlier.table.ids[screen.earlier.row]
            await one.press("enter")
            assert isinstance(one.screen, BrowseScreen)
            assert one.screen.data.study.rows[one.screen.centre].task == wanted

    asyncio.run(story())
