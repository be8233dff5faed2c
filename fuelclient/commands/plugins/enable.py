"""`plugins enable` and `plugins disable`."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import add_env
from fuelclient.commands.base import Command, report
from fuelclient.commands.plugins.naming import add_plugin, enabled_plugin_of, plugin_of
from fuelclient.commands.shell import LOG


class _OnEnvironment(Command):
    """A command about plugins and one environment."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_plugin(parser, several=True)
        add_env(parser, required=True)
        return parser


class PluginsEnable(_OnEnvironment):
    """Enable plugins on an environment

    Their tasks take part in its graphs, their roles can be given to its nodes, their settings are added to its own.
    Of several versions of a plugin one is enabled: another is disabled by this. What keeps a plugin out, such as a
    role that two plugins define, is said in full, and the exit code is 6.

      fuel2 plugins enable lma_collector --env 1
      fuel2 graph preview --env 1 --only changed
    """

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        plugins = [plugin_of(self.backend, word) for word in parsed_args.plugins]
        backend = self.writable()
        for plugin in {plugin.id: plugin for plugin in plugins}.values():
            report(backend.plugins.enable(plugin.id, parsed_args.env))
            self.say(f"Plugin {plugin.name} was successfully enabled on environment {parsed_args.env}.")


class PluginsDisable(_OnEnvironment):
    """Disable plugins on an environment

    A plugin whose role a node has stays enabled, and so does every plugin of a deployed environment: the exit code
    is 6. What the plugin brought is only gone from this environment.

      fuel2 plugins disable lma_collector --env 1
    """

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        plugins = [enabled_plugin_of(self.backend, word, parsed_args.env) for word in parsed_args.plugins]
        backend = self.writable()
        for plugin in {plugin.id: plugin for plugin in plugins}.values():
            if parsed_args.env not in plugin.clusters:
                LOG.info("Plugin %s was not enabled on environment %d.", plugin.name, parsed_args.env)
            backend.plugins.disable(plugin.id, parsed_args.env)
            self.say(f"Plugin {plugin.name} was successfully disabled on environment {parsed_args.env}.")
