"""Read the data files of a package, for all releases or for one, into the shapes that Nailgun uses.

Source: the specification "plugins-v5", multi-release packages. A release record names files (`deployment_tasks_path`)
or a directory of files (`conf_path`). Everything else comes from the root of the package.
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
from fuelclient.plugins.package_files import CONF_PATH, SUFFIX, PackageFiles, without
from fuelclient.plugins.roles import normal_roles, normal_volumes, tagged
from fuelclient.serializers.values import in_words, items_of, key_text, line_of, plain

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
"""The parts of a package, each a file `<part>.yaml`, and the first package version that has it."""

PATHS = tuple(f"{part}{SUFFIX}" for part in PARTS)
"""The keys by which a release record names the files of parts."""

_GROUPS_SINCE = 5
"""The first package version in which the `tasks` of a role are a group, and `tasks.yaml` is ignored."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The documents of one part, the file or pattern that matched them, and the place that names it."""

    documents: tuple[Document, ...] = ()
    name: str = ""
    place: Place = NO_PLACE

    @property
    def file(self) -> str:
        return self.documents[0].file if self.documents else ""


_ABSENT = _Part()


def major_of(metadata: Mapping[str, Any]) -> int:
    """Return the first number of the package version."""
    return int(str(metadata["package_version"]).partition(".")[0])


def has_own(record: Mapping[str, Any]) -> bool:
    """Return whether a release record names files or graphs of its own."""
    return any(key in record for key in (*PATHS, CONF_PATH, "graphs"))


def contents_of(files: PackageFiles, metadata: Mapping[str, Any], record: Mapping[str, Any] | None = None) -> Contents:
    """Return the content of the package's data files, preferring those that `record` names.

    What is wrong with them is added to the findings of `files`, and left out of the result.
    """
    version, owner = major_of(metadata), str(metadata.get("name"))
    parts = {part: _part(files, part, version, record or {}) for part in PARTS}
    roles, tags, volumes, groups = _read_roles(files, parts, version)
    legacy, tasks = parts["tasks"].documents, parts["deployment_tasks"].documents
    graphs = {DEFAULT_TYPE: own_graph(files, owner, legacy, groups, tasks, with_primary=version == 1)}
    graphs.update(graphs_of(files, metadata, owner))
    if record is not None:
        graphs.update(graphs_of(files, record, owner))
    return Contents(
        graphs=graphs,
        roles=_json_types(roles),
        tags=_json_types(tags),
        volumes=_json_types(volumes),
        network_roles=_records(files, parts["network_roles"], "network_roles", "network role"),
        components=_records(files, parts["components"], "components", "component"),
        attributes=_json_types(_attributes(files, parts["environment_config"])),
        files={f"{name}.yaml": part.name for name, part in parts.items() if part.documents},
    )


def _read_roles(
    files: PackageFiles, parts: Mapping[str, _Part], version: int
) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any], list[Task]]:
    """Return the roles, tags and volumes of a package, and the group tasks made from the `tasks` of roles."""
    all_roles: dict[str, Marked] = {}
    own_volumes: dict[str, Any] = {}
    groups: dict[str, Task] = {}
    tags = _mapping(files, parts["node_tags"], "node_tags") if parts["node_tags"].documents else None
    for document in parts["node_roles"].documents:
        stated = _mapping(files, _Part((document,)), "node_roles")
        roles, volumes = normal_roles(files, stated, document.file)
        _check_roles(files, roles, document.file, version)
        if version >= _GROUPS_SINCE:
            groups.update((group.id, group) for group in groups_of(files, roles, document.file, tags))
            roles = {name: without(role, "tasks") for name, role in roles.items()}
        all_roles.update(roles)
        own_volumes.update(volumes)
    part = parts["volumes"]
    all_volumes = normal_volumes(files, _mapping(files, part, "volumes"), own_volumes, part.file)
    _check_records(files, all_volumes.get("volumes", []), part.file, "volume")
    return *tagged(all_roles, tags), all_volumes, list(groups.values())


def _check_roles(files: PackageFiles, roles: Mapping[str, Mapping[str, Any]], file: str, version: int) -> None:
    """Add findings about what roles state that cannot be read, or is not read in packages of this version."""
    for name, role in roles.items():
        files.note(constraints.check(role, f"role {name}", _places(files, role, file)))
        if role.get("tasks") and version < _GROUPS_SINCE:
            message = f"tasks of the role {name} are ignored in packages of version {version}"
            place = files.place(role, "tasks", file=file)
            hint = "Define a group in deployment_tasks.yaml, or raise package_version to 5.0.0."
            files.note([Finding(Severity.WARNING, "P039", message, place, hint=hint)])


