"""The base class of the app, as screens see it. It restores the terminal however it ends, and keeps keys in order."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.events import Event, Key
from textual.filter import LineFilter
from textual.message import Message
from textual.reactive import var
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget

from fuelclient.backends.base import Backend
from fuelclient.tui.gateway import Gateway
from fuelclient.tui.glyphs import ASCII, UNICODE
from fuelclient.tui.requests import Abilities, AskGraph, AskOverview, AskResults, AskRuns, GraphData, Overview
from fuelclient.tui.routes import Route, Trail, View, command_line
from fuelclient.tui.terminal import LONGEST, NEVER_HELD, NoControlCodes, TypeAhead

MAX_LOG_LINES = 1000
"""The largest number of command lines that are kept."""

THEME = Theme(
    name="fuel",
    primary="#e0a458",
    warning="#d8c26a",
    error="#e06c6c",
    foreground="#d6d6d2",
    background="#16181a",
    surface="#202427",
    panel="#3a4045",
    variables={"text-muted": "#8d959b", "input-selection-background": "#e0a458 35%"},
)

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that end the UI. SIGINT is not one: Ctrl-C is a normal key."""

GRACE = 5.0
"""Seconds after a signal until the process is ended: writing to a lost terminal may block for ever."""

_EXTRA_ROUNDS = 2
"""How often `Handled` is sent again: a key causes an action, which may cause further messages."""

_RECHECK_SECONDS = 0.01
"""Seconds between checks whether waiting keys can be handled."""

_SIGNAL_EXIT_BASE = 128
"""The exit code after a signal is this plus the number of the signal, as in shells."""


@dataclass
class Handled(Message):
    """Sent to the focused widget after a key, and `rounds` more times, to detect the end of its handling."""

    widget: Widget
    rounds: int


