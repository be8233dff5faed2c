"""What authors of plugins need: `plugins create`, `plugins migrate` and `plugins build`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fuelclient.commands.arguments import flag, one_of, option, stated_path
from fuelclient.commands.base import Command, report, tally
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidDocument

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
        self.say(f"Plugin {path.name} was successfully created.")


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


class PluginsBuild(Command):
    """Build the package of a plugin

    Checks the plugin first. If there is an error, nothing is built, and the exit code is 7. Packages of version 1
    become an .fp file, all others an .rpm file, which a Fuel master can install. The same directory always gives the
    same bytes. The package is written to the current directory, and its path to stdout. Earlier packages of the plugin
    are left out, so you can also build in the plugin's own directory.

      fuel2 plugins build my-plugin
      fuel2 plugins install "$(fuel2 plugins build my-plugin --output . --force)"
    """

    arguments = (
        option("directory", type=stated_path, metavar="DIR", help="the directory of the plugin"),
        option(
            "--output",
            type=stated_path,
            metavar="DIR",
            default=Path(),
            help="the directory to write the package to (default: the current directory)",
        ),
        flag("-f", "--force", help="overwrite an existing package"),
        option("--format", choices=("fp", "rpm"), help="default: according to the package version"),
        flag("--run-hook", help="run the plugin's pre_build_hook first, with all your permissions"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.plugins import build
        from fuelclient.plugins.package_files import require_directory

        directory = parsed_args.directory
        require_directory(directory)
        if parsed_args.run_hook:
            build.run_pre_build_hook(directory)
        elif (directory / build.HOOK).exists():
            LOG.warning("%s was not run. Use --run-hook to run it.", directory / build.HOOK)
        metadata = _checked(directory)
        archive = parsed_args.format or ("fp" if str(metadata.get("package_version")).startswith("1.") else "rpm")
        builder = build.build_fp if archive == "fp" else build.build_rpm
        self.say(str(builder(directory, parsed_args.output, metadata, force=parsed_args.force)))


def _checked(directory: Path) -> Mapping[str, Any]:
    """Check a package, report the findings, and return its metadata. Raise `InvalidDocument` for an error."""
    from fuelclient import files
    from fuelclient.commands.plugins.check import findings_of
    from fuelclient.model.finding import errors_in
    from fuelclient.plugins import build

    findings = findings_of(directory)
    if not errors_in(findings):
        stated = cast("Mapping[str, Any]", files.load(directory / "metadata.yaml").data)
        findings = (*findings, *build.repository_findings(directory, stated))
    errors = errors_in(findings)
    if errors:
        report(finding for finding in findings if not finding.is_error)
        message = f"{directory} was not built: {tally(findings)}."
        raise InvalidDocument(message, findings=errors, hint="Correct the errors first.")
    report(findings)
    return stated
