"""P005, P015, P030 to P038: what metadata.yaml states about versions of Fuel, and about releases.

Source: the specification "release-as-a-plugin".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.constraints import version_of
from fuelclient.plugins.contents import PATHS
from fuelclient.plugins.package_files import CONF_PATH
from fuelclient.plugins.parts import Record
from fuelclient.plugins.reading import Reading
from fuelclient.plugins.releases import Definition, is_definition
from fuelclient.serializers.values import items_of

_FUEL = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?")
_OLDEST = {1: (6, 0), 2: (6, 1), 3: (7, 0), 4: (8, 0), 5: (8, 0), 6: (8, 0)}
"""The oldest version of Fuel for each package version. Version 5 runs on 8.0 only with the experimental orchestrator
(the specification "plugins-v5"; Fuel Plugin Builder demands 9.0)."""

_FULLY = (9, 0)
_WITH_RELEASES = (9, 1)

_GRAPHS = ("default", "provisioning", "deletion", "network_verification")
_KNOWN_IN_EXTENSION = frozenset(
    {"os", "operating_system", "version", "mode", "modes", "is_release", "deployment_scripts_path", "repository_path",
     "graphs", CONF_PATH, *PATHS}
)  # fmt: skip

_NOT_WITH_RELEASES = (
    ("is_hotpluggable", Severity.INFO, "P034", "is ignored in a package that defines a release", "Remove it."),
    (
        "fuel_version", Severity.WARNING, "P035", "is deprecated in packages that define a release",
        "Remove it: the release states its version.",
    ),
)  # fmt: skip


def check(package: Reading) -> Iterator[Finding]:
    """Yield the findings about `fuel_version` and the records of `releases`."""
    stated = (package.metadata or {}).get("fuel_version")
    for value, line in items_of(stated, package.place("fuel_version").line) if isinstance(stated, list) else ():
        if isinstance(value, str):  # anything else violates the schema
            yield from _fuel_version(package, value, Place(package.files.manifest, line))
    definitions = [record for record in package.releases if is_definition(record.data)]
    extensions = package.extensions
    for record, definition in zip(definitions, package.definitions, strict=True):
        yield from _definition(package, record, definition)
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


def _fuel_version(package: Reading, value: str, place: Place) -> Iterator[Finding]:
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


def _unsupported(package: Reading, record: Record) -> Iterator[Finding]:
    """Yield a warning about a release of a Fuel that the package version is not for.

    No error: the specification does not support these, and yet its example of several releases names Fuel 7.
    """
    fuel = version_of(str(record.data.get("version"))).fuel
    if _OLDEST[1] <= fuel < _OLDEST[package.major]:
        shown = ".".join(map(str, fuel))
        message = f"packages of version {package.major}.0.0 are not supported on Fuel {shown}, which this release is of"
        hint = "Remove the release, or give it a package with an older package_version."
        yield Finding(Severity.WARNING, "P015", message, record.place("version"), hint=hint)


def _definition(package: Reading, record: Record, definition: Definition) -> Iterator[Finding]:
    """Yield findings about the name, the graphs and the modes of a release that the package defines."""
    name = definition.fields.get("name")
    if name and isinstance(name, str) and package.name and name != package.name:
        message = f"the plugin is named {package.name}, but its release {name}"
        place = record.place("release_name", "name")
        yield Finding(Severity.WARNING, "P032", message, place, hint="Give both the same name.")
    missing = [graph_type for graph_type in _GRAPHS if graph_type not in definition.graphs]
    if missing:
        message = f"the release lacks the graph{'s' * (len(missing) > 1)} {', '.join(missing)}"
        hint = f"Add - {{type: {missing[0]}, tasks_path: ...}} to its graphs, unless it is not needed."
        yield Finding(Severity.WARNING, "P036", message, record.place("graphs"), hint=hint)
    for holder, file in definition.holders:
        for key in ("mode", "modes"):
            if key in holder:
                place = package.files.place(holder, key, file=file)
                yield Finding(Severity.WARNING, "P035", f"{key} is deprecated for releases", place, hint="Remove it.")


def _deprecated(package: Reading) -> Iterator[Finding]:
    """Yield findings about keys and files that packages which define releases no longer need."""
    for key, severity, code, problem, hint in _NOT_WITH_RELEASES:
        if key in (package.metadata or {}):
            yield Finding(severity, code, f"{key} {problem}", package.place(key), hint=hint)
    for part in package.of("tasks"):
        if any(document.data for document in part.documents):
            message = "tasks.yaml is not supported in packages that define a release"
            hint = "Move its tasks to a graph of the release."
            yield Finding(Severity.WARNING, "P035", message, Place(part.place.file, 1), hint=hint)


def _ignored(record: Record) -> Iterator[Finding]:
    unknown = [str(key) for key in record.data if key not in _KNOWN_IN_EXTENSION]
    if unknown:
        keys, are, them = ("key", "is", "it") if len(unknown) == 1 else ("keys", "are", "them")
        message = f"the {keys} {', '.join(unknown)} {are} ignored for a release that the plugin extends"
        hint = f"Remove {them}, or add is_release: true if the package should define the release."
        yield Finding(Severity.INFO, "P038", message, record.place(unknown[0]), hint=hint)
