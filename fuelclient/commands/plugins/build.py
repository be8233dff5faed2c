"""`plugins build`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from fuelclient.commands.arguments import flag, option, stated_path
from fuelclient.commands.base import Command, report, tally
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument


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
