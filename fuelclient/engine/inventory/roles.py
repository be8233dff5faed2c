"""Roles and tags of releases and environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.engine.inventory import own_metadata
from fuelclient.engine.inventory.own_metadata import Descriptions, MetadataOwner
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment import roles as effective
from fuelclient.environment.owners import metadata_of_owners
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.graph import Level
from fuelclient.model.release import Role, Tag, roles_in, tags_in
from fuelclient.serializers.release_metadata import sound
from fuelclient.serializers.values import plain
from fuelclient.store.database import Connection

_ROLES, _TAGS = "roles_metadata", "tags_metadata"
_VOLUMES, _MAPPING = "volumes_metadata", "volumes_roles_mapping"


class Roles(Descriptions[Role]):
    """Roles; see `backends.base.Roles`."""

    _noun, _section = "role", _ROLES
    _of_environment, _in_metadata = staticmethod(effective.roles), staticmethod(roles_in)

    def _with(self, connection: Connection, owner: MetadataOwner, value: Role) -> dict[str, Any]:
        sections = {_ROLES: {**owner.section(_ROLES), value.name: value.metadata}}
        stated = owner.section(_VOLUMES)
        mapped = dict(stated.get(_MAPPING) or {})
        if value.volumes or value.name in mapped:
            _require_volumes(connection, owner, value)
            mapped[value.name] = [
                {key: volume[key] for key in ("id", "allocate_size") if key in volume} for volume in value.volumes
            ]
            stated[_MAPPING] = mapped
        return {**sections, **({_VOLUMES: stated} if stated else {})}

    def _without(self, owner: MetadataOwner, name: str) -> dict[str, Any]:
        roles, stated = owner.section(_ROLES), owner.section(_VOLUMES)
        del roles[name]
        if not stated:
            return {_ROLES: roles}
        mapped = {role: volumes for role, volumes in (stated.get(_MAPPING) or {}).items() if role != name}
        return {_ROLES: roles, _VOLUMES: {**stated, _MAPPING: mapped}}


class Tags(Descriptions[Tag]):
    """Tags; see `backends.base.Tags`."""

    _noun, _section = "tag", _TAGS
    _of_environment, _in_metadata = staticmethod(effective.tags), staticmethod(tags_in)

    def _with(self, connection: Connection, owner: MetadataOwner, value: Tag) -> dict[str, Any]:  # noqa: ARG002 - as in Roles
        return {_TAGS: {**owner.section(_TAGS), value.name: value.metadata}}

    def _without(self, owner: MetadataOwner, name: str) -> dict[str, Any]:
        return {_TAGS: {tag: metadata for tag, metadata in owner.section(_TAGS).items() if tag != name}}

    def _require_unused(self, connection: Connection, owner: MetadataOwner, name: str) -> None:
        """Raise `Conflict` if a role carries the tag, which no other owner describes."""
        carriers: list[str] = []
        if owner.level is Level.RELEASE:
            carriers += _carriers(roles_in(sound(lookup.release(connection, owner.id).metadata)), name, owner.label)
        for cluster_id in own_metadata.clusters_of(connection, owner):
            target = environment.read(connection, cluster_id)
            if not any(name in (metadata.get(_TAGS) or {}) for metadata in metadata_of_owners(target)):
                carriers += _carriers(effective.roles(target), name, f"environment {cluster_id}")
        if carriers:
            raise Conflict(
                f"Tag {name} is carried by role {', '.join(carriers)}.",
                hint="Remove it from the role first: `fuel2 role update`.",
            )


def _carriers(roles: Mapping[str, Role], tag: str, where: str) -> list[str]:
    return [
        f"{role.name} of {where}"
        for role in roles.values()
        if tag in role.tags and role.metadata.get("tags") is not None
    ]


def _require_volumes(connection: Connection, owner: MetadataOwner, role: Role) -> None:
    """Raise `InvalidDocument` if a role takes a volume that is not defined."""
    if owner.level is Level.CLUSTER:
        defined: Any = effective.volumes(environment.read(connection, owner.id))["volumes"]
    else:
        defined = plain(owner.section(_VOLUMES)).get("volumes") or ()
    known = [str(volume.get("id")) for volume in defined if isinstance(volume, Mapping)]
    unknown = [str(volume.get("id")) for volume in role.volumes if str(volume.get("id")) not in known]
    if unknown:
        raise InvalidDocument(
            f"Role {role.name} takes the volume {', '.join(unknown)}, which {owner.label} does not define.",
            hint=f"Defined volumes: {', '.join(known)}." if known else "It defines no volumes.",
        )
