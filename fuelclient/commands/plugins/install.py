"""Install, remove, enable and disable plugins."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OF_ENV, YES, Arguments, defaults, flag, former, option, plugin_argument
from fuelclient.commands.base import Changing, Command, on_backend, report, report_after
from fuelclient.commands.formatters import plain
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import FuelError, InvalidDocument, NotFound, UsageError
from fuelclient.model.finding import errors_in
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Installed, Plugin
    from fuelclient.model.snapshot import Snapshot


class PluginsInstall(Command):
    """Install a plugin, or a newer version of one

    Installs an .rpm or .fp package, or a directory, such as that of a plugin you are writing. A plugin with the same
    name and the same first two parts of the version is updated: it keeps its id and stays enabled where it is. Any
    other version is installed next to it. If the package defines a release, 'env create' can use it at once.

    Warnings about the package go to stderr and do not prevent installation. If the package is unusable, the exit code
    is 7. Nothing in a package is executed, and nothing is changed unless all of it can be installed.

    With --link nothing is copied: whatever uses the plugin reads its directory again, so an edit needs no new
    installation. 'plugins show' names the directory. A package that defines a release cannot be linked.

      fuel2 plugins install lma_collector-0.10-0.10.3-1.noarch.rpm
      fuel2 plugins install ./my-plugin --force
      fuel2 plugins install --link ./my-plugin
    """

    arguments = (
        option("file", metavar="FILE|DIR", help="an .rpm or .fp package, or the directory of one"),
        former("-f", "force"),
        flag("--force", help="also install the same version again, an older one, or a renamed plugin"),
        flag("--link", help="read the package from its directory at each use, and copy nothing"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        exists = Path(parsed_args.file).exists()  # do not create the engine file for a path that does not exist
        backend = self.writable() if exists else self.backend
        installed = backend.plugins.install(parsed_args.file, force=parsed_args.force, link=parsed_args.link)
        report(installed.findings)
        _report_result(installed)
        _suggest_enabling(backend, installed)
        if installed.scripts:
            scripts = count(len(installed.scripts), "script")
            LOG.info("Did not run %s of the package: %s.", scripts, ", ".join(installed.scripts))
        self.tell(f"Plugin {parsed_args.file} was successfully installed.")


class PluginsSync(Command):
    """Read the files of installed plugins again

    Plugins are kept unpacked next to the engine file. This applies changes made there by hand. Without an ID, it also
    registers packages that were added there, and removes plugins whose files are gone, unless they are in use. A
    plugin that cannot be read stays as it was, and the exit code is 7.

      fuel2 plugins sync
      fuel2 plugins sync 1 lma_collector
    """

    arguments = (plugin_argument(nargs="*"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        synced = self.writable().plugins.sync(parsed_args.plugins)
        for done, plugins in (("Registered", synced.created), ("Updated", synced.updated), ("Removed", synced.removed)):
            for plugin in plugins:
                LOG.info("%s plugin %d: %s %s.", done, plugin.id, plugin.name, plugin.version)
        errors = errors_in(synced.findings)
        report(finding for finding in synced.findings if not finding.is_error)
        if errors:
            raise InvalidDocument(
                f"Some plugins could not be synchronized: {count(len(errors), 'error')}.",
                findings=errors,
                hint="Correct the files, or install the packages again.",
            )
        self.tell("Plugins were successfully synchronized.")


class PluginsRemove(Changing):
    """Remove a plugin with its graphs and releases

    A plugin cannot be removed while it is enabled, or while an environment uses its release: the exit code is 6.
    On a terminal, this asks for confirmation unless you use --yes.

      fuel2 plugins remove lma_collector 0.10.3
      fuel2 plugins remove 3 --yes
    """

    done = "Plugin {found.name} was successfully removed."

    arguments = (plugin_argument(), option("version", nargs="?", metavar="VERSION", help="its version"), YES)

    def read(self, parsed_args: argparse.Namespace) -> None:
        plugin = parsed_args.found = self.backend.plugins.get(parsed_args.plugin)
        if parsed_args.version not in (None, plugin.version):
            known = [f"{other.name} {other.version}" for other in self.backend.plugins.list()]
            raise NotFound("plugin", f"{plugin.name} {parsed_args.version}", known=known)

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        plugin: Plugin = parsed_args.found
        releases = [self.backend.releases.get(release_id) for release_id in plugin.releases]
        names = ", ".join(f"{release.id} ({release.name} {release.version})" for release in releases)
        also = f", and release{'s' * (len(releases) > 1)} {names}" if names else ""
        return f"Remove plugin {plugin.id} ({plugin.name} {plugin.version}) with its graphs{also}?"

    change = on_backend(lambda backend, args: backend.plugins.remove(args.found.id))


def _report_result(installed: Installed) -> None:
    from fuelclient.model.plugin import InstallAction

    plugin = installed.plugin
    label = f"plugin {plugin.id}: {plugin.name} {plugin.version}, package version {plugin.package_version}"
    if installed.action is InstallAction.CREATED:
        LOG.info("Installed as %s.", label)
    elif installed.action is InstallAction.UPDATED:
        LOG.info("Updated %s, which was %s.", label, installed.previous_version)
    else:
        LOG.info("Installed %s again.", label)
    if plugin.is_linked:
        LOG.info("It is read from %s at each use.", plugin.unpacked)
    for release in installed.releases:
        LOG.info("It defines release %d: %s %s.", release.id, release.name, release.version)
    if plugin.clusters:
        plural = "s" * (len(plugin.clusters) > 1)
        LOG.info("It is enabled on environment%s %s.", plural, ", ".join(map(str, plugin.clusters)))


def _suggest_enabling(backend: Backend, installed: Installed) -> None:
    plugin = installed.plugin
    if installed.releases or plugin.clusters:
        return
    versions = sum(other.name == plugin.name for other in backend.plugins.list())
    environments = backend.clusters.list()
    env = environments[0].id if len(environments) == 1 else "ID"
    name = plugin.name if versions == 1 else plugin.id
    LOG.info("To use it on an environment: fuel2 plugins enable %s --env %s", name, env)


def assignment(text: str) -> tuple[str, str]:
    """The setting and the value in `SETTING=VALUE`.

    >>> assignment("dvs_maps=a=b")
    ('dvs_maps', 'a=b')
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not SETTING=VALUE")
    return name, value


