"""What a release or an environment describes itself: the records of one section of its metadata, roles or tags.

A release has its own, but for one that a plugin defines: what that has comes from the plugin's package. An environment
has its own above those of its release and of its plugins. Source: Nailgun, where both have `roles_metadata`,
`tags_metadata` and `volumes_metadata`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuelclient.engine.reading import environment, lookup
from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.serializers.release_parts import sound
from fuelclient.serializers.role import require_name
from fuelclient.serializers.values import plain
from fuelclient.store import clusters, releases
from fuelclient.store.database import Connection


@dataclass(frozen=True, slots=True)
class Describer:
    """A release or an environment, and the metadata that it states itself."""

    ref: OwnerRef
    metadata: Mapping[str, Any]

    @property
    def level(self) -> Level:
        return self.ref.level

    @property
    def id(self) -> int:
        return self.ref.id

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{'environment' if self.level is Level.CLUSTER else 'release'} {self.id}"

    def section(self, name: str) -> dict[str, Any]:
        """The records of one section by name, without what is malformed."""
        found = sound(self.metadata).get(name)
        return dict(found) if isinstance(found, Mapping) else {}


def read(connection: Connection, owner: OwnerRef) -> Describer:
    """Return the owner to change.

    Raise `NotFound` if it does not exist, `Conflict` for a release that a plugin defines, `UsageError` for a plugin.
    """
    if owner.level is Level.CLUSTER:
        lookup.cluster(connection, owner.id)
        return Describer(owner, clusters.metadata(connection, owner.id))
    if owner.level is not Level.RELEASE:
        raise UsageError("A plugin has the roles and tags of its package.", hint="Name a release or an environment.")
    release = lookup.release(connection, owner.id)
    if release.plugin_id is not None:
        plugin = lookup.plugin(connection, release.plugin_id)
        raise Conflict(
            f"Release {owner.id} belongs to plugin {plugin.label}: what it has comes from that package.",
            hint="Change the package and install it again, or change an environment (--env).",
        )
    return Describer(owner, release.metadata)


def write(connection: Connection, owner: Describer, changed: Mapping[str, Any]) -> None:
    """The sections of `changed` are the owner's from now on; the others stay. Raises `Conflict` when a node would have
    a role that its environment does not know any more."""
    from fuelclient.engine.packages import enable  # what only reads does without

    metadata = {**plain(owner.metadata), **plain(changed)}
    if owner.level is Level.CLUSTER:
        clusters.put_metadata(connection, owner.id, {key: value for key, value in metadata.items() if value})
    else:
        releases.update(connection, replace(lookup.release(connection, owner.id), metadata=metadata))
    for cluster_id in clusters_of(connection, owner):
        enable.require_roles(connection, cluster_id, f"which {owner.label} would have no more")


def clusters_of(connection: Connection, owner: Describer) -> Sequence[int]:
    """The environments for which it matters what the owner describes."""
    if owner.level is Level.CLUSTER:
        return [owner.id]
    return [one.id for one in clusters.of_release(connection, owner.id)]


def require_new(noun: str, name: str, owner: Describer, own: Mapping[str, Any]) -> None:
    """Nothing happens for a name that the owner does not have yet; `Conflict` otherwise."""
    require_name(noun, name)
    if name in own:
        raise Conflict(
            f"{noun.capitalize()} {name} of {owner.label} exists already.", hint=f"Change it: `fuel2 {noun} update`."
        )


def require_own(
    connection: Connection, noun: str, name: str, owner: Describer, own: Mapping[str, Any], owners: Mapping[str, str]
) -> None:
    """Nothing happens for a record that the owner describes itself. `Conflict` for one that it only has from somebody
    else, whom `owners` names; `NotFound` for one that it has not at all."""
    if name in own:
        return
    if name not in owners:
        raise NotFound(noun, name, known=sorted({*own, *owners}))
    whose = owners[name]
    if whose == "release":
        release_id = _release_of(connection, owner)
        raise Conflict(
            f"{noun.capitalize()} {name} belongs to release {release_id}, not to {owner.label}.",
            hint=f"Name it with --release {release_id}, or put one of this name above it: `fuel2 {noun} create`.",
        )
    raise Conflict(
        f"{noun.capitalize()} {name} belongs to {whose}.",
        hint="It comes from that package, and goes when the plugin is disabled.",
    )


def _release_of(connection: Connection, owner: Describer) -> int:
    if owner.level is Level.CLUSTER:
        return environment.read(connection, owner.id).release.id
    return owner.id
