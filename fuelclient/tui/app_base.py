"""The base class of the app, for its screens: it restores the terminal at any end, and keeps the order of keys."""

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

MOST_LOG_LINES = 1000
"""How many command lines are kept."""

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
"""Signals that end the UI; Ctrl-C is a key like any other."""

GRACE = 5.0
"""Seconds that the end may take after a signal: writing to a lost terminal may block for ever."""

_ROUNDS = 2
"""How often `Handled` is sent again: for the action of a key, its message, and a further one."""

_SOON = 0.01
"""Seconds between two looks at waiting keys."""

_LEAVING = 128
"""Shells add this to the number of a signal for an exit code."""


@dataclass
class Handled(Message):
    """Follows a key up from the focused widget, and is sent `rounds` more times."""

    widget: Widget
    rounds: int


class UI(App[None]):
    """The app as its screens see it, over any backend. `connect` makes one in the thread that calls it.

    A signal ends it and restores the terminal. The next key waits until a message sent after the last one has come up
    from the focused widget several times: actions and what they cause are messages too, which it would overtake.
    """

    BINDINGS = [
        # with priority it works in dialogs as well
        Binding("ctrl+z", "suspend_process", "suspend; fg comes back", show=False, id="app.suspend", priority=True),
    ]

    trouble = var("", init=False)
    """The text of the banner, which is hidden without one."""

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
        self._heeds_signals = False
        self._no_control_codes = NoControlCodes()
        self.typed = TypeAhead(time.monotonic)
        self._busy: Widget | None = None
        self._busy_until = 0.0
        self._looks = False
        self.clock, self.program = clock, program
        self.glyphs = ASCII if ascii_only else UNICODE
        self.gateway = Gateway(connect, self.post_message, time.monotonic)
        self.trail = Trail(Route())
        if env:
            self.trail.go(Route(View.ROLES, env))
        self.log_lines: deque[str] = deque(maxlen=MOST_LOG_LINES)
        self.register_theme(THEME)
        self.theme = THEME.name

    # what the app does

    @abstractmethod
    def go(self, route: Route) -> None:
        """Go to another place."""

    @abstractmethod
    def action_go_back(self) -> None:
        """Go to the place before."""

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

    # what is known already: nothing is asked for

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
        """What the backend supports; all, until it has answered."""
        source = self.graph or self.overview
        return Abilities() if source is None else source.abilities

    def environment_names(self) -> dict[int, str]:
        overview, graph = self.overview, self.graph
        names = {cluster.id: cluster.name for cluster in overview.clusters} if overview is not None else {}
        return names if graph is None else {**names, graph.env: graph.study.snapshot.cluster.name}

    def node_names(self, env: int) -> dict[int, str]:
        """Names of the nodes of an environment by id."""
        overview, graph = self.overview, self.graph
        if graph is not None and graph.env == env:
            return {node.id: node.name for node in graph.study.snapshot.nodes}
        return {node.id: node.name for node in overview.nodes} if overview is not None else {}

    def forget_runs(self, env: int) -> None:
        """Read runs again when they are shown next."""
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
        """Run to the end and return the exit code, that of a signal or 0. Raise `failure` if there is one."""
        self._heeds_signals = True
        self.run(mouse=mouse)
        if self.failure is not None:
            raise self.failure
        return self._exit_code

    def on_load(self) -> None:
        """Handle signals before the terminal is changed; without a terminal they keep their meaning."""
        if self._heeds_signals:
            for number in _SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._end, number)

    def _end(self, number: signal.Signals) -> None:
        """Exit with the code of a signal; a second signal, or the timer, ends the process at once."""
        asyncio.get_running_loop().remove_signal_handler(number)
        self._exit_code = _LEAVING + number
        last = threading.Timer(GRACE, os._exit, (self._exit_code,))
        last.daemon = True
        last.start()
        self.exit(return_code=self._exit_code)

    def action_help_quit(self) -> None:
        """Explain how to quit. Ctrl-C does not: it is pressed by mistake too easily."""
        self.notify("Press q to quit; ctrl+q quits from everywhere.")

    def _fatal_error(self) -> None:
        """End, so that the command reports `failure`. Textual would print the values of all variables, passwords
        too."""
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        """Ignore errors of screens that are being taken apart, and of timers that find no screen at the end."""
        ended = isinstance(error, ScreenStackError) and not self._running
        if not ended and not (isinstance(error, NoMatches) and self._was_left()):
            super()._handle_exception(error)

    def _was_left(self) -> bool:
        """Whether the error comes from a screen that is no longer shown."""
        pump = active_message_pump.get(None)
        while pump is not None and not isinstance(pump, Screen):
            pump = pump._parent
        return pump is not None and pump not in self._screen_stack

    # keys that wait

    def on_mount(self) -> None:
        # keys wait for a dialog as for a view
        self.screen_change_signal.subscribe(self, lambda _screen: self.typed.entered(), immediate=True)

    def is_built(self) -> bool:
        """Whether a widget has the focus, so that it gets keys."""
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
            self.typed.hold(event)
        elif not self.typed.holds(event, built=self.is_built(), filled=self.is_filled()):
            await self._type(event)
        self._look_again()

    def _is_busy(self) -> bool:
        """Whether a widget that still exists is handling the last key."""
        busy = self._busy
        is_here = busy is not None and busy is self.screen.focused and busy.is_attached
        return is_here and time.monotonic() < self._busy_until

    async def _type(self, event: Key) -> None:
        widget = self.screen.focused
        await super().on_event(event)
        if widget is not None and widget is self.screen.focused:
            self._busy_until = time.monotonic() + LONGEST
            self._follow(widget, _ROUNDS)

    def on_handled(self, message: Handled) -> None:
        message.stop()
        if message.widget is self._busy:
            if message.rounds:
                self._follow(message.widget, message.rounds - 1)
            else:
                self._busy = None
                self.call_next(self._type_on)

    def _follow(self, widget: Widget, rounds: int) -> None:
        """Send a message after a key; a closing widget takes none."""
        self._busy = widget if widget.post_message(Handled(widget, rounds)) else None

    def _look_again(self) -> None:
        if self.typed and not self._looks:
            self._looks = True
            self.set_timer(_SOON, self._looked)

    async def _looked(self) -> None:
        self._looks = False
        await self._type_on()

    async def _type_on(self) -> None:
        """Handle waiting keys until one has to wait again."""
        if not self._is_busy():
            event = self.typed.next(built=self.is_built(), filled=self.is_filled())
            if event is not None:
                await self._type(event)
        self._look_again()
