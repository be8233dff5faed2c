"""`plugins install`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import stated
from fuelclient.commands.base import Command, report
from fuelclient.commands.shell import LOG, count

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Installed


class PluginsInstall(Command):
    """Install a plugin, or a newer version of one

    From an .rpm or .fp package, or from the directory of one that is being written. A plugin of the same name and
    the same first two parts of its version is updated: it keeps its id and stays enabled where it is. Any other
    version is installed beside it. A release that the package defines can be used by 'env create' at once.

    What the package should do better is said on stderr and keeps nobody from using it; what makes it unusable is an
    error, exit code 7. Nothing in a package is executed, and nothing changes unless all of it can be installed.

      fuel2 plugins install lma_collector-0.10-0.10.3-1.noarch.rpm
      fuel2 plugins install ./my-plugin --force
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "file", type=stated, metavar="FILE|DIR", help="an .rpm or .fp package, or the directory of one"
        )
        parser.add_argument(
            "-f", "--force", action="store_true",
            help="also the same version again, an older one, or one under another name",
        )  # fmt: skip
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        exists = Path(parsed_args.file).exists()  # nothing is written when there is nothing to read
        backend = self.writable() if exists else self.backend
        installed = backend.plugins.install(parsed_args.file, force=parsed_args.force)
        report(installed.findings)
        _narrate(installed)
        _suggest(backend, installed)
        _tell_scripts(Path(parsed_args.file))
        self.say(f"Plugin {parsed_args.file} was successfully installed.")


def _narrate(installed: Installed) -> None:
    """Say on stderr what became of the package."""
    from fuelclient.model.plugin import InstallAction

    plugin = installed.plugin
    label = f"plugin {plugin.id}: {plugin.name} {plugin.version}, package version {plugin.package_version}"
    if installed.action is InstallAction.CREATED:
        LOG.info("Installed as %s.", label)
    elif installed.action is InstallAction.UPDATED:
        LOG.info("Updated %s, which was %s.", label, installed.previous_version)
    else:
        LOG.info("Installed %s once more.", label)
    for release in installed.releases:
        LOG.info("It defines release %d: %s %s.", release.id, release.name, release.version)
    if plugin.clusters:
        LOG.info("It is enabled on %s %s.", *_environments(plugin.clusters))


def _suggest(backend: Backend, installed: Installed) -> None:
    """Say on stderr what comes next for a plugin that is enabled nowhere."""
    plugin = installed.plugin
    if installed.releases or plugin.clusters:
        return
    versions = sum(one.name == plugin.name for one in backend.plugins.list())
    LOG.info("Enable it with: fuel2 plugins enable %s --env ID", plugin.name if versions == 1 else plugin.id)


def _environments(ids: tuple[int, ...]) -> tuple[str, str]:
    return "environment" if len(ids) == 1 else "environments", ", ".join(map(str, ids))


def _tell_scripts(path: Path) -> None:
    """Say which scripts of a package were not run: those that rpm would run as root."""
    if path.is_dir():
        return
    from fuelclient.plugins.archive import scripts

    sections = list(scripts(path))
    if sections:
        LOG.info("%s of the package (%s) not run.", count(len(sections), "script"), ", ".join(sections))
