"""Dialogs: closed before they are built, asked for a word that somebody can type, and out of each other's way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from command_line import tiny_engine
from textual.screen import Screen
from tui_driving import Driven, connecting, driven, until

from fuelclient.model.run import RunRequest
from fuelclient.tui.actions import Action, Execute, Stop
from fuelclient.tui.app import FuelUI
from fuelclient.tui.app_base import MAX_LOG_LINES
from fuelclient.tui.gateway import Failed
from fuelclient.tui.presenters.execute import word_for
from fuelclient.tui.routes import TABS, View
from fuelclient.tui.screens.dialogs import Choice, ConfirmDialog, ExecuteDialog, HelpDialog, LogDialog, PlanDialog
from fuelclient.tui.widgets.bar import Bar

Story = Callable[[Driven], Coroutine[Any, Any, None]]

CHOICES = (("let running tasks finish", Stop(1)), ("kill running tasks", Stop(1, kill=True)))
DIALOGS: dict[str, Callable[[], Screen[Any]]] = {
    "help": lambda: HelpDialog([("keys", "What they do.", [("?", "help")])]),
    "log": lambda: LogDialog(["fuel2 env list"]),
    "plan": lambda: PlanDialog([], with_master=False),
    "confirm": lambda: ConfirmDialog("stop", "Stop run 1?", "1", CHOICES),
    "execute": lambda: ExecuteDialog(1, "demo", "default", ("default",), {"tasks": [], "nodes": []}),
}


def tell(engine: Path, story: Story, size: tuple[int, int] = (100, 30), **options: Any) -> None:
    async def run() -> None:
        async with driven(connecting(engine), size, env=1, **options) as one:
            await story(one)

    asyncio.run(run())


async def turns(number: int) -> None:
    """Let everything that waits have its turn, some times."""
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.mark.parametrize("dialog", DIALOGS)
def test_a_dialog_may_be_closed_before_it_is_built(demo: Path, dialog: str) -> None:
    async def story(one: Driven) -> None:
        for number in (0, 1, 2, 3, 5, 8):
            one.ui.push_screen(DIALOGS[dialog]())
            await turns(number)
            one.ui.pop_screen()
            await one.settle()
            assert one.ui.failure is None
            assert one.view() is View.ROLES

    tell(demo, story)


def test_dialog_may_be_left_before_it_is_built(demo: Path) -> None:
    async def story(one: Driven) -> None:
        one.ui.action_log()
        one.ui.action_environments()
        await one.settle()
        assert one.view() is View.ENVIRONMENTS
        assert one.ids == ["1"]

    tell(demo, story)


@pytest.mark.parametrize("number", [0, 2, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 3, 5, 8))])
def test_a_view_may_be_left_before_it_is_built(demo: Path, number: int) -> None:
    async def story(one: Driven) -> None:
        for view in (*TABS[1:], View.ROLES):
            one.ui.action_view(view)
            await turns(number)
        await one.settle()
        assert one.ui.failure is None
        assert one.ids[0] == "controller"

    tell(demo, story)


@pytest.mark.parametrize(
    "view",
    [pytest.param(view, marks=() if view in (View.PREVIEW, View.HISTORY) else pytest.mark.slow) for view in TABS[1:]],
)
def test_time_and_failures_may_come_before_a_view_is_built(demo: Path, view: View) -> None:
    async def story(one: Driven) -> None:
        one.ui.action_view(view)
        one.ui._watch()
        request = one.screen.request()
        waiting = one.ui.gateway.pending.get(request)
        if waiting is not None:
            one.ui.on_failed(Failed(waiting, request, "It went away.", transient=False))
        await one.settle()
        assert one.ui.failure is None
        assert one.view() is view
        assert one.screen.is_whole()

    tell(demo, story)


def test_fatal_error_is_kept_and_printed_without_variables(demo: Path) -> None:
    async def story(one: Driven) -> None:
        one.ui._handle_exception(ValueError("nobody expected it"))
        assert one.ui._exit_renderables == []

    with pytest.raises(ValueError, match="nobody expected it"):
        tell(demo, story)


@pytest.mark.parametrize(
    ("name", "typed"), [(" lead ", "lead"), ("two  words", "two words"), ("zero\u200bwidth", "7"), ("", "7")]
)
def test_any_name_can_be_confirmed(demo: Path, name: str, typed: str) -> None:
    assert word_for(7, name) == typed

    async def story(one: Driven) -> None:
        found: list[Action | None] = []
        one.ui.push_screen(ExecuteDialog(7, name, "default", ("default",), {"tasks": [], "nodes": []}), found.append)
        await one.settle()
        await one.press("enter")
        assert f"type {typed} to confirm" in one.text()
        await one.type(typed)
        await one.press("enter")
        assert found == [Execute(RunRequest(7))]

    tell(demo, story)


def test_first_typed_word_is_the_confirmation(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("A", "e")
        assert one.told() == ""
        await one.type("demo")
        assert "$ fuel2 graph execute --env 1 " in one.text().replace("\n", " ")
        assert "--type" not in one.text()
        await one.press("tab")
        assert one.ui.screen.focused is one.ui.screen.query_one("#types")

    tell(demo, story, notifications=True)


def test_the_check_of_nodes_over_ssh_can_be_left_out(tmp_path: Path, demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("A", "e")
        dialog = one.ui.screen
        assert isinstance(dialog, ExecuteDialog)
        assert isinstance(before := dialog.action(), Execute)
        assert before.check
        dialog.query_one("#check", Choice).action_step(1)
        assert dialog.action() == Execute(before.request, check=False)
        await one.settle()
        assert "$ fuel2 graph execute --env 1 --no-check" in one.text()
        dialog.query_one("#manner", Choice).action_step(-1)
        assert isinstance(planned := dialog.action(), Execute)
        assert (planned.request.dry_run, planned.check) == (True, True)

    async def without(one: Driven) -> None:
        await one.press("A", "e")
        assert not one.ui.screen.query("#check")

    tell(tiny_engine(tmp_path).engine, story)
    tell(demo, without)


def test_the_bar_says_what_the_key_does(demo: Path) -> None:
    async def story(one: Driven) -> None:
        keys = one.screen.query_one("#keys", Bar)
        assert "A arm" in keys.text
        await one.press("A")
        assert "A disarm" in keys.text

    tell(demo, story, (140, 40))


def test_help_lists_what_works_here(demo: Path) -> None:
    async def story(one: Driven) -> None:
        for key, lists in (("1", False), ("3", True)):
            await one.press(key)
            await one.press("question_mark")
            shown = one.text()
            assert ("why after" in shown) == lists
            assert ("copy YAML" in shown) == lists
            assert "copy id" in shown
            await one.press("escape")

    tell(demo, story, (120, 80))


def test_ctrl_c_names_the_key_that_quits(demo: Path) -> None:
    async def story(one: Driven) -> None:
        await one.press("ctrl+c")
        await until(lambda: "q quits" in one.told())
        assert not one.ui._exit

    tell(demo, story, notifications=True)


def test_signals_without_terminal_are_left_to_the_caller(demo: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def story(one: Driven) -> None:
        assert signal.getsignal(signal.SIGTERM) == before
        assert one.view() is View.ROLES

    tell(demo, story)


def test_the_log_keeps_the_last_command_lines(tmp_path: Path) -> None:
    ui = FuelUI(connecting(tmp_path / "engine.db"))
    ui.log_lines.extend(f"fuel2 task show {number}" for number in range(2 * MAX_LOG_LINES))

    assert len(ui.log_lines) == MAX_LOG_LINES
    assert ui.log_lines[-1] == f"fuel2 task show {2 * MAX_LOG_LINES - 1}"
