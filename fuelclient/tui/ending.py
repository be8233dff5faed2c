"""Ending, and pausing: however the UI comes to its end, the terminal is as it was before."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

from textual._context import active_message_pump
from textual.app import App
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.screen import Screen

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""What ends a process from outside; Ctrl-C is a key like any other here."""

GRACE = 5.0
"""Seconds that the end may take after a signal. A terminal that has gone away takes no last words: to write them may
block for ever."""

_LEAVING = 128
"""What a shell adds to the number of a signal, for an exit code."""


class EndableApp(App[None]):
    """An app that leaves the terminal in order when a signal ends it, and that Ctrl-Z suspends."""

    BINDINGS = [
        # with priority it works in dialogs as well
        Binding("ctrl+z", "suspend_process", "suspend; fg comes back", show=False, id="app.suspend", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._exit_code = 0
        self._heeds_signals = False

    @property
    def failure(self) -> Exception | None:
        """What nobody expected, and what the UI ended with."""
        return self._exception

    def run_on_terminal(self, *, mouse: bool = True) -> int:
        """Run until somebody or something ends it; the exit code is that of a signal, or 0. Raises `failure`."""
        self._heeds_signals = True
        self.run(mouse=mouse)
        if self.failure is not None:
            raise self.failure
        return self._exit_code

    def on_load(self) -> None:
        """Signals are heard before the terminal is changed first; where there is none, they keep their meaning."""
        if self._heeds_signals:
            for number in _SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._end, number)

    def _end(self, number: signal.Signals) -> None:
        """End in order; a second signal ends everything at once, and so does the time."""
        asyncio.get_running_loop().remove_signal_handler(number)
        self._exit_code = _LEAVING + number
        last = threading.Timer(GRACE, os._exit, (self._exit_code,))
        last.daemon = True
        last.start()
        self.exit(return_code=self._exit_code)

    def action_help_quit(self) -> None:
        """Ctrl-C is no way out by itself: a slip of the hand would be."""
        self.notify("q quits, ctrl+q does so everywhere.")

    def _fatal_error(self) -> None:
        """End. Textual would print the traceback with the values of all variables, passwords among them; here the
        command reports `failure` as it reports any error."""
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        """What a screen that was left already does not find of itself, while it is taken apart, is no error."""
        if not (isinstance(error, NoMatches) and self._was_left()):
            super()._handle_exception(error)

    def _was_left(self) -> bool:
        """Whether what is being handled belongs to a screen that is not shown any more."""
        pump = active_message_pump.get(None)
        while pump is not None and not isinstance(pump, Screen):
            pump = pump._parent
        return pump is not None and pump not in self._screen_stack
