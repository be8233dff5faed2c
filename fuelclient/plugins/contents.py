"""The data files of a package, for all releases or for one of them: which file each part comes from, and what it
holds in the shapes that Nailgun has.

Source: the specification "plugins-v5", its multi-release packages: a release record names files itself
(`deployment_tasks_path`), or a directory of them (`conf_path`); what neither has comes from the root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.model.document import Document, Marked, MarkedList
from fuelclient.model.finding import NO_PLACE, Finding, Place, Severity
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.package import Contents
from fuelclient.model.task import Task
from fuelclient.plugins import constraints
from fuelclient.plugins.graphs import graphs_of, groups_of, own_graph
from fuelclient.plugins.paths import CONF_PATH as CONF_PATH  # one of the names of what a record states
from fuelclient.plugins.paths import SUFFIX, PackageFiles, without
from fuelclient.plugins.roles import normal_roles, normal_volumes, tagged
from fuelclient.serializers.values import items_of, key_text, kind, line_of, plain

PARTS: Mapping[str, int] = {
    "tasks": 1,
    "environment_config": 1,
    "deployment_tasks": 3,
    "node_roles": 3,
    "volumes": 3,
    "network_roles": 3,
    "components": 4,
    "node_tags": 6,
}
"""The parts of a package, each a file `<part>.yaml`, and the package version from which on it is read."""

PATHS = tuple(f"{part}{SUFFIX}" for part in PARTS)
"""What a release record says to name the file of a part."""

GROUPS_SINCE = 5
"""The package version from which on the `tasks` of a role are a group, and `tasks.yaml` counts no more."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The documents of one part, the file or pattern that they were found by, and the place that names it."""

    documents: tuple[Document, ...] = ()
    name: str = ""
    place: Place = NO_PLACE

    @property
    def file(self) -> str:
        return self.documents[0].file if self.documents else ""


_ABSENT = _Part()


def major_of(metadata: Mapping[str, Any]) -> int:
    """The package version, without what follows its first dot."""
    return int(str(metadata["package_version"]).partition(".")[0])


def has_own(record: Mapping[str, Any]) -> bool:
    """Whether a release record names files or graphs of its own."""
    return any(key in record for key in (*PATHS, CONF_PATH, "graphs"))


def contents_of(files: PackageFiles, metadata: Mapping[str, Any], record: Mapping[str, Any] | None = None) -> Contents:
    """What the files of the package hold, those that `record` means in the first place.

    Everything that is wrong with them is among the findings of `files`, and left out.
    """
    version, owner = major_of(metadata), str(metadata.get("name"))
    parts = {part: _part(files, part, version, record or {}) for part in PARTS}
    described = _described(files, parts, version)
    legacy, tasks = parts["tasks"].documents, parts["deployment_tasks"].documents
    graphs = {DEFAULT_TYPE: own_graph(files, owner, legacy, described.groups, tasks, with_primary=version == 1)}
    graphs.update(graphs_of(files, metadata, owner))
    if record is not None:
        graphs.update(graphs_of(files, record, owner))
    return Contents(
        graphs=graphs,
        roles=_kept(described.roles),
        tags=_kept(described.tags),
        volumes=_kept(described.volumes),
        network_roles=_records(files, parts["network_roles"], "network_roles", "network role"),
        components=_records(files, parts["components"], "components", "component"),
        attributes=_kept(_attributes(files, parts["environment_config"])),
        files={f"{part}.yaml": found.name for part, found in parts.items() if found.documents},
    )


@dataclass(frozen=True, slots=True)
class _Described:
    """What a package says of its roles; `groups` are the tasks that stand for the `tasks` of roles."""

    roles: Mapping[str, Any]
    tags: Mapping[str, Any]
    volumes: Mapping[str, Any]
    groups: tuple[Task, ...]


def _described(files: PackageFiles, parts: Mapping[str, _Part], version: int) -> _Described:
    roles: dict[str, Marked] = {}
    own: dict[str, Any] = {}
    groups: dict[str, Task] = {}
    for document in parts["node_roles"].documents:
        stated = _mapping(files, _Part((document,)), "node_roles")
        found, volumes = normal_roles(files, stated, document.file)
        _check_roles(files, found, document.file, version)
        if version >= GROUPS_SINCE:
            groups.update((group.id, group) for group in groups_of(files, found, document.file))
            found = {name: without(role, "tasks") for name, role in found.items()}
        roles.update(found)
        own.update(volumes)
    part = parts["volumes"]
    all_volumes = normal_volumes(files, _mapping(files, part, "volumes"), own, part.file)
    _check_records(files, all_volumes.get("volumes", []), part.file, "volume", constrainable=False)
    tags = _mapping(files, parts["node_tags"], "node_tags") if parts["node_tags"].documents else None
    return _Described(*tagged(roles, tags), all_volumes, tuple(groups.values()))


def _check_roles(files: PackageFiles, roles: Mapping[str, Mapping[str, Any]], file: str, version: int) -> None:
    """Note what roles state that cannot be read, or is not read in packages of this version."""
    for name, role in roles.items():
        files.note(constraints.check(role, f"role {name}", _places(files, role, file)))
        if role.get("tasks") and version < GROUPS_SINCE:
            message = f"tasks of the role {name} mean nothing in packages of version {version}"
            place = files.place(role, "tasks", file=file)
            hint = "Define a group in deployment_tasks.yaml, or raise package_version to 5.0.0."
            files.note([Finding(Severity.WARNING, "P039", message, place, hint=hint)])


