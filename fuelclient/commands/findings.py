"""The findings of checks: filters, and the formats text, SARIF, JUnit and annotations."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO

from cliff.formatters.base import Formatter, ListFormatter

from fuelclient import __version__, grouping
from fuelclient.commands.arguments import Argument, option
from fuelclient.commands.fitting import answer_lines, terminal_width
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import UsageError, sentences
from fuelclient.model.finding import Finding, Severity
from fuelclient.printing import printable

NEVER = "never"
_CODE = re.compile(r"[GNP][0-9]{0,3}")


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


def filtered(findings: Iterable[Finding], parsed_args: argparse.Namespace) -> list[Finding]:
    """Filter findings by --select and --ignore. Raise `UsageError` for a word that cannot be a code."""
    wanted, unwanted = _codes(parsed_args.select, "--select"), _codes(parsed_args.ignore, "--ignore")
    return [
        finding
        for finding in findings
        if (not wanted or finding.code.startswith(wanted)) and not (unwanted and finding.code.startswith(unwanted))
    ]


def fails(findings: Iterable[Finding], parsed_args: argparse.Namespace) -> bool:
    """Whether a finding has the severity of --fail-on, or a worse one."""
    if parsed_args.fail_on == NEVER:
        return False
    severities = list(Severity)  # the worst first
    failing = severities[: severities.index(Severity(parsed_args.fail_on)) + 1]
    return any(finding.severity in failing for finding in findings)


def _codes(texts: Iterable[str], option: str) -> tuple[str, ...]:
    words = [word.strip().upper() for text in texts for word in text.split(",")]
    for word in words:
        if not _CODE.fullmatch(word):
            message = f"{option}: {word!r} is not the code of a finding."
            raise UsageError(message, hint="Write codes or their beginnings, separated by commas: P050,P06.")
    return tuple(words)


SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@dataclass(slots=True)
class Reported:
    """The findings of a check, and those that the author of a package accepts, each with the reason."""

    findings: list[Finding] = field(default_factory=list)
    accepted: list[tuple[Finding, str]] = field(default_factory=list)
    verbose: bool = False


def finding_formats(reported: Reported) -> dict[str, Callable[[], Formatter]]:
    """The formats of whole findings by name; each prints what `reported` holds when it is called."""
    writers = {"text": _text, "sarif": _sarif, "junit": _junit, "github": _github}
    return {name: partial(_FindingFormat, reported, write) for name, write in writers.items()}


class _FindingFormat(ListFormatter):
    def __init__(self, reported: Reported, write: Callable[[Reported, argparse.Namespace], str]) -> None:
        self._reported, self._write = reported, write

    def add_argument_group(self, parser: argparse.ArgumentParser) -> None:
        """These formats have no options."""

    def emit_list(self, _columns: Sequence[str], _rows: Any, stdout: TextIO, parsed_args: argparse.Namespace) -> None:
        if parsed_args.columns or parsed_args.sort_keys:
            hint = "Leave out -c and -s, or use a format such as table, json or csv."
            raise UsageError(f"The format {parsed_args.formatter} has no columns.", hint=hint)
        text, width = self._write(self._reported, parsed_args), terminal_width(stdout)
        if width and parsed_args.formatter == "text":
            text = "".join(f"{line}\n" for line in answer_lines(text.removesuffix("\n"), width))
            if not self._reported.verbose and len(grouped(self._reported.findings)) < len(self._reported.findings):
                LOG.info("Not all findings are listed; -v shows them.")
        stdout.write(text)


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings with the same severity and code together, in the order of the first of each.

    >>> from fuelclient.model.finding import Finding, Severity
    >>> codes = [Finding(Severity.WARNING, code, "x") for code in ("P050", "P061", "P050")]
    >>> [[finding.code for finding in group] for group in grouped(codes)]
    [['P050', 'P050'], ['P061']]
    """
    return list(grouping.grouped(((finding.severity, finding.code), finding) for finding in findings).values())


def others_note(group: Sequence[Finding]) -> str:
    """How many findings a group has besides its first one, and in how many files; empty for a single one."""
    if not (more := group[1:]):
        return ""
    files = count(len({finding.place.file for finding in more}), "file")
    return f" (and {len(more)} more {group[0].code} in {files})"


