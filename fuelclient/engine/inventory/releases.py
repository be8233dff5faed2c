"""Import, read and delete releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.inventory.roles import owner_to_change, put_sections
from fuelclient.engine.reading import lookup
from fuelclient.environment.checks import deletion, require_id, require_name, require_printable
from fuelclient.errors import Conflict
from fuelclient.model.graph import DEFAULT_TYPE, Level, OwnerRef
from fuelclient.model.release import Release
from fuelclient.serializers.release import repositories_in, with_repositories
from fuelclient.serializers.release_metadata import well_formed
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, releases


class Releases(Facet):
    """Releases; see `backends.base.Releases`."""

    @reads
    def list(self, connection: Connection) -> Sequence[Release]:
        return releases.every(connection)

    @reads
    def get(self, connection: Connection, release_id: int) -> Release:
        return lookup.release(connection, release_id)

    def create(self, wanted: Sequence[Release]) -> Sequence[Release]:
        """Keep the given ids that are free; other releases get new ids in the order of `wanted`."""
        for release in wanted:
            require_name("release", release.name)
            require_printable("release's version", release.version)
        with self._database.write() as connection:
            _require_new(connection, wanted)
            taken, with_free_ids = {0, *releases.ids(connection)}, []
            for release in wanted:
                with_free_ids.append(replace(release, id=0) if release.id in taken else release)
                taken.add(release.id)
            created = releases.insert_all(connection, with_free_ids)
            for release in created:
                graphs.create(connection, Level.RELEASE, release.id, DEFAULT_TYPE)
            return created

    def update(self, release: Release) -> Release:
        require_printable("release's version", release.version)
        with self._database.write() as connection:
            if release.name != lookup.release(connection, release.id).name:
                require_name("release", release.name)
            owner = owner_to_change(connection, OwnerRef(Level.RELEASE, release.id))
            if (existing := releases.named(connection, release.name, release.version)) not in (None, release.id):
                raise _conflict_with((release, existing))
            releases.update(connection, release)
            put_sections(connection, owner, release.metadata)
            return lookup.release(connection, release.id)

    @writes
    def delete(self, connection: Connection, release_id: int) -> None:
        release = lookup.release(connection, release_id)
        if release.plugin_id is not None:
            plugin = lookup.plugin(connection, release.plugin_id)
            raise Conflict(
                f"Release {release_id} belongs to plugin {plugin.name} {plugin.version} and goes with it.",
                hint=f"Remove the plugin: `fuel2 plugins remove {plugin.name} {plugin.version}`.",
            )
        if users := clusters.every(connection, release_id=release_id):
            names = ", ".join(f"{user.id} ({user.name})" for user in users)
            raise Conflict(
                f"Release {release_id} is used by environment {names}.",
                hint=f"Delete that first: {deletion(users[0])}.",
            )
        releases.delete(connection, release_id)

    @reads
    def components(self, connection: Connection, release_id: int) -> Sequence[Mapping[str, Any]]:
        """The plugins are in the order of their names and versions."""
        from fuelclient.plugins.select import is_compatible, select  # nothing else here needs it

        release = lookup.release(connection, release_id)
        release = replace(release, metadata=well_formed(release.metadata))
        components = [*(release.metadata.get("components_metadata") or ())]
        for plugin in plugins.every(connection):
            package = plugins.package(connection, plugin.id)
            if package is not None and plugin.is_linked:
                package = lookup.last_package(connection, plugin)
            if package is not None and is_compatible(package, release):
                components += select(package, release).contents.components
        return components

    @reads
    def repositories(self, connection: Connection, release_id: int) -> Sequence[Mapping[str, Any]]:
        return repositories_in(lookup.release(connection, release_id).metadata)

    @writes
    def set_repositories(
        self, connection: Connection, release_id: int, repositories: Sequence[Mapping[str, Any]]
    ) -> None:
        owner = owner_to_change(connection, OwnerRef(Level.RELEASE, release_id))
        put_sections(connection, owner, with_repositories(owner.metadata, repositories))


def _require_new(connection: Connection, wanted: Sequence[Release]) -> None:
    seen = set()
    for release in wanted:
        require_id("release", release.id)
        key = (release.name, release.version)
        if key in seen:
            raise Conflict(f"Release {' '.join(key)} is given twice.", hint="Keep one of them; nothing was stored.")
        seen.add(key)
    stored = [(release, releases.named(connection, release.name, release.version)) for release in wanted]
    if found := [(release, existing) for release, existing in stored if existing is not None]:
        raise _conflict_with(*found)


def _conflict_with(*found: tuple[Release, int | None]) -> Conflict:
    """The error about releases that exist already, each with the id under which it does."""
    what, key = ("it", found[0][1]) if len(found) == 1 else ("them", "ID")
    return Conflict(
        " ".join(f"Release {each.name} {each.version} already exists, as release {key}." for each, key in found),
        hint=f"Use {what}, or delete {what} first: `fuel2 release delete {key}`.",
    )
