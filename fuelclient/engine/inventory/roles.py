"""Use cases of roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.engine.inventory import descriptions
from fuelclient.engine.inventory.descriptions import Describer
from fuelclient.engine.reading import environment, lookup
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level
from fuelclient.model.release import Role, roles_in
from fuelclient.serializers.release_parts import sound
from fuelclient.serializers.values import plain
from fuelclient.store.database import Connection, Database

_ROLES, _VOLUMES, _MAPPING = "roles_metadata", "volumes_metadata", "volumes_roles_mapping"
_NOUN = "role"


class Roles:
    """Roles; see `backends.base.Roles`. An owner is named by its level and its id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_release(self, release_id: int) -> Mapping[str, Role]:
        """The roles of a release, in its order; `NotFound` when there is none."""
        with self._database.read() as connection:
            return _known(connection, Level.RELEASE, release_id)

    def of_cluster(self, cluster_id: int) -> Mapping[str, Role]:
        """The roles of an environment: its release's, its enabled plugins' and its own."""
        with self._database.read() as connection:
            return _known(connection, Level.CLUSTER, cluster_id)

    def create(self, level: Level, owner_id: int, role: Role) -> Role:
        """A new role. `Conflict` when the owner has one of this name itself; in an environment it takes the place of
        one of its release or of a plugin."""
        with self._database.write() as connection:
            owner = descriptions.read(connection, level, owner_id)
            descriptions.require_new(_NOUN, role.name, owner, owner.section(_ROLES))
            return _written(connection, owner, role)

    def update(self, level: Level, owner_id: int, role: Role) -> Role:
        """The role of this name is `role`. `NotFound` when there is none, `Conflict` when it is not the owner's own."""
        with self._database.write() as connection:
            owner = _owner_of(connection, level, owner_id, role.name)
            return _written(connection, owner, role)

    def delete(self, level: Level, owner_id: int, name: str) -> None:
        """Remove a role with its volumes. Errors as in `update`; `Conflict` also while a node has it, unless the node's
        environment still knows one of this name."""
        with self._database.write() as connection:
            owner = _owner_of(connection, level, owner_id, name)
            roles = owner.section(_ROLES)
            del roles[name]
            volumes = owner.section(_VOLUMES)
            mapped = {role: one for role, one in (volumes.get(_MAPPING) or {}).items() if role != name}
            kept = {**volumes, _MAPPING: mapped} if volumes else {}
            descriptions.write(connection, owner, {_ROLES: roles, **({_VOLUMES: kept} if kept else {})})


def _known(connection: Connection, level: Level, owner_id: int) -> Mapping[str, Role]:
    if level is Level.CLUSTER:
        return environment.read(connection, owner_id).roles
    return roles_in(sound(lookup.release(connection, owner_id).metadata))


def _owner_of(connection: Connection, level: Level, owner_id: int, name: str) -> Describer:
    """The owner, which describes the role itself."""
    owner = descriptions.read(connection, level, owner_id)
    owners = {role.name: role.owner for role in _known(connection, level, owner_id).values()}
    descriptions.require_own(connection, _NOUN, name, owner, owner.section(_ROLES), owners)
    return owner


def _written(connection: Connection, owner: Describer, role: Role) -> Role:
    """The role as the owner has it from now on: in the place of one of this name, or after all others."""
    roles = owner.section(_ROLES)
    roles[role.name] = role.metadata
    volumes = owner.section(_VOLUMES)
    mapped = dict(volumes.get(_MAPPING) or {})
    if role.volumes or role.name in mapped:
        _require_volumes(connection, owner, role)
        mapped[role.name] = [{key: one[key] for key in ("id", "allocate_size") if key in one} for one in role.volumes]
        volumes[_MAPPING] = mapped
    descriptions.write(connection, owner, {_ROLES: roles, **({_VOLUMES: volumes} if volumes else {})})
    return _known(connection, owner.level, owner.id)[role.name]


def _require_volumes(connection: Connection, owner: Describer, role: Role) -> None:
    """Nothing happens when somebody defines all volumes that a role takes; `InvalidDocument` otherwise."""
    if owner.level is Level.CLUSTER:
        defined: Any = environment.read(connection, owner.id).volumes["volumes"]
    else:
        defined = plain(owner.section(_VOLUMES)).get("volumes") or ()
    known = [str(one.get("id")) for one in defined if isinstance(one, Mapping)]
    unknown = [str(one.get("id")) for one in role.volumes if str(one.get("id")) not in known]
    if unknown:
        raise InvalidDocument(
            f"Role {role.name} takes the volume {', '.join(unknown)}, which {owner.label} does not define.",
            hint=f"Volumes there are: {', '.join(known)}." if known else "It defines no volumes.",
        )
