"""P005, P015, P030 to P038: what metadata.yaml states about versions of Fuel, and about releases.

Source: the specification "release-as-a-plugin".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.raw_package import RawPackage, Record, all_bases_of
from fuelclient.plugins.constraints import version_of
from fuelclient.plugins.contents import PATHS
from fuelclient.plugins.package_files import CONF_PATH
from fuelclient.serializers.values import items_of

_FUEL = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?")
_OLDEST = {1: (6, 0), 2: (6, 1), 3: (7, 0), 4: (8, 0), 5: (8, 0), 6: (8, 0)}
"""The oldest version of Fuel for each package version. Version 5 runs on 8.0 only with the experimental orchestrator
(the specification "plugins-v5"; Fuel Plugin Builder demands 9.0)."""

_FULLY = (9, 0)
_WITH_RELEASES = (9, 1)

_NEEDED = {
    "release_name": ("release_name", "name"),
    "description": ("description",),
    "operating_system": ("operating_system", "os"),
    "version": ("version",),
}
_GRAPHS = ("default", "provisioning", "deletion", "network_verification")
_DEPLOYMENT = ("deployment_tasks", "deployment_tasks_path")
_KNOWN_IN_EXTENSION = frozenset(
    {"os", "operating_system", "version", "mode", "modes", "is_release", "deployment_scripts_path", "repository_path",
     "graphs", CONF_PATH, *PATHS}
)  # fmt: skip


def check(package: RawPackage) -> Iterator[Finding]:
    """Yield the findings about `fuel_version` and the records of `releases`."""
    stated = (package.metadata or {}).get("fuel_version")
    for value, line in items_of(stated, package.line("fuel_version")) if isinstance(stated, list) else ():
        if isinstance(value, str):  # anything else violates the schema
            yield from _fuel_version(package, value, Place(package.files.manifest, line))
    definitions, extensions = package.definitions, package.extensions
    for record in definitions:
        yield from _definition(package, record)
    if len(definitions) > 1:
        message = f"the package defines {len(definitions)} releases"
        hint = "Give each release a package of its own, which is easier to upgrade."
        yield Finding(Severity.WARNING, "P031", message, definitions[1].place("is_release"), hint=hint)
    if definitions and extensions:
        message = "the package defines a release here and extends another, but it must do only one of the two"
        hint = f"Move one to another package. The record on line {extensions[0].place().line} extends a release."
        yield Finding(Severity.ERROR, "P033", message, definitions[0].place("is_release"), hint=hint)
    if definitions:
        yield from _deprecated(package)
    if package.major >= 5:
        for record in extensions:
            yield from _ignored(record)
            yield from _unsupported(package, record)


def _fuel_version(package: RawPackage, value: str, place: Place) -> Iterator[Finding]:
    match = _FUEL.fullmatch(value)
    if not match:
        message = f"{value[:80]!r} in fuel_version is not a version of Fuel"
        yield Finding(Severity.ERROR, "P005", message, place, hint="Write numbers with a dot: '9.0'.")
        return
    version, oldest = (int(match[1]), int(match[2])), _OLDEST[package.major]
    packages = f"packages of version {package.major}.0.0"
    if version < oldest:
        message = f"{packages} need Fuel {oldest[0]}.{oldest[1]} or later, but fuel_version contains {value}"
        hint = f"Remove {value} from fuel_version, or use an older package_version."
        yield Finding(Severity.ERROR, "P005", message, place, hint=hint)
    elif package.major >= 5 and version < _FULLY:
        message = f"on Fuel {value}, {packages} need the experimental task-based orchestrator"
        hint = f"Enable it there, or remove {value} from fuel_version."
        yield Finding(Severity.WARNING, "P015", message, place, hint=hint)
    elif package.definitions and version < _WITH_RELEASES:
        message = f"releases as plugins need Fuel 9.1 or later, but fuel_version contains {value}"
        yield Finding(Severity.WARNING, "P015", message, place, hint=f"Remove {value} from fuel_version.")


def _unsupported(package: RawPackage, record: Record) -> Iterator[Finding]:
    """Yield a warning about a release of a Fuel that the package version is not for.

    No error: the specification does not support these, and yet its example of several releases names Fuel 7.
    """
    fuel = version_of(str(record.data.get("version"))).fuel
    if _OLDEST[1] <= fuel < _OLDEST[package.major]:
        shown = ".".join(map(str, fuel))
        message = f"packages of version {package.major}.0.0 are not supported on Fuel {shown}, which this release is of"
        hint = "Remove the release, or give it a package with an older package_version."
        yield Finding(Severity.WARNING, "P015", message, record.place("version"), hint=hint)


def _definition(package: RawPackage, record: Record) -> Iterator[Finding]:
    """Yield findings about the fields, the name and the graphs of a release that the package defines."""
    fields = _fields(package, record)
    for field, spellings in _NEEDED.items():
        if field not in fields:
            also = f" (or {', '.join(spellings[1:])})" if spellings[1:] else ""
            message = f"the release lacks {field}{also}"
            yield Finding(Severity.ERROR, "P030", message, record.place(), hint=f"Add {field}: to the record.")
    name = fields.get("release_name")
    if isinstance(name, str) and package.name and name != package.name:
        message = f"the plugin is named {package.name}, but its release {name}"
        place = record.place("release_name", "name")
        yield Finding(Severity.WARNING, "P032", message, place, hint="Give both the same name.")
    types: set[str] = set()
    for holder in (record.data, *(base for base, _ in all_bases_of(package.files, record.data))):
        listed = holder.get("graphs")
        graphs = (graph for graph in (listed if isinstance(listed, list) else []) if isinstance(graph, Mapping))
        types |= {str(graph.get("type")) for graph in graphs}
        types |= {"default"} if any(key in holder for key in _DEPLOYMENT) else set()
    missing = [graph_type for graph_type in _GRAPHS if graph_type not in types]
    if missing:
        message = f"the release lacks the graph{'s' * (len(missing) > 1)} {', '.join(missing)}"
        hint = f"Add - {{type: {missing[0]}, tasks_path: ...}} to its graphs, unless it is not needed."
        yield Finding(Severity.WARNING, "P036", message, record.place("graphs"), hint=hint)


def _fields(package: RawPackage, record: Record) -> Mapping[str, Any]:
    """Return the fields of the record, including those it inherits from its base, and from the base of that."""
    bases = [base for base, _ in all_bases_of(package.files, record.data)]
    fields: dict[str, Any] = {}
    for stated in (*reversed(bases), record.data):
        for field, spellings in _NEEDED.items():
            value = next((stated[key] for key in spellings if stated.get(key)), None)
            if value is not None:
                fields[field] = value
    return fields


def _deprecated(package: RawPackage) -> Iterator[Finding]:
    """Yield findings about keys and files that packages which define releases no longer need."""
    metadata, manifest = package.metadata or {}, package.files.manifest
    if "is_hotpluggable" in metadata:
        message = "is_hotpluggable is ignored in a package that defines a release"
        place = Place(manifest, package.line("is_hotpluggable"))
        yield Finding(Severity.INFO, "P034", message, place, hint="Remove it.")
    if "fuel_version" in metadata:
        message = "fuel_version is deprecated in packages that define a release"
        place = Place(manifest, package.line("fuel_version"))
        yield Finding(Severity.WARNING, "P035", message, place, hint="Remove it: the release states its version.")
    for record in package.definitions:
        for holder, file in ((record.data, manifest), *all_bases_of(package.files, record.data)):
            for key in ("mode", "modes"):
                if key in holder:
                    message, place = f"{key} is deprecated for releases", package.files.place(holder, key, file=file)
                    yield Finding(Severity.WARNING, "P035", message, place, hint="Remove it.")
    for data in package.of("tasks"):
        if any(document.data for document in data.documents):
            message = "tasks.yaml is not supported in packages that define a release"
            hint = "Move its tasks to a graph of the release."
            yield Finding(Severity.WARNING, "P035", message, Place(data.place.file, 1), hint=hint)


def _ignored(record: Record) -> Iterator[Finding]:
    unknown = [str(key) for key in record.data if key not in _KNOWN_IN_EXTENSION]
    if unknown:
        keys, are, them = ("key", "is", "it") if len(unknown) == 1 else ("keys", "are", "them")
        message = f"the {keys} {', '.join(unknown)} {are} ignored for a release that the plugin extends"
        hint = f"Remove {them}, or add is_release: true if the package should define the release."
        yield Finding(Severity.INFO, "P038", message, record.place(unknown[0]), hint=hint)
