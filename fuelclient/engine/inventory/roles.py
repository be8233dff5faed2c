"""Create, change and delete the roles and tags in the metadata of releases and environments.

If a plugin defines a release, the release's roles and tags come from the plugin's package and cannot be changed. Those
of an environment override those of its release and of its plugins. Source: Nailgun, where releases and environments
have `roles_metadata`, `tags_metadata` and `volumes_metadata`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment import roles as effective
from fuelclient.environment.roles import metadata_of_owners
from fuelclient.errors import Conflict, InvalidDocument, NotFound, UsageError
from fuelclient.model.environment import Environment
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.release import Role, Tag, roles_in, tags_in
from fuelclient.serializers.release import require_name
from fuelclient.serializers.release_metadata import well_formed
from fuelclient.serializers.values import plain
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, releases

Value = TypeVar("Value", Role, Tag)


@dataclass(frozen=True, slots=True)
class MetadataOwner(OwnerRef):
    """A release or an environment, and its own metadata."""

    metadata: Mapping[str, Any]

    @property
    def label(self) -> str:
        return f"{'environment' if self.level is Level.CLUSTER else 'release'} {self.id}"

    def section(self, name: str) -> dict[str, Any]:
        """Return the well-formed records of one section, by name."""
        records = well_formed(self.metadata).get(name)
        return dict(records) if isinstance(records, Mapping) else {}


def owner_to_change(connection: Connection, owner: OwnerRef) -> MetadataOwner:
    """Read a release or an environment whose roles or tags are to be changed.

    Raise `NotFound` if it does not exist, `Conflict` for a release that a plugin defines, `UsageError` for a plugin.
    """
    if owner.level is Level.CLUSTER:
        lookup.cluster(connection, owner.id)
        return MetadataOwner(owner.level, owner.id, clusters.metadata(connection, owner.id))
    if owner.level is not Level.RELEASE:
        raise UsageError(
            "The roles and tags of a plugin are those of its package.", hint="Name a release or an environment."
        )
    release = lookup.release(connection, owner.id)
    if release.plugin_id is not None:
        plugin = lookup.plugin(connection, release.plugin_id)
        raise Conflict(
            f"Release {owner.id} belongs to plugin {plugin.label}: it is described in the package.",
            hint="Change the package and install it again, or change an environment (--env).",
        )
    return MetadataOwner(owner.level, owner.id, release.metadata)


def put_sections(connection: Connection, owner: MetadataOwner, changed: Mapping[str, Any]) -> None:
    """Replace the sections of `changed` in the owner's metadata.

    Raise `Conflict` if a node has a role that its environment would no longer know.
    """
    from fuelclient.engine.packages import enable  # only changes need it

    metadata = {**plain(owner.metadata), **plain(changed)}
    if owner.level is Level.CLUSTER:
        clusters.put_metadata(connection, owner.id, {key: value for key, value in metadata.items() if value})
    else:
        releases.update(connection, replace(lookup.release(connection, owner.id), metadata=metadata))
    for cluster_id in lookup.environments_with(connection, owner):
        enable.require_roles(connection, cluster_id, f"which {owner.label} would no longer have")


class Descriptions(Facet, Generic[Value]):
    """Roles or tags; see `backends.base.Descriptions`.

    `_section` names their section of the metadata. `_of_environment` reads all roles or tags of an environment,
    `_in_metadata` those in the metadata of a release.
    """

    _noun: str
    _section: str
    _of_environment: Callable[[Environment], Mapping[str, Value]]
    _in_metadata: Callable[[Mapping[str, Any]], Mapping[str, Value]]

    @reads
    def of_release(self, connection: Connection, release_id: int) -> Mapping[str, Value]:
        return self._all_of(connection, OwnerRef(Level.RELEASE, release_id))

    @reads
    def of_cluster(self, connection: Connection, cluster_id: int) -> Mapping[str, Value]:
        return self._all_of(connection, OwnerRef(Level.CLUSTER, cluster_id))

    @writes
    def create(self, connection: Connection, owner: OwnerRef, value: Value, /) -> Value:
        metadata_owner = owner_to_change(connection, owner)
        require_name(self._noun, value.name)
        if value.name in metadata_owner.section(self._section):
            raise Conflict(
                f"{self._noun.capitalize()} {value.name} of {metadata_owner.label} already exists.",
                hint=f"Change it: `fuel2 {self._noun} update`.",
            )
        return self._put(connection, metadata_owner, value)

    @writes
    def update(self, connection: Connection, owner: OwnerRef, value: Value, /) -> Value:
        return self._put(connection, self._owner_with(connection, owner, value.name), value)

    @writes
    def delete(self, connection: Connection, owner: OwnerRef, name: str) -> None:
        metadata_owner = self._owner_with(connection, owner, name)
        put_sections(connection, metadata_owner, self._without(metadata_owner, name))
        self._require_unused(connection, metadata_owner, name)

    def _with(self, connection: Connection, owner: MetadataOwner, value: Value) -> dict[str, Any]:  # noqa: ARG002 - for roles
        """Return the changed sections: the owner's, with `value` added or put in place of the record with its name."""
        return {self._section: {**owner.section(self._section), value.name: value.metadata}}

    def _without(self, owner: MetadataOwner, name: str) -> dict[str, Any]:
        """Return the changed sections: the owner's, without the role or tag of this name."""
        records = owner.section(self._section)
        del records[name]
        return {self._section: records}

    def _require_unused(self, connection: Connection, owner: MetadataOwner, name: str) -> None:
        """Raise `Conflict` if something other than a node, such as a role, still uses the removed record."""

    def _put(self, connection: Connection, owner: MetadataOwner, value: Value) -> Value:
        put_sections(connection, owner, self._with(connection, owner, value))
        return self._all_of(connection, owner)[value.name]

    def _all_of(self, connection: Connection, owner: OwnerRef) -> Mapping[str, Value]:
        if owner.level is Level.CLUSTER:
            return self._of_environment(environment.read(connection, owner.id))
        return self._in_metadata(well_formed(lookup.release(connection, owner.id).metadata))

    def _owner_with(self, connection: Connection, owner: OwnerRef, name: str) -> MetadataOwner:
        """Read the owner. Raise `NotFound` if it has no role or tag of this name, `Conflict` if that is inherited."""
        metadata_owner = owner_to_change(connection, owner)
        own = metadata_owner.section(self._section)
        if name in own:
            return metadata_owner
        known, noun = self._all_of(connection, owner), self._noun.capitalize()
        if name not in known:
            raise NotFound(self._noun, name, known=sorted(set(own).union(known)))
        if owner.level is Level.RELEASE:
            raise Conflict(
                f"{noun} {name} has no description: it exists only because a role of {metadata_owner.label} lists it.",
                hint=f"Describe it with `fuel2 {self._noun} create`, or change the role.",
            )
        if known[name].owner == "release":
            release_id = lookup.cluster(connection, owner.id).release_id
            raise Conflict(
                f"{noun} {name} belongs to release {release_id}, not to {metadata_owner.label}.",
                hint=f"Name the release (--release {release_id}), or create one of this name in the environment: "
                f"`fuel2 {self._noun} create`.",
            )
        raise Conflict(
            f"{noun} {name} belongs to {known[name].owner}.",
            hint="It comes from the plugin's package, and disappears when the plugin is disabled.",
        )


