"""Roles and tags in Nailgun's shape, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fuelclient.errors import UsageError
from fuelclient.model.release import Role, Tag
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import plain

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MAPPED = ("id", "allocate_size")
"""What Nailgun says of a volume of a role; the volume itself it keeps elsewhere."""


def require_name(noun: str, name: str) -> None:
    """Nothing happens for a word that can name a role or a tag, as Nailgun has it; `UsageError` for one that cannot."""
    if not _NAME.fullmatch(name):
        odd = next((one for one in name if not _NAME.fullmatch(one)), "")
        told = f"; {odd!r} is none of them" if odd else ""
        raise UsageError(f"{name!r} cannot be the name of a {noun}.", hint=f"Use letters, digits, - and _ only{told}.")


def role_to(role: Role) -> dict[str, Any]:
    """The role as Nailgun's REST API returns it, and beside that its tags, its volumes as a whole and its owner."""
    volumes = plain(role.volumes)
    return {
        "name": role.name,
        "meta": plain(role.metadata),
        "volumes_roles_mapping": [
            {key: one[key] for key in _MAPPED if key in one} if isinstance(one, Mapping) else one for one in volumes
        ],
        "tags": list(role.tags),
        "volumes": volumes,
        "owner": role.owner,
    }


def role_from(data: Any) -> Role:
    """The role that a server tells of; `InvalidDocument` for what is none.

    Nailgun has the tags of a role, from Fuel 10 on, in its metadata; a role without any carries one of its own name.
    """
    answer = Answer(data, "role")
    name, metadata = answer.stated("name"), answer.mapping("meta")
    if "tags" in answer.data:
        tags = answer.texts("tags")
    else:
        tags = Answer(metadata, "role").texts("tags") if metadata.get("tags") is not None else (name,)
    volumes = answer.items("volumes") if "volumes" in answer.data else answer.items("volumes_roles_mapping")
    return Role(name, tags, metadata, tuple(plain(volumes)), answer.text("owner", "release"))


def tag_to(tag: Tag) -> dict[str, Any]:
    """A tag of a release or of an environment, as Nailgun's REST API returns it, and its owner."""
    return {"name": tag.name, "meta": plain(tag.metadata), "owner": tag.owner}


def tag_from(data: Any) -> Tag:
    """The tag that a server tells of; `InvalidDocument` for what is none."""
    answer = Answer(data, "tag")
    return Tag(answer.stated("name"), answer.mapping("meta"), answer.text("owner", "release"))
