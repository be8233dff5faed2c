"""What somebody else has deleted is shown as gone, also when one comes back to it; what was refused is asked again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from command_line import tiny_engine
from executions import TOLERANT, Executions, shell
from tui_driving import connecting, driven, until

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Unauthorised, Unavailable
from fuelclient.tui import gateway
from fuelclient.tui.requests import AskGraph, AskRuns
from fuelclient.tui.screens.run import RunScreen


def test_an_environment_that_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    fuel2 = tiny_engine(tmp_path)

    async def story() -> None:
        async with driven(connecting(fuel2.engine), env=1) as one:
            await one.press("3", "4")
            fuel2.ok("env", "delete", 1)
            await one.press("ctrl+r")
            assert "Environment 1 does not exist" in one.text()
            assert one.ids == []
            assert not one.screen.filled
            await one.press("0")
            assert "does not exist" not in one.text()
            for key in ("left_square_bracket", "3", "5", "2", "1"):
                await one.press(key)
                assert "Environment 1 does not exist" in one.text()
                assert "netconfig" not in one.text()

    asyncio.run(story())


def test_a_run_that_was_deleted_does_not_come_back(engine: Executions) -> None:
    engine.graph(TOLERANT, shell("greet", "echo hello"))
    found = engine.run()

    async def story() -> None:
        async with driven(connecting(engine.engine), env=1) as one:
            await one.press("8", "enter")
            assert "greet" in one.text()
            engine.backend.runs.delete(found.id)
            await one.press("ctrl+r")
            assert "greet" not in one.text()
            assert "does not exist" in one.text()
            await one.press("8")
            assert "nothing" in one.text().lower() or "never" in one.text().lower() or "No run" in one.text()
            await one.press("left_square_bracket")
            assert isinstance(one.screen, RunScreen)
            assert "greet" not in one.text()

    asyncio.run(story())


def test_a_run_that_is_followed_says_that_it_is_gone(engine: Executions) -> None:
    gate = engine.directory / "gate"
    engine.graph(TOLERANT, shell("gate", f"while [ ! -e {gate} ]; do sleep 0.02; done"))
    begun = engine.begin()

    async def story() -> None:
        async with driven(connecting(engine.engine), env=1) as one:
            await one.press("8", "enter")
            await one.until("▶ 3 running")
            engine.backend.runs.stop(begun.id, kill=True)
            engine.ended(begun.id)
            engine.backend.runs.delete(begun.id)
            await one.until("does not exist")
            await until(lambda: "running" not in one.text())

    asyncio.run(story())


class _Guarded(LocalBackend):
    """An engine that refuses one facet as long as somebody says so."""

    refused: tuple[str, Exception] | None = None

    def __getattribute__(self, name: str) -> object:
        refused = _Guarded.refused
        if refused is not None and name == refused[0]:
            raise refused[1]
        return object.__getattribute__(self, name)


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(gateway, "PATIENCE", (0.05, 0.1))
    monkeypatch.setattr(_Guarded, "refused", None)
    return tiny_engine(tmp_path).engine


def test_what_was_refused_is_asked_again_when_one_comes_back(guarded: Path) -> None:
    def connect() -> Backend:
        return _Guarded(str(guarded))

    async def story() -> None:
        async with driven(connect, env=1) as one:
            await one.press("3")
            _Guarded.refused = ("graphs", Unauthorised("Who are you?"))
            await one.press("ctrl+r")
            assert "Who are you?" in one.text()
            assert "keystone" in one.text()  # it may be as it was
            await one.press("4")
            assert "Who are you?" in one.text()
            _Guarded.refused = None
            await one.press("3")
            assert "Who are you?" not in one.text()

    asyncio.run(story())


def test_unseen_trouble_keeps_other_screens_live(engine: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "PATIENCE", (0.05, 0.1))
    monkeypatch.setattr(_Guarded, "refused", None)
    gate = engine.directory / "gate"
    engine.graph(TOLERANT, shell("gate", f"while [ ! -e {gate} ]; do sleep 0.02; done"))
    begun = engine.begin()

    def connect() -> Backend:
        return _Guarded(str(engine.engine))

    async def story() -> None:
        async with driven(connect, env=1) as one:
            _Guarded.refused = ("graphs", Unavailable("The graphs are away."))
            await one.pilot.press("ctrl+r")
            await until(lambda: AskGraph(1) in one.ui.gateway.failed)
            await one.pilot.press("8")
            await until(lambda: one.screen.request() == AskRuns(1) and one.screen.filled)
            assert "✗ error" not in one.text()
            gate.touch()
            engine.ended(begun.id)
            await one.until("✓ ready")
            assert AskGraph(1) in one.ui.gateway.failed

    asyncio.run(story())
