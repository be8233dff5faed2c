"""Write the files of a plugin: `plugins create` and `plugins migrate`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import flag, nonempty_path, one_of, option
from fuelclient.commands.base import Command
from fuelclient.commands.shell import LOG, count

if TYPE_CHECKING:
    from fuelclient.plugins.migrate import Migration


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
        self.tell(f"Plugin {path.name} was successfully created.")


WRITE = flag("-y", "--yes", "--write", help="write the changes")
"""`--yes`; without it, nothing is written unless the user says yes."""


class PluginsMigrate(Command):
    """Bring a plugin of package version 3 or 4 to version 5

    Prints the changes as a diff, and writes them only if you say yes, or with --yes. Groups become the tasks of roles,
    role and groups become roles, tasks get version 2.0.0, their stages become dependencies, and the entries of
    tasks.yaml become tasks. Comments and the order of keys stay. What cannot be migrated is listed on stderr.

      fuel2 plugins migrate . --to 5
      fuel2 plugins migrate . --to 5 --yes
    """

    arguments = (
        option("directory", type=nonempty_path, metavar="DIR", help="the directory of the plugin"),
        option("--to", type=int, choices=(5,), default=5, metavar="5", help="the new package version (default: 5)"),
        WRITE,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins.migrate import migration_of
        from fuelclient.plugins.package_files import require_directory

        require_directory(parsed_args.directory)
        if finish_killed(parsed_args.directory):
            return
        migration = migration_of(parsed_args.directory)
        self.app.stdout.write(migration.diff())
        write_changes(self, parsed_args, parsed_args.directory, migration)


def finish_killed(directory: Path) -> bool:
    """Finish a change of a package that was killed half-written, and return whether there was one."""
    from fuelclient.plugins.migrate import JOURNAL, finish

    done = finish(directory)
    if done:
        LOG.warning("%s: an earlier change was killed; the rest of it was written, from %s.", directory, JOURNAL)
    return done


def write_changes(command: Command, parsed_args: argparse.Namespace, directory: Path, migration: Migration) -> None:
    """Write the changes of a package with `--yes`, or after a yes on the terminal. Raise `Declined` for a no."""
    from fuelclient.plugins.migrate import apply

    for note in migration.notes:
        LOG.warning("%s", note)
    files = count(len(migration.changes), "file")
    if not migration.changes:
        LOG.info("%s: nothing to change.", directory)
        return
    if not parsed_args.yes:
        if not command.shell.asks:
            LOG.info("%s: %s would change. --yes writes them.", directory, files)
            return
        command.confirm(f"Change {files} of {directory}?")
    apply(migration)
    LOG.info("%s: changed %s. Check it: fuel2 plugins check %s", directory, files, directory)
