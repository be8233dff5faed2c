"""`plugins sync`."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import identifier
from fuelclient.commands.base import Command, report
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import errors_in


class PluginsSync(Command):
    """Read the files of installed plugins again

    Plugins lie unpacked beside the engine file. What was changed there by hand becomes true; without an ID, packages
    that were put there are registered too, and plugins whose files are gone, and which nobody uses, go. One that
    cannot be read again stays as it was, and the exit code is 7.

      fuel2 plugins sync
      fuel2 plugins sync 1 3
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("ids", nargs="*", type=identifier, metavar="ID", help="only these plugins")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        synced = self.writable().plugins.sync(parsed_args.ids)
        changes = (("Registered", synced.created), ("Updated", synced.updated), ("Removed", synced.removed))
        for done, plugins in changes:
            for plugin in plugins:
                LOG.info("%s plugin %d: %s %s.", done, plugin.id, plugin.name, plugin.version)
        errors = errors_in(synced.findings)
        report(finding for finding in synced.findings if not finding.is_error)
        if errors:
            raise InvalidDocument(
                f"Not all plugins could be synchronized: {count(len(errors), 'error')}.",
                findings=errors,
                hint="Correct the files, or install the packages again.",
            )
        self.say("Plugins were successfully synchronized.")
