"""`help`: the overview, or the help of one command."""

from __future__ import annotations

import argparse

import autopage.argparse

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import Command
from fuelclient.commands.global_options import PROGRAM, overview
from fuelclient.commands.table import COMMANDS, verbs
from fuelclient.errors import UsageError


class Help(Command):
    """Show this overview, or the help of a command

    A noun alone lists its commands. --all adds the commands of other installed packages.

      fuel2 help graph
      fuel2 help graph upload
    """

    arguments = (
        option("command", type=str, nargs="*", metavar="COMMAND", help="the words of a command, or its noun"),
        flag("--all", help="also list the commands of other packages"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        words = parsed_args.command
        if not words:
            self.app.stdout.write(overview(everything=parsed_args.all))
        elif len(words) == 1 and words[0] not in COMMANDS and verbs(words[0]):
            for name in verbs(words[0]):
                self.say(f"{name:<20}  {COMMANDS[name][1]}")
        else:
            self._show(words)

    def _show(self, words: list[str]) -> None:
        """Print the help of a command, through a pager on a terminal."""
        factory, name, others = self.app.command_manager.find_command(words)
        if others:
            raise UsageError(f"'{' '.join(words)}' is not a command.", hint=f"Did you mean '{PROGRAM} help {name}'?")
        parser = factory(self.app, self.app_args, cmd_name=name).get_parser(f"{PROGRAM} {name}")
        if not self.app.stdout.isatty():  # a pager would close stdout if its reader has left
            self.app.stdout.write(parser.format_help())  # print_help() would hide errors of writing
            return
        with autopage.argparse.help_pager(self.app.stdout) as out:
            coloured = getattr(self.app.stdout, "coloured", False)
            autopage.argparse.use_color_for_parser(parser, coloured)
            parser.print_help(out)
