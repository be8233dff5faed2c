"""Read the data files of a package, for all releases or for one, into the shapes that Nailgun uses.

Sources: the specification "plugins-v5", multi-release packages: a release record names files (`deployment_tasks_path`)
or a directory of files (`conf_path`), and everything else comes from the root of the package. In the
specification "role-as-a-plugin", a role is under `metadata`, with `volumes_mapping` next to it, and the logical volumes
of a group are `items`; Nailgun has flat roles, the mapping in `volumes.yaml`, and logical volumes under `volumes`. Both
are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Marked, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.package import Contents
from fuelclient.model.task import Task
from fuelclient.plugins.graphs import graphs_of, groups_of, own_graph
from fuelclient.plugins.package_files import CONF_PATH, SUFFIX, PackageFiles
from fuelclient.plugins.parts import DataPath, Part, without
from fuelclient.serializers.values import key_text, line_of, mappings, plain

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

GROUPS_SINCE = 5
"""The first package version in which the `tasks` of a role are a group, and `tasks.yaml` is ignored."""


def contents_of(files: PackageFiles, record: Mapping[str, Any] | None = None, path: DataPath = ()) -> Contents:
    """Read the content of the data files of a package, preferring those that `record` names.

    `path` leads to the record in the metadata. Errors in the files are added to the findings of `files`, and the data
    in question is left out.
    """
    parts = {part: _part(files, part, record or {}) for part in PARTS}
    roles, tags, volumes, groups = _read_roles(files, parts)
    legacy, tasks = parts["tasks"].documents, parts["deployment_tasks"].documents
    graphs = {DEFAULT_TYPE: own_graph(files, legacy, groups, tasks), **graphs_of(files, files.metadata)}
    if record is not None:
        graphs.update(graphs_of(files, record, path=path))
    part = parts["environment_config"]
    settings = files.shaped(_mapping(files, part), "attributes", dict, file=part.file)
    return Contents(
        graphs=graphs,
        roles=_json_types(roles),
        tags=_json_types(tags),
        volumes=_json_types(volumes),
        network_roles=_records(files, parts["network_roles"]),
        components=_records(files, parts["components"]),
        attributes=_json_types(settings or {}),
        files={f"{name}.yaml": part.name for name, part in parts.items() if part.documents},
    )


def _read_roles(
    files: PackageFiles, parts: Mapping[str, Part]
) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any], list[Task]]:
    """Read the roles, tags and volumes of a package, and make group tasks of the `tasks` of roles."""
    all_roles: dict[str, Marked] = {}
    own_volumes: dict[str, Any] = {}
    groups: dict[str, Task] = {}
    tags = _mapping(files, parts["node_tags"]) if parts["node_tags"].documents else None
    for document in parts["node_roles"].documents:
        roles, volumes = normal_roles(files, _mapping(files, Part("node_roles", (document,))), document.file)
        if files.version >= GROUPS_SINCE:
            groups.update((group.id, group) for group in groups_of(files, roles, document.file, tags))
            roles = {name: without(role, "tasks") for name, role in roles.items()}
        for name, role in roles.items():
            if role.get("tasks"):
                message = f"tasks of the role {name} are ignored in packages of version {files.version}"
                place = files.place(role, "tasks", file=document.file)
                hint = "Define a group in deployment_tasks.yaml, or raise package_version to 5.0.0."
                files.note([Finding(Severity.WARNING, "P039", message, place, hint=hint)])
        all_roles.update(roles)
        own_volumes.update(volumes)
    all_volumes = normal_volumes(files, _mapping(files, parts["volumes"]), own_volumes, parts["volumes"].file)
    return *add_tags(all_roles, tags), all_volumes, list(groups.values())


def _part(files: PackageFiles, name: str, record: Mapping[str, Any]) -> Part:
    """Read a part from the file that `record` names, or else from the root of the package. It is empty if this package
    version does not have it."""
    part, version = _find_part(files, name, record), files.version
    has_data = any(document.data for document in part.documents)
    if part.documents and version >= PARTS[name]:
        files.add_part(part)
    elif has_data and str(files.metadata.get("package_version")).startswith(str(version)):
        message = f"{name}.yaml is ignored in packages of version {version}; version {PARTS[name]} introduced it"
        hint = f"Raise package_version to {PARTS[name]}.0.0, or remove the file."
        files.note([Finding(Severity.WARNING, "P039", message, Place(part.file, 1), hint=hint)])
    is_ignored = version < PARTS[name] or (name == "tasks" and version >= GROUPS_SINCE)
    return Part(name) if has_data and is_ignored else part


def _find_part(files: PackageFiles, part: str, record: Mapping[str, Any]) -> Part:
    key, name = f"{part}{SUFFIX}", f"{part}.yaml"
    if (given := files.shaped(record, key, str)) is not None:
        place = files.place(record, key)
        return Part(part, tuple(files.documents(given, place)), place, given)
    if CONF_PATH in record:
        directory = files.directory_at(record, CONF_PATH).rstrip("/")
        document = files.read(f"{directory}/{name}") if directory else None
        if document is not None:
            return Part(part, (document,), files.place(record, CONF_PATH), f"{directory}/{name}")
    document = files.read_own(name)
    return Part(part, (document,), Place(document.file), name) if document is not None else Part(part)


def _mapping(files: PackageFiles, part: Part) -> Mapping[str, Any]:
    """Join the documents of a part into one mapping, which is empty if that is impossible."""
    non_empty = [document for document in part.documents if document.data is not None]
    data = non_empty[0].data if len(non_empty) == 1 else files.merged(non_empty, part.name, part.place)
    if data is not None and not isinstance(data, Mapping):
        files.misshapen[Place(part.file, 1)] = None
    return data if isinstance(data, Mapping) else {}


def _records(files: PackageFiles, part: Part) -> tuple[Any, ...]:
    for document in part.documents:
        if document.data is not None and document.data != mappings(document.data):
            files.misshapen[Place(document.file, 1)] = None
    return tuple(_json_types(record) for document in part.documents for record in mappings(document.data))


def _json_types(value: Any) -> Any:
    """Convert to the types of JSON, and keep line numbers."""
    if isinstance(value, Mapping):
        pairs = {key_text(key): _json_types(item) for key, item in value.items()}
        return Marked(pairs, value.line, value.lines) if isinstance(value, Marked) else pairs
    if isinstance(value, list):
        items = [_json_types(item) for item in value]
        return MarkedList(items, value.lines) if isinstance(value, MarkedList) else items
    return plain(value)


MAPPING = "volumes_roles_mapping"
_VOLUMES = "volumes"
_ROLE_VOLUMES = "volumes_mapping"


def normal_roles(files: PackageFiles, given: Mapping[str, Any], file: str) -> tuple[dict[str, Marked], dict[str, Any]]:
    """Flatten the roles of `file`, and collect the volumes of roles that list their own.

    Roles that are not mappings, and volumes and tags that are not lists, are left out as `misshapen`.
    """
    roles: dict[str, Marked] = {}
    volumes: dict[str, Any] = {}
    for key, value in given.items():
        name = key_text(key)
        if not isinstance(value, Mapping):
            files.misshapen[files.place(given, key, file=file)] = None
            continue
        role = flat_role(value)
        if _ROLE_VOLUMES in role:
            volumes[name] = files.shaped(role, _ROLE_VOLUMES, list, file=file) or []
            role = without(role, _ROLE_VOLUMES)
        if isinstance(role.get("tags"), str):
            role["tags"] = [role["tags"]]
        elif role.get("tags") is not None:
            role["tags"] = files.shaped(role, "tags", list, file=file) or []
        roles[name] = role
    return roles, volumes


def normal_volumes(
    files: PackageFiles, given: Mapping[str, Any], own: Mapping[str, Any], file: str
) -> Mapping[str, Any]:
    """Convert the volumes of `file` to Nailgun's shape, and map the roles to the volumes that they list (`own`).

    Empty if `given` and `own` are. A role with different volumes in both places is an error in the findings of `files`.
    """
    if not given and not own:
        return {}
    mapping = files.shaped(given, MAPPING, dict, file=file) or {}
    for name in own:
        if name in mapping and mapping[name] != own[name]:
            message = f"the volumes of the role {name} are listed here and, differently, with the role"
            files.reject("P003", message, files.place(mapping, name, file=file), "Keep one of the two.")
    listed = files.shaped(given, _VOLUMES, list, file=file) or []
    volumes = MarkedList(
        (_normal_volume(files, volume, file) for volume in listed),
        listed.lines if isinstance(listed, MarkedList) else (),
    )
    if not all(isinstance(volume, Mapping) for volume in listed):
        files.misshapen[files.place(given, _VOLUMES, file=file)] = None
    normal = without(given, MAPPING, _VOLUMES)
    normal.lines.update({key: line_of(given, key) for key in (MAPPING, _VOLUMES) if key in given})
    normal[MAPPING] = {**mapping, **own}
    normal[_VOLUMES] = volumes
    return normal


def add_tags(roles: Mapping[str, Marked], own: Mapping[str, Any] | None) -> tuple[dict[str, Marked], Mapping[str, Any]]:
    """Add their tags to the roles, and collect all tags of the package.

    In a package without tags of its own (`own` is None: before version 6), a role that lists none gets the tag of
    its own name, which has a primary node if the role does. An empty list stays empty.

    Source: Nailgun, `objects/plugin.py`.

    >>> add_tags({"db": Marked({"has_primary": True}), "log": Marked({"tags": []})}, None)
    ({'db': {'has_primary': True, 'tags': ['db']}, 'log': {'tags': []}}, {'db': {'has_primary': True}})
    """
    if own is not None:
        return dict(roles), own
    tags: dict[str, Any] = {}
    all_roles: dict[str, Marked] = {}
    for name, role in roles.items():
        all_roles[name] = without(role)
        if role.get("tags") is None:
            all_roles[name]["tags"] = [name]
            tags[name] = {"has_primary": bool(role.get("has_primary", False))}
    return all_roles, tags


def flat_role(role: Mapping[str, Any]) -> Marked:
    """Move the keys under `metadata` of a role to its top. Keys next to `metadata` override them."""
    nested = role.get("metadata")
    if not isinstance(nested, Mapping):
        return without(role)
    flattened, top = without(nested), without(role, "metadata")
    flattened.update(top)
    flattened.lines.update(top.lines)
    flattened.line = top.line
    return flattened


def _normal_volume(files: PackageFiles, volume: Any, file: str) -> Any:
    """Rename `items` of a volume to `volumes`, as in Nailgun."""
    if not isinstance(volume, Mapping) or "items" not in volume:
        return volume
    if volume.get(_VOLUMES) not in (None, volume["items"]):
        message = f"the volume {volume.get('id')} has items and, differently, volumes"
        files.reject("P003", message, files.place(volume, "items", file=file), "Keep one of the two.")
    normal = without(volume, "items", _VOLUMES)
    normal[_VOLUMES] = volume["items"]
    normal.lines[_VOLUMES] = line_of(volume, "items")
    return normal
