"""Releases: what can be deployed, and the roles it knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Role:
    """A role that nodes can take: the tags it carries, its metadata as the release or plugin wrote it, and its
    volumes: how much of each it takes (`allocate_size`), and what the volume is."""

    name: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    volumes: tuple[Any, ...] = ()
    owner: str = "release"


@dataclass(frozen=True, slots=True)
class Release:
    """An OpenStack release.

    `metadata` keeps every field of the fixture that has no attribute of its own (`roles_metadata`,
    `tags_metadata`, `volumes_metadata`, `networks_metadata`, `attributes_metadata` ...), as it was written.
    `plugin_id` is the plugin that defines it, None for a release of its own.
    """

    id: int
    name: str
    version: str
    operating_system: str = ""
    state: str = "available"
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    plugin_id: int | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    """A word that roles give to nodes, and by which tasks are placed; its metadata is as its author wrote it."""

    name: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    owner: str = "release"


def roles_in(
    metadata: Mapping[str, Any], owner: str = "release", volumes: Mapping[str, Any] | None = None
) -> dict[str, Role]:
    """The roles that `roles_metadata` describes, in its order.

    A role that lists no tags (every role before Fuel 10) carries one tag of its own name. `volumes` has the volumes
    of the environment in the shape of `volumes_metadata`, where they are more than the metadata's own; each volume
    that a role maps is completed by its definition there.

    >>> roles_in({"roles_metadata": {"compute": {"name": "Compute"}}})["compute"].tags
    ('compute',)
    """
    known = volumes if volumes is not None else metadata.get("volumes_metadata") or {}
    mapped = known.get("volumes_roles_mapping") or {}
    defined = {one.get("id"): one for one in known.get("volumes") or () if isinstance(one, Mapping)}
    roles: dict[str, Role] = {}
    for name, stated in (metadata.get("roles_metadata") or {}).items():
        described = stated or {}
        tags = tuple(str(tag) for tag in described["tags"]) if described.get("tags") is not None else (str(name),)
        resolved = tuple(_resolved(entry, defined) for entry in mapped.get(name) or ())
        roles[str(name)] = Role(str(name), tags, described, resolved, owner)
    return roles


def _resolved(entry: Any, defined: Mapping[Any, Mapping[str, Any]]) -> Any:
    """A mapped volume with everything that its definition says of it; as it is where none is known.

    >>> _resolved({"id": "os", "allocate_size": "min"}, {"os": {"id": "os", "type": "vg"}})
    {'id': 'os', 'allocate_size': 'min', 'type': 'vg'}
    """
    if not isinstance(entry, Mapping):
        return entry
    definition = defined.get(entry.get("id"), {})
    return {**entry, **{key: value for key, value in definition.items() if key not in entry}}


def tags_in(metadata: Mapping[str, Any], owner: str = "release") -> dict[str, Tag]:
    """The tags that `tags_metadata` describes, in its order; a role that carries another one implies it, with the
    role's own word on whether it has a primary.

    >>> tags = tags_in({"tags_metadata": {"db": {"has_primary": True}}, "roles_metadata": {"web": {}}})
    >>> [(tag.name, dict(tag.metadata)) for tag in tags.values()]
    [('db', {'has_primary': True}), ('web', {'has_primary': False})]
    """
    tags = {
        str(name): Tag(str(name), stated or {}, owner) for name, stated in (metadata.get("tags_metadata") or {}).items()
    }
    for role in roles_in(metadata).values():
        for name in role.tags:
            tags.setdefault(name, Tag(name, {"has_primary": bool(role.metadata.get("has_primary", False))}, owner))
    return tags


def primary_tags_in(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The tags of which one node is the primary: from `tags_metadata`, or from the roles where a release
    (before Fuel 10) knows no tags.

    >>> sorted(primary_tags_in({"roles_metadata": {"controller": {"has_primary": True}, "compute": {}}}))
    ['controller']
    """
    tags = metadata.get("tags_metadata") or {}
    found = {str(name) for name, tag in tags.items() if (tag or {}).get("has_primary")}
    for name, described in (metadata.get("roles_metadata") or {}).items():
        if (described or {}).get("has_primary") and (described or {}).get("tags") is None:
            found.add(str(name))
    return frozenset(found)
