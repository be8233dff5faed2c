"""The options by which commands that list findings choose among them, and say when to fail."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

from fuelclient.commands.arguments import Argument, option
from fuelclient.errors import UsageError
from fuelclient.model.finding import Finding, Severity

NEVER = "never"
_CODE = re.compile(r"[GP][0-9]{0,3}")


def _codes_option(name: str, help: str) -> Argument:
    return option(name, metavar="CODES", action="append", default=[], help=help)


FINDING_FILTERS = (
    _codes_option("--select", "only findings with these codes or beginnings of codes: P06,G050"),
    _codes_option("--ignore", "no findings with these codes"),
    option(
        "--fail-on", choices=[*map(str, Severity), NEVER], default=str(Severity.ERROR), metavar="SEVERITY",
        help="exit with code 7 for findings of this severity or worse: error (the default), warning, info or never",
    ),
)  # fmt: skip


def chosen(findings: Iterable[Finding], parsed_args: argparse.Namespace) -> list[Finding]:
    """Return the findings that --select and --ignore leave. Raise `UsageError` for what cannot be a code."""
    wanted, unwanted = _codes(parsed_args.select, "--select"), _codes(parsed_args.ignore, "--ignore")
    return [
        finding
        for finding in findings
        if (not wanted or finding.code.startswith(wanted)) and not (unwanted and finding.code.startswith(unwanted))
    ]


def fails(findings: Iterable[Finding], parsed_args: argparse.Namespace) -> bool:
    """Return whether one of the findings is as bad as --fail-on says."""
    if parsed_args.fail_on == NEVER:
        return False
    severities = [str(severity) for severity in Severity]  # the worst first
    failing = severities[: severities.index(parsed_args.fail_on) + 1]
    return any(str(finding.severity) in failing for finding in findings)


def _codes(stated: Iterable[str], option: str) -> tuple[str, ...]:
    words = [word.strip().upper() for text in stated for word in text.split(",")]
    for word in words:
        if not _CODE.fullmatch(word):
            message = f"{option}: {word!r} is not the code of a finding."
            raise UsageError(message, hint="Write codes or their beginnings, separated by commas: P050,P06.")
    return tuple(words)
