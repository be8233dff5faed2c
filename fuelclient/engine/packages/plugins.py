"""Plugins of the engine; see `backends.base.Plugins`.

The modules that install packages are imported late: they import many file readers, which a preview does not need.

A settings document can enable and disable plugins, too: Nailgun keeps plugins among the settings, where
`metadata.enabled` in a section is true if a version is enabled. A section without that key changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment.checks import plugin_named
from fuelclient.environment.settings import METADATA
from fuelclient.errors import InvalidDocument, NotFound, UsageError
from fuelclient.model.finding import Finding, require_no_errors
from fuelclient.model.package import Selection
from fuelclient.model.plugin import Installed, Plugin, Synced
from fuelclient.plan.inputs import EnvironmentChange
from fuelclient.store import plugins
from fuelclient.store.database import Connection


class Plugins(Facet):
    """Registered plugins; see `backends.base.Plugins`."""

    @reads
    def list(self, connection: Connection) -> Sequence[Plugin]:
        return plugins.every(connection)

    @reads
    def get(self, connection: Connection, plugin_id: int) -> Plugin:
        plugin = lookup.plugin(connection, plugin_id)
        return lookup.as_now(plugin, lookup.last_package(connection, plugin)) if plugin.is_linked else plugin

    @reads
    def named(self, connection: Connection, name: str, version: str = "") -> Plugin:
        return plugin_named(plugins.every(connection), name, version)

    def install(self, path: str, *, force: bool = False, link: bool = False) -> Installed:
        from fuelclient.engine.packages import install

        return install.install(self._database, path, force=force, link=link)

    @writes
    def describe(self, connection: Connection, plugin_id: int, stated: Mapping[str, Any]) -> Plugin:
        plugin = lookup.plugin(connection, plugin_id)
        changed = replace(plugin, title=stated.get("title", plugin.title), metadata={**plugin.metadata, **stated})
        plugins.update(connection, changed)
        return changed

    def remove(self, plugin_id: int) -> None:
        from fuelclient.engine.packages import install

        install.remove(self._database, plugin_id)

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        from fuelclient.engine.packages import install

        return install.sync(self._database, plugin_ids)

    @reads
    def enabled(self, connection: Connection, cluster_id: int) -> Sequence[Plugin]:
        return environment.read(connection, cluster_id).plugins

    def enable(self, plugin_id: int, cluster_id: int, values: Mapping[str, Any] | None = None) -> tuple[Finding, ...]:
        from fuelclient.engine.packages import enable

        with self._database.write() as connection, environment.checking_rules(connection, [cluster_id]):
            findings = enable.enable(connection, plugin_id, cluster_id)
            enable.set_values(connection, plugin_id, cluster_id, values or {})
            return findings

    def enabling(self, plugin_ids: Sequence[int], cluster_id: int, values: Mapping[str, Any]) -> EnvironmentChange:
        """Enable the plugins in a transaction that is rolled back."""
        from fuelclient.engine.packages import enable

        with self._database.undone() as connection, environment.checking_rules(connection, [cluster_id]):
            return enable.enabling(connection, plugin_ids, cluster_id, values)

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        from fuelclient.engine.packages import enable

        with self._database.write() as connection:
            enable.disable(connection, plugin_id, cluster_id)

    def selection(self, plugin_id: int, release_id: int) -> Selection:
        from fuelclient.plugins.select import select

        with self._database.read() as connection:
            plugin = lookup.plugin(connection, plugin_id)
            return select(lookup.package(connection, plugin), lookup.release(connection, release_id))


@contextmanager
def switching_plugins(connection: Connection, cluster_id: int, sections: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Enable plugins as the sections demand, yield the settings without these switches, then disable plugins.

    Plugins are disabled last because their settings are compared with their defaults, which are known only while they
    are enabled. Settings of disabled plugins are kept. Raise what `enable.enable` and `enable.disable` raise,
    `NotFound` if the version is unknown, and `UsageError` if there are several versions and none is chosen.
    """
    known = plugins.every(connection)
    values: dict[str, Any] = {}
    disabled: list[Plugin] = []
    for name, section in sections.items():
        metadata = section.get(METADATA)
        versions = [plugin for plugin in known if plugin.name == name]
        enabled = next((plugin for plugin in versions if cluster_id in plugin.clusters), None)
        will_be_enabled = isinstance(metadata, Mapping) and metadata.get("enabled") is True
        if versions and enabled is None and not will_be_enabled:
            _require_valid(connection, cluster_id, versions[-1], section)
        if not versions or not isinstance(metadata, Mapping) or not isinstance(metadata.get("enabled"), bool):
            values[name] = section
            continue
        own = {key: value for key, value in section.items() if key != METADATA}
        from fuelclient.engine.packages import enable  # few documents switch a plugin

        if metadata["enabled"]:
            enable.enable(connection, _version_to_enable(metadata, versions, enabled).id, cluster_id)
        elif enabled is not None:
            disabled.append(enabled)
        if metadata["enabled"] or own:
            values[name] = own
    yield values
    for plugin in disabled:
        enable.disable(connection, plugin.id, cluster_id)


def _require_valid(connection: Connection, cluster_id: int, plugin: Plugin, section: Mapping[str, Any]) -> None:
    """Raise `InvalidDocument` for settings of a disabled plugin with which it could not be enabled."""
    from fuelclient.environment import setting_values

    target = environment.read(connection, cluster_id)
    added = environment.for_release(connection, plugin, target.release)
    findings = setting_values.findings({plugin.name: section}, replace(target, plugins=(*target.plugins, added)))
    require_no_errors(findings, f"The settings of environment {cluster_id} are not stored", InvalidDocument)


def _version_to_enable(metadata: Mapping[str, Any], versions: list[Plugin], enabled: Plugin | None) -> Plugin:
    """Find the version of a plugin that a section enables: the one with the id `chosen_id`; without that id the
    enabled version, `plugin_version` or the only one. `plugin_id` is ignored: it may be another engine's."""
    chosen_id, version = metadata.get("chosen_id"), metadata.get("plugin_version")
    if type(chosen_id) is int:
        for plugin in versions:
            if plugin.id == chosen_id:
                return plugin
        raise NotFound("plugin", chosen_id, known=[str(plugin.id) for plugin in versions])
    found = enabled or next((plugin for plugin in versions if plugin.version == version), None)
    if found is None and len(versions) > 1:
        raise UsageError(
            f"Plugin {versions[0].name} is installed in several versions.",
            hint="Give the id of one in metadata.chosen_id.",
        )
    return found or versions[0]
