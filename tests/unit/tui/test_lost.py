"""A backend that is lost while a run is followed, threads that end, and arms that are laid down by themselves."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from executions import TOLERANT, Executions, shell, stage
from textual.message import Message
from tui_driving import connecting, driven, until

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Unavailable
from fuelclient.tui import app, gateway
from fuelclient.tui.gateway import Answered, Gateway
from fuelclient.tui.requests import AskOverview
from fuelclient.tui.widgets.bar import Bar


class Wire:
    """The way to an engine, which can be cut: whoever holds a backend then loses it, and gets no other one."""

    def __init__(self, engine: Path) -> None:
        self.engine = engine
        self.is_cut = False
        self.refused = 0

    def connect(self) -> Backend:
        self.check()
        return _Far(self, str(self.engine))

    def check(self) -> None:
        """Raises `Unavailable` while the wire is cut."""
        if self.is_cut:
            self.refused += 1
            raise Unavailable("The master is away.")


class _Far(LocalBackend):
    """An engine at the other end of a wire."""

    def __init__(self, wire: Wire, path: str) -> None:
        super().__init__(path)
        self._wire = wire

    def __getattribute__(self, name: str) -> object:
        if name in ("runs", "graphs", "clusters"):
            object.__getattribute__(self, "_wire").check()
        return object.__getattribute__(self, name)


def test_a_run_is_followed_again_after_the_backend_was_lost(
    engine: Executions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "PATIENCE", (0.05, 0.1))
    gate = engine.directory / "gate"
    command = f"while [ ! -e {gate} ]; do sleep 0.02; done"
    engine.graph(
        TOLERANT,
        stage("begin"),
        shell("gate", command, requires=["begin"]),
        shell("last", engine.note("last"), requires=["gate"]),
    )
    begun = engine.begin()
    wire = Wire(engine.engine)

    async def story() -> None:
        async with driven(wire.connect, env=1) as one:
            await one.press("8", "enter")
            await one.until("▶ 3 running")
            wire.is_cut = True
            await one.until("The master is away.", "asking again")
            assert "▶ 3 running" in one.text()
            refused = wire.refused
            await until(lambda: wire.refused > refused + 1)
            gate.touch()
            engine.ended(begun.id)  # the run does not need who looks at it
            assert engine.noted() == ["last"] * 3
            assert "✓ 6 ready" not in one.text()
            wire.is_cut = False
            await one.until("✓ 6 ready", "7/7")
            await until(lambda: "asking again" not in one.text())

    asyncio.run(story())


def test_closing_ends_every_thread(engine: Executions) -> None:
    gate = engine.directory / "gate"
    engine.graph(TOLERANT, shell("gate", f"while [ ! -e {gate} ]; do sleep 0.02; done"))
    begun = engine.begin()
    before = set(threading.enumerate())
    told: list[Message] = []
    answered = threading.Event()

    def post(message: Message) -> None:
        told.append(message)
        answered.set()

    asking = Gateway(connecting(engine.engine), post, time.monotonic)
    asking.answer(AskOverview())
    feed = asking.follow(begun.id)
    assert answered.wait(30)
    assert isinstance(told[0], Answered)
    names = sorted(thread.name for thread in set(threading.enumerate()) - before)
    assert names == [f"follow-{begun.id}", "tui-worker"]
    asking.close()
    feed.join(30)
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    assert set(threading.enumerate()) <= before


def test_arms_are_laid_down_when_nobody_is_there(demo: Path) -> None:
    async def story() -> None:
        async with driven(connecting(demo), env=1, notifications=True) as one:
            start, passed = time.monotonic(), 0.0
            one.ui.gateway.now = lambda: start + passed
            await one.press("A")
            assert "ARMED" in one.screen.query_one("#head", Bar).text
            passed = app.IDLE - 1
            one.ui.disarm_if_idle()
            assert one.ui.armed
            await one.press("j")
            passed += 2
            one.ui.disarm_if_idle()
            assert one.ui.armed
            passed += app.IDLE
            one.ui.disarm_if_idle()
            await until(lambda: "Read-only again." in one.told())
            assert "RO" in one.screen.query_one("#head", Bar).text

    asyncio.run(story())
