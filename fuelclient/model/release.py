"""Releases, and the roles and tags that they define."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FUEL_ROLES = frozenset(
    {"controller", "compute", "cinder", "cinder-block-device", "cinder-vmware", "compute-vmware", "ceph-osd", "mongo",
     "base-os", "virt", "ironic", "other", "zabbix-server"}
)  # fmt: skip
"""The roles of Fuel 6.0 to 10.0."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role of nodes: its tags, its metadata as its author wrote it, and its volumes, each with the size it takes
    (`allocate_size`) and its definition."""

    name: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    volumes: tuple[Any, ...] = ()
    owner: str = "release"


@dataclass(frozen=True, slots=True)
class Release:
    """An OpenStack release.

    `metadata` has every field of the fixture that has no attribute of its own (`roles_metadata`, `tags_metadata`,
    `volumes_metadata`, `networks_metadata`, `attributes_metadata` ...), as it was written. `plugin_id` is the plugin
    that defines the release, or None.
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
    """A tag, which roles give to nodes and by which tasks are placed; its metadata is as its author wrote it."""

    name: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    owner: str = "release"


def roles_in(
    metadata: Mapping[str, Any], owner: str = "release", volumes: Mapping[str, Any] | None = None
) -> dict[str, Role]:
    """Read the roles in `roles_metadata`, in its order.

    A role without a list of tags (every role before Fuel 10) has one tag of its own name. `volumes` are those of the
    environment, in the shape of `volumes_metadata`, if it has more than the metadata. The volumes of a role are
    completed with their definitions there.

    >>> roles_in({"roles_metadata": {"compute": {"name": "Compute"}}})["compute"].tags
    ('compute',)
    """
    known = volumes if volumes is not None else metadata.get("volumes_metadata") or {}
    mapped = known.get("volumes_roles_mapping") or {}
    defined = {volume.get("id"): volume for volume in known.get("volumes") or () if isinstance(volume, Mapping)}
    roles: dict[str, Role] = {}
    for name, given in (metadata.get("roles_metadata") or {}).items():
        described = given or {}
        tags = tuple(str(tag) for tag in described["tags"]) if described.get("tags") is not None else (str(name),)
        resolved = tuple(_resolved(entry, defined) for entry in mapped.get(name) or ())
        roles[str(name)] = Role(str(name), tags, described, resolved, owner)
    return roles


def _resolved(entry: Any, defined: Mapping[Any, Mapping[str, Any]]) -> Any:
    """Add the definition of a volume, if there is one, to its entry in a role.

    >>> _resolved({"id": "os", "allocate_size": "min"}, {"os": {"id": "os", "type": "vg"}})
    {'id': 'os', 'allocate_size': 'min', 'type': 'vg'}
    """
    if not isinstance(entry, Mapping):
        return entry
    definition = defined.get(entry.get("id"), {})
    return {**entry, **{key: value for key, value in definition.items() if key not in entry}}


def tags_in(metadata: Mapping[str, Any], owner: str = "release") -> dict[str, Tag]:
    """Read the tags in `tags_metadata`, in its order, and then those that only roles name.

    The latter have a primary if the role has one.

    >>> tags = tags_in({"tags_metadata": {"db": {"has_primary": True}}, "roles_metadata": {"web": {}}})
    >>> [(tag.name, dict(tag.metadata)) for tag in tags.values()]
    [('db', {'has_primary': True}), ('web', {'has_primary': False})]
    """
    tags = {
        str(name): Tag(str(name), given or {}, owner) for name, given in (metadata.get("tags_metadata") or {}).items()
    }
    for role in roles_in(metadata).values():
        for name in role.tags:
            tags.setdefault(name, Tag(name, {"has_primary": bool(role.metadata.get("has_primary", False))}, owner))
    return tags


def primary_tags_in(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The tags with one primary node: from `tags_metadata`, or, before Fuel 10, from the roles.

    >>> sorted(primary_tags_in({"roles_metadata": {"controller": {"has_primary": True}, "compute": {}}}))
    ['controller']
    """
    tags, roles = ((metadata.get(key) or {}).items() for key in ("tags_metadata", "roles_metadata"))
    primary = [name for name, tag in tags if (tag or {}).get("has_primary")]
    primary += [name for name, role in roles if (role or {}).get("has_primary") and role.get("tags") is None]
    return frozenset(map(str, primary))
