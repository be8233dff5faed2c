"""The terminal: it is restored however the UI ends, and obeys nothing that the UI shows.

Names and messages come from documents, machines and masters that the user may not know, and a terminal obeys escape
sequences wherever they come from. Our widgets show such characters as escapes; `NoControlCodes` also checks each line
of Textual's own widgets before it is drawn.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.binding import Binding
from textual.color import Color
from textual.css.query import NoMatches
from textual.filter import LineFilter
from textual.screen import Screen

from fuelclient.printing import printable

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""What ends a process from outside; Ctrl-C is a key like any other here."""

GRACE = 5.0
"""Seconds that the end may take after a signal: writing to a terminal that has gone away may block for ever."""

_LEAVING = 128
"""What shells add to the number of a signal to get an exit code."""


class EndableApp(App[None]):
    """An app that restores the terminal when a signal ends it, and that Ctrl-Z suspends."""

    BINDINGS = [
        # with priority it works in dialogs as well
        Binding("ctrl+z", "suspend_process", "suspend; fg comes back", show=False, id="app.suspend", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._exit_code = 0
        self._heeds_signals = False
        self._no_control_codes = NoControlCodes()

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
        """Say how to quit: Ctrl-C does not, because it is pressed by mistake too easily."""
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
        """Return whether the error comes from a screen that is no longer shown."""
        pump = active_message_pump.get(None)
        while pump is not None and not isinstance(pump, Screen):
            pump = pump._parent
        return pump is not None and pump not in self._screen_stack


class NoControlCodes(LineFilter):
    """Blank out characters that a terminal may obey; lines stay as wide as before."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's)
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [segment if segment.text.isprintable() else _blanked(segment) for segment in segments]


def _blanked(segment: Segment) -> Segment:
    text = "".join(sign if printable(sign) == sign else " " * cell_len(sign) for sign in segment.text)
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)
