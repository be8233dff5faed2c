"""P030 to P038: the releases that a package defines, and those that it extends.

Source: the specification "release-as-a-plugin".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.sources import bases_of
from fuelclient.plugins.checks.subject import Record, Subject
from fuelclient.plugins.contents import CONF_PATH, PATHS

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


def check(subject: Subject) -> Iterator[Finding]:
    """The findings about the records of `releases`."""
    definitions, extensions = subject.definitions, subject.extensions
    for record in definitions:
        fields = _fields(subject, record)
        yield from _lacking(record, fields)
        yield from _name(subject, record, fields)
        yield from _graphs(subject, record)
    if len(definitions) > 1:
        message = f"the package defines {len(definitions)} releases"
        hint = "Give each release a package of its own: it is easier to upgrade."
        yield Finding(Severity.WARNING, "P031", message, definitions[1].place("is_release"), hint=hint)
    if definitions and extensions:
        message = "the package defines a release here and extends another: it has to be one or the other"
        other = extensions[0].place()
        hint = f"Move one of them to another package; line {other.line} begins the record that extends a release."
        yield Finding(Severity.ERROR, "P033", message, definitions[0].place("is_release"), hint=hint)
    if definitions:
        yield from _deprecated(subject)
    if subject.major >= 5:
        for record in extensions:
            yield from _ignored(record)


def _fields(subject: Subject, record: Record) -> Mapping[str, Any]:
    """What the record states, over what it inherits from its base, and that from its own."""
    bases = [data for data, _ in _bases(subject, record.data)]
    fields: dict[str, Any] = {}
    for stated in (*reversed(bases), record.data):
        for field, spellings in _NEEDED.items():
            value = next((stated[key] for key in spellings if stated.get(key)), None)
            if value is not None:
                fields[field] = value
    return fields


def _lacking(record: Record, fields: Mapping[str, Any]) -> Iterator[Finding]:
    for field, spellings in _NEEDED.items():
        if field not in fields:
            either = " (or " + ", ".join(spellings[1:]) + ")" if spellings[1:] else ""
            message = f"a release has to have {field}{either}, and this one lacks it"
            yield Finding(Severity.ERROR, "P030", message, record.place(), hint=f"Add {field}: to the record.")


def _name(subject: Subject, record: Record, fields: Mapping[str, Any]) -> Iterator[Finding]:
    stated = fields.get("release_name")
    if isinstance(stated, str) and subject.name and stated != subject.name:
        message = f"the plugin is named {subject.name}, its release {stated}"
        yield Finding(
            Severity.WARNING, "P032", message, record.place("release_name", "name"), hint="Give both one name."
        )


def _graphs(subject: Subject, record: Record) -> Iterator[Finding]:
    types: set[str] = set()
    for holder in (record.data, *(data for data, _ in _bases(subject, record.data))):
        listed = holder.get("graphs")
        types |= {
            str(graph.get("type"))
            for graph in (listed if isinstance(listed, list) else [])
            if isinstance(graph, Mapping)
        }
        types |= {"default"} if any(key in holder for key in _DEPLOYMENT) else set()
    missing = [kind for kind in _GRAPHS if kind not in types]
    if missing:
        message = f"the release has no graph of the type{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
        hint = f"Add - {{type: {missing[0]}, tasks_path: ...}} to its graphs, unless it is meant to lack it."
        yield Finding(Severity.WARNING, "P036", message, record.place("graphs"), hint=hint)


def _deprecated(subject: Subject) -> Iterator[Finding]:
    """What packages that define releases need not say any more."""
    metadata, manifest = subject.metadata or {}, subject.files.manifest
    if "is_hotpluggable" in metadata:
        message = "is_hotpluggable means nothing in a package that defines a release"
        place = Place(manifest, subject.line("is_hotpluggable"))
        yield Finding(Severity.INFO, "P034", message, place, hint="Remove it.")
    if "fuel_version" in metadata:
        message = "fuel_version is deprecated in packages that define a release"
        place = Place(manifest, subject.line("fuel_version"))
        yield Finding(Severity.WARNING, "P035", message, place, hint="Remove it: the release states its version.")
    for record in subject.definitions:
        for holder, file in ((record.data, manifest), *_bases(subject, record.data)):
            for key in ("mode", "modes"):
                if key in holder:
                    message, place = f"{key} is deprecated for releases", subject.files.place(holder, key, file=file)
                    yield Finding(Severity.WARNING, "P035", message, place, hint="Remove it.")
    for data in subject.of("tasks"):
        if any(document.data for document in data.documents):
            message = "tasks.yaml is not supported in packages that define a release"
            hint = "Move its tasks to a graph of the release."
            yield Finding(Severity.WARNING, "P035", message, Place(data.place.file, 1), hint=hint)


def _bases(subject: Subject, record: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """What a record of a release, and what that itself, names as its base, with the file of it; each file once."""
    waiting, seen = [record], set[str]()
    while waiting:
        for base in bases_of(subject.files, waiting.pop()):
            if isinstance(base.data, Mapping) and base.file not in seen:
                seen.add(base.file)
                waiting.append(base.data)
                yield base.data, base.file


def _ignored(record: Record) -> Iterator[Finding]:
    unknown = [str(key) for key in record.data if key not in _KNOWN_IN_EXTENSION]
    if unknown:
        message = f"{', '.join(unknown)} of a release that the plugin extends mean nothing"
        hint = "Remove them, or say is_release: true if the package is to define the release."
        yield Finding(Severity.INFO, "P038", message, record.place(unknown[0]), hint=hint)
