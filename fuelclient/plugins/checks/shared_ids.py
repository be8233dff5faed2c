"""P040 and P060: records that share an id, because it is repeated or because each is for other versions.

Source: the specification "plugins-v5", variant 1 of multi-release packages ("when plugin is validating it should be
checked that tasks is fit into supported release").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fuelclient.model.finding import Finding, Severity
from fuelclient.plugins import constraints
from fuelclient.plugins.checks.raw_package import DataSet, RawPackage, Record
from fuelclient.serializers.values import key_text, line_of

_CONSTRAINED = {"deployment_tasks": "task", "network_roles": "network role", "components": "component"}


def check(package: RawPackage) -> Iterator[Finding]:
    """Yield findings about repeated ids and, in packages of version 5 and later, about version constraints."""
    for data in package.of("deployment_tasks", "release_tasks"):
        yield from _repeated("task", "id", data.records())
    for data in package.of("volumes"):
        yield from _repeated("volume", "id", data.records("volumes"))
    for data in package.of("components", "release_components"):
        yield from _repeated("component", "name", data.records())
    if package.metadata is None or package.major < 5:
        return
    versions = list(_versions(package))
    for file_type, noun in _CONSTRAINED.items():
        for data in package.of(file_type):
            yield from _constraints(data.records(), noun, versions)
    for data in package.of("node_roles"):
        yield from _constraints(_roles(data), "role", versions)
    for data in package.of("volumes"):
        yield from _constraints(data.records("volumes"), "volume", versions)


def _repeated(noun: str, key: str, records: Iterable[Record]) -> Iterator[Finding]:
    """Yield an error for every repeated id. With different constraints, one of the records is chosen by version."""
    seen: dict[tuple[str, ...], Record] = {}
    for record in records:
        name = record.data.get(key)
        if not isinstance(name, str):
            continue
        variant = (name, *(str(record.data.get(constraint)) for constraint in constraints.KEYS))
        first = seen.setdefault(variant, record)
        if first is not record:
            message = f"the {noun} {name} is defined twice, first at {first.place(key)}"
            task = name if noun == "task" else ""
            yield Finding(Severity.ERROR, "P060", message, record.place(key), task, "Rename or remove one of the two.")


def _versions(package: RawPackage) -> Iterator[str]:
    """Yield the releases that the package extends. One without a version of Fuel stands for all of `fuel_version`."""
    fuels = (package.metadata or {}).get("fuel_version")
    for record in package.extensions:
        stated = record.data.get("version")
        if not isinstance(stated, str):
            continue
        if constraints.version_of(stated).fuel or not isinstance(fuels, list):
            yield stated
        else:
            yield from (f"{stated}-{fuel}" for fuel in fuels if isinstance(fuel, str))


def _roles(data: DataSet) -> Iterator[Record]:
    for mapping, file in data.mappings():
        for name, role in mapping.items():
            if isinstance(role, Mapping):
                yield Record(role, file, line_of(mapping, str(name)), key_text(name))


def _constraints(records: Iterable[Record], noun: str, versions: list[str]) -> Iterator[Finding]:
    """Yield an error for a constraint that cannot be read, or that no release of the metadata satisfies, and a warning
    if two records with one id fit a release equally well."""
    named: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        named[record.name].append(record)
        if constraints.is_constrained(record.data):
            subject = f"{noun} {record.name}"
            task = record.name if noun == "task" else ""
            unreadable = list(constraints.check(record.data, subject, record.place))
            yield from unreadable
            if not unreadable and versions and not any(constraints.fits(record.data, version) for version in versions):
                message = f"{subject} fits none of the package's releases: {', '.join(versions)}"
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
            message = f"{subject}: this record fits {version} no better than the one on line {first.place().line}"
            hint = "The first one is used; tighten the constraints of one of them."
            yield Finding(Severity.WARNING, "P040", message, second.place(*constraints.KEYS), hint=hint)
            return
