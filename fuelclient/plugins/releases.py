"""The records of `releases` in `metadata.yaml`: the releases that a package extends, and those that it defines,
which say `is_release: true`.

Source: the specification "release-as-a-plugin". Chosen against Nailgun: the base that `base_release_path` names
may have `*_path` keys at its top and a base of its own, and its mappings are merged, not replaced, by those of the
record, as the specification words it ("all data tree will be inherited by overriding keys"); graphs merge by type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.package import PackagedRelease, ReleaseRecord
from fuelclient.plugins.contents import PATHS, contents_of, has_own
from fuelclient.plugins.graphs import graphs_of, graphs_without_tasks, tasks_of
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.plugins.roles import normal_roles, normal_volumes
from fuelclient.serializers.release import releases_from
from fuelclient.serializers.values import kind

_ALIASES = {
    "release_name": "name",
    "os": "operating_system",
    "attributes": "attributes_metadata",
    "components": "components_metadata",
    "network_roles": "network_roles_metadata",
    "networks": "networks_metadata",
    "roles": "roles_metadata",
    "tags": "tags_metadata",
    "volumes": "volumes_metadata",
}
"""What records may call the fields of a release; the short name wins, as in Nailgun."""

_NEEDED = ("name", "version", "operating_system", "description")
_BASE = "base_release_path"
_LEGACY_TASKS = "deployment_tasks"
_GRAPHS = ("graphs", _LEGACY_TASKS, f"{_LEGACY_TASKS}_path")
_ROLES, _VOLUMES = "roles_metadata", "volumes_metadata"


def is_definition(record: object) -> bool:
    """Whether a record of `releases` defines a release; any other says which releases a plugin extends."""
    return isinstance(record, Mapping) and record.get("is_release") is True


def name_form(metadata: Mapping[str, Any]) -> str:
    """The regular expression of a package's name: where it defines a release, it may have capitals, as the name of
    that release may, whose name it should have (P032).

    >>> name_form({"releases": [{"is_release": True}]}), name_form({"releases": [{"os": "ubuntu"}]})
    ('[A-Za-z0-9_-]+', '[a-z0-9_-]+')
    """
    listed = metadata.get("releases")
    defines = isinstance(listed, list) and any(map(is_definition, listed))
    return "[A-Za-z0-9_-]+" if defines else "[a-z0-9_-]+"


def record_of(files: PackageFiles, metadata: Mapping[str, Any], record: Mapping[str, Any]) -> ReleaseRecord:
    """A record of a release that the package extends, with the contents that it names itself.

    What it lacks, and what is wrong with the files that it names, is among the findings of `files`.
    """
    texts = {}
    for key, other in (("os", "operating_system"), ("version", "")):
        stated = key if key in record or not other else other
        texts[key] = record.get(stated)
        if not isinstance(texts[key], str) or not texts[key]:
            what = f"has no {key}" if texts[key] is None else f"has {kind(texts[key])} for its {key}"
            message = f"a record of releases {what}"
            files.reject("P003", message, files.place(record, stated), f"Write {key}: '...', in quotes.")
    modes = record.get("mode", record.get("modes"))
    listed = [modes] if isinstance(modes, str) else modes if isinstance(modes, list) else []
    resolved = files.resolved(without(record, "graphs", *PATHS))
    return ReleaseRecord(
        os=str(texts["os"] or ""),
        version=str(texts["version"] or ""),
        modes=tuple(str(mode) for mode in listed),
        metadata={**resolved, **{key: record[key] for key in PATHS if key in record}},
        contents=contents_of(files, metadata, record) if has_own(record) else None,
    )


def release_of(files: PackageFiles, record: Mapping[str, Any], owner: str) -> PackagedRelease | None:
    """The release of a record, over its base; None after noting what it lacks.

    `deployment_tasks`, which Fuel 9.0 knew instead of graphs, are the default graph where none is listed.
    """
    fields, graphs = _over_base(files, record, owner, files.manifest, ())
    return _release(files, record, _normal(files, fields), graphs)


def _over_base(
    files: PackageFiles, record: Mapping[str, Any], owner: str, file: str, above: tuple[str, ...]
) -> tuple[Marked, dict[str, GraphDocument]]:
    """The fields and graphs of a record of `file`, over those of its base; `above` are the bases that led to it."""
    own = without(record, _BASE, *_GRAPHS)
    fields = _named(files.resolved_keys(own, file=file) if above else files.resolved(own))
    graphs = graphs_of(files, record, owner, file=file)
    if DEFAULT_TYPE not in graphs and any(key in record for key in _GRAPHS[1:]):
        graphs[DEFAULT_TYPE] = tasks_of(files, record, _LEGACY_TASKS, owner, file=file)
    if _BASE not in record:
        return fields, graphs
    name, place = str(record[_BASE]), files.place(record, _BASE, file=file)
    if name in above:
        files.reject("P037", f"the base release {name} is a base of itself", place, "Name another file.")
        return fields, graphs
    documents = files.documents(name, place)
    base = files.merged(documents, name, place)
    if isinstance(base, Mapping):
        below, graphs_below = _over_base(files, base, owner, documents[0].file, (*above, name))
        return _over(below, fields), _graphs_over(graphs_below, graphs, graphs_without_tasks(record))
    if base is not None:
        files.reject("P037", f"the base release {name} is no mapping", place, "Write it like a record of releases.")
    return fields, graphs


def _graphs_over(
    base: Mapping[str, GraphDocument], own: Mapping[str, GraphDocument], without_tasks: frozenset[str]
) -> dict[str, GraphDocument]:
    """The graphs of both by type. Of a type that both list, what the record states is its own: its name, its tasks,
    and each key of its metadata."""
    merged = {**base, **own}
    for graph_type in (one for one in own if one in base):
        below, graph = base[graph_type], own[graph_type]
        merged[graph_type] = replace(
            graph,
            tasks=below.tasks if graph_type in without_tasks else graph.tasks,
            name=below.name if graph.name is None else graph.name,
            metadata={**below.metadata, **graph.metadata},
        )
    return merged


def _normal(files: PackageFiles, fields: Marked) -> Marked:
    """`fields` with roles and volumes in Nailgun's shapes, where they have the other spelling. What is no mapping is
    left to the check of the release."""
    roles, volumes = fields.get(_ROLES), fields.get(_VOLUMES)
    normal = without(fields)
    own: dict[str, Any] = {}
    if isinstance(roles, Mapping) and all(isinstance(role, Mapping) for role in roles.values()):
        named, own = normal_roles(files, roles, files.manifest)
        normal[_ROLES] = Marked(named, getattr(roles, "line", 0), getattr(roles, "lines", {}))
    stated = volumes if isinstance(volumes, Mapping) else {}
    listed = stated.get("volumes")
    if own or (isinstance(listed, list) and any(isinstance(one, Mapping) and "items" in one for one in listed)):
        normal[_VOLUMES] = normal_volumes(files, stated, own, files.manifest)
    return normal


def _release(
    files: PackageFiles, record: Mapping[str, Any], fields: Marked, graphs: Mapping[str, GraphDocument]
) -> PackagedRelease | None:
    missing = [key for key in _NEEDED if not fields.get(key)]
    if missing:
        message = f"the release has no {', no '.join(missing)}"
        files.reject("P030", message, files.place(record), f"Write {missing[0]}: ... in its record.")
        return None
    try:
        [release] = releases_from(Document(without(fields, "is_release", "id"), files.manifest))
    except InvalidDocument as error:
        files.note(finding for finding in error.findings if isinstance(finding, Finding))
        return None
    return PackagedRelease(release, graphs)


def _named(fields: Mapping[str, Any]) -> Marked:
    """`fields` under the names that a release has for them.

    >>> _named({"roles": {"compute": {}}, "roles_metadata": {}, "os": "ubuntu"})
    {'roles_metadata': {'compute': {}}, 'operating_system': 'ubuntu'}
    """
    named = without(fields, *_ALIASES)
    for short in (key for key in fields if key in _ALIASES):
        named[_ALIASES[short]] = fields[short]
        named.lines[_ALIASES[short]] = named.lines.get(short, 0)
    return named


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> Marked:
    """`own` over `base`: mappings merge deeply, everything else replaces. The lines are those of `own`.

    >>> _over({"a": {"x": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
    {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    merged = without(own, *own)
    merged.update(base)
    for key, value in own.items():
        below = base.get(key)
        merged[key] = _over(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
