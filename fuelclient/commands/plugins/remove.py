"""`plugins remove`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import add_yes, stated
from fuelclient.commands.base import Command
from fuelclient.commands.plugins.naming import add_plugin, plugin_of

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Plugin


class PluginsRemove(Command):
    """Remove a plugin with its graphs and releases

    A plugin that is enabled somewhere stays, and so does one whose release an environment uses: the exit code is 6.
    On a terminal it asks first; --yes answers.

      fuel2 plugins remove lma_collector 0.10.3
      fuel2 plugins remove 3 --yes
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_plugin(parser)
        parser.add_argument("version", nargs="?", type=stated, metavar="VERSION", help="its version")
        add_yes(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        plugin = plugin_of(self.backend, parsed_args.plugin, parsed_args.version or "")
        if not parsed_args.yes and self.app.stdin.isatty():
            self.confirm(_question(self.writable(), plugin))
        self.writable().plugins.remove(plugin.id)
        self.say(f"Plugin {plugin.name} was successfully removed.")


def _question(backend: Backend, plugin: Plugin) -> str:
    """What would go."""
    releases = [backend.releases.get(release_id) for release_id in plugin.releases]
    names = ", ".join(f"{one.id} ({one.name} {one.version})" for one in releases)
    with_it = f", and release{'s' * (len(releases) > 1)} {names}," if names else ""
    return f"Remove plugin {plugin.id} ({plugin.name} {plugin.version}) with its graphs{with_it}?".replace(",?", "?")
