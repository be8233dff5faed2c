"""`plugins migrate`, and the changes that `plugins check --fix` makes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import flag, option, stated_path
from fuelclient.commands.base import Command
from fuelclient.commands.shell import LOG, count

if TYPE_CHECKING:
    from fuelclient.plugins.migrate import Migration


WRITE = flag("-y", "--yes", "--write", help="write the changes")
"""`--yes`, without which nothing is written unless a user says yes."""


class PluginsMigrate(Command):
    """Bring a plugin of package version 3 or 4 to version 5

    Prints the changes as a diff, and writes them only if you say yes, or with --yes. Groups become the tasks of roles,
    role and groups become roles, tasks get version 2.0.0, their stages become dependencies, and the entries of
    tasks.yaml become tasks. Comments and the order of keys stay. What cannot be migrated is listed on stderr.

      fuel2 plugins migrate . --to 5
      fuel2 plugins migrate . --to 5 --yes
    """

    arguments = (
        option("directory", type=stated_path, metavar="DIR", help="the directory of the plugin"),
        option("--to", type=int, choices=(5,), required=True, metavar="5", help="the new package version"),
        WRITE,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins.migrate import migrated
        from fuelclient.plugins.package_files import require_directory

        require_directory(parsed_args.directory)
        if finished(parsed_args.directory):
            return
        migration = migrated(parsed_args.directory)
        self.app.stdout.write(migration.diff())
        write(self, parsed_args, parsed_args.directory, migration)


def finished(directory: Path) -> bool:
    """Finish a change of a package that was killed while it was written, and return whether there was one."""
    from fuelclient.plugins.migrate import JOURNAL, finish

    done = finish(directory)
    if done:
        LOG.warning("%s: an earlier change was killed; the rest of it was written, from %s.", directory, JOURNAL)
    return done


def write(command: Command, parsed_args: argparse.Namespace, directory: Path, migration: Migration) -> None:
    """Write the changes of a package with `--yes`, or after a yes on the terminal. Raise `Declined` for a no."""
    from fuelclient.plugins.migrate import apply

    for note in migration.notes:
        LOG.warning("%s", note)
    files = count(len(migration.changes), "file")
    if not migration.changes:
        LOG.info("%s: nothing to change.", directory)
        return
    if not parsed_args.yes:
        if not command.app.stdin.isatty():
            LOG.info("%s: %s would change. --yes writes them.", directory, files)
            return
        command.confirm(f"Change {files} of {directory}?")
    apply(migration)
    LOG.info("%s: changed %s. Check it: fuel2 plugins check %s", directory, files, directory)
