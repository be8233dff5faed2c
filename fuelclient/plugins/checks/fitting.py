"""P040: records that are meant for some versions only.

Source: the specification "plugins-v5", variant 1 of its multi-release packages ("when plugin is validating it should
be checked that tasks is fit into supported release").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins import constraints
from fuelclient.plugins.checks.sources import DataSet
from fuelclient.plugins.checks.subject import Record, Subject, records_of
from fuelclient.serializers.values import key_text, line_of

_LISTS = {"deployment_tasks": "task", "network_roles": "network role", "components": "component"}


def check(subject: Subject) -> Iterator[Finding]:
    """An error for a constraint that cannot be read or met by any release of the metadata, a warning where two
    records of one id fit a release equally well."""
    if subject.metadata is None or subject.major < 5:
        return
    versions = list(_versions(subject))
    for kind, noun in _LISTS.items():
        for data in subject.of(kind):
            yield from _group(records_of(data), noun, versions)
    for data in subject.of("node_roles"):
        yield from _group(_roles(data), "role", versions)


def _versions(subject: Subject) -> Iterator[str]:
    """The releases that the package extends; one that names no version of Fuel stands for those of `fuel_version`."""
    fuels = (subject.metadata or {}).get("fuel_version")
    for record in subject.extensions:
        stated = record.data.get("version")
        if not isinstance(stated, str):
            continue
        if constraints.version_of(stated).fuel or not isinstance(fuels, list):
            yield stated
        else:
            yield from (f"{stated}-{fuel}" for fuel in fuels if isinstance(fuel, str))


def _roles(data: DataSet) -> Iterator[Record]:
    for document in data.documents:
        for name, role in document.data.items() if isinstance(document.data, Mapping) else ():
            if isinstance(role, Mapping):
                yield Record(role, document.file, line_of(document.data, str(name)), key_text(name))


def _group(records: Iterable[Record], noun: str, versions: list[str]) -> Iterator[Finding]:
    named: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        named[record.name].append(record)
        if constraints.is_constrained(record.data):
            subject = f"{noun} {record.name}"
            task = record.name if noun == "task" else ""
            unreadable = list(constraints.check(record.data, subject, record.place))
            yield from unreadable
            if not unreadable and versions and not any(constraints.fits(record.data, one) for one in versions):
                message = f"{subject} fits none of the releases of the package: {', '.join(versions)}"
                hint = "Correct its constraints, or add the release to metadata.yaml."
                yield Finding(Severity.ERROR, "P040", message, record.place(*constraints.KEYS), task, hint)
    for name, group in named.items():
        if any(constraints.is_constrained(record.data) for record in group):
            yield from _ambiguous(f"{noun} {name}", group, versions)


def _ambiguous(subject: str, group: list[Record], versions: list[str]) -> Iterator[Finding]:
    stated: list[Mapping[str, Any]] = [record.data for record in group]
    for version in versions:
        tied = constraints.best(stated, version).tied
        if len(tied) > 1:
            first, second = (group[index] for index in tied[:2])
            place: Place = second.place(*constraints.KEYS)
            message = f"{subject}: this record fits {version} no better than the one on line {first.place().line}"
            hint = "The first one is used; tighten the constraints of one of them."
            yield Finding(Severity.WARNING, "P040", message, place, hint=hint)
            return
