"""Use cases of tags."""

from __future__ import annotations

from collections.abc import Mapping

from fuelclient.engine.inventory import descriptions
from fuelclient.engine.inventory.descriptions import Describer
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment.owners import metadata_of_owners
from fuelclient.environment.roles import roles as roles_of
from fuelclient.environment.roles import tags as tags_of
from fuelclient.errors import Conflict
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.release import Role, Tag, roles_in, tags_in
from fuelclient.serializers.release_parts import sound
from fuelclient.store.database import Connection, Database

_TAGS = "tags_metadata"
_NOUN = "tag"


class Tags:
    """Tags; see `backends.base.Tags`. An owner is named by its level and its id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_release(self, release_id: int) -> Mapping[str, Tag]:
        """The tags of a release, then those that its roles imply; `NotFound` when there is none."""
        with self._database.read() as connection:
            return _known(connection, OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Tag]:
        """The tags of an environment: its release's, its enabled plugins' and its own."""
        with self._database.read() as connection:
            return _known(connection, OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, tag: Tag) -> Tag:
        """A new tag. `Conflict` when the owner has one of this name itself; one that a role only implies is described
        from now on, and in an environment it takes the place of one of its release or of a plugin."""
        with self._database.write() as connection:
            describer = descriptions.read(connection, owner)
            descriptions.require_new(_NOUN, tag.name, describer, describer.section(_TAGS))
            return _written(connection, describer, tag)

    def update(self, owner: OwnerRef, tag: Tag) -> Tag:
        """The tag of this name is `tag`. `NotFound` when there is none, `Conflict` when it is not the owner's own."""
        with self._database.write() as connection:
            describer = descriptions.read(connection, owner)
            _require_own(connection, describer, tag.name)
            return _written(connection, describer, tag)

    def delete(self, owner: OwnerRef, name: str) -> None:
        """Remove a tag. Errors as in `update`; `Conflict` also while a role carries it and nobody else describes it."""
        with self._database.write() as connection:
            describer = descriptions.read(connection, owner)
            _require_own(connection, describer, name)
            tags = {tag: meta for tag, meta in describer.section(_TAGS).items() if tag != name}
            descriptions.write(connection, describer, {_TAGS: tags})
            _require_unused(connection, describer, name)


def _known(connection: Connection, owner: OwnerRef) -> Mapping[str, Tag]:
    if owner.level is Level.CLUSTER:
        return tags_of(environment.read(connection, owner.id))
    return tags_in(sound(lookup.release(connection, owner.id).metadata))


def _require_own(connection: Connection, owner: Describer, name: str) -> None:
    own = owner.section(_TAGS)
    known = _known(connection, owner.ref)
    if name not in own and name in known and owner.level is Level.RELEASE:
        raise Conflict(
            f"Tag {name} is described nowhere: a role of {owner.label} implies it.",
            hint="Describe it with `fuel2 tag create`, or change the role.",
        )
    owners = {tag.name: tag.owner for tag in known.values()}
    descriptions.require_own(connection, _NOUN, name, owner, own, owners)


def _require_unused(connection: Connection, owner: Describer, name: str) -> None:
    """Nothing happens when no role carries a tag that its owner has no more, or when somebody else describes it."""
    carried: dict[str, str] = {}
    if owner.level is Level.RELEASE:
        roles = roles_in(sound(lookup.release(connection, owner.id).metadata))
        carried.update(_carriers(roles, name, owner.label))
    for cluster_id in descriptions.clusters_of(connection, owner):
        members = environment.read(connection, cluster_id)
        stated = list(metadata_of_owners(members))
        if not any(name in (one.get(_TAGS) or {}) for one in stated):
            carried.update(_carriers(roles_of(members), name, f"environment {cluster_id}"))
    if carried:
        told = ", ".join(f"{role} of {where}" for role, where in carried.items())
        hint = "Take it from the role first: `fuel2 role update`."
        raise Conflict(f"Tag {name} is carried by role {told}.", hint=hint)


def _carriers(roles: Mapping[str, Role], name: str, where: str) -> dict[str, str]:
    return {role.name: where for role in roles.values() if name in role.tags and role.metadata.get("tags") is not None}


def _written(connection: Connection, owner: Describer, tag: Tag) -> Tag:
    descriptions.write(connection, owner, {_TAGS: {**owner.section(_TAGS), tag.name: tag.metadata}})
    return _known(connection, owner.ref)[tag.name]