def _attributes(files: PackageFiles, part: _Part) -> Mapping[str, Any]:
    """Return the settings under `attributes` of `environment_config.yaml`."""
    stated = _mapping(files, part, "environment_config")
    attributes = stated.get("attributes")
    if attributes is None or isinstance(attributes, Mapping):
        return attributes or {}
    message = f"attributes is {in_words(attributes)}, not a mapping"
    place = files.place(stated, "attributes", file=part.file)
    files.reject("P003", message, place, "Write the settings indented below it.")
    return {}


def _part(files: PackageFiles, part: str, version: int, record: Mapping[str, Any]) -> _Part:
    """Return a part from `record` or else from the root; nothing if this package version does not read it."""
    candidate = _located(files, part, record)
    if not any(document.data for document in candidate.documents):
        return candidate
    place = Place(candidate.file, 1)
    if version < PARTS[part]:
        message = f"{part}.yaml is ignored in packages of version {version}; version {PARTS[part]} introduced it"
        hint = f"Raise package_version to {PARTS[part]}.0.0, or remove the file."
        files.note([Finding(Severity.WARNING, "P039", message, place, hint=hint)])
        return _ABSENT
    if part == "tasks" and version >= _GROUPS_SINCE:
        message = "tasks.yaml is ignored in packages of version 5 and later"
        hint = "Move its tasks to deployment_tasks.yaml."
        files.note([Finding(Severity.INFO, "P014", message, place, hint=hint)])
        return _ABSENT
    return candidate


def _located(files: PackageFiles, part: str, record: Mapping[str, Any]) -> _Part:
    key, name = f"{part}{SUFFIX}", f"{part}.yaml"
    if key in record:
        stated, place = record[key], files.place(record, key)
        if isinstance(stated, str):
            return _Part(tuple(files.documents(stated, place)), stated, place)
        files.reject("P003", f"{key} is {in_words(stated)}, not a string", place, "Name a file in the package.")
    if CONF_PATH in record:
        directory = files.directory_at(record, CONF_PATH)
        document = files.fixed(f"{directory.rstrip('/')}/{name}") if directory else None
        if document is not None:
            return _Part((document,), f"{directory.rstrip('/')}/{name}", files.place(record, CONF_PATH))
    document = files.own(name)
    return _Part((document,), name, Place(document.file)) if document is not None else _ABSENT


def _mapping(files: PackageFiles, part: _Part, name: str) -> Mapping[str, Any]:
    """Join the documents of a part into one mapping. If that is impossible, add a finding and return an empty one."""
    full = [document for document in part.documents if document.data is not None]
    if not full:
        return {}
    data = full[0].data if len(full) == 1 else files.merged(full, part.name, part.place)
    if isinstance(data, Mapping):
        return data
    if len(full) == 1 or data is not None:
        place = Place(part.file, 1)
        files.reject("P003", f"{name}.yaml is {in_words(data)}, not a mapping", place, "Write it as name: ...")
    return {}


def _records(files: PackageFiles, part: _Part, name: str, noun: str) -> tuple[Any, ...]:
    """Return the records in the documents of a part, one after another."""
    records: list[Any] = []
    for document in part.documents:
        if document.data is None:
            continue
        if not isinstance(document.data, list):
            message = f"{name}.yaml is {in_words(document.data)}, not a list"
            files.reject("P003", message, Place(document.file, 1), "Write it as - id: ...")
            continue
        _check_records(files, document.data, document.file, noun)
        records += document.data
    return tuple(_json_types(record) for record in records)


def _check_records(files: PackageFiles, records: Sequence[Any], file: str, noun: str) -> None:
    """Add findings for ids that appear twice, unless version constraints keep the records apart, and other errors."""
    seen: dict[str, int] = {}
    for record, line in items_of(records):
        if not isinstance(record, Mapping):
            files.reject("P003", f"a {noun} is {in_words(record)}, not a mapping", Place(file, line), "Give it an id.")
            continue
        name = record.get("id", record.get("name"))
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


def _json_types(value: Any) -> Any:
    """Return `value` with JSON's types only, but with its line numbers."""
    if isinstance(value, Mapping):
        pairs = {key_text(key): _json_types(item) for key, item in value.items()}
        return Marked(pairs, value.line, value.lines) if isinstance(value, Marked) else pairs
    if isinstance(value, list):
        items = [_json_types(item) for item in value]
        return MarkedList(items, value.lines) if isinstance(value, MarkedList) else items
    return plain(value)
