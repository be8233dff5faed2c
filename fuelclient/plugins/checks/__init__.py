"""Check a plugin package: find everything that its files violate in one run.

The codes are P001 to P069 (`docs/findings.md`), and G... from reading graphs. Sources: Fuel Plugin Builder's
validators, the lists in the specifications "plugins-v5" and "release-as-a-plugin", and rules of our own for common
mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from fuelclient.expressions.readable import refusals
from fuelclient.graph.validate import check_document, misspelt_roles
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Package
from fuelclient.plan.cycles import cycles_in
from fuelclient.plugins import shapes, shared_ids
from fuelclient.plugins.checks import conditions, metadata, packing, primaries, references, scripts, tasks
from fuelclient.plugins.checks.findings import Findings
from fuelclient.plugins.load import read_package
from fuelclient.plugins.reading import Reading
from fuelclient.plugins.select import for_any_release
from fuelclient.serializers.values import key_text

__all__ = ["UNUSABLE", "check", "check_and_read", "for_install", "graphs_of"]

UNUSABLE = frozenset({"P001", "P002", "P003", "P004", "P030", "P033", "P037", "P060"})
"""The errors with which a package cannot be used at all. It can be installed in spite of any other."""

_Check = Callable[[Reading], Iterator[Finding]]
_CHECKS: tuple[_Check, ...] = (
    shapes.check,
    metadata.check,
    tasks.check,
    primaries.check,
    shared_ids.check,
    conditions.check,
    scripts.check,
)
_WITHOUT_METADATA: tuple[_Check, ...] = (tasks.priorities, primaries.check, shared_ids.repeated, conditions.check)
"""The checks of the files alone."""

_CHECKED_ELSEWHERE = frozenset({"G005", "G012", "G020"})
"""Repeated ids, which may be for different versions (P060), bad priorities (P003), and records without a type."""


def check(directory: Path, *, shown_as: str = "", release_tasks: Collection[str] | None = None) -> tuple[Finding, ...]:
    """Return all findings about the package in `directory`, in the order of its files and lines.

    Findings call the directory `shown_as`, if given (for an archive that was unpacked there). With `release_tasks`, the
    ids of a release's tasks, every reference to another name is reported, not only those that look like typos.
    Nothing is raised for any content. Raise what `require_directory` raises.
    """
    return check_and_read(directory, shown_as=shown_as, release_tasks=release_tasks)[0]


def check_and_read(
    directory: Path, *, shown_as: str = "", release_tasks: Collection[str] | None = None
) -> tuple[tuple[Finding, ...], Reading]:
    """Return what `check` returns, and the package that was read for it."""
    package = read_package(directory, shown_as=shown_as)
    findings = Findings()
    for check_part in _CHECKS if package.metadata is not None else _WITHOUT_METADATA:
        findings.add(check_part(package))
    if package.metadata is not None:
        findings.add(references.check(package, release_tasks))
    findings.add(package.files.findings)
    findings.add_unless_known(_graphs(package))
    if package.metadata is not None:
        findings.add_unless_known(packing.check(package))
    return findings.sorted(package.files.manifest), package


def for_install(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return `findings` as an installation treats them: only the errors in `UNUSABLE` remain errors.

    >>> from fuelclient.model.finding import Place
    >>> [finding] = for_install([Finding(Severity.ERROR, "P012", "no version", Place("tasks.yaml", 1))])
    >>> str(finding.severity)
    'warning'
    """
    return tuple(
        replace(finding, severity=Severity.WARNING) if finding.is_error and finding.code not in UNUSABLE else finding
        for finding in findings
    )


def _graphs(package: Reading) -> Iterator[Finding]:
    """Yield the findings about the tasks as graphs, as an upload reports them."""
    roles = {key_text(name) for name, *_ in package.roles()}
    for packaged in package.package.releases if package.package is not None else ():
        roles |= dict(packaged.release.metadata.get("roles_metadata") or {}).keys()
    for graph in package.files.graphs:
        yield from misspelt_roles(graph.tasks, roles)
        for finding in check_document(graph, None, None):
            if finding.code not in _CHECKED_ELSEWHERE:
                yield finding
    for graph in graphs_of(package.package) if package.package is not None else ():
        yield from refusals(graph, packaged=True)
        yield from cycles_in(graph.tasks)


def graphs_of(package: Package) -> Iterator[GraphDocument]:
    """Yield the graphs of a package: its own, with the groups of its roles, and those of its releases."""
    yield from for_any_release(package).graphs.values()
    for record in package.records:
        if record.contents is not None:
            yield from record.contents.graphs.values()
    for packaged in package.releases:
        yield from packaged.graphs.values()