_ROLES, _TAGS = "roles_metadata", "tags_metadata"
_VOLUMES, _MAPPING = "volumes_metadata", "volumes_roles_mapping"


class Roles(Descriptions[Role]):
    """Roles; see `backends.base.Roles`."""

    _noun, _section = "role", _ROLES
    _of_environment, _in_metadata = staticmethod(effective.roles), staticmethod(roles_in)

    def _with(self, connection: Connection, owner: MetadataOwner, value: Role) -> dict[str, Any]:
        sections = super()._with(connection, owner, value)
        disks = owner.section(_VOLUMES)
        mapped = dict(disks.get(_MAPPING) or {})
        if value.volumes or value.name in mapped:
            _require_volumes(connection, owner, value)
            mapped[value.name] = [
                {key: volume[key] for key in ("id", "allocate_size") if key in volume} for volume in value.volumes
            ]
            disks[_MAPPING] = mapped
        return {**sections, **({_VOLUMES: disks} if disks else {})}

    def _without(self, owner: MetadataOwner, name: str) -> dict[str, Any]:
        sections, disks = super()._without(owner, name), owner.section(_VOLUMES)
        if disks:
            mapped = {role: volumes for role, volumes in (disks.get(_MAPPING) or {}).items() if role != name}
            sections[_VOLUMES] = {**disks, _MAPPING: mapped}
        return sections


class Tags(Descriptions[Tag]):
    """Tags; see `backends.base.Tags`."""

    _noun, _section = "tag", _TAGS
    _of_environment, _in_metadata = staticmethod(effective.tags), staticmethod(tags_in)

    def _require_unused(self, connection: Connection, owner: MetadataOwner, name: str) -> None:
        """Raise `Conflict` if a role still has the tag and no other owner describes the tag."""
        users: list[str] = []
        if owner.level is Level.RELEASE:
            metadata = well_formed(lookup.release(connection, owner.id).metadata)
            users += _roles_with(roles_in(metadata), name, owner.label)
        for cluster_id in lookup.environments_with(connection, owner):
            target = environment.read(connection, cluster_id)
            if not any(name in (metadata.get(_TAGS) or {}) for metadata in metadata_of_owners(target)):
                users += _roles_with(effective.roles(target), name, f"environment {cluster_id}")
        if users:
            raise Conflict(
                f"Tag {name} is carried by role {', '.join(users)}.",
                hint="Remove it from the role first: `fuel2 role update`.",
            )


def _roles_with(roles: Mapping[str, Role], tag: str, where: str) -> list[str]:
    return [
        f"{role.name} of {where}"
        for role in roles.values()
        if tag in role.tags and role.metadata.get("tags") is not None
    ]


def _require_volumes(connection: Connection, owner: MetadataOwner, role: Role) -> None:
    if owner.level is Level.CLUSTER:
        defined: Any = effective.volumes(environment.read(connection, owner.id))["volumes"]
    else:
        defined = plain(owner.section(_VOLUMES)).get("volumes") or ()
    known = [str(volume.get("id")) for volume in defined if isinstance(volume, Mapping)]
    if unknown := [str(volume.get("id")) for volume in role.volumes if str(volume.get("id")) not in known]:
        raise InvalidDocument(
            f"Role {role.name} uses volumes that {owner.label} does not define: {', '.join(unknown)}.",
            hint=f"Defined volumes: {', '.join(known)}." if known else "It defines no volumes.",
        )