def _text(reported: Reported, parsed_args: argparse.Namespace) -> str:  # noqa: ARG001
    """One line for each code: the first finding, and how many more there are; with -v, every finding."""
    lines: list[str] = []
    for group in grouped(reported.findings):
        lines += [str(finding) for finding in group] if reported.verbose else [f"{group[0]}{others_note(group)}"]
    if reported.verbose:
        lines += [f"{finding} (accepted: {reason})" for finding, reason in reported.accepted]
    return "".join(f"{printable(line)}\n" for line in lines)


def _sarif(reported: Reported, parsed_args: argparse.Namespace) -> str:  # noqa: ARG001
    import json

    rules = sorted({finding.code for finding in (*reported.findings, *(item for item, _ in reported.accepted))})
    results = [_result(finding, rules) for finding in reported.findings]
    for finding, reason in reported.accepted:
        suppressions = [{"kind": "external", "status": "accepted", "justification": reason}]
        results.append({**_result(finding, rules), "suppressions": suppressions})
    driver = {"name": "fuel2", "version": __version__, "rules": [{"id": code} for code in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    from urllib.parse import quote

    levels = {"error": "error", "warning": "warning", "info": "note"}
    text = sentences(finding.message, finding.hint)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rules.index(finding.code),
        "level": levels[finding.severity],
        "message": {"text": text},
    }
    location: dict[str, Any] = {}
    if finding.place.file:
        physical: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.place.file)}}
        if finding.place.line:
            physical["region"] = {"startLine": finding.place.line}
        location["physicalLocation"] = physical
    if logical := [{"name": name} for name in (finding.place.layer, finding.task) if name]:
        location["logicalLocations"] = logical
    return {**result, "locations": [location]} if location else result


def _junit(reported: Reported, parsed_args: argparse.Namespace) -> str:
    """A test case for each finding; it fails if --fail-on covers the finding, else the finding is only its output.

    The cases of accepted findings are skipped. Without any finding there is one case that passes, because many
    readers take an empty report for a failure.
    """
    from xml.etree import ElementTree as ET

    suite = ET.Element("testsuite", name="fuel2")
    seen: Counter[tuple[str, str]] = Counter()
    for finding, reason in [*((finding, "") for finding in reported.findings), *reported.accepted]:
        key = (finding.place.file or finding.place.layer or "fuel2", f"{finding.code} {finding.task}".strip())
        seen[key] += 1
        name = key[1] if seen[key] == 1 else f"{key[1]} ({seen[key]})"
        case = ET.SubElement(suite, "testcase", classname=_xml(key[0]), name=_xml(name))
        message = _xml(finding.message)
        if reason:
            ET.SubElement(case, "skipped", message=_xml(reason))
        elif fails([finding], parsed_args):
            ET.SubElement(case, "failure", message=message, type=str(finding.severity)).text = _xml(str(finding))
        else:
            ET.SubElement(case, "system-out").text = _xml(str(finding))
    if not len(suite):
        ET.SubElement(suite, "testcase", classname="fuel2", name="no findings")
    counts = {"tests": len(suite), "failures": len(suite.findall("*/failure")), "errors": 0}
    for name, number in {**counts, "skipped": len(suite.findall("*/skipped"))}.items():
        suite.set(name, str(number))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="us-ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode()}\n'


def _xml(text: str) -> str:
    """`text` with control characters escaped, and without U+FFFE and U+FFFF, which XML cannot hold either.

    >>> print(_xml("a\\x00b\\ufffe"))
    a\\x00b
    """
    return "".join(character for character in printable(text, keep="\n\t") if character not in "\ufffe\uffff")


def _github(reported: Reported, parsed_args: argparse.Namespace) -> str:  # noqa: ARG001
    """Workflow commands of GitHub, which annotate the lines of a change."""
    levels = {"error": "error", "warning": "warning", "info": "notice"}
    lines = []
    for finding in reported.findings:
        place = {"file": finding.place.file, "line": str(finding.place.line or ""), "title": finding.code}
        properties = ",".join(f"{key}={_property(value)}" for key, value in place.items() if value)
        text = sentences(finding.message, finding.hint)
        lines.append(f"::{levels[finding.severity]} {properties}::{_escaped(text)}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    """Escape the text of a workflow command.

    >>> _escaped("50%\\nof it"), _property("a:b,c")
    ('50%25%0Aof it', 'a%3Ab%2Cc')
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
