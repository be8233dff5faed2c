"""P040 and P060: records that have the same id, by mistake or because each is for other versions.

Source: the specification "plugins-v5", variant 1 of multi-release packages ("when plugin is validating it should be
checked that tasks is fit into supported release").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from fuelclient.model.finding import Finding, Severity
from fuelclient.plugins import constraints
from fuelclient.plugins.parts import Part, Record
from fuelclient.plugins.reading import Reading
from fuelclient.serializers.values import key_text, line_of

_NOUNS = {
    "deployment_tasks": "task",
    "release_tasks": "task",
    "node_roles": "role",
    "network_roles": "network role",
    "components": "component",
    "release_components": "component",
    "volumes": "volume",
}


def check(package: Reading) -> Iterator[Finding]:
    """Yield findings about repeated ids and constraints. Since version 5, constraints are compared with releases."""
    yield from find_repeated(package)
    versions = list(_versions(package)) if package.major >= 5 else []
    for part in package.parts:
        listed = _roles(part) if part.type == "node_roles" else part.records()
        if part.type in _NOUNS:
            yield from _constraints(listed, _NOUNS[part.type], [] if part.type.startswith("release_") else versions)


def find_repeated(package: Reading) -> Iterator[Finding]:
    """Yield an error for every repeated id. Records with different constraints may share an id."""
    for part in package.parts:
        noun = _NOUNS.get(part.type, "")
        key = "name" if noun == "component" else "id"
        seen: dict[tuple[str, ...], Record] = {}
        for record in part.records() if noun else ():
            name = record.data.get(key)
            if not isinstance(name, str):
                continue
            variant = (name, *(str(record.data.get(constraint)) for constraint in constraints.KEYS))
            if (first := seen.setdefault(variant, record)) is not record:
                message = f"the {noun} {name} is defined twice, first at {first.place(key)}"
                task, hint = name if noun == "task" else "", "Rename or remove one of the two."
                yield Finding(Severity.ERROR, "P060", message, record.place(key), task, hint)


def _versions(package: Reading) -> Iterator[str]:
    """Yield the releases that the package extends. A record that names no Fuel version stands for all in
    `fuel_version`."""
    fuel_versions = package.files.metadata.get("fuel_version")
    for record in package.extensions:
        release = record.data.get("version")
        if not isinstance(release, str):
            continue
        if constraints.version_of(release).fuel or not isinstance(fuel_versions, list):
            yield release
        else:
            yield from (f"{release}-{fuel}" for fuel in fuel_versions if isinstance(fuel, str))


def _roles(data: Part) -> Iterator[Record]:
    return (
        Record(role, file, line_of(mapping, str(name)), key_text(name))
        for mapping, file in data.mappings()
        for name, role in mapping.items()
        if isinstance(role, Mapping)
    )


def _constraints(records: Iterable[Record], noun: str, versions: list[str]) -> Iterator[Finding]:
    """Yield an error for a constraint that cannot be read, or that no release of the metadata satisfies, and a warning
    if two records with one id fit a release equally well."""
    by_name: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_name[record.name].append(record)
        if constraints.is_constrained(record.data):
            subject = f"{noun} {record.name}"
            task = record.name if noun == "task" else ""
            unreadable = list(constraints.check(record.data, subject, record.place))
            yield from unreadable
            if not unreadable and versions and not any(constraints.fits(record.data, version) for version in versions):
                message = f"{subject} fits none of the package's releases: {', '.join(versions)}"
                hint = "Correct its constraints, or add the release to metadata.yaml."
                yield Finding(Severity.ERROR, "P040", message, record.place(*constraints.KEYS), task, hint)
    for name, group in by_name.items():
        if any(constraints.is_constrained(record.data) for record in group):
            for version in versions:
                tied = constraints.best([record.data for record in group], version).tied
                if len(tied) > 1:
                    line, place = group[tied[0]].place().line, group[tied[1]].place(*constraints.KEYS)
                    message = f"{noun} {name}: this record fits {version} no better than the one on line {line}"
                    hint = "The first one is used; tighten the constraints of one of them."
                    yield Finding(Severity.WARNING, "P040", message, place, hint=hint)
                    break
