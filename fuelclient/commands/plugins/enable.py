"""`plugins enable` and `plugins disable`."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OF_ENV, Arguments, defaults, flag, option, plugin_argument
from fuelclient.commands.base import Command, report, report_after
from fuelclient.commands.columns import plain
from fuelclient.commands.shell import LOG
from fuelclient.errors import FuelError, InvalidDocument, NotFound, UsageError
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.model.plugin import Plugin
    from fuelclient.model.snapshot import Snapshot


def assignment(text: str) -> tuple[str, str]:
    """Return the setting and the value in `SETTING=VALUE`.

    >>> assignment("dvs_maps=a=b")
    ('dvs_maps', 'a=b')
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not SETTING=VALUE")
    return name, value


class _OnEnvironment(Command):
    """A command with plugins and one environment as arguments."""

    arguments: Arguments = (plugin_argument(several="+"), OF_ENV)

    def plugins(self, ids: Collection[int]) -> list[Plugin]:
        """Return the plugins with these ids, each once, with one request to a master. Raise `NotFound`."""
        known = {plugin.id: plugin for plugin in self.backend.plugins.list()}
        for plugin_id in ids:
            if plugin_id not in known:
                raise NotFound("plugin", plugin_id, known=[*map(str, known)])
        return [known[plugin_id] for plugin_id in dict.fromkeys(ids)]


class PluginsEnable(_OnEnvironment):
    """Enable plugins on an environment

    Adds their tasks to its graphs, their roles to those its nodes can have, and their settings to its settings. Only
    one version of a plugin can be enabled, so this disables any other. If a plugin cannot be enabled, for example
    because another one has the same role, all reasons are listed, and the exit code is 6.

    --set and --settings also set the plugin's settings in the same step, even if it is enabled already. The file is a
    YAML or JSON mapping of settings to values, or the section of the plugin as 'env settings download' writes it; --set
    overrides it. A Fuel master refuses a plugin while a setting that it needs has no value, and the message names that
    setting. Others can see a password in --set; '--settings -' reads stdin instead.

    With --dry-run nothing is enabled: the command prints which roles, settings and tasks would be added, removed or
    reordered, or why the plugin cannot be enabled. Warnings about what its tasks override are printed in either case.

      fuel2 plugins enable lma_collector --env 1
      fuel2 plugins enable lma_collector --env 1 --set environment_label=prod influxdb_mode=remote
      fuel2 plugins enable lma_collector --env 1 --settings lma.yaml
      fuel2 plugins enable lma_collector --env 1 --dry-run
      fuel2 graph preview --env 1 --only changed
    """

    arguments = (
        *_OnEnvironment.arguments,
        defaults(elsewhere=True),  # the version to enable is not that which is enabled
        option(
            "--set", nargs="+", type=assignment, action="extend", default=[], metavar="SETTING=VALUE", dest="values",
            help="settings of the plugin",
        ),
        option(
            "--settings", metavar="FILE", help="YAML or JSON file with settings of the plugin; - is stdin"
        ),
        flag("--dry-run", help="only show what would change"),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        plugins = self.plugins(parsed_args.plugins)
        if len(plugins) > 1 and (parsed_args.values or parsed_args.settings):
            raise UsageError("--set and --settings are for one plugin.", hint="Enable the plugins one after another.")
        values = self._values(parsed_args.settings, plugins[0].name) | dict(parsed_args.values)
        if parsed_args.dry_run:
            self._show([plugin.id for plugin in plugins], parsed_args.env, values)
            return
        backend = self.writable()
        before = self._before(parsed_args.env)
        for plugin in plugins:
            report(backend.plugins.enable(plugin.id, parsed_args.env, values))
            self.say(f"Plugin {plugin.name} was successfully enabled on environment {parsed_args.env}.")
        if before is not None:
            self._warn(before, parsed_args.env)

    def _before(self, env: int) -> dict[str, Snapshot] | None:
        """Return the graphs of an environment by type; None if they cannot be read, as what is enabled now may mend."""
        try:
            return self._snapshots(env) or None
        except FuelError:
            return None

    def _warn(self, before: dict[str, Snapshot], env: int) -> None:
        """Warn of what enabling has made of the graphs."""
        from fuelclient.commands.env.change import change_warnings

        report_after(
            lambda: change_warnings(self.backend, before, self._snapshots(env)), "What it overrides was not compared"
        )

    def _snapshots(self, env: int) -> dict[str, Snapshot]:
        """Return the graphs of an environment by type; none of a master, which would need a request for each."""
        graphs = self.backend.graphs
        if not supports(self.backend.plugins.enabling):
            return {}
        types = {summary.type for summary in graphs.list(env)}
        return {graph_type: graphs.snapshot(env, graph_type) for graph_type in sorted(types)}

    def _show(self, plugin_ids: Sequence[int], env: int, values: Mapping[str, Any]) -> None:
        """Print what enabling these plugins would change."""
        from fuelclient.commands.env.change import lines

        change = self.backend.plugins.enabling(plugin_ids, env, values)
        report(change.findings)
        for line in lines(change, self.backend):
            self.say(line)

    def _values(self, path: str | None, plugin: str) -> dict[str, Any]:
        """Return the values in a file by setting; a setting may be written as in the settings of an environment."""
        if path is None:
            return {}
        document = self.load(path)
        data = plain(document.data)
        for key in ("editable", plugin):  # a whole document, or the section of the plugin
            if isinstance(data, dict) and isinstance(data.get(key), dict) and "value" not in data[key]:
                data = data[key]
        if not isinstance(data, dict):
            raise InvalidDocument(
                f"{document.file}: the settings of a plugin must be a mapping.", hint="Write `setting: value`."
            )
        return {
            str(name): setting["value"] if isinstance(setting, dict) and "value" in setting else setting
            for name, setting in data.items()
            if name != "metadata"
        }


class PluginsDisable(_OnEnvironment):
    """Disable plugins on an environment

    A plugin cannot be disabled while a node has one of its roles, or once the environment is deployed: the exit code
    is 6. Other environments are not affected.

      fuel2 plugins disable lma_collector --env 1
    """

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        enabled = {plugin.id: plugin for plugin in self.backend.plugins.enabled(parsed_args.env)}
        wanted = dict.fromkeys(parsed_args.plugins)
        plugins = [enabled[each] for each in wanted] if wanted.keys() <= enabled.keys() else self.plugins(wanted)
        backend = self.writable()
        for plugin in plugins:
            if plugin.id not in enabled:
                LOG.info("Plugin %s was not enabled on environment %d.", plugin.name, parsed_args.env)
            backend.plugins.disable(plugin.id, parsed_args.env)
            self.say(f"Plugin {plugin.name} was successfully disabled on environment {parsed_args.env}.")
