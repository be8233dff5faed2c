"""Engines to try the terminal UI on, and a pilot that waits for answers instead of a fixed time."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from command_line import CommandLine
from corpus import corpus
from shared import shared
from textual import events
from textual._compositor import Compositor
from textual.keys import REPLACED_KEYS, _character_to_key, key_to_character
from textual.pilot import Pilot
from textual.screen import Screen

from fuelclient import examples
from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.commands.exits import Exit
from fuelclient.tui.app import FuelUI
from fuelclient.tui.routes import View
from fuelclient.tui.screens.base import ViewScreen
from fuelclient.tui.screens.run import RunScreen
from fuelclient.tui.widgets.virtual_table import VirtualTable

NEWTON_PLUGINS = ("fuel-plugin-detach-rabbitmq", "fuel-plugin-kubernetes")


def demo_engine(directory: Path) -> Path:
    """Return an engine with the packaged examples."""
    shared("demo", lambda made: CommandLine(made / "demo.db").ok("demo"), directory)
    return directory / "demo.db"


def newton_engine(directory: Path) -> Path:
    """Return an engine with newton's default graph on 14 nodes and three plugins: two of the corpus, and the packaged
    example, built for newton. Call it in the directory of the corpus, so that paths are relative to it."""
    shared("newton", _make_newton, directory)
    return directory / "newton.db"


def _make_newton(directory: Path) -> None:
    fuel2 = CommandLine(directory / "newton.db")
    root = corpus()
    fuel2.ok("release", "import", root / "fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml")
    with contextlib.chdir(root):
        fuel2.ok(
            "graph", "upload", "--release", 2, "--type", "default", "--dir", "fuel-library/newton/deployment/puppet"
        )
        for plugin in NEWTON_PLUGINS:
            fuel2.ok("plugins", "install", f"plugins/{plugin}")
    fuel2.ok("plugins", "install", _example_for_newton(fuel2, directory))
    fuel2.ok("env", "create", "newton", "--release", 2)
    for plugin_id in (1, 2, 3):
        fuel2.ok("plugins", "enable", plugin_id, "--env", 1)
    for number in range(1, 15):
        role = "controller" if number <= 3 else "compute" if number <= 11 else "cinder"
        fuel2.ok("node", "create", f"node-{number}", "--executor", "noop", "--env", 1, "--roles", role)


def _example_for_newton(fuel2: CommandLine, directory: Path) -> str:
    """Build the example plugin for newton, and return the path of the package."""
    source = directory / "rack-monitoring"
    shutil.copytree(Path(examples.__file__).parent / "plugins" / "rack-monitoring", source)
    metadata = source / "metadata.yaml"
    metadata.write_text(metadata.read_text(encoding="utf-8").replace("ocata-11.0", "newton-10.0"), encoding="utf-8")
    with contextlib.chdir(directory):  # where the package is written
        return str(Path(fuel2.ok("plugins", "build", source).out.strip()).absolute())


BROKEN = """
- id: compute
  type: group
  roles: [compute]
  fault_tolerance: 100%
- id: look-around
  type: shell
  version: 2.0.0
  roles: [controller]
  parameters: {cmd: "echo looking around", timeout: 60}
- id: break-something
  type: shell
  version: 2.0.0
  roles: [controller]
  requires: [look-around]
  parameters: {cmd: "echo step one; echo step two; echo no such volume >&2; WAIT; exit 3", timeout: 60, retries: 0}
- id: use-it
  type: shell
  version: 2.0.0
  roles: [controller]
  requires: [break-something]
  parameters: {cmd: "true", timeout: 60}
