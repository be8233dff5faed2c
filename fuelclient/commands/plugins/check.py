"""`plugins check`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.commands.arguments import stated_path
from fuelclient.commands.base import tally
from fuelclient.commands.checking import Check, cells
from fuelclient.commands.shell import LOG


class PluginsCheck(Check):
    """Report everything wrong with plugin packages

    A package is the directory of a plugin, or an .rpm or .fp file. All findings come in one run, each with its file
    and line and what to do. The exit code is 7 when one of them is an error, with --strict also for a warning. Not
    every error keeps a plugin from being installed: some only say what Fuel itself would not take.

      fuel2 plugins check .
      fuel2 plugins check --strict -f json plugins/*
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "paths", nargs="+", type=stated_path, metavar="PATH", help="directory of a package, or an .rpm or .fp file"
        )
        parser.add_argument("--strict", action="store_true", help="exit code 7 for warnings, too")
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.commands.plugins.packages import findings_of
        from fuelclient.model.finding import Severity

        grave = {Severity.ERROR, Severity.WARNING} if parsed_args.strict else {Severity.ERROR}
        rows = []
        for path in parsed_args.paths:
            findings = findings_of(path)
            self.broken |= any(one.severity in grave for one in findings)
            LOG.info("%s: %s.", path, tally(findings))
            rows += sorted(
                findings, key=lambda one: (list(Severity).index(one.severity), one.place.file, one.place.line)
            )
        return cells(rows)
