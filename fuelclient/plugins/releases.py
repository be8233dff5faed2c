"""The releases that a package defines: the records of `metadata.yaml` that say `is_release: true`.

Source: the specification "release-as-a-plugin". Chosen against Nailgun: the base that `base_release_path` names
may have `*_path` keys at its top, and its mappings are merged, not replaced, by those of the record, as the
specification words it ("all data tree will be inherited by overriding keys").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.release import Release
from fuelclient.plugins.graphs import graphs_of, tasks_of
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.serializers.release import releases_from

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


@dataclass(frozen=True, slots=True)
class PackagedRelease:
    """A release that a package defines (its id is 0), and its graphs by type."""

    release: Release
    graphs: Mapping[str, GraphDocument] = field(default_factory=dict)


def is_definition(record: object) -> bool:
    """Whether a record of `releases` defines a release; any other says which releases a plugin extends."""
    return isinstance(record, Mapping) and record.get("is_release") is True


def release_of(files: PackageFiles, record: Mapping[str, Any], owner: str) -> PackagedRelease | None:
    """The release of a record, over its base; None after noting what it lacks.

    `deployment_tasks`, which Fuel 9.0 knew instead of graphs, are the default graph where none is listed.
    """
    fields = _named(files.resolved(without(record, _BASE, *_GRAPHS)))
    graphs = graphs_of(files, record, owner)
    if _BASE in record:
        base, file = _base(files, record)
        graphs = {**graphs_of(files, base, owner, file=file), **graphs}
        fields = _over(_named(files.resolved_keys(without(base, *_GRAPHS), file=file)), fields)
    if DEFAULT_TYPE not in graphs and any(key in record for key in _GRAPHS[1:]):
        graphs[DEFAULT_TYPE] = tasks_of(files, record, _LEGACY_TASKS, owner)
    return _release(files, record, fields, graphs)


def _base(files: PackageFiles, record: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The mapping that `base_release_path` names, and its file; an empty one after noting what is wrong."""
    place, name = files.place(record, _BASE), str(record[_BASE])
    documents = files.documents(name, place)
    base = files.merged(documents, name, place)
    if base is not None and not isinstance(base, Mapping):
        files.reject("P037", f"the base release {name} is no mapping", place, "Write it like a record of releases.")
    return (base, documents[0].file) if isinstance(base, Mapping) else ({}, "")


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