def _attributes(files: PackageFiles, part: _Part) -> Mapping[str, Any]:
    """The settings that `environment_config.yaml` has under `attributes`."""
    stated = _mapping(files, part, "environment_config")
    attributes = stated.get("attributes")
    if attributes is None or isinstance(attributes, Mapping):
        return attributes or {}
    message = f"attributes is {kind(attributes)}, not a mapping"
    place = files.place(stated, "attributes", file=part.file)
    files.reject("P003", message, place, "Write the settings below it, indented.")
    return {}


def _part(files: PackageFiles, part: str, version: int, record: Mapping[str, Any]) -> _Part:
    """The part as `record` has it, or else the package; nothing where the package is too old or too new for it."""
    found = _found(files, part, record)
    if not any(document.data for document in found.documents):
        return found
    place = Place(found.file, 1)
    if version < PARTS[part]:
        message = f"{part}.yaml is not read in packages of version {version}, but from version {PARTS[part]} on"
        hint = f"Raise package_version to {PARTS[part]}.0.0, or remove the file."
        files.note([Finding(Severity.WARNING, "P039", message, place, hint=hint)])
        return _ABSENT
    if part == "tasks" and version >= GROUPS_SINCE:
        message = "tasks.yaml is ignored in packages of version 5 and later"
        hint = "Move its tasks to deployment_tasks.yaml."
        files.note([Finding(Severity.INFO, "P014", message, place, hint=hint)])
        return _ABSENT
    return found


def _found(files: PackageFiles, part: str, record: Mapping[str, Any]) -> _Part:
    key, name = f"{part}{SUFFIX}", f"{part}.yaml"
    if key in record:
        stated, place = record[key], files.place(record, key)
        if isinstance(stated, str):
            return _Part(tuple(files.documents(stated, place)), stated, place)
        files.reject("P003", f"{key} is {kind(stated)}, not a text", place, "Name a file of the package.")
    if CONF_PATH in record:
        directory = files.directory_at(record, CONF_PATH)
        document = files.fixed(f"{directory.rstrip('/')}/{name}") if directory else None
        if document is not None:
            return _Part((document,), f"{directory.rstrip('/')}/{name}", files.place(record, CONF_PATH))
    document = files.own(name)
    return _Part((document,), name, Place(document.file)) if document is not None else _ABSENT


def _mapping(files: PackageFiles, part: _Part, name: str) -> Mapping[str, Any]:
    """The mapping that the documents of a part make up; empty where there is none, or after noting what is wrong."""
    full = [document for document in part.documents if document.data is not None]
    if not full:
        return {}
    data = full[0].data if len(full) == 1 else files.merged(full, part.name, part.place)
    if isinstance(data, Mapping):
        return data
    if len(full) == 1 or data is not None:
        place = Place(part.file, 1)
        files.reject("P003", f"{name}.yaml is {kind(data)}, not a mapping", place, "Write it as name: ...")
    return {}


def _records(files: PackageFiles, part: _Part, name: str, noun: str) -> tuple[Any, ...]:
    """The records that the documents of a part list, one after another."""
    found: list[Any] = []
    for document in part.documents:
        if document.data is None:
            continue
        if not isinstance(document.data, list):
            message = f"{name}.yaml is {kind(document.data)}, not a list"
            files.reject("P003", message, Place(document.file, 1), "Write it as - id: ...")
            continue
        _check_records(files, document.data, document.file, noun, constrainable=noun == "network role")
        found += document.data
    return tuple(_kept(record) for record in found)


def _check_records(files: PackageFiles, records: Sequence[Any], file: str, noun: str, *, constrainable: bool) -> None:
    """Note ids that are taken already, unless version constraints keep the records apart, and what else is wrong."""
    seen: dict[str, int] = {}
    for record, line in items_of(records):
        if not isinstance(record, Mapping):
            files.reject("P003", f"a {noun} is {kind(record)}, not a mapping", Place(file, line), "Give it an id.")
            continue
        name = record.get("id", record.get("name"))
        if constrainable:
            files.note(constraints.check(record, f"{noun} {name}", _places(files, record, file)))
            if constraints.is_constrained(record):
                continue
        if isinstance(name, str) and name in seen:
            message = f"the {noun} {name} is defined twice, first on line {seen[name]}"
            files.reject("P060", message, files.place(record, file=file), "Keep one of the two.")
        elif isinstance(name, str):
            seen[name] = line_of(record) or line


def _places(files: PackageFiles, data: Mapping[str, Any], file: str) -> Any:
    return lambda key: files.place(data, key, file=file)


def _kept(value: Any) -> Any:
    """`value` in the types that JSON has, with the lines that it remembers."""
    if isinstance(value, Mapping):
        pairs = {key_text(key): _kept(item) for key, item in value.items()}
        return Marked(pairs, value.line, value.lines) if isinstance(value, Marked) else pairs
    if isinstance(value, list):
        items = [_kept(item) for item in value]
        return MarkedList(items, value.lines) if isinstance(value, MarkedList) else items
    return plain(value)
