"""Engines that the terminal UI is tried on, and a pilot that waits for answers instead of for time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import CommandLine
from corpus import corpus
from textual.pilot import Pilot

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.tui.app import FuelUI
from fuelclient.tui.routes import View
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.widgets.vtable import VirtualTable

NEWTON_PLUGIN = "fuel-plugin-detach-rabbitmq"


def demo_engine(directory: Path) -> Path:
    """An engine with the packaged examples."""
    fuel2 = CommandLine(directory / "demo.db")
    fuel2.ok("demo")
    return fuel2.engine


def newton_engine(directory: Path) -> Path:
    """An engine with newton's default graph on 14 nodes and one plugin of the corpus. It must be called in the
    corpus, so that files are named as seen from there."""
    fuel2 = CommandLine(directory / "newton.db")
    root = corpus()
    fuel2.ok("release", "import", root / "fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml")
    with contextlib.chdir(root):
        fuel2.ok(
            "graph", "upload", "--release", 2, "--type", "default", "--dir", "fuel-library/newton/deployment/puppet"
        )
        fuel2.ok("plugins", "install", f"plugins/{NEWTON_PLUGIN}")
    fuel2.ok("env", "create", "newton", "--release", 2)
    fuel2.ok("plugins", "enable", 1, "--env", 1)
    for number in range(1, 15):
        role = "controller" if number <= 3 else "compute" if number <= 11 else "cinder"
        fuel2.ok("node", "create", f"node-{number}", "--executor", "noop", "--env", 1, "--roles", role)
    return fuel2.engine


def connecting(engine: Path) -> Callable[[], Backend]:
    """What makes a backend over an engine file."""

    def connect() -> Backend:
        return LocalBackend(str(engine))

    return connect


@dataclass
class Driven:
    """An app and its pilot."""

    ui: FuelUI
    pilot: Pilot[Any]

    async def press(self, *keys: str) -> None:
        """Press keys one after another, and wait each time until everything that was asked for has been answered."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        await self.press(*(key if len(key) > 1 else _KEYS.get(key, key) for key in text))

    async def settle(self) -> None:
        for _ in range(2000):
            await self.pilot.pause()
            if not self.ui.gateway.pending:
                break
            await asyncio.sleep(0.005)
        await self.pilot.pause()

    @property
    def screen(self) -> ViewScreen:
        assert isinstance(self.ui.screen, ViewScreen)
        return self.ui.screen

    def view(self) -> View:
        """Where one is."""
        return self.screen.route.view

    @property
    def main(self) -> VirtualTable:
        return self.screen.main

    @property
    def ids(self) -> list[str]:
        """The ids of the rows that the first table shows."""
        return [self.main.table.ids[row] for row in self.main.order]

    async def cursor_to(self, name: str, table: VirtualTable | None = None) -> None:
        """Put the cursor of a table on the row of that id."""
        chosen = table or self.main
        assert chosen.go_to(list(chosen.table.ids).index(name))
        await self.settle()

    def text(self) -> str:
        """Everything on the screen, line by line."""
        size = self.ui.size
        lines = self.ui.screen._compositor.render_strips(size)
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)


_KEYS = {"=": "equals_sign", ":": "colon", "-": "minus", "_": "underscore", "!": "exclamation_mark", " ": "space"}


@contextlib.asynccontextmanager
async def driven(
    connect: Callable[[], Backend], size: tuple[int, int] = (140, 40), *, env: int = 0, ascii_only: bool = False
) -> AsyncIterator[Driven]:
    """The app, running without a terminal, with its first screen filled."""
    ui = FuelUI(connect, env=env, ascii_only=ascii_only)
    async with ui.run_test(size=size) as pilot:
        one = Driven(ui, pilot)
        await one.settle()
        yield one