class UI(App[None]):
    """The app as its screens see it, for any backend. `connect` makes a backend for the thread that calls it.

    A signal ends it and restores the terminal. A key waits until the previous one has been handled: until `Handled`,
    sent after it, has come back from the focused widget several times, behind the messages that the key caused.
    """

    BINDINGS = [
        # priority: it works in dialogs too
        Binding("ctrl+z", "suspend_process", "suspend; fg comes back", show=False, id="app.suspend", priority=True),
    ]

    trouble = var("", init=False)
    """The text of the banner, which is hidden if the text is empty."""

    def __init__(
        self,
        connect: Callable[[], Backend],
        *,
        env: int = 0,
        ascii_only: bool = False,
        program: str = "fuel2",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self._exit_code = 0
        self._handles_signals = False
        self._no_control_codes = NoControlCodes()
        self.typed = TypeAhead(time.monotonic)
        self._busy: Widget | None = None
        self._busy_until = 0.0
        self._is_check_scheduled = False
        self.clock, self.program = clock, program
        self.glyphs = ASCII if ascii_only else UNICODE
        self.gateway = Gateway(connect, self.post_message, time.monotonic)
        self.trail = Trail(Route())
        if env:
            self.trail.go(Route(View.ROLES, env))
        self.log_lines: deque[str] = deque(maxlen=MAX_LOG_LINES)
        self.register_theme(THEME)
        self.theme = THEME.name

    # for the app

    @abstractmethod
    def go(self, route: Route) -> None:
        """Go to another screen."""

    @abstractmethod
    def action_go_back(self) -> None:
        """Go back to the previous screen."""

    def log_route(self, route: Route) -> None:
        """Log the command line of a route."""
        self.log_lines.append(command_line(route, self.program))

    @abstractmethod
    def decorate(self) -> None:
        """Fill the bars of the screen."""

    def watch_trouble(self) -> None:
        self.decorate()

    def copy_line(self, text: str) -> None:
        if text:
            self.copy_to_clipboard(text)
            self.notify(text if len(text) < 200 else f"{text[:200]} ...", title="copied", markup=False)

    # cached answers: these properties send no requests

    @property
    def graph_here(self) -> AskGraph:
        """The request for the graph on the screen."""
        return AskGraph(self.trail.here.env, self.trail.here.graph_type)

    @property
    def graph(self) -> GraphData | None:
        return self.gateway.answers.get(self.graph_here)

    @property
    def overview(self) -> Overview | None:
        return self.gateway.answers.get(AskOverview())

    @property
    def abilities(self) -> Abilities:
        """What the backend supports; everything is assumed until it has answered."""
        source = self.graph or self.overview
        return Abilities() if source is None else source.abilities

    def environment_names(self) -> dict[int, str]:
        overview, graph = self.overview, self.graph
        names = {cluster.id: cluster.name for cluster in overview.clusters} if overview is not None else {}
        return names if graph is None else {**names, graph.env: graph.study.snapshot.cluster.name}

    def node_names(self, env: int) -> dict[int, str]:
        """The names of the nodes of an environment, by id."""
        overview, graph = self.overview, self.graph
        if graph is not None and graph.env == env:
            return {node.id: node.name for node in graph.study.snapshot.nodes}
        return {node.id: node.name for node in overview.nodes} if overview is not None else {}

    def forget_runs(self, env: int) -> None:
        """Mark cached runs and results as old: they are read again when next shown."""
        runs = (AskRuns(), AskRuns(env))
        self.gateway.answers.age(lambda request: request in runs or isinstance(request, AskResults))

    # the terminal

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._no_control_codes]

    @property
    def failure(self) -> Exception | None:
        """The unexpected error that ended the UI."""
        return self._exception

    def run_on_terminal(self, *, mouse: bool = True) -> int:
        """Run until the UI ends. Return the exit code: of a signal, or 0. Raise `failure` if there is one."""
        self._handles_signals = True
        self.run(mouse=mouse)
        if self.failure is not None:
            raise self.failure
        return self._exit_code

    def on_load(self) -> None:
        """Handle signals before Textual changes the terminal. Without a terminal, they are not handled."""
        if self._handles_signals:
            for number in _SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._end, number)

    def _end(self, number: signal.Signals) -> None:
        """Exit with the code of a signal. A second signal, or a timer, ends the process at once."""
        asyncio.get_running_loop().remove_signal_handler(number)
        self._exit_code = _SIGNAL_EXIT_BASE + number
        last = threading.Timer(GRACE, os._exit, (self._exit_code,))
        last.daemon = True
        last.start()
        self.exit(return_code=self._exit_code)

    def action_help_quit(self) -> None:
        """Explain how to quit. Ctrl-C does not quit, because it is too easily pressed by mistake."""
        self.notify("Press q to quit; ctrl+q quits from everywhere.")

    def _fatal_error(self) -> None:
        """End the UI; the command reports `failure`. Textual would print all variables, even passwords."""
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        """Ignore errors of screens that the user has left, and of timers that find no screen at the end."""
        ended = isinstance(error, ScreenStackError) and not self._running
        if not ended and not (isinstance(error, NoMatches) and self._was_left()):
            super()._handle_exception(error)

    def _was_left(self) -> bool:
        """Whether the error comes from a screen that is no longer shown."""
        pump = active_message_pump.get(None)
        while pump is not None and not isinstance(pump, Screen):
            pump = pump._parent
        return pump is not None and pump not in self._screen_stack

    # waiting keys

    def on_mount(self) -> None:
        # keys typed ahead also wait for a new dialog
        self.screen_change_signal.subscribe(self, lambda _screen: self.typed.entered(), immediate=True)

    def is_built(self) -> bool:
        """Whether a widget has the focus, and can get keys."""
        return self.screen.focused is not None

    @abstractmethod
    def is_filled(self) -> bool:
        """Whether the screen shows its data."""

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key) or event.is_forwarded or event.key in NEVER_HELD:
            await super().on_event(event)
            return
        if event.key == "escape" and self.typed.is_stuck():
            self.typed.drop()
        if self._is_busy():
            self.typed.append(event)
        elif not self.typed.hold_if_early(event, built=self.is_built(), filled=self.is_filled()):
            await self._send_key(event)
        self._schedule_check()

    def _is_busy(self) -> bool:
        """Whether the focused widget is still handling the last key."""
        busy = self._busy
        is_here = busy is not None and busy is self.screen.focused and busy.is_attached
        return is_here and self.typed.now() < self._busy_until

    async def _send_key(self, event: Key) -> None:
        widget = self.screen.focused
        await super().on_event(event)
        if widget is not None and widget is self.screen.focused:
            self._busy_until = self.typed.now() + LONGEST
            self._follow(widget, _EXTRA_ROUNDS)

    def on_handled(self, message: Handled) -> None:
        message.stop()
        if message.widget is self._busy:
            if message.rounds:
                self._follow(message.widget, message.rounds - 1)
            else:
                self._busy = None
                self.call_next(self._send_waiting_key)

    def _follow(self, widget: Widget, rounds: int) -> None:
        """Send `Handled` after a key. A closing widget accepts no messages."""
        self._busy = widget if widget.post_message(Handled(widget, rounds)) else None

    def _schedule_check(self) -> None:
        if self.typed and not self._is_check_scheduled:
            self._is_check_scheduled = True
            self.set_timer(_RECHECK_SECONDS, self._check)

    async def _check(self) -> None:
        self._is_check_scheduled = False
        await self._send_waiting_key()

    async def _send_waiting_key(self) -> None:
        """Handle the next waiting key if it need not wait any longer."""
        if not self._is_busy():
            event = self.typed.next(built=self.is_built(), filled=self.is_filled())
            if event is not None:
                await self._send_key(event)
        self._schedule_check()
