"""`plugins check`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from fuelclient.commands.arguments import stated_path
from fuelclient.commands.base import Check, finding_rows, tally
from fuelclient.commands.finding_filters import add_finding_filters, chosen, fails
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding, Severity


class PluginsCheck(Check):
    """Report everything wrong with plugin packages

    A package is the directory of a plugin, or an .rpm or .fp file. One run reports all findings, each with its file,
    line and a hint. The exit code is 7 if one of them is an error, or as bad as --fail-on says. Some errors do not
    prevent installation here: they are about packages that Fuel itself would refuse.

      fuel2 plugins check .
      fuel2 plugins check --fail-on warning --ignore P019,P02 -f json plugins/*
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="+", type=stated_path, metavar="PATH", help="directory of a package, or an .rpm or .fp file"
        )
        add_finding_filters(parser)
        parser.add_argument(
            "--strict", dest="fail_on", action="store_const", const="warning", help="the same as --fail-on warning"
        )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        severities = list(Severity)
        rows = []
        for path in parsed_args.paths:
            findings = chosen(findings_of(path), parsed_args)
            self.broken |= fails(findings, parsed_args)
            LOG.info("%s: %s.", path, tally(findings))
            rows += sorted(
                findings,
                key=lambda finding: (severities.index(finding.severity), finding.place.file, finding.place.line),
            )
        return finding_rows(rows)


def findings_of(path: Path) -> Sequence[Finding]:
    """Check the package in `path`, a directory or an archive.

    An archive that cannot be unpacked is a finding. Raise `NotFound` if `path` does not exist.
    """
    from fuelclient.plugins import archive
    from fuelclient.plugins.checks import check

    if path.is_dir():
        return check(path)
    try:
        with TemporaryDirectory(prefix="fuel2-") as target:
            archive.extract(path, Path(target))
            return check(Path(target), shown_as=f"{path}!")
    except InvalidDocument as error:
        if not error.findings:
            raise
        return cast("Sequence[Finding]", error.findings)
