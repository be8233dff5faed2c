"""The terminal: it is restored however the UI ends, obeys nothing that the UI shows, and its keys are never overtaken.

Names and messages come from documents, machines and masters that the user may not know, and a terminal obeys escape
sequences wherever they come from. Our widgets show such characters as escapes; `NoControlCodes` also checks each line
of Textual's own widgets before it is drawn.
"""

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

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import on
from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.binding import Binding
from textual.color import Color
from textual.css.query import NoMatches
from textual.events import Event, Key
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from fuelclient.printing import printable

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""What ends a process from outside; Ctrl-C is a key like any other here."""

GRACE = 5.0
"""Seconds that the end may take after a signal: writing to a terminal that has gone away may block for ever."""

_ROUNDS = 2
"""How often another message follows a key: for its action, for a message of that, and for one that follows."""

_SOON = 0.01
"""Seconds between two looks at whether a key still has to wait."""

_LEAVING = 128
"""What shells add to the number of a signal to get an exit code."""

LONGEST = 3.0
"""Seconds that a key waits at most; then it goes to whatever is on the screen."""

_STUCK = 1.0
"""Seconds after which Escape drops the keys that wait: the user wants out."""

AT_ONCE = frozenset(
    {"q", "left_square_bracket", "right_square_bracket", "backspace", "question_mark", "at", "colon", "escape",
     "ctrl+r", *"012345678"}
)  # fmt: skip
"""The keys that make sense on a screen that is not filled yet, if no other key waits."""

NEVER_HELD = frozenset({"ctrl+c", "ctrl+q", "ctrl+z"})
"""The keys that never wait: they leave."""


class TypeAhead:
    """Keys that wait, in their order.

    A screen is *built* once one of its widgets has the focus: before that no widget would get a key. It is *filled*
    once it has its data: before that a cursor has no rows to move over. `now` is a clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._held: deque[tuple[float, Key]] = deque()
        self._since = 0.0

    def entered(self) -> None:
        """Note that another screen is being built."""
        self._since = self._now()

    def holds(self, event: Key, *, built: bool, filled: bool) -> bool:
        """Keep a key for later if it has to wait; return False if it is to be handled now."""
        if self.is_due(built=built, filled=filled) and not self._held:
            return False
        if built and not self._held and event.key in AT_ONCE:
            return False
        self.hold(event)
        return True

    def hold(self, event: Key) -> None:
        self._held.append((self._now(), event))

    def is_stuck(self) -> bool:
        """Whether keys have waited so long that Escape drops them."""
        return bool(self._held) and self._now() - self._held[0][0] > _STUCK

    def drop(self) -> None:
        self._held.clear()

    def is_due(self, *, built: bool, filled: bool) -> bool:
        """Whether keys may go to the screen: it is ready, or has been awaited for too long."""
        return (built and filled) or self._now() - self._since > LONGEST

    def next(self, *, built: bool, filled: bool) -> Key | None:
        """The first key that waited, if it need not wait any longer."""
        return self._held.popleft()[1] if self._held and self.is_due(built=built, filled=filled) else None

    def __len__(self) -> int:
        return len(self._held)


@dataclass
class Handled(Message):
    """A key has been handled by a widget and all above it; the message is sent `rounds` more times for what follows."""

    widget: Widget
    rounds: int


class TerminalApp(App[None]):
    """An app that restores the terminal when a signal ends it, that Ctrl-Z suspends, and whose keys wait for the screen
    they were meant for.

    A key is handled in steps: the focused widget gets it, an action may follow, which posts a message to the screen,
    which goes to another one. All of these are messages, so the next key would overtake them. It waits until a message
    that was sent after the key has come up the same way, some times over.
    """

    BINDINGS = [
        # with priority it works in dialogs as well
        Binding("ctrl+z", "suspend_process", "suspend; fg comes back", show=False, id="app.suspend", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._exit_code = 0
        self._heeds_signals = False
        self._no_control_codes = NoControlCodes()
        self.typed = TypeAhead(time.monotonic)
        self._busy: Widget | None = None
        self._busy_until = 0.0
        self._looks = False

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._no_control_codes]

    @property
    def failure(self) -> Exception | None:
        """The unexpected error that ended the UI."""
        return self._exception

    def run_on_terminal(self, *, mouse: bool = True) -> int:
        """Run to the end and return the exit code: that of a signal, or 0. Raise `failure` if there is one."""
        self._heeds_signals = True
        self.run(mouse=mouse)
        if self.failure is not None:
            raise self.failure
        return self._exit_code

    def on_load(self) -> None:
        """Handle signals from before the terminal is changed; without a terminal they keep their meaning."""
        if self._heeds_signals:
            for number in _SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._end, number)

    def _end(self, number: signal.Signals) -> None:
        """End in an orderly manner. A second signal ends the process at once, and so does the timer."""
        asyncio.get_running_loop().remove_signal_handler(number)
        self._exit_code = _LEAVING + number
        last = threading.Timer(GRACE, os._exit, (self._exit_code,))
        last.daemon = True
        last.start()
        self.exit(return_code=self._exit_code)

    def action_help_quit(self) -> None:
        """Explain how to quit: Ctrl-C does not, because it is pressed by mistake too easily."""
        self.notify("Press q to quit; ctrl+q quits from everywhere.")

    def _fatal_error(self) -> None:
        """End and let the command report `failure` as any error. Textual would print a traceback with the values of all
        variables, passwords among them."""
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        """Ignore errors of a screen that misses parts of itself while it is taken apart, and of a timer that looks for
        a screen when the app has closed them all.
        """
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
        """Whether something on the screen has the focus, so that it gets keys."""
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
        """Whether the last key is still being handled, by a widget that still exists."""
        busy = self._busy
        return (
            busy is not None
            and busy is self.screen.focused
            and busy.is_attached
            and time.monotonic() < self._busy_until
        )

    async def _type(self, event: Key) -> None:
        widget = self.screen.focused
        await super().on_event(event)
        if widget is not None and widget is self.screen.focused:
            self._busy_until = time.monotonic() + LONGEST
            self._follow(widget, _ROUNDS)

    @on(Handled)
    def _handled(self, message: Handled) -> None:
        message.stop()
        if message.widget is self._busy:
            if message.rounds:
                self._follow(message.widget, message.rounds - 1)
            else:
                self._busy = None
                self.call_next(self._type_on)

    def _follow(self, widget: Widget, rounds: int) -> None:
        """Send a message after a key; a widget that is being closed takes none."""
        self._busy = widget if widget.post_message(Handled(widget, rounds)) else None

    def _look_again(self) -> None:
        """Look in a moment at the keys that wait, once however many they are."""
        if self.typed and not self._looks:
            self._looks = True
            self.set_timer(_SOON, self._looked)

    async def _looked(self) -> None:
        self._looks = False
        await self._type_on()

    async def _type_on(self) -> None:
        """Handle the keys that waited, until one has to wait again."""
        if not self._is_busy():
            event = self.typed.next(built=self.is_built(), filled=self.is_filled())
            if event is not None:
                await self._type(event)
        self._look_again()


class NoControlCodes(LineFilter):
    """Blank out characters that a terminal may obey; lines stay as wide as before."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's)
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [segment if segment.text.isprintable() else _blanked(segment) for segment in segments]


def _blanked(segment: Segment) -> Segment:
    text = "".join(sign if printable(sign) == sign else " " * cell_len(sign) for sign in segment.text)
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)
