"""Keys that are typed ahead: they wait, but never for long, and not those with which somebody leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.events import Key
from tui_driving import Driven, connecting, driven, until

from fuelclient.tui.app import FuelUI
from fuelclient.tui.routes import View
from fuelclient.tui.terminal import LONGEST, TypeAhead

MANY = 40


def tell(engine: Path, story: Callable[[Driven], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        async with driven(connecting(engine), (100, 30), env=1) as one:
            await one.press("3")
            pass_time(one, 0)
            await story(one)

    asyncio.run(run())


def pass_time(one: Driven, seconds: float) -> None:
    """Move the clock of the keys on, and stop it: on a busy machine, seconds may pass between two lines of a test."""
    moment = one.ui.typed.now() + seconds
    one.ui.typed.now = lambda: moment


def test_keys_that_wait_for_a_second_are_stuck() -> None:
    time = 10.0
    typed = TypeAhead(lambda: time)
    assert not typed.is_stuck()
    typed.append(Key("j", "j"))
    assert not typed.is_stuck()
    time += 1.5
    assert typed.is_stuck()
    typed.drop()
    assert not typed.is_stuck()
    assert len(typed) == 0


def test_keys_wait_for_a_dialog_as_they_do_for_a_view(demo: Path) -> None:
    async def story(one: Driven) -> None:
        pass_time(one, 2 * LONGEST)
        assert one.ui.typed.is_due(built=False, filled=True)
        one.ui.action_help()
        assert not one.ui.typed.is_due(built=False, filled=True)

    tell(demo, story)


def test_ctrl_q_waits_for_nothing(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for _ in range(MANY):
            one.ui.post_message(Key("j", "j"))
        one.ui.post_message(Key("ctrl+q", None))
        await until(lambda: one.ui._exit)
        assert len(one.ui.typed) > 0

    tell(demo, story)


def test_one_timer_looks_after_all_keys_and_none_is_lost(demo: Path) -> None:
    async def story(one: Driven) -> None:
        before = len(one.ui._timers)
        for _ in range(MANY):
            await one.ui.on_event(Key("j", "j"))
        assert len(one.ui.typed) > 1
        assert len(one.ui._timers) <= before + 1
        await one.settle()
        assert one.main.cursor == MANY

    tell(demo, story)


def test_timer_after_all_screens_closed_is_harmless(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = App._close_all

    async def and_look(ui: FuelUI) -> None:
        await closed(ui)
        ui.call_next(ui._check)

    async def story(one: Driven) -> None:
        monkeypatch.setattr(App, "_close_all", and_look)

    tell(demo, story)


def test_escape_drops_what_nobody_waits_for_any_longer(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for _ in range(MANY):
            await one.ui.on_event(Key("j", "j"))
        assert len(one.ui.typed) > 1
        pass_time(one, LONGEST / 2)
        assert one.ui.typed.is_stuck()
        await one.ui.on_event(Key("escape", None))
        assert len(one.ui.typed) <= 1
        await one.settle()
        assert one.view() is View.ROLES

    tell(demo, story)


def test_a_widget_that_is_gone_keeps_no_key_waiting(demo: Path) -> None:
    async def story(one: Driven) -> None:
        gone = one.ui.screen.focused
        assert gone is not None
        await one.press("1")
        await until(lambda: not gone.is_running)
        one.ui._follow(gone, 2)
        assert one.ui._busy is None
        await one.press("j")
        assert one.main.cursor == 1

    tell(demo, story)


def test_unfinished_key_does_not_hold_the_others_for_ever(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("j")
        one.ui._busy = one.ui.screen.focused
        await one.ui.on_event(Key("j", "j"))
        assert len(one.ui.typed) == 1
        pass_time(one, 2 * LONGEST)
        await one.settle()
        assert one.main.cursor == 2

    tell(demo, story)
