"""The terminal UI over a real server that is killed while a screen loads, and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")
pytest.importorskip("flask", reason="the server needs flask")

from server_process import PATIENCE, serving
from tui_driving import Driven, demo_engine, driven, until

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.settings.master import Master
from fuelclient.tui import gateway
from fuelclient.tui.routes import Route, View


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an engine with the packaged examples lies."""
    return demo_engine(tmp_path_factory.mktemp("served")).parent


def connecting(url: str) -> Callable[[], Backend]:
    def connect() -> Backend:
        return connected(Master(url.partition("/api/")[0], timeout=5, retries=0))

    return connect


@pytest.mark.parametrize(
    ("view", "words"),
    [pytest.param(View.HISTORY, "No graph has been executed", marks=pytest.mark.slow), (View.PREVIEW, "host-network")],
    ids=str,
)
def test_a_screen_says_what_is_wrong_and_comes_back(
    directory: Path, view: View, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "PATIENCE", (0.2, 0.5))

    async def steps() -> None:
        with contextlib.ExitStack() as running:
            server = running.enter_context(serving(directory, engine="demo.db"))
            address = urlsplit(server.url)
            async with driven(connecting(server.url)) as one:
                server.process.send_signal(signal.SIGSTOP)
                one.ui.go(Route(view, 1))
                await one.until("Reading")
                server.process.kill()
                server.process.wait(PATIENCE)
                await until(lambda: "cannot be reached" in one.ui.trouble)
                await until(lambda: _says(one, "cannot be reached", "ctrl+r"))
                running.enter_context(serving(directory, "--port", str(address.port), engine="demo.db"))
                await one.until(words)
                assert not one.ui.trouble

    asyncio.run(steps())


def _says(one: Driven, *words: str) -> bool:
    """Whether the first table itself says so, as long as it has no rows."""
    return all(any(word in line for line in one.main.table.empty) for word in words)