class _OnEnvironment(Command):
    arguments: Arguments = (plugin_argument(nargs="+"), OF_ENV)

    def plugins(self, ids: Collection[int]) -> list[Plugin]:
        """Read the plugins with these ids, each once, with one request to a master. Raise `NotFound`."""
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
        defaults(elsewhere=True),  # a version other than the one to enable may be enabled already
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
        before: dict[str, Snapshot] = {}
        with suppress(FuelError):  # graphs may be unreadable until the plugin is enabled
            before = self._snapshots(parsed_args.env)
        for plugin in plugins:
            report(backend.plugins.enable(plugin.id, parsed_args.env, values))
            self.tell(f"Plugin {plugin.name} was successfully enabled on environment {parsed_args.env}.")
        if before:
            from fuelclient.commands.env.change import change_warnings

            report_after(
                lambda: change_warnings(self.backend, before, self._snapshots(parsed_args.env)),
                "What it overrides was not compared",
            )

    def _snapshots(self, env: int) -> dict[str, Snapshot]:
        """Read the graphs of an environment by type; empty for a master, which would need a request for each."""
        if not supports(self.backend.plugins.enabling):
            return {}
        from fuelclient.commands.env.change import snapshots_of

        return snapshots_of(self.backend, env)

    def _show(self, plugin_ids: Sequence[int], env: int, values: Mapping[str, Any]) -> None:
        from fuelclient.commands.env.change import lines

        change = self.backend.plugins.enabling(plugin_ids, env, values)
        report(change.findings)
        for line in lines(change, self.backend):
            self.tell(line)

    def _values(self, path: str | None, plugin: str) -> dict[str, Any]:
        """Read values by setting from a file; a setting may be written as in the settings of an environment."""
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
                continue
            backend.plugins.disable(plugin.id, parsed_args.env)
            self.tell(f"Plugin {plugin.name} was successfully disabled on environment {parsed_args.env}.")
