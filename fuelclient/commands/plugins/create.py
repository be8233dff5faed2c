"""`plugins create`."""

from __future__ import annotations

import argparse
from pathlib import Path

from fuelclient.commands.arguments import stated
from fuelclient.commands.base import Command
from fuelclient.commands.shell import LOG, count


class PluginsCreate(Command):
    """Write a plugin to start from

    A directory with the name of the plugin, in which everything works as it is: it passes 'plugins check', can be
    built, installed and previewed, and says in its comments what to edit. A file with a shell script and one with a
    Puppet manifest are there for its tasks.

      fuel2 plugins create my-plugin
      fuel2 plugins create ~/src/my-openstack --release
      fuel2 plugins create my-plugin --package-version 4
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "path", type=stated, metavar="NAME|PATH",
            help="the directory to make; its name is the plugin's: lower case letters, digits, - and _",
        )  # fmt: skip
        parser.add_argument(
            "--package-version", metavar="VERSION", default="5.0.0",
            help="format of the package: 3, 4 or 5, or 3.0.0 and so on (default: 5.0.0)",
        )  # fmt: skip
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument("--release", action="store_true", help="a package that defines a release of its own")
        kind.add_argument(
            "--multi-release", action="store_true", help="a package with files of their own for different releases"
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins import skeleton

        kind = skeleton.Kind.PLUGIN
        if parsed_args.release or parsed_args.multi_release:
            kind = skeleton.Kind.RELEASE if parsed_args.release else skeleton.Kind.MULTI_RELEASE
        path = Path(parsed_args.path)
        files = skeleton.create(path, package_version=parsed_args.package_version, kind=kind)
        LOG.info("%s in %s; README.md says what to edit first. Then:", count(len(files), "file"), path)
        LOG.info("  fuel2 plugins check %s", path)
        LOG.info("  fuel2 plugins install %s", path)
        self.say(f"Plugin {path.name} was successfully created.")
