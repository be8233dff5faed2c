"""`plugins create`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from fuelclient.commands.arguments import flag, one_of, option
from fuelclient.commands.base import Command
from fuelclient.commands.shell import LOG, count


class PluginsCreate(Command):
    """Write a plugin to start from

    Creates a directory with the name of the plugin. The plugin works as it is: it passes 'plugins check' and can be
    built, installed and previewed. Its tasks run a shell script and a Puppet manifest, and comments say what to edit.

      fuel2 plugins create my-plugin
      fuel2 plugins create ~/src/my-openstack --release
      fuel2 plugins create my-plugin --package-version 4
    """

    arguments = (
        option(
            "path", metavar="NAME|PATH",
            help="the directory to create, named like the plugin: lower case letters, digits, - and _",
        ),
        option(
            "--package-version", type=str, metavar="VERSION", default="5.0.0",
            help="format of the package: 1 to 6, or 3.0.0 and so on (default: 5.0.0)",
        ),
        one_of(
            flag("--release", help="a package that defines a release of its own"),
            flag("--multi-release", help="a package with different files for different releases"),
        ),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins.skeleton import Skeleton, create

        skeleton = Skeleton.PLUGIN
        if parsed_args.release or parsed_args.multi_release:
            skeleton = Skeleton.RELEASE if parsed_args.release else Skeleton.MULTI_RELEASE
        path = Path(parsed_args.path)
        files = create(path, package_version=parsed_args.package_version, skeleton=skeleton)
        LOG.info("Created %s in %s. README.md says what to edit first. Then run:", count(len(files), "file"), path)
        LOG.info("  fuel2 plugins check %s", shlex.quote(str(path)))
        LOG.info("  fuel2 plugins install %s", shlex.quote(str(path)))
        self.say(f"Plugin {path.name} was successfully created.")
