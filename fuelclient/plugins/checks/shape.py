"""P002, P003, P006: the package version, the files that it demands, and their shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.sources import FIXED, DataSet
from fuelclient.plugins.checks.subject import KNOWN_VERSIONS, Record, Subject
from fuelclient.plugins.schema import violations

_MAY_BE_EMPTY = {"environment_config": 1, "tasks": 4}
"""Files that may hold nothing, and the package version from which on that is so."""


def check(subject: Subject) -> Iterator[Finding]:
    """The findings about the files as such. A file that is demanded and missing (P006) does not keep a package from
    being used; it is an error because Fuel Plugin Builder refuses to build it."""
    if subject.metadata is None:
        return
    yield from _package_version(subject)
    yield from _demanded(subject)
    manifest = Document(subject.metadata, subject.files.manifest)
    yield from violations("metadata", subject.major, manifest, name="metadata.yaml")
    yield from _graph_types(subject)
    own_mapping = any(_states_volumes(data) for data in subject.of("node_roles"))
    for data in subject.sets:
        kind = "listed_volumes" if data.kind == "volumes" and (own_mapping or data.of_release) else data.kind
        if kind == "tasks" and subject.major >= 5:
            continue  # it is ignored, whatever it holds (P014)
        major = max(subject.major, 6) if data.of_release else subject.major
        for document in data.documents:
            name = _relative(subject, document.file)
            yield from violations(kind, major, document, name=name, path=data.path)
    for task in subject.tasks():
        yield from _without_type(subject, task)


def _package_version(subject: Subject) -> Iterator[Finding]:
    stated = (subject.metadata or {}).get("package_version")
    if isinstance(stated, str) and not KNOWN_VERSIONS.fullmatch(stated):
        place = Place(subject.files.manifest, subject.line("package_version"))
        hint = "Known are 1.0.0, 2.0.0, 3.0.0, 4.0.0, 5.0.0 and 6.0.0."
        yield Finding(Severity.ERROR, "P002", f"package version {stated[:80]!r} is unknown", place, hint=hint)


def _demanded(subject: Subject) -> Iterator[Finding]:
    """The files that are missing or hold nothing. A package that defines releases needs none of them."""
    present = {data.kind for data in subject.sets}
    if not subject.definitions:
        for kind in _required(subject.major):
            name = f"{kind}.yaml"
            readable = subject.files.shown(name) not in {one.place.file for one in subject.files.findings}
            if kind not in present and readable:
                message = f"{name} is missing, and packages of version {subject.major}.0.0 have one"
                hint = f"Create it{', even if it holds nothing' if kind in _MAY_BE_EMPTY else ''}."
                yield Finding(Severity.ERROR, "P006", message, Place(subject.files.shown(name)), hint=hint)
    for data in subject.sets:
        allowed = _MAY_BE_EMPTY.get(data.kind, 99) <= subject.major
        for document in data.documents:
            if document.data is None and data.kind in FIXED and not data.of_release and not allowed:
                message = f"{_relative(subject, document.file)} is empty"
                hint = "Write [] for none." if data.kind == "deployment_tasks" else "Fill it, or remove it."
                yield Finding(Severity.ERROR, "P006", message, Place(document.file, 1), hint=hint)


def _required(major: int) -> tuple[str, ...]:
    if major <= 2:
        return ("environment_config", "tasks")
    return ("environment_config", "deployment_tasks") if major <= 5 else ()


def _states_volumes(data: DataSet) -> bool:
    """Whether roles state their volumes themselves, so that `volumes.yaml` need not."""
    return any(
        isinstance(role, Mapping) and "volumes_mapping" in role
        for document in data.documents
        if isinstance(document.data, Mapping)
        for role in document.data.values()
    )


def _graph_types(subject: Subject) -> Iterator[Finding]:
    """P003 for a graph that is listed twice in one place."""
    holders = [Record(subject.metadata or {}, subject.files.manifest, 1, ""), *subject.releases]
    for holder in holders:
        listed = holder.data.get("graphs")
        seen: set[str] = set()
        for graph in listed if isinstance(listed, list) else []:
            kind = graph.get("type") if isinstance(graph, Mapping) else None
            if isinstance(kind, str) and kind in seen:
                place = Place(holder.file, getattr(graph, "line", 0) or holder.line)
                message = f"the graph {kind} is listed twice"
                yield Finding(Severity.ERROR, "P003", message, place, hint="Keep one of the two.")
            seen.add(str(kind))


def _without_type(subject: Subject, task: Record) -> Iterator[Finding]:
    """P003 as a warning: from version 5 on a record without type is taken for what it may be, an override."""
    if subject.major >= 5 and not task.data.get("type") and "type" not in task.data:
        message = f"task {task.name} has no type, so it only overrides the task of this id in the release"
        yield Finding(
            Severity.WARNING, "P003", message, task.place(), task.name, "State its type if it is a task of its own."
        )


def _relative(subject: Subject, file: str) -> str:
    return file.removeprefix(subject.files.shown("x").removesuffix("x"))
