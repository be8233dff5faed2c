"""Releases: what can be deployed, and the roles it knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Role:
    """A role that nodes can take: the tags it carries, and its metadata as the release or plugin wrote it."""

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
    """

    id: int
    name: str
    version: str
    operating_system: str = ""
    state: str = "available"
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def roles_in(metadata: Mapping[str, Any], owner: str = "release") -> dict[str, Role]:
    """The roles that `roles_metadata` describes, in its order.

    A role that lists no tags (every role before Fuel 10) carries one tag of its own name.

    >>> roles_in({"roles_metadata": {"compute": {"name": "Compute"}}})["compute"].tags
    ('compute',)
    """
    mapping = (metadata.get("volumes_metadata") or {}).get("volumes_roles_mapping") or {}
    roles: dict[str, Role] = {}
    for name, stated in (metadata.get("roles_metadata") or {}).items():
        described = stated or {}
        tags = tuple(str(tag) for tag in described.get("tags") or (name,))
        roles[str(name)] = Role(str(name), tags, described, tuple(mapping.get(name) or ()), owner)
    return roles


def primary_tags_in(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The tags of which one node is the primary: from `tags_metadata`, or from the roles where a release
    (before Fuel 10) knows no tags.

    >>> sorted(primary_tags_in({"roles_metadata": {"controller": {"has_primary": True}, "compute": {}}}))
    ['controller']
    """
    tags = metadata.get("tags_metadata") or {}
    found = {str(name) for name, tag in tags.items() if (tag or {}).get("has_primary")}
    for name, described in (metadata.get("roles_metadata") or {}).items():
        if (described or {}).get("has_primary") and not (described or {}).get("tags"):
            found.add(str(name))
    return frozenset(found)
