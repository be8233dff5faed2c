"""Use cases of plugins.

What installs packages reads files of many kinds: it is imported when something is installed, because a preview
needs none of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.engine.reading import lookup
from fuelclient.model.finding import Finding
from fuelclient.model.package import Selection
from fuelclient.model.plugin import Installed, Plugin, Synced
from fuelclient.store import plugins
from fuelclient.store.database import Database


class Plugins:
    """Registered plugins; see `backends.base.Plugins`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> Sequence[Plugin]:
        """All plugins by name and version."""
        with self._database.read() as connection:
            return plugins.every(connection)

    def get(self, plugin_id: int) -> Plugin:
        """One plugin; `NotFound` when there is none."""
        with self._database.read() as connection:
            return lookup.plugin(connection, plugin_id)

    def named(self, name: str, version: str = "") -> Plugin:
        """The plugin of this name and version. `NotFound` when there is none; without `version` `UsageError` when
        there are several."""
        with self._database.read() as connection:
            return lookup.plugin_named(connection, name, version)

    def install(self, path: str, *, force: bool = False) -> Installed:
        """Register the package in `path`, all of it or nothing. `Conflict`, `InvalidDocument`, `NotFound`."""
        from fuelclient.engine.packages import install

        return install.install(self._database, path, force=force)

    def remove(self, plugin_id: int) -> None:
        """Remove a plugin with its graphs, releases and files; `Conflict` while any of them is in use."""
        from fuelclient.engine.packages import install

        install.remove(self._database, plugin_id)

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        """Read the unpacked packages again (none: all of them), and register what changed; `NotFound` for an
        unknown id."""
        from fuelclient.engine.packages import install

        return install.sync(self._database, plugin_ids)

    def enable(self, plugin_id: int, cluster_id: int) -> tuple[Finding, ...]:
        """The plugin takes part in the environment, whether it did or not; what there is to know about that.
        `Conflict` with all reasons when it cannot."""
        from fuelclient.engine.packages import enable

        with self._database.write() as connection:
            return enable.enable(connection, plugin_id, cluster_id)

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        """The plugin takes no part in the environment, whether it did or not. `Conflict` while a node of the
        environment has a role that only this plugin brings, and on a deployed environment."""
        from fuelclient.engine.packages import enable

        with self._database.write() as connection:
            enable.disable(connection, plugin_id, cluster_id)

    def selection(self, plugin_id: int, release_id: int) -> Selection:
        """What of the plugin's package is meant for a release, and why; `NotFound` for an unknown one."""
        from fuelclient.plugins.select import select

        with self._database.read() as connection:
            plugin = lookup.plugin(connection, plugin_id)
            return select(lookup.package(connection, plugin), lookup.release(connection, release_id))