"""
"""Two nodes fail at the same task, which waits until it has started on both: otherwise the first failure would keep the
slower node from starting it."""

_WAIT = "mkdir -p {0}; mktemp {0}/XXXXXX > /dev/null; while [ $(ls {0} | wc -l) -lt 2 ]; do sleep 0.05; done"


SURVEY = "\n".join(
    f"- {{id: survey-{number:02}, type: shell, version: 2.0.0, roles: [/.*/], parameters: {{cmd: 'true', timeout: 9}},"
    f" requires: [{f'survey-{number - 1:02}' if number else ''}]}}"
    for number in range(60)
)
"""Sixty tasks on every node, one after another."""


def execute(engine: Path, graph_type: str = "default") -> None:
    """Run three graphs on environment 1: one succeeds, one fails, and the runner of one seems to have been killed half
    way. All times are made up, so that pictures stay the same."""
    fuel2 = CommandLine(engine)
    if graph_type == "survey":
        fuel2.ok("graph", "upload", "--env", 1, "--type", graph_type, "--file", "-", stdin=SURVEY)
    fuel2.ok("graph", "execute", "--env", 1, "--type", graph_type, "--noop", "--wait")
    fuel2.ok(
        "graph",
        "upload",
        "--env",
        1,
        "--type",
        "broken",
        "--file",
        "-",
        stdin=BROKEN.replace("WAIT", _WAIT.format(engine.parent / "begun")),
    )
    failed = fuel2("graph", "execute", "--env", 1, "--type", "broken", "--executor", "local", "--wait")
    assert failed.code == Exit.FAILED, failed
    fuel2.ok("graph", "execute", "--env", 1, "--type", graph_type, "--noop", "--force", "--wait")
    with contextlib.closing(sqlite3.connect(engine)) as connection, connection:
        parent, child = connection.execute("SELECT max(parent_id), max(id) FROM transactions").fetchone()
        half = connection.execute("SELECT count(*) / 2 FROM history WHERE transaction_id = ?", (child,)).fetchone()[0]
        connection.execute(
            "UPDATE history SET status = CASE WHEN vertex < ? + 4 THEN 'running' ELSE 'pending' END, reason = '', "
            "message = '', time_end = NULL WHERE transaction_id = ? AND vertex >= ?", (half, child, half)
        )  # fmt: skip
        connection.execute(
            "UPDATE transactions SET status = 'running', progress = 50, message = '', time_end = NULL "
            "WHERE id IN (?, ?)", (parent, child)
        )  # fmt: skip
        connection.execute("DELETE FROM events WHERE parent_id = ?", (parent,))
        for table, seconds in (("history", "vertex"), ("transactions", "id * 3600")):
            connection.execute(_END.format(table, seconds))
            connection.execute(_START.format(table, seconds))


_END = (
    "UPDATE {} SET time_end = strftime('%Y-%m-%dT%H:%M:%f', '2026-01-02', ({} + 7) || ' seconds') "
    "WHERE time_end IS NOT NULL AND time_end != time_start"
)
_START = (
    "UPDATE {} SET time_start = strftime('%Y-%m-%dT%H:%M:%f', '2026-01-02', ({}) || ' seconds') "
    "WHERE time_start IS NOT NULL AND coalesce(time_end, '') != time_start"
)

LATER = datetime(2026, 1, 2, 8, 30, tzinfo=UTC)
"""The time at which pictures are taken."""


def connecting(engine: Path) -> Callable[[], Backend]:
    """Return a function that opens a backend on an engine file."""

    def connect() -> Backend:
        return LocalBackend(str(engine))

    return connect


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until a condition is true, and fail if that takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never became true"
        await asyncio.sleep(0.01)


_CALM = 3
"""So often in turn nothing is left to wait for: a message, or a layout, can call for more."""

_LONGEST = 60.0
"""Seconds after which a screen counts as settled although it still waits, as that of a live run does."""


@dataclass
class Driven:
    """An app and its pilot."""

    ui: FuelUI
    pilot: Pilot[Any]

    async def press(self, *keys: str) -> None:
        """Press keys one after another, each time waiting for all answers; then draw."""
        for key in keys:
            name = key if key.isalnum() or len(key) > 1 else _character_to_key(key)
            self.ui.post_message(events.Key(name, key_to_character(REPLACED_KEYS.get(name, name))))
            await self.settled()
        self._draw()

    async def type(self, text: str) -> None:
        await self.press(*(key if len(key) > 1 else _KEYS.get(key, key) for key in text))

    async def settle(self) -> None:
        """Wait until all messages are handled and all answers are there, and the layout has followed; then draw."""
        await self.settled()
        self._draw()

    async def settled(self) -> None:
        """Wait without drawing.

        A pause of the pilot waits for an idle processor instead, at least 20 ms, several times for each key.
        """
        calm, deadline = 0, time.monotonic() + _LONGEST
        while calm < _CALM and time.monotonic() < deadline:
            if self._is_waiting():
                calm = 0
                await asyncio.sleep(0.01)
            while self._has_messages():
                self._alive()
                calm = 0
                await asyncio.sleep(0)
            await self.pilot._wait_for_screen()
            self.ui.screen._on_timer_update()
            calm += 1

    def _draw(self) -> None:
        with self.ui._context():
            _DRAW(self.ui.screen._compositor, screen_stack=self.ui._background_screens)

    def _alive(self) -> None:
        """Fail if the app has died: nobody would ever take its messages."""
        if self.ui.failure is not None:
            raise AssertionError("the app has died") from self.ui.failure

    def _is_waiting(self) -> object:
        self._alive()
        is_behind = isinstance(self.ui.screen, RunScreen) and self.ui.screen.is_behind
        return self.ui.gateway.pending or self.ui.gateway.acting or self.ui.typed or is_behind

    def _has_messages(self) -> bool:
        return any(pump.message_queue_size for pump in (self.ui, *self.ui.screen.walk_children(with_self=True)))

    @property
    def screen(self) -> ViewScreen:
        assert isinstance(self.ui.screen, ViewScreen)
        return self.ui.screen

    def view(self) -> View:
        """Return the current view."""
        return self.screen.route.view

    @property
    def main(self) -> VirtualTable:
        return self.screen.main

    @property
    def ids(self) -> list[str]:
        """The ids of the rows in the first table."""
        return [self.main.table.ids[row] for row in self.main.order]

    async def cursor_to(self, name: str, table: VirtualTable | None = None) -> None:
        """Put the cursor of a table on the row with this id."""
        chosen = table or self.main
        assert chosen.go_to(list(chosen.table.ids).index(name))
        await self.settle()

    async def until(self, *words: str) -> None:
        """Wait until the screen shows all words."""
        try:
            await until(lambda: all(word in self.text() for word in words))
        except AssertionError as error:
            raise AssertionError(f"{words} never came:\n{self.text()}") from error

    def told(self) -> str:
        """Return the notifications on the screen."""
        return "\n".join(f"{note.title} {note.message}" for note in self.ui._notifications)

    def text(self) -> str:
        """Return everything on the screen, line by line."""
        size = self.ui.size
        lines = self.ui.screen._compositor.render_strips(size)
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)


_KEYS = {"=": "equals_sign", ":": "colon", "-": "minus", "_": "underscore", "!": "exclamation_mark", " ": "space"}


def _later(
    compositor: Compositor, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
) -> Any:
    """Draw only what a test asks for as a whole; the rest is drawn when the screen has settled. Between two keys the
    library draws several times, which nobody sees, and which takes half of the time."""
    return _DRAW(compositor, full, screen_stack, simplify) if full else None


_DRAW = Compositor.render_update


@contextlib.asynccontextmanager
async def driven(
    connect: Callable[[], Backend],
    size: tuple[int, int] = (140, 40),
    *,
    env: int = 0,
    ascii_only: bool = False,
    notifications: bool = False,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    drawn: bool = False,
) -> AsyncIterator[Driven]:
    """Run the app without a terminal, and yield it once its first screen is filled. `drawn`, it draws whenever the
    library would."""
    ui = FuelUI(connect, env=env, ascii_only=ascii_only, clock=clock)
    drawing = contextlib.nullcontext() if drawn else patch.object(Compositor, "render_update", _later)
    with drawing:
        async with ui.run_test(size=size, notifications=notifications) as pilot:
            driven_ui = Driven(ui, pilot)
            await driven_ui.settled()  # what it shows is drawn when somebody looks, or presses a key
            yield driven_ui
