"""Runs, driven by keys on an engine whose tasks are real commands: arm, execute, watch, stop, resume, delete."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from executions import TOLERANT, Executions, shell, stage
from tui_driving import Driven, connecting, driven, until

from fuelclient.tui.requests import AskRuns
from fuelclient.tui.routes import View
from fuelclient.tui.screens.dialogs import ConfirmDialog, ExecuteDialog
from fuelclient.tui.screens.run import RunScreen
from fuelclient.tui.widgets.bar import Bar

Story = Callable[[Driven], Coroutine[Any, Any, None]]


def tell(engine: Executions, story: Story, size: tuple[int, int] = (140, 40), **options: Any) -> None:
    """Run a story on an app of its own."""

    async def run() -> None:
        async with driven(connecting(engine.engine), size, notifications=True, **options) as one:
            await story(one)

    asyncio.run(run())


def waiting(engine: Executions) -> str:
    """A command that goes on until `open_gate`."""
    return f"echo at the gate; while [ ! -e {engine.directory}/gate ]; do sleep 0.02; done"


def open_gate(engine: Executions) -> None:
    (engine.directory / "gate").touch()


def gated(engine: Executions) -> None:
    """Environment 1 has a graph that stands still until its gate is opened."""
    engine.graph(
        TOLERANT,
        stage("begin"),
        shell("first", engine.note("first"), requires=["begin"]),
        shell("gate", waiting(engine), requires=["first"]),
        shell("last", engine.note("last"), requires=["gate"]),
    )


def bar(one: Driven, name: str) -> str:
    return one.screen.query_one(name, Bar).text


async def confirm(one: Driven, word: str) -> None:
    """Type a word into the dialog that is open, and press Enter."""
    await one.type(word)
    await one.press("enter")


def test_arm_execute_watch_and_see_the_end(engine: Executions) -> None:
    gated(engine)

    async def story(one: Driven) -> None:
        assert "never" in one.text()
        assert "RO" in bar(one, "#head")
        await one.press("enter", "A")
        assert "ARMED" in bar(one, "#head")
        assert "e execute" in bar(one, "#keys")
        await one.press("e")
        assert isinstance(one.ui.screen, ExecuteDialog)
        assert "$ fuel2 graph execute --env 1" in one.text()
        await one.press("tab", "tab")
        await one.type("1 2")
        await one.press(*["tab"] * 6)
        assert "$ fuel2 graph execute --env 1 --node 1 2" in one.text()
        await confirm(one, "prod")
        await until(lambda: isinstance(one.ui.screen, RunScreen) and one.screen.filled)
        await one.until("▶ running", "▶ 2 running", " left")
        await one.until("at the gate")
        open_gate(engine)
        await one.until("✓ 6 ready", "7/7  ✓ ready  took")
        assert one.view() is View.RUN
        assert sorted(engine.noted()) == ["first", "first", "last", "last"]
        assert "fuel2 graph execute --env 1 --node 1 2" in one.ui.log_lines
        await one.press("8")
        assert one.ids == ["1"]
        await one.press("0")
        assert "1 ✓ ready" in one.text()

    tell(engine, story)


def test_nothing_is_changed_before_it_is_armed_and_confirmed(engine: Executions) -> None:
    gated(engine)

    async def story(one: Driven) -> None:
        await one.press("e")
        assert "press A to arm" in one.told()
        assert not isinstance(one.ui.screen, ExecuteDialog)
        await one.press("A", "e", "enter")
        assert "type prod to confirm" in one.text()
        await confirm(one, "pro")
        assert "type prod to confirm" in one.text()
        await one.press("ctrl+y")
        assert one.ui.clipboard == "fuel2 graph execute --env 1"
        await one.press("escape", "A")
        assert "RO" in bar(one, "#head")
        await one.press("A")
        assert "ARMED" in bar(one, "#head")
        await one.press("0")
        assert "RO" in bar(one, "#head")
        assert engine.backend.runs.list() == []

    tell(engine, story, env=1)


def test_a_dry_run_shows_its_plan_and_leaves_no_trace(engine: Executions) -> None:
    gated(engine)

    async def story(one: Driven) -> None:
        await one.press("A", "e", *["tab"] * 5, "space", "space")
        assert "$ fuel2 graph execute --env 1 --dry-run" in one.text()
        await one.press("enter")
        await one.until("9 task instances would run", "sync point", "gate")
        await one.press("escape")
        assert one.view() is View.ROLES
        assert engine.backend.runs.list() == []

    tell(engine, story, env=1)


def test_stop_and_kill(engine: Executions) -> None:
    gated(engine)
    begun = engine.begin()

    async def story(one: Driven) -> None:
        await one.press("8", "enter")
        await one.until("▶ 3 running")
        await one.press("x")
        assert "press A to arm" in one.told()
        await one.press("A", "u")
        assert f"Run {begun.id} is running already." in one.told()
        await one.press("x")
        assert isinstance(one.ui.screen, ConfirmDialog)
        assert f"$ fuel2 task stop {begun.id}" in one.text()
        await confirm(one, str(begun.id))
        await one.until("stopping")
        await one.press("X")
        assert f"$ fuel2 task stop {begun.id} --kill" in one.text()
        await confirm(one, str(begun.id))
        await one.until(" stopped", "⊘ 3 not started")
        assert engine.ended(begun.id).status == "error"
        await until(lambda: f"fuel2 task stop {begun.id} --kill" in one.ui.log_lines)
        await one.press("x")
        assert "has ended already" in one.told()
        await one.press("u")
        assert "graph execute --env 1 --type default --select 'result:error|skipped'" in one.told()

    tell(engine, story, env=1)


def test_a_run_whose_runner_was_killed_is_resumed(engine: Executions) -> None:
    gated(engine)
    begun = engine.begin()
    engine.until(begun.id, lambda _: sum(row.status == "running" for row in engine.rows(begun.id)) == 3)
    runner = engine.runner()
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    engine.until(begun.id, lambda found: found.runner == "gone")

    async def story(one: Driven) -> None:
        await one.press("8")
        assert "runner gone" in one.text()
        await one.press("enter")
        assert "The runner of this run was killed." in one.text()
        await one.press("A", "u")
        assert f"$ fuel2 task resume {begun.id}" in one.text()
        open_gate(engine)
        await confirm(one, str(begun.id))
        await one.until("✓ 9 ready", "10/10  ✓ ready  took")
        assert sorted(engine.noted()) == ["first"] * 3 + ["last"] * 3

    tell(engine, story, env=1)


def test_faults_only_and_why(engine: Executions) -> None:
    engine.graph(
        TOLERANT,
        shell("fine"),
        shell("broken", "echo about to fail; echo what went wrong >&2; exit 3", requires=["fine"]),
        shell("after", requires=["broken"]),
    )
    ended = engine.run(node_ids=(1, 2))

    async def story(one: Driven) -> None:
        await one.press("8")
        assert one.ids == [str(ended.id)]
        await one.press("enter")
        screen = one.screen
        assert isinstance(screen, RunScreen)
        assert screen.name_here() == "broken/1"
        await one.until("what went wrong", "(return code 3)")
        assert len(one.main.table) == 6
        await one.press("f")
        assert sorted(one.ids) == ["after/1", "after/2", "broken/1", "broken/2"]
        assert "faults only" in one.text()
        await one.press("f")
        await one.press("slash")
        await one.type("status:error")
        await one.press("enter")
        assert sorted(one.ids) == ["broken/1", "broken/2"]
        await one.press("escape")
        await one.cursor_to("after/2")
        await one.until("a task before it failed: broken@2", "It printed nothing.")
        await one.press("shift+tab", "home", "k")
        assert screen.name_here() == "fine/1"
        await one.press("right", "right", "down")
        assert screen.name_here() == "after/2"
        assert screen.main.table.ids[screen.main.row] == "after/2"

    tell(engine, story, env=1)


def test_history_of_all_environments_and_the_palette(engine: Executions) -> None:
    engine.graph(TOLERANT, shell("only", "echo hello"))
    engine.backend.clusters.create("other", 1)
    first, second = engine.run(), engine.run(noop=True)

    async def story(one: Driven) -> None:
        await one.press("H")
        assert one.ids == [str(second.id), str(first.id)]
        assert "1 prod" in one.text()
        assert "noop" in one.text()
        assert "only" in one.text()
        await one.press("a")
        assert one.screen.route.env == 1
        await one.press("colon")
        await one.type(f"run {first.id}")
        await one.pilot.pause(0.3)
        await one.press("enter")
        assert one.view() is View.RUN
        assert one.screen.route.run == first.id
        await one.until("hello")
        await one.press("left_square_bracket", "j", "A", "u")
        assert f"Run {first.id} has ended already: it is ready." in one.told()
        assert one.view() is View.HISTORY
        await one.press("D")
        assert f"$ fuel2 task delete {first.id}" in one.text()
        await confirm(one, str(first.id))
        await until(lambda: one.ui.gateway.answers.get(AskRuns(1)) is not None and one.ids == [str(second.id)])
        assert [found.id for found in engine.backend.runs.list(names=["deploy"])] == [second.id]

    tell(engine, story)


def test_no_runs_say_how_to_get_one(engine: Executions) -> None:
    async def story(one: Driven) -> None:
        await one.press("8")
        assert "No graph has been executed on environment 1 yet." in one.text()
        assert "fuel2 graph execute --env 1" in one.text()
        await one.press("D")
        assert "press A to arm" in one.told()
        await one.press("A", "D")
        assert "There is no run here" in one.told()

    tell(engine, story, env=1)


def test_a_refusal_is_told(engine: Executions) -> None:
    gated(engine)
    begun = engine.begin()

    async def story(one: Driven) -> None:
        await one.press("A", "e")
        await confirm(one, "prod")
        await until(lambda: f"Run {begun.id} is already running on environment 1" in one.told())
        assert "not done: execute default on environment 1" in one.told()
        assert "fuel2 graph execute --env 1" in one.ui.log_lines
        assert [found.id for found in engine.backend.runs.list(names=["deploy"])] == [begun.id]

    tell(engine, story, env=1)


@pytest.mark.slow
def test_resized_to_nothing_and_back(engine: Executions) -> None:
    engine.graph(TOLERANT, shell("only", "echo hello"), shell("broken", "exit 1"))
    engine.run()

    async def story(one: Driven) -> None:
        for key in ("8", "enter"):
            await one.press(key)
            await one.until("broken")
            for width, height in ((20, 5), (1, 1), (80, 24), (20, 5), (140, 40)):
                await one.pilot.resize_terminal(width, height)
                await one.settle()
            await one.until("broken", "✗")

    tell(engine, story, env=1)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((140, 40), marks=pytest.mark.slow)])
def test_nothing_but_ascii(engine: Executions, size: tuple[int, int]) -> None:
    engine.graph(TOLERANT, shell("only", "echo hello"), shell("broken", "exit 1"))
    engine.run()

    async def story(one: Driven) -> None:
        for key in ("8", "enter", "A", "e"):
            await one.press(key)
            assert one.text().isascii(), one.text()

    tell(engine, story, size, env=1, ascii_only=True)
