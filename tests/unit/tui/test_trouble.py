"""A backend that answers errors, dies, or hangs: a banner, another attempt, and a UI that lives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from tui_driving import connecting, driven, until

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Unavailable
from fuelclient.tui import gateway
from fuelclient.tui.routes import View


class Wire:
    """A backend at the other end of a line: whoever asks for one of its facets needs the line."""

    def __init__(self, line: Line, backend: Backend) -> None:
        self._line, self._backend = line, backend

    def __getattr__(self, facet: str) -> object:
        if facet != "close":
            self._line.pass_through()
        return getattr(self._backend, facet)


class Line:
    """A way to an engine that can be cut, blocked and mended, as a network can."""

    def __init__(self, engine: Path) -> None:
        self.engine = engine
        self.error: Exception | None = None
        self.free = threading.Event()
        self.free.set()
        self.calls = 0

    def connect(self) -> Backend:
        self.pass_through()
        return cast(Backend, Wire(self, LocalBackend(str(self.engine))))

    def pass_through(self) -> None:
        """Let a call through, when the line lets it."""
        self.calls += 1
        self.free.wait(30)
        if self.error is not None:
            raise self.error

    @contextmanager
    def blocked(self) -> Iterator[None]:
        self.free.clear()
        yield
        self.free.set()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "PATIENCE", (0.05, 0.1))
    monkeypatch.setattr(gateway, "SLOW", 0.2)


@pytest.mark.parametrize("error", [Unavailable("The master is away."), RuntimeError("boom"), MemoryError()])
def test_a_dead_backend_is_asked_again_until_it_lives(demo: Path, error: Exception) -> None:
    async def story() -> None:
        line = Line(demo)
        async with driven(line.connect) as one:
            line.error = error
            await one.pilot.press("enter")
            await until(lambda: "asking again" in one.text())
            assert (str(error) or type(error).__name__) in one.text()
            assert one.screen.route.view is View.ROLES
            attempts = line.calls
            await until(lambda: line.calls > attempts)
            line.error = None
            await until(lambda: one.screen.filled)
            await one.settle()
            assert one.ids[0] == "controller"
            assert "asking again" not in one.text()

    asyncio.run(story())


def test_what_is_on_the_screen_stays_when_the_backend_dies(demo: Path) -> None:
    async def story() -> None:
        line = Line(demo)
        async with driven(line.connect, env=1) as one:
            line.error = Unavailable("The master is away.")
            await one.pilot.press("ctrl+r")
            await until(lambda: "The master is away." in one.text())
            assert one.ids[0] == "controller"
            await one.pilot.press("3")
            await one.pilot.pause()
            assert one.ids[0] == "pre_deployment_start"

    asyncio.run(story())


def test_error_answer_is_shown_and_not_requested_again(demo: Path) -> None:
    async def story() -> None:
        line = Line(demo)
        async with driven(line.connect, env=77) as one:
            await until(lambda: "Environment 77 does not exist" in one.text())
            calls = line.calls
            await asyncio.sleep(0.3)
            assert line.calls == calls
            assert "ctrl+r asks again" in one.text()
            await one.press("left_square_bracket")
            assert one.ids == ["1"]

    asyncio.run(story())


def test_hanging_backend_is_shown_and_does_not_block_leaving(demo: Path) -> None:
    async def story() -> None:
        line = Line(demo)
        async with driven(line.connect) as one:
            with line.blocked():
                await one.pilot.press("enter")
                await until(lambda: "Still waiting for the default graph of environment 1" in one.text())
                await one.pilot.press("left_square_bracket")
                await one.pilot.pause()
                assert one.ids == ["1"]
                await one.pilot.press("q")
            assert one.ui._exit

    asyncio.run(story())


def test_a_late_answer_is_dropped(demo: Path) -> None:
    async def story() -> None:
        line = Line(demo)
        async with driven(line.connect) as one:
            with line.blocked():
                await one.pilot.press("enter")
                await one.pilot.pause()
                [first] = one.ui.gateway.pending.values()
                await one.pilot.press("ctrl+r")
                await one.pilot.pause()
                [waiting] = one.ui.gateway.pending.values()
            await one.settle()
            assert one.ids[0] == "controller"
            assert waiting is not first
            assert one.ui.gateway.pending == {}

    asyncio.run(story())


def test_a_graph_with_a_cycle_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    from command_line import tiny_engine

    fuel2 = tiny_engine(tmp_path)
    loop = "- {id: netconfig, requires: [keystone]}\n"
    fuel2.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=loop)

    async def story() -> None:
        async with driven(connecting(fuel2.engine), env=1) as one:
            for key in "1234567":
                await one.press(key)
            await one.press("3")
            assert "The graph has a cycle" in one.text()
            await one.press("6")
            assert any(str(row[1]) == "G050" for row in one.main.table.rows)
            for width, height in ((20, 5), (80, 24)):
                await one.pilot.resize_terminal(width, height)
                await one.settle()
            assert "error" in one.text()

    asyncio.run(story())
