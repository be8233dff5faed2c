"""Use cases of roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.engine.inventory import descriptions
from fuelclient.engine.inventory.descriptions import Describer
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment.roles import roles as roles_of
from fuelclient.environment.roles import volumes
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level, OwnerRef
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
            return _known(connection, OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Role]:
        """The roles of an environment: its release's, its enabled plugins' and its own."""
        with self._database.read() as connection:
            return _known(connection, OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, role: Role) -> Role:
        """A new role. `Conflict` when the owner has one of this name itself; in an environment it takes the place of
        one of its release or of a plugin."""
        with self._database.write() as connection:
            describer = descriptions.read(connection, owner)
            descriptions.require_new(_NOUN, role.name, describer, describer.section(_ROLES))
            return _written(connection, describer, role)

    def update(self, owner: OwnerRef, role: Role) -> Role:
        """The role of this name is `role`. `NotFound` when there is none, `Conflict` when it is not the owner's own."""
        with self._database.write() as connection:
            return _written(connection, _describer(connection, owner, role.name), role)

    def delete(self, owner: OwnerRef, name: str) -> None:
        """Remove a role with its volumes. Errors as in `update`; `Conflict` also while a node has it, unless the node's
        environment still knows one of this name."""
        with self._database.write() as connection:
            describer = _describer(connection, owner, name)
            roles = describer.section(_ROLES)
            del roles[name]
            stated = describer.section(_VOLUMES)
            mapped = {role: taken for role, taken in (stated.get(_MAPPING) or {}).items() if role != name}
            kept = {**stated, _MAPPING: mapped} if stated else {}
            descriptions.write(connection, describer, {_ROLES: roles, **({_VOLUMES: kept} if kept else {})})


def _known(connection: Connection, owner: OwnerRef) -> Mapping[str, Role]:
    if owner.level is Level.CLUSTER:
        return roles_of(environment.read(connection, owner.id))
    return roles_in(sound(lookup.release(connection, owner.id).metadata))


def _describer(connection: Connection, owner: OwnerRef, name: str) -> Describer:
    """Return the owner. Raise `Conflict` if the role is not its own."""
    describer = descriptions.read(connection, owner)
    owners = {role.name: role.owner for role in _known(connection, owner).values()}
    descriptions.require_own(connection, _NOUN, name, describer, describer.section(_ROLES), owners)
    return describer


def _written(connection: Connection, owner: Describer, role: Role) -> Role:
    """The role as the owner has it from now on: in the place of one of this name, or after all others."""
    roles = owner.section(_ROLES)
    roles[role.name] = role.metadata
    stated = owner.section(_VOLUMES)
    mapped = dict(stated.get(_MAPPING) or {})
    if role.volumes or role.name in mapped:
        _require_volumes(connection, owner, role)
        mapped[role.name] = [{key: one[key] for key in ("id", "allocate_size") if key in one} for one in role.volumes]
        stated[_MAPPING] = mapped
    descriptions.write(connection, owner, {_ROLES: roles, **({_VOLUMES: stated} if stated else {})})
    return _known(connection, owner.ref)[role.name]


def _require_volumes(connection: Connection, owner: Describer, role: Role) -> None:
    """Nothing happens when somebody defines all volumes that a role takes; `InvalidDocument` otherwise."""
    if owner.level is Level.CLUSTER:
        defined: Any = volumes(environment.read(connection, owner.id))["volumes"]
    else:
        defined = plain(owner.section(_VOLUMES)).get("volumes") or ()
    known = [str(one.get("id")) for one in defined if isinstance(one, Mapping)]
    unknown = [str(one.get("id")) for one in role.volumes if str(one.get("id")) not in known]
    if unknown:
        raise InvalidDocument(
            f"Role {role.name} takes the volume {', '.join(unknown)}, which {owner.label} does not define.",
            hint=f"Volumes there are: {', '.join(known)}." if known else "It defines no volumes.",
        )
