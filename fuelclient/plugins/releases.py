"""Read the records of `releases` in `metadata.yaml`: releases that a package extends, and releases that it defines
(`is_release: true`).

Source: the specification "release-as-a-plugin". Differences from Nailgun: the base that `base_release_path` names may
have `*_path` keys at its top and a base of its own; the record's mappings are merged into those of the base instead of
replacing them, following the specification ("all data tree will be inherited by overriding keys"); and graphs merge by
type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import Finding, Place
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.package import PackagedRelease, ReleaseRecord
from fuelclient.model.task import Task
from fuelclient.plugins.contents import PATHS, contents_of, normal_roles, normal_volumes
from fuelclient.plugins.graphs import fit_groups, graphs_of, groups_of, tasks_of
from fuelclient.plugins.package_files import CONF_PATH, SUFFIX, PackageFiles
from fuelclient.plugins.parts import DataPath, Part, lines_of, without
from fuelclient.serializers.release import releases_from
from fuelclient.serializers.values import line_of, mapping, mappings

_WITH_METADATA = ("attributes", "components", "network_roles", "networks", "roles", "tags", "volumes")
_ALIASES = {"release_name": "name", "os": "operating_system", **{key: f"{key}_metadata" for key in _WITH_METADATA}}
"""Other names for the fields of a release in records. The short name has precedence, as in Nailgun."""

_REQUIRED = {
    "release_name": ("name", " (or name)"),
    "description": ("description", ""),
    "operating_system": ("operating_system", " (or os)"),
    "version": ("version", ""),
}
"""The keys that a definition needs, with the field of a release that each becomes, and the other spelling."""

_DATA_TYPES = {
    "roles": "node_roles",
    "volumes": "volumes",
    "network_roles": "network_roles",
    "components": "release_components",
    "tags": "node_tags",
}
_DATA_TYPES |= {f"{key}_metadata": part for key, part in _DATA_TYPES.items()}
"""The keys of a release record that hold data, and the type of file that holds the same for a plugin."""

_BASE = "base_release_path"
_LEGACY_TASKS = "deployment_tasks"
_GRAPHS = ("graphs", _LEGACY_TASKS, f"{_LEGACY_TASKS}_path")
_ROLES, _TAGS, _VOLUMES = "roles_metadata", "tags_metadata", "volumes_metadata"


@dataclass(frozen=True, slots=True)
class Definition:
    """A release that a package defines. `holders` are its record and the bases, each with its file. `fields` and
    `graphs` (types) are merged from all of them. `packaged` is None if the release cannot be used."""

    holders: tuple[tuple[Mapping[str, Any], str], ...]
    fields: Mapping[str, Any]
    graphs: frozenset[str]
    packaged: PackagedRelease | None


def is_definition(record: object) -> bool:
    """Whether a record of `releases` defines a release. The others name releases that the plugin extends."""
    return isinstance(record, Mapping) and record.get("is_release") is True


def name_form(metadata: Mapping[str, Any]) -> str:
    """The regular expression for the name of a package.

    The name may only contain capitals if the package defines a release, because both should have one name (P032).

    >>> name_form({"releases": [{"is_release": True}]}), name_form({"releases": [{"os": "ubuntu"}]})
    ('[A-Za-z0-9_-]+', '[a-z0-9_-]+')
    """
    return "[A-Za-z0-9_-]+" if any(map(is_definition, mappings(metadata.get("releases")))) else "[a-z0-9_-]+"


def record_of(files: PackageFiles, record: Mapping[str, Any], path: DataPath) -> ReleaseRecord:
    """Read a record of a release that the package extends, with the files that it names.

    Errors in it or its files are added to the findings of `files`.
    """
    for key in ("os" if "os" in record else "operating_system", "version"):
        if not isinstance(record.get(key), str) or not record[key]:
            files.misshapen[files.place(record, key)] = None
    modes = record.get("mode", record.get("modes"))
    listed = [modes] if isinstance(modes, str) else modes if isinstance(modes, list) else []
    resolved = files.resolved(without(record, "graphs", *PATHS))
    has_own = any(key in record for key in (*PATHS, CONF_PATH, "graphs"))
    return ReleaseRecord(
        os=str(record.get("os", record.get("operating_system")) or ""),
        version=str(record.get("version") or ""),
        modes=tuple(str(mode) for mode in listed),
        metadata={**resolved, **{key: record[key] for key in PATHS if key in record}},
        contents=contents_of(files, record, path) if has_own else None,
    )


def definition_of(files: PackageFiles, record: Mapping[str, Any], path: DataPath) -> Definition:
    """Read the release that a record and its base define; `path` leads to the record in the metadata.

    `deployment_tasks`, which Fuel 9.0 had instead of graphs, become the default graph if none is listed. The `tasks` of
    roles become groups of that graph.
    """
    holders: list[tuple[Mapping[str, Any], str]] = []
    fields, graphs = _over_base(files, record, files.manifest, path, (), holders)
    _add_parts(files, holders, path)
    types = frozenset(graphs)
    fields, groups = _normalised(files, fields)
    if groups:
        graph = graphs.get(DEFAULT_TYPE, GraphDocument(()))
        graphs[DEFAULT_TYPE] = replace(graph, tasks=(*fit_groups(groups, graph.tasks), *graph.tasks))
    release = None
    missing = [key for key, (field, _) in _REQUIRED.items() if not fields.get(field)]
    for key in missing:
        message = f"the release lacks {key}{_REQUIRED[key][1]}"
        files.reject("P030", message, files.place(record), f"Add {key}: to the record.")
    if not missing:
        try:
            [release] = releases_from(Document(without(fields, "is_release", "id"), files.manifest))
        except InvalidDocument as error:
            files.note(finding for finding in error.findings if isinstance(finding, Finding))
    packaged = PackagedRelease(release, graphs) if release is not None else None
    return Definition(tuple(holders), fields, types, packaged)


def _over_base(
    files: PackageFiles,
    record: Mapping[str, Any],
    file: str,
    path: DataPath,
    above: tuple[str, ...],
    holders: list[tuple[Mapping[str, Any], str]],
) -> tuple[Marked, dict[str, GraphDocument]]:
    """Merge the fields and graphs of a record in `file` over its base. `above` has the names of the bases on the
    way, to find circles.

    The record and its bases are added to `holders`.
    """
    holders.append((record, file))
    own = without(record, _BASE, *_GRAPHS)
    fields = _with_full_names(files.resolved(own, file=file, deep=not above))
    has_legacy = any(key in record for key in _GRAPHS[1:])
    legacy = tasks_of(files, record, _LEGACY_TASKS, file, path) if has_legacy else None
    graphs = graphs_of(files, record, file=file, path=path)
    if legacy is not None:
        graphs.setdefault(DEFAULT_TYPE, legacy)
    if _BASE not in record:
        return fields, graphs
    name, place = str(record[_BASE]), files.place(record, _BASE, file=file)
    if name in above:
        files.reject("P037", f"the base release {name} is based on itself", place, "Name another file.")
        return fields, graphs
    documents = files.documents(name, place)
    base = files.merged(documents, name, place)
    if isinstance(base, Mapping):
        lower = _over_base(files, base, documents[0].file, (), (*above, name), holders)
        return inherited(lower[0], fields), _graphs_over(lower[1], graphs, mappings(record.get("graphs")))
    if base is not None:
        files.reject("P037", f"the base release {name} is not a mapping", place, "Write it like a record of releases.")
    return fields, graphs


def _add_parts(files: PackageFiles, holders: Iterable[tuple[Mapping[str, Any], str]], path: DataPath) -> None:
    """Add what a record and its bases define to the parts of the package, merged by type over what the bases have."""
    parts: dict[str, list[Part]] = {}
    for holder, file in holders:
        if not path:  # the schema of the metadata covers the record itself
            files.add_part(Part("definition", (Document(holder, file),), Place(file, 1), of_release=True))
        for key, part_type in _DATA_TYPES.items():
            path_key = f"{key}{SUFFIX}"
            is_named = isinstance(holder.get(path_key), str)
            if is_named or holder.get(key) is not None:
                place = files.place(holder, path_key if is_named else key, file=file)
                documents = files.documents(holder[path_key], place) if is_named else [Document(holder[key], file)]
                data_path = () if is_named else (*path, key)
                part = Part(part_type, tuple(documents), place, path=data_path, of_release=True)
                parts.setdefault(part_type, []).append(part)
        path = ()
    for listed in parts.values():
        mappings = [part for part in listed if all(isinstance(each.data, Mapping) for each in part.documents)]
        for part in listed:
            is_first = part is (mappings or listed)[0]
            is_base = not is_first and any(part is each for each in mappings)
            files.add_part(replace(part, bases=tuple(mappings[1:]) if is_first else (), is_base=is_base))


def _graphs_over(
    base: Mapping[str, GraphDocument], own: Mapping[str, GraphDocument], records: Iterable[Mapping[str, Any]]
) -> dict[str, GraphDocument]:
    """Merge graphs by type. In a graph that both list, the name, tasks and metadata keys of the record override those
    of the base, if it has them."""
    keys = ("tasks", "tasks_path", "graph", "graph_path")
    without_tasks = {str(record.get("type")) for record in records if not any(key in record for key in keys)}
    merged = {**base, **own}
    for graph_type in own.keys() & base.keys():
        base_graph, graph = base[graph_type], own[graph_type]
        merged[graph_type] = replace(
            graph,
            tasks=base_graph.tasks if graph_type in without_tasks else graph.tasks,
            name=base_graph.name if graph.name is None else graph.name,
            metadata={**base_graph.metadata, **graph.metadata},
        )
    return merged


def _normalised(files: PackageFiles, fields: Marked) -> tuple[Marked, list[Task]]:
    """Convert roles and volumes to Nailgun's shapes, and turn the `tasks` of roles into groups, as with a plugin.

    Values that should be mappings and are not are left for later checks.
    """
    roles, volumes, tags = fields.get(_ROLES), mapping(fields.get(_VOLUMES)), fields.get(_TAGS)
    normal = without(fields)
    own: dict[str, Any] = {}
    groups: list[Task] = []
    if isinstance(roles, Mapping) and all(isinstance(role, Mapping) for role in roles.values()):
        flat_roles, own = normal_roles(files, roles, files.manifest)
        roles = Marked(flat_roles, line_of(roles), lines_of(roles))
    if own or any("items" in item for item in mappings(volumes.get("volumes"))):
        normal[_VOLUMES] = normal_volumes(files, volumes, own, files.manifest)
    if isinstance(roles, Marked):
        groups = groups_of(files, roles, files.manifest, tags if isinstance(tags, Mapping) else None)
        plain = {name: without(role, "tasks") if isinstance(role, Mapping) else role for name, role in roles.items()}
        normal[_ROLES] = Marked(plain, roles.line, roles.lines)
    return normal, groups


def _with_full_names(fields: Mapping[str, Any]) -> Marked:
    """Rename `fields` to the names that a release uses.

    >>> _with_full_names({"roles": {"compute": {}}, "roles_metadata": {}, "os": "ubuntu"})
    {'roles_metadata': {'compute': {}}, 'operating_system': 'ubuntu'}
    """
    renamed = without(fields, *_ALIASES)
    for short in (key for key in fields if key in _ALIASES):
        renamed[_ALIASES[short]] = fields[short]
        renamed.lines[_ALIASES[short]] = renamed.lines.get(short, 0)
    return renamed


def inherited(base: Mapping[str, Any], own: Mapping[str, Any]) -> Marked:
    """Merge `own` over `base`: mappings merge deeply, everything else is replaced. The lines are those of `own`.

    >>> inherited({"a": {"x": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
    {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    merged = without(own, *own)
    merged.update(base)
    for key, value in own.items():
        other = base.get(key)
        merged[key] = inherited(other, value) if isinstance(other, Mapping) and isinstance(value, Mapping) else value
    return merged
