"""`plugins enable` and `plugins disable`."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import add_env
from fuelclient.commands.base import Command, report
from fuelclient.commands.plugins.arguments import add_plugin, enabled_plugin_of, plugin_of
from fuelclient.commands.shell import LOG


class _OnEnvironment(Command):
    """A command with plugins and one environment as arguments."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_plugin(parser, several=True)
        add_env(parser, required=True)


class PluginsEnable(_OnEnvironment):
    """Enable plugins on an environment

    Adds their tasks to its graphs, their roles to those its nodes can have, and their settings to its settings. Only
    one version of a plugin can be enabled, so this disables any other. If a plugin cannot be enabled, for example
    because another one has the same role, all reasons are listed, and the exit code is 6.

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

    A plugin cannot be disabled while a node has one of its roles, or once the environment is deployed: the exit code
    is 6. Other environments are not affected.

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
