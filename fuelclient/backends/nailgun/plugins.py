"""Plugins of a master: list, enable, synchronise and remove them. Packages are installed on the master itself.

The settings of an environment have a section for each plugin, whose `metadata` have `class: plugin`, `enabled`, and the
id of the version that is chosen in `chosen_id`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.http.answers import About
from fuelclient.backends.nailgun.facet import ATTRIBUTES, Facet, resource
from fuelclient.environment.checks import plugin_named
from fuelclient.environment.settings import EDITABLE, METADATA, settings_in_refusal, with_values
from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.finding import Finding
from fuelclient.model.graph import version_key
from fuelclient.model.plugin import Plugin, Synced
from fuelclient.printing import ids_text
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.plugin import plugin_from
from fuelclient.serializers.values import plain
from fuelclient.support import unsupported

_ID_KEYS = ("chosen_id", "plugin_id")


class Plugins(Facet):
    noun = "plugin"

    def list(self) -> Sequence[Plugin]:
        plugins = map(plugin_from, objects(self._session.get("plugins/"), "plugin"))
        return sorted(plugins, key=lambda plugin: (plugin.name, version_key(plugin.version)))

    def get(self, plugin_id: int) -> Plugin:
        """Read the settings of all environments, too: the record of a plugin does not say where it is enabled."""
        plugin = plugin_from(self._at(plugin_id).get())
        clusters = self._master.clusters
        using = (env.id for env in clusters.list() if plugin_id in enabled_plugins(clusters.settings(env.id)))
        return replace(plugin, clusters=tuple(using))

    def named(self, name: str, version: str = "") -> Plugin:
        return plugin_named(self.list(), name, version)

    install = unsupported(
        "A master takes no packages over its API, only from its own disk.",
        hint="Copy {0} to the master and install it there, then run `fuel2 plugins sync`.",
    )

    def describe(self, plugin_id: int, stated: Mapping[str, Any]) -> Plugin:
        """Send the whole record with the changes: a master replaces the stored one."""
        record = self._at(plugin_id)
        return plugin_from(record.put({**Answer(record.get(), "plugin").data, **stated}))

    def remove(self, plugin_id: int) -> None:
        self._at(plugin_id).delete()

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        """Compare the plugins before and after, because a master does not answer which ones it changed."""
        before = {plugin.id: plugin for plugin in self.list()}
        about = About("plugin", ids_text(plugin_ids)) if plugin_ids else None
        body = [{"ids": list(plugin_ids)}] if plugin_ids else []  # a request for all plugins has no body
        self._session.post("plugins/sync/", about, *body)
        after = {plugin.id: plugin for plugin in self.list()}
        return Synced(
            created=tuple(plugin for key, plugin in after.items() if key not in before),
            updated=tuple(plugin for key, plugin in after.items() if key in before and plugin != before[key]),
            removed=tuple(plugin for key, plugin in before.items() if key not in after),
        )

    def enabled(self, cluster_id: int) -> Sequence[Plugin]:
        """Read the settings of the environment: the list of plugins does not say where they are enabled."""
        enabled_ids = enabled_plugins(self._master.clusters.settings(cluster_id))
        return [plugin for plugin in self.list() if plugin.id in enabled_ids] if enabled_ids else []

    def enable(self, plugin_id: int, cluster_id: int, values: Mapping[str, Any] | None = None) -> tuple[Finding, ...]:
        """Leave the checks to the master, which checks less than the embedded engine and returns no findings.

        Raise `Conflict`, with the names of the settings, if it rejects their values.
        """
        self._switch(plugin_id, cluster_id, values, on=True)
        return ()

    enabling = unsupported(
        "A Fuel master does not say what enabling a plugin would change.",
        hint="Compare the graphs: fuel2 graph diff env:{1} --with plugin:NAME.",
    )

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        self._switch(plugin_id, cluster_id, on=False)

    selection = unsupported(
        "A master does not say which parts of plugin {0} release {1} gets.",
        hint="Run `fuel2 plugins check PACKAGE` on the package itself.",
    )

    def _switch(self, plugin_id: int, cluster_id: int, values: Mapping[str, Any] | None = None, *, on: bool) -> None:
        """Enable or disable a plugin, with values of its settings, in one request, and verify the result.

        If the metadata of a section is incomplete, a Fuel master answers 200 and changes nothing.
        """
        plugins = {plugin.id: plugin for plugin in self.list()}
        if plugin_id not in plugins:
            raise NotFound("plugin", plugin_id, known=[*map(str, plugins)])
        plugin = plugins[plugin_id]
        settings = self._master.clusters.settings(cluster_id)
        if not values and (plugin_id in enabled_plugins(settings)) is on:
            return
        if (section := _section(plugin, settings.get(plugin.name), values or {})) is None:
            raise Conflict(
                f"Environment {cluster_id} does not offer plugin {plugin.name} {plugin.version}.",
                hint="The plugin does not support its release, or the master has not read it yet: run "
                "`fuel2 plugins sync`.",
            )
        section[METADATA] = {**section[METADATA], "enabled": on, "chosen_id": plugin.id}
        try:
            # PUT would forget every other setting of the environment
            resource(self._session, "environment", cluster_id, ATTRIBUTES).patch({EDITABLE: {plugin.name: section}})
        except UsageError as error:
            raise _settings_conflict(error, plugin, {**settings, plugin.name: section}) from error
        if (plugin_id in enabled_plugins(self._master.clusters.settings(cluster_id))) is not on:
            kept = f"plugin {plugin.label} is {'not ' * on}enabled on environment {cluster_id}"
            raise Conflict(f"The master accepted the request, but {kept}.", hint="Look at its logs.")


def _section(plugin: Plugin, section: Any, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The section of a plugin with these values; None if the environment does not offer this version of it.

    A master has the settings of each version of a plugin in an item of `versions`.
    """
    if not (metadata := plugin_metadata(section)) or plugin.id not in _offered(metadata):
        return None
    changed: dict[str, Any] = plain(section)
    versions = changed[METADATA].get("versions")
    for version in versions if isinstance(versions, list) else ():
        if isinstance(version, dict) and plugin_id_in(version.get(METADATA) or {}) == plugin.id:
            version.update(with_values(version, values, plugin.label))
            return changed
    known = plugin.metadata.get("attributes_metadata") or {}
    changed.update(with_values({**plain(known), **changed}, values, plugin.label))
    return changed


