"""`plugins install`, `plugins sync` and `plugins remove`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import YES, flag, option, plugin_argument
from fuelclient.commands.base import Command, report
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.model.finding import errors_in

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Installed, Plugin


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
        flag("-f", "--force", help="also install the same version again, an older one, or a renamed plugin"),
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
            told = count(len(installed.scripts), "script"), ", ".join(installed.scripts)
            LOG.info("Did not run %s of the package: %s.", *told)
        self.say(f"Plugin {parsed_args.file} was successfully installed.")


class PluginsSync(Command):
    """Read the files of installed plugins again

    Plugins are kept unpacked next to the engine file. This applies changes made there by hand. Without an ID, it also
    registers packages that were added there, and removes plugins whose files are gone, unless they are in use. A
    plugin that cannot be read stays as it was, and the exit code is 7.

      fuel2 plugins sync
      fuel2 plugins sync 1 lma_collector
    """

    arguments = (plugin_argument(several="*"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        synced = self.writable().plugins.sync(parsed_args.plugins)
        changes = (("Registered", synced.created), ("Updated", synced.updated), ("Removed", synced.removed))
        for done, plugins in changes:
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
        self.say("Plugins were successfully synchronized.")


class PluginsRemove(Command):
    """Remove a plugin with its graphs and releases

    A plugin cannot be removed while it is enabled, or while an environment uses its release: the exit code is 6.
    On a terminal, this asks for confirmation unless you use --yes.

      fuel2 plugins remove lma_collector 0.10.3
      fuel2 plugins remove 3 --yes
    """

    arguments = (
        plugin_argument(),
        option("version", nargs="?", metavar="VERSION", help="its version"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        plugin = self.backend.plugins.get(parsed_args.plugin)
        if parsed_args.version not in (None, plugin.version):
            known = [f"{other.name} {other.version}" for other in self.backend.plugins.list()]
            raise NotFound("plugin", f"{plugin.name} {parsed_args.version}", known=known)
        self.ask(parsed_args, lambda: _question(self.backend, plugin))
        self.writable().plugins.remove(plugin.id)
        self.say(f"Plugin {plugin.name} was successfully removed.")


def _report_result(installed: Installed) -> None:
    """Report on stderr what was installed."""
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
        noun = "environment" if len(plugin.clusters) == 1 else "environments"
        LOG.info("It is enabled on %s %s.", noun, ", ".join(map(str, plugin.clusters)))


def _suggest_enabling(backend: Backend, installed: Installed) -> None:
    """Suggest the next step on stderr for a plugin that is not enabled on any environment."""
    plugin = installed.plugin
    if installed.releases or plugin.clusters:
        return
    versions = sum(other.name == plugin.name for other in backend.plugins.list())
    environments = backend.clusters.list()
    place = environments[0].id if len(environments) == 1 else "ID"
    name = plugin.name if versions == 1 else plugin.id
    LOG.info("To use it on an environment: fuel2 plugins enable %s --env %s", name, place)


def _question(backend: Backend, plugin: Plugin) -> str:
    """Return the question that names everything to be removed."""
    releases = [backend.releases.get(release_id) for release_id in plugin.releases]
    names = ", ".join(f"{release.id} ({release.name} {release.version})" for release in releases)
    also = f", and release{'s' * (len(releases) > 1)} {names}" if names else ""
    return f"Remove plugin {plugin.id} ({plugin.name} {plugin.version}) with its graphs{also}?"
