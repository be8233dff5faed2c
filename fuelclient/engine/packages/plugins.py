"""The engine's side of `backends.base.Plugins`.

The modules that install packages import many readers of files, which a preview does not need. So they are imported
late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup
from fuelclient.model.finding import Finding
from fuelclient.model.package import Selection
from fuelclient.model.plugin import Installed, Plugin, Synced
from fuelclient.store import plugins
from fuelclient.store.database import Connection

if TYPE_CHECKING:
    from fuelclient.plan.inputs import EnvironmentChange


class Plugins(Facet):
    """Registered plugins; see `backends.base.Plugins`."""

    @reads
    def list(self, connection: Connection) -> Sequence[Plugin]:
        """As `base.Plugins`."""
        return plugins.every(connection)

    @reads
    def get(self, connection: Connection, plugin_id: int) -> Plugin:
        """As `base.Plugins`."""
        plugin = lookup.plugin(connection, plugin_id)
        return lookup.as_now(plugin, lookup.last_package(connection, plugin)) if plugin.is_linked else plugin

    @reads
    def named(self, connection: Connection, name: str, version: str = "") -> Plugin:
        """As `base.Plugins`."""
        return lookup.plugin_named(connection, name, version)

    def install(self, path: str, *, force: bool = False, link: bool = False) -> Installed:
        """As `base.Plugins`."""
        from fuelclient.engine.packages import install

        return install.install(self._database, path, force=force, link=link)

    @writes
    def describe(self, connection: Connection, plugin_id: int, stated: Mapping[str, Any]) -> Plugin:
        """As `base.Plugins`."""
        plugin = lookup.plugin(connection, plugin_id)
        changed = replace(plugin, title=stated.get("title", plugin.title), metadata={**plugin.metadata, **stated})
        plugins.update(connection, changed)
        return changed

    def remove(self, plugin_id: int) -> None:
        """As `base.Plugins`."""
        from fuelclient.engine.packages import install

        install.remove(self._database, plugin_id)

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        """As `base.Plugins`. Raise `NotFound` for an unknown id."""
        from fuelclient.engine.packages import install

        return install.sync(self._database, plugin_ids)

    @reads
    def enabled(self, connection: Connection, cluster_id: int) -> Sequence[Plugin]:
        """As `base.Plugins`."""
        return environment.read(connection, cluster_id).plugins

    def enable(self, plugin_id: int, cluster_id: int, values: Mapping[str, Any] | None = None) -> tuple[Finding, ...]:
        """As `base.Plugins`; `engine.packages.enable` does it."""
        from fuelclient.engine.packages import enable

        with self._database.write() as connection, environment.keeping_rules(connection, [cluster_id]):
            findings = enable.enable(connection, plugin_id, cluster_id)
            enable.set_values(connection, plugin_id, cluster_id, values or {})
            return findings

    def enabling(self, plugin_ids: Sequence[int], cluster_id: int, values: Mapping[str, Any]) -> EnvironmentChange:
        """As `base.Plugins`; all of it is done and undone."""
        from fuelclient.engine.packages import enable

        with self._database.undone() as connection, environment.keeping_rules(connection, [cluster_id]):
            return enable.enabling(connection, plugin_ids, cluster_id, values)

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        """As `base.Plugins`; `engine.packages.enable` does it."""
        from fuelclient.engine.packages import enable

        with self._database.write() as connection:
            enable.disable(connection, plugin_id, cluster_id)

    def selection(self, plugin_id: int, release_id: int) -> Selection:
        """As `base.Plugins`. Raise `NotFound` if the plugin or the release does not exist."""
        from fuelclient.plugins.select import select

        with self._database.read() as connection:
            plugin = lookup.plugin(connection, plugin_id)
            return select(lookup.package(connection, plugin), lookup.release(connection, release_id))
