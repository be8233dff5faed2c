"""Check a plugin package: find everything that is wrong in its files in one run.

The codes are P001 to P069 (`docs/findings.md`), and those of graphs (G...). Sources: Fuel Plugin Builder's
validators, the lists in the specifications "plugins-v5" and "release-as-a-plugin", and rules of our own for common
mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from fuelclient.expressions.readable import refusals
from fuelclient.graph.validate import check_document, misspelt_roles
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Package
from fuelclient.plan.order import cycles_in
from fuelclient.plugins import repeated_ids, shapes
from fuelclient.plugins.checks import package_version, references
from fuelclient.plugins.load import read_package
from fuelclient.plugins.pack import refusals as refusals_of_build
from fuelclient.plugins.reading import Reading
from fuelclient.plugins.select import for_any_release
from fuelclient.printing import count
from fuelclient.serializers.values import key_text

__all__ = ["UNUSABLE", "check", "check_and_read", "for_install", "graphs_of"]

UNUSABLE = frozenset({"P001", "P002", "P003", "P004", "P030", "P033", "P037", "P060"})
"""The errors that make a package unusable. A package with only other errors can still be installed."""

_Check = Callable[[Reading], Iterator[Finding]]
_WITHOUT_METADATA: tuple[_Check, ...] = (
    package_version.check_priorities, package_version.check_primaries,
    repeated_ids.find_repeated, references.check_conditions,
)  # fmt: skip
"""The checks that do not need the metadata."""

_CHECKS: tuple[_Check, ...] = (
    shapes.check,
    package_version.check_metadata,
    package_version.check_tasks,
    repeated_ids.check,
    references.check_conditions,
    references.check_scripts,
    references.check_names,
)

_CHECKED_ELSEWHERE = frozenset({"G005", "G012", "G020"})
"""Repeated ids, which may be for different versions (P060), bad priorities (P003), and records without a type."""


def check(directory: Path, *, shown_as: str = "") -> tuple[Finding, ...]:
    return check_and_read(directory, shown_as=shown_as)[0]


def check_and_read(directory: Path, *, shown_as: str = "") -> tuple[tuple[Finding, ...], Reading]:
    """Read the package in `directory`, and list all findings about it in the order of its files and lines.

    Findings show the directory as `shown_as`, if given (for an archive that was unpacked there). Raise what
    `require_directory` raises, but nothing for the content of a package.
    """
    package = read_package(directory, shown_as=shown_as)
    findings = _Findings()
    for check_part in _CHECKS if package.metadata is not None else _WITHOUT_METADATA:
        findings.add(check_part(package))
    findings.add(package.files.findings)
    findings.add_unless_known(_graph_findings(package))
    if package.metadata is not None:
        findings.add_unless_known(_build_findings(package))
    return findings.sorted(package.files.manifest), package


def for_install(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Turn all errors that are not in `UNUSABLE` into warnings, because they do not prevent an installation.

    >>> from fuelclient.model.finding import Place
    >>> [finding] = for_install([Finding(Severity.ERROR, "P012", "no version", Place("tasks.yaml", 1))])
    >>> str(finding.severity)
    'warning'
    """
    return tuple(
        replace(finding, severity=Severity.WARNING) if finding.is_error and finding.code not in UNUSABLE else finding
        for finding in findings
    )


def _graph_findings(package: Reading) -> Iterator[Finding]:
    """Yield the findings about the graphs of the package that an upload would report."""
    roles = {key_text(name) for name, *_ in package.roles()}
    for packaged in package.package.releases if package.package is not None else ():
        roles |= dict(packaged.release.metadata.get("roles_metadata") or {}).keys()
    for graph in package.files.graphs:
        yield from misspelt_roles(graph.tasks, roles)
        yield from (found for found in check_document(graph, None, None) if found.code not in _CHECKED_ELSEWHERE)
    for graph in graphs_of(package.package) if package.package is not None else ():
        yield from refusals(graph, packaged=True)
        yield from cycles_in(graph.tasks)


def graphs_of(package: Package) -> Iterator[GraphDocument]:
    """Yield the graphs of a package: its own, including the group tasks of its roles, and those of its releases."""
    yield from for_any_release(package).graphs.values()
    for record in package.records:
        if record.contents is not None:
            yield from record.contents.graphs.values()
    for packaged in package.releases:
        yield from packaged.graphs.values()


def _build_findings(package: Reading) -> Iterator[Finding]:
    """P068: yield an error for each reason why the package could not be built."""
    try:
        for key, reason in refusals_of_build(package.files.directory, package.metadata or {}):
            place = package.place(key) if key else Place(package.files.manifest)
            yield Finding(Severity.ERROR, "P068", f"the package cannot be built: {reason}", place, hint=reason.hint)
    except OSError as error:
        message = f"the package cannot be built: {error.strerror}: {error.filename}"
        yield Finding(Severity.ERROR, "P068", message, Place(package.files.manifest), hint="Check its permissions.")


_MAX_PER_CODE = 200
"""The most findings with one code that are listed for a file. The others are only counted."""


class _Findings:
    """The findings of all checks: each once, a limited number of each code, in the order of files and lines."""

    def __init__(self) -> None:
        self._findings: dict[Finding, None] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], Finding] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in map(_on_one_line, findings):
            if finding in self._findings:
                continue
            key = (finding.code, finding.place.file)
            self._counts[key] += 1
            self._last[key] = finding
            if self._counts[key] <= _MAX_PER_CODE:
                self._findings[finding] = None

    def add_unless_known(self, findings: Iterable[Finding]) -> None:
        """Add findings, but none with the code and place of an earlier one, and no error where another error was found
        already."""
        errors = {(finding.place.file, finding.place.line) for finding in self._findings if finding.is_error}
        known = {(finding.code, finding.place.file, finding.place.line) for finding in self._findings}
        for finding in findings:
            place = (finding.place.file, finding.place.line)
            if (finding.code, *place) not in known and not (finding.is_error and place in errors):
                self.add([finding])

    def sorted(self, manifest: str) -> tuple[Finding, ...]:
        """Sort all findings: those of `manifest` first, then by file, line and code, then as they were added."""
        more = [
            replace(
                self._last[code, file],
                message=f"not listed: {count(number - _MAX_PER_CODE, f'more {code} finding')} in this file",
                place=Place(file),
                task="",
                hint="Correct the listed ones first.",
            )
            for (code, file), number in self._counts.items()
            if number > _MAX_PER_CODE
        ]

        def order(finding: Finding) -> tuple[bool, str, int, str]:
            return finding.place.file != manifest, finding.place.file, finding.place.line, finding.code

        return tuple(sorted([*self._findings, *more], key=order))


def _on_one_line(finding: Finding) -> Finding:
    """Remove line ends and control characters, which may come from names in a file."""
    if finding.message.isprintable() and finding.hint.isprintable() and finding.task.isprintable():
        return finding
    message, hint, task = map(_printable, (finding.message, finding.hint, finding.task))
    return replace(finding, message=message, hint=hint, task=task)


def _printable(text: str) -> str:
    """Put `text` on one line.

    >>> _printable("the role a\\n b\\x1b[1m lacks name")
    'the role a b?[1m lacks name'
    """
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
