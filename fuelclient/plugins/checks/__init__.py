"""Checks of a plugin package: everything that its files violate, all of it in one run.

The codes are P001 to P064 (`docs/findings.md`); reading and graphs add theirs (G...). Source: Fuel Plugin Builder's
validators, the lists in the specifications "plugins-v5" and "release-as-a-plugin", and rules of our own for what is
easily got wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from fuelclient.model.finding import Finding, Severity
from fuelclient.plugins.checks import (
    conditions,
    fitting,
    fuel_versions,
    graphs,
    identity,
    names,
    records,
    scripts,
    shape,
    stages,
    tasks,
)
from fuelclient.plugins.checks.findings import Findings
from fuelclient.plugins.checks.subject import Subject, read
from fuelclient.plugins.directory import require_directory

UNUSABLE = frozenset({"P001", "P002", "P003", "P004", "P030", "P037", "P060"})
"""The errors with which a package cannot be used at all; it can be installed with any other."""

_FAMILIES: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    shape.check,
    fuel_versions.check,
    records.check,
    tasks.check,
    identity.check,
    conditions.check,
    stages.check,
    scripts.check,
    fitting.check,
)


def check(directory: Path, *, shown_as: str = "", release_tasks: Collection[str] | None = None) -> tuple[Finding, ...]:
    """Everything that there is to say about the package in `directory`, in the order of its files and lines.

    `shown_as` is what findings call the directory (an archive that was unpacked there). `release_tasks` are the ids
    of the tasks that a release has, when one is known: then every other name that a task refers to is dangling, and
    not only those that look like slips. Nothing is raised for any content. Raises what `require_directory` raises.
    """
    require_directory(directory)
    subject = read(directory, shown_as)
    found = Findings()
    for family in _FAMILIES:
        found.add(family(subject))
    found.add(names.check(subject, release_tasks))
    found.add(subject.files.findings)
    found.add_unless_told(graphs.check(subject, directory, shown_as))
    return found.sorted(subject.files.manifest)


def for_install(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """`findings` as an installation takes them: only the errors of `UNUSABLE` stay errors, others are warnings.

    >>> from fuelclient.model.finding import Place
    >>> [one] = for_install([Finding(Severity.ERROR, "P012", "no version", Place("tasks.yaml", 1))])
    >>> str(one.severity)
    'warning'
    """
    return tuple(
        replace(finding, severity=Severity.WARNING) if finding.is_error and finding.code not in UNUSABLE else finding
        for finding in findings
    )


__all__ = ["UNUSABLE", "check", "for_install"]
