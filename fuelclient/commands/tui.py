"""`tui`: start the terminal UI."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from functools import partial

from fuelclient.commands.arguments import env_option, flag
from fuelclient.commands.base import Command
from fuelclient.commands.shell import program
from fuelclient.errors import UsageError


class Tui(Command):
    """Browse environments, roles and graph order on the terminal

    The UI shows environments, their roles, the merged tasks in execution order and who set each attribute, the graph as
    lanes, why one task runs after another, findings, plugins, and live and past runs. It is read-only until you arm it
    (A). Every screen shows the command line that prints the same; ? lists the keys.

    NO_COLOR=1 removes colours, --ascii all characters that are not ASCII. Ctrl-Z suspends the UI, fg resumes it. If a
    signal ends it, the terminal is restored and the exit code is 128 plus the number of the signal.

      fuel2 tui
      fuel2 tui --env 1
    """

    arguments = (
        env_option(required=False, help="open this environment"),
        flag("--ascii", help="draw with ASCII characters only"),
        flag("--no-mouse", help="leave the mouse to the terminal"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        _require_terminal()

        gc.disable()  # a start makes objects that all stay; the app enables it a second later
        from fuelclient import backends
        from fuelclient.tui.app import FuelUI

        options = self.shell.options
        connect = partial(backends.connect, self.shell.settings)
        ui = FuelUI(connect, env=parsed_args.env or 0, ascii_only=parsed_args.ascii, program=program(options))
        try:
            return ui.run_on_terminal(mouse=not parsed_args.no_mouse)
        finally:
            self.shell.warn_of_missing_engine()


def _require_terminal() -> None:
    """Raise `UsageError` unless stdin, stdout and stderr are a terminal that can show the UI, which draws on stderr."""
    instead = "'fuel2 env list' and 'fuel2 graph preview --env ID' print the same."
    for name, stream in (("stdin", sys.stdin), ("stdout", sys.stdout), ("stderr", sys.stderr)):
        if not stream.isatty():
            message = f"The terminal UI needs a terminal, but {name} is not one."
            raise UsageError(message, hint=f"Do not redirect {name}. {instead}")
    if os.environ.get("TERM") == "dumb":
        raise UsageError("The terminal UI needs a terminal that can move its cursor.", hint=instead)
