"""P002, P003, P006: the package version, the files it requires, and their shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.raw_package import FIXED, DataSet, RawPackage, Record
from fuelclient.plugins.schema import Written, violations, violations_of_whole

_KNOWN_VERSIONS = re.compile(r"[1-6]\.0\.[0-9]{1,9}")
_MAY_BE_EMPTY = {"environment_config": 1, "tasks": 4}
"""Files that may be empty, and the first package version that allows it."""


def check(package: RawPackage) -> Iterator[Finding]:
    """Yield the findings about the files as such.

    A missing file (P006) is an error because Fuel Plugin Builder refuses to build such a package, although it could be
    used.
    """
    if package.metadata is None:
        return
    stated = package.metadata.get("package_version")
    if isinstance(stated, str) and not _KNOWN_VERSIONS.fullmatch(stated):
        place = Place(package.files.manifest, package.line("package_version"))
        hint = "Known are 1.0.0, 2.0.0, 3.0.0, 4.0.0, 5.0.0 and 6.0.0."
        yield Finding(Severity.ERROR, "P002", f"package version {stated[:80]!r} is unknown", place, hint=hint)
    yield from _missing_or_empty(package)
    manifest = Document(package.metadata, package.files.manifest)
    yield from violations("metadata", package.major, manifest, name="metadata.yaml")
    yield from _graph_types(package)
    for data in package.sets:
        if not data.is_base:  # a base is checked as a whole, with what is merged into it
            yield from _violations(package, data)
    for task in package.tasks():
        # Up to version 4, the schema demands a type. Since version 5, a record without one is an override.
        if package.major >= 5 and "type" not in task.data:
            message = f"task {task.name} has no type, so it only overrides the release's task with this id"
            hint = "Add its type if it is a task of its own."
            yield Finding(Severity.WARNING, "P003", message, task.place(), task.name, hint)


def _violations(package: RawPackage, data: DataSet) -> Iterator[Finding]:
    """Yield what the schemas forbid in a data set, merged over its bases if it has any."""
    if data.type == "tasks" and package.major >= 5:
        return  # it is ignored, whatever it contains (P014)
    # Roles may list their volumes themselves; then volumes.yaml need not map them.
    roles_have_volumes = any(isinstance(role, Mapping) and "volumes_mapping" in role for _, role, *_ in package.roles())
    unmapped = data.type == "volumes" and (roles_have_volumes or data.of_release)
    file_type = "listed_volumes" if unmapped else data.type
    major = max(package.major, 6) if data.of_release else package.major
    written = [
        Written(document, _relative(package, document.file), part.path)
        for part in (data, *data.bases)
        for document in reversed(part.documents)
    ]
    if data.bases:
        yield from violations_of_whole(file_type, major, data.whole(), written)
        return
    for origin in written:
        yield from violations(file_type, major, origin.document, name=origin.name, path=origin.path)


def _missing_or_empty(package: RawPackage) -> Iterator[Finding]:
    """Yield an error for each required file that is missing or empty. A package that defines releases needs none."""
    present = {data.type for data in package.sets}
    if not package.definitions:
        unreadable = {finding.place.file for finding in package.files.findings}
        for file_type in _required(package.major):
            name = f"{file_type}.yaml"
            if file_type not in present and package.files.shown(name) not in unreadable:
                message = f"{name} is missing, but packages of version {package.major}.0.0 must have it"
                hint = f"Create it{', even if it is empty' if file_type in _MAY_BE_EMPTY else ''}."
                yield Finding(Severity.ERROR, "P006", message, Place(package.files.shown(name)), hint=hint)
    for data in package.sets:
        allowed = _MAY_BE_EMPTY.get(data.type, 99) <= package.major
        for document in data.documents:
            if document.data is None and data.type in FIXED and not data.of_release and not allowed:
                message = f"{_relative(package, document.file)} is empty"
                hint = "Write [] for none." if data.type == "deployment_tasks" else "Fill it, or remove it."
                yield Finding(Severity.ERROR, "P006", message, Place(document.file, 1), hint=hint)


def _required(major: int) -> tuple[str, ...]:
    if major <= 2:
        return ("environment_config", "tasks")
    return ("environment_config", "deployment_tasks") if major <= 5 else ()


def _graph_types(package: RawPackage) -> Iterator[Finding]:
    """Yield an error for a graph that is listed twice in one place."""
    holders = [Record(package.metadata or {}, package.files.manifest, 1, ""), *package.releases]
    for holder in holders:
        listed = holder.data.get("graphs")
        seen: set[str] = set()
        for graph in listed if isinstance(listed, list) else []:
            graph_type = graph.get("type") if isinstance(graph, Mapping) else None
            if isinstance(graph_type, str) and graph_type in seen:
                place = Place(holder.file, getattr(graph, "line", 0) or holder.line)
                message = f"the graph {graph_type} is listed twice"
                yield Finding(Severity.ERROR, "P003", message, place, hint="Keep one of the two.")
            seen.add(str(graph_type))


def _relative(package: RawPackage, file: str) -> str:
    return file.removeprefix(package.files.shown("x").removesuffix("x"))
