"""`tui`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, cast

from fuelclient.commands.arguments import add_env
from fuelclient.commands.base import Command
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.commands.shell import FuelShell


class Tui(Command):
    """Browse environments, roles and graph order on the terminal

    Environments, what their roles bring, the merged tasks in execution order with who set each attribute, the graph
    as lanes, why one task runs after another, findings and plugins, runs live and past. It only reads, until it is
    armed (A). Every screen shows the command line that says the same; ? lists the keys.

    NO_COLOR=1 takes the colours away, --ascii all signs that are not ASCII.

      fuel2 tui
      fuel2 tui --env 1
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_env(parser, required=False, help="open this environment")
        parser.add_argument("--ascii", action="store_true", help="draw with ASCII signs only")
        parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
            raise UsageError(
                "The terminal UI needs a terminal that can move its cursor.",
                hint="'fuel2 env list' and 'fuel2 graph preview --env ID' print the same.",
            )
        from fuelclient import backends
        from fuelclient.tui.app import FuelUI

        engine = cast("FuelShell", self.app).options.engine
        chosen = cast("FuelShell", self.app).settings

        def connect() -> Backend:
            return backends.connect(chosen)

        FuelUI(
            connect, env=parsed_args.env or 0, ascii_only=parsed_args.ascii, program=_program(engine)
        ).run(mouse=not parsed_args.no_mouse)  # fmt: skip


def _program(engine: str | None) -> str:
    """How the program was called, for command lines that do the same."""
    import shlex

    return f"fuel2 --engine {shlex.quote(engine)}" if engine else "fuel2"
