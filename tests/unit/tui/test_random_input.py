"""Nothing that comes from the keyboard, the mouse or the window ends the UI, except the keys that do."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from random_input import SIZES, throw
from textual import events
from textual.command import CommandList
from textual.geometry import Size
from textual.widgets import Input
from tui_driving import Driven, connecting, driven, until

_QUICK, _EACH = 100, 5000


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 21))])
def test_random_input_ends_nothing(seed: int, demo: Path) -> None:
    """100 000 events in all, from another size for each seed; what fails is repeated with its seed."""

    async def story() -> None:
        async with driven(connecting(demo), SIZES[seed % len(SIZES)], drawn=True) as one:
            last = await throw(one, random.Random(seed), _EACH if seed else _QUICK)  # noqa: S311
            assert last == [], f"it ended with {one.ui._exception!r}"
            await one.settle()
            while one.ui.screen is not one.ui.view:
                await one.press("escape")
            assert one.text().strip()

    asyncio.run(story())


def click(one: Driven, x: int, y: int) -> None:
    """A click that does not wait for anything."""
    for kind in (events.MouseDown, events.MouseUp):
        one.ui.post_message(kind(None, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False))


@pytest.mark.parametrize("key", ["colon", "question_mark", "at"])
def test_what_closes_a_dialog_twice_leaves_the_view(key: str, demo: Path) -> None:
    """Two clicks beside a palette that come at once both close it; so do two calls for a dialog."""

    async def story() -> None:
        async with driven(connecting(demo), env=1) as one:
            view = one.ui.screen
            await one.press(key)
            dialog = one.ui.screen
            assert dialog is not view
            for _ in range(3):
                click(one, 0, 39)
            for _ in range(2):
                dialog.call_next(lambda: bool(dialog.dismiss()) and None)
            await until(lambda: one.ui.screen is view)
            await one.settle()
            assert one.ui.screen is view

    asyncio.run(story())


def test_a_page_of_the_palette_where_it_has_no_room(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), (60, 20), env=1) as one:
            await one.press("colon")
            rows = one.ui.screen.query_one(CommandList)
            await until(lambda: rows.option_count)
            await one.press("down", "pagedown", "pageup")
            one.ui._driver._size = (10, 4)  # type: ignore[union-attr]
            one.ui.post_message(events.Resize(Size(10, 4), Size(10, 4)))
            await one.settle()
            await one.press("pagedown", "pageup", "escape")
            assert one.ui.screen is one.ui.view

    asyncio.run(story())


def test_a_click_on_a_row_that_the_palette_had(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), env=1) as one:
            await one.press("colon")
            rows = one.ui.screen.query_one(CommandList)
            await until(lambda: rows.option_count > 3 and rows.region.height > 3)
            x, y = rows.content_region.x + 2, rows.content_region.y + 2
            style = one.ui.screen.get_style_at(x, y)
            assert style.meta["option"] >= 1
            rows.clear_options()  # while the click is on its way to the rows
            rows.post_message(events.Click(rows, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, style=style))
            await one.settle()
            await one.press("escape")
            assert one.ui.screen is one.ui.view

    asyncio.run(story())


def test_a_palette_that_is_closed_while_it_looks(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), env=1) as one:
            await one.press("colon")
            palette = one.ui.screen
            await palette.query(CommandList).remove()
            palette.query_one(Input).value = "host"
            await one.settle()
            await one.press("escape")
            assert one.ui.screen is one.ui.view

    asyncio.run(story())


def test_a_palette_opens_while_the_one_before_is_being_closed(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), env=1) as one:
            view = one.ui.screen
            await one.press("colon")
            first = one.ui.screen
            one.ui.pop_screen()  # nothing is removed before the next await
            one.ui.action_command_palette()
            await until(lambda: one.ui.screen not in (view, first))
            await one.press("escape")
            assert one.ui.screen is view

    asyncio.run(story())