def _settings_conflict(error: UsageError, plugin: Plugin, settings: Mapping[str, Any]) -> Conflict:
    """The error for a refusal of a master, with hints about the settings that it names."""
    names = settings_in_refusal(settings, error.message)
    own_names = [name.removeprefix(f"{plugin.name}.") for name in names if name.startswith(f"{plugin.name}.")]
    others = [name for name in names if not name.startswith(f"{plugin.name}.")]
    hints = [f"Give the setting {name} with --set {name}=VALUE." for name in own_names]
    if others:
        hints.append(f"Look at the setting {', '.join(others)} with `fuel2 env settings download`.")
    return Conflict(error.message, hint=" ".join(hints) or error.hint)


def _offered(metadata: Mapping[str, Any]) -> set[int | None]:
    """The ids of all versions of a plugin that an environment can enable."""
    versions = metadata.get("versions")
    sections = versions if isinstance(versions, list) else []
    others = [section.get("metadata") for section in sections if isinstance(section, Mapping)]
    return {plugin_id_in(each) for each in (metadata, *others) if isinstance(each, Mapping)}


def enabled_plugins(settings: Mapping[str, Any]) -> frozenset[int]:
    """The ids of the plugins that the settings of an environment enable.

    >>> lma = {"metadata": {"class": "plugin", "enabled": True, "chosen_id": 3}}
    >>> sorted(enabled_plugins({"lma": lma, "common": {}}))
    [3]
    """
    sections = map(plugin_metadata, settings.values())
    enabled_ids = {plugin_id_in(metadata) for metadata in sections if metadata.get("enabled") is True}
    return frozenset(plugin_id for plugin_id in enabled_ids if plugin_id is not None)


def plugin_metadata(section: Any) -> Mapping[str, Any]:
    """The metadata of the section of a plugin; empty for other sections."""
    metadata = section.get("metadata") if isinstance(section, Mapping) else None
    return metadata if isinstance(metadata, Mapping) and metadata.get("class") == "plugin" else {}


def plugin_id_in(metadata: Mapping[str, Any]) -> int | None:
    """The id in the metadata of a plugin, or of one of its versions."""
    values = (metadata.get(key) for key in _ID_KEYS)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)
