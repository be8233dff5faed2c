"""Settings of environments.

Nailgun keeps plugins among the settings: `editable.<plugin>.metadata` says which version of a plugin is enabled, and
setting it enables or disables the plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.environment.settings import defaults as default_settings
from fuelclient.errors import FuelError, NotFound, UsageError
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import BOOLEAN, MAPPING, NUMBER, closed, maybe, opened

_EDITABLE = "editable"


def show(call: Call) -> Any:
    """Answer GET attributes: the settings of an environment, with the plugins that are or can be enabled."""
    return _with_plugins(call.backend, call.id("cluster_id"), _stored(call.backend, call.id("cluster_id")))


def defaults(call: Call) -> Any:
    """Answer GET attributes/defaults: the settings of the environment's release, and of the plugins that are or can be
    enabled, as `show`."""
    cluster_id = call.id("cluster_id")
    sections = default_settings(call.backend.clusters.environment(cluster_id))
    return _with_plugins(call.backend, cluster_id, sections)


def replace(call: Call) -> Any:
    """Answer PUT attributes: set the settings of the body; all that was set before is gone."""
    return _store(call, call.body[_EDITABLE])


def update(call: Call) -> Any:
    """Answer PATCH attributes: merge the body into the settings of an environment."""
    with call.connections.exclusive() as backend:
        cluster_id = call.id("cluster_id")
        current = _with_plugins(backend, cluster_id, _stored(backend, cluster_id))[_EDITABLE]
        return _store(call, _merge(current, call.body[_EDITABLE]))


def _stored(backend: Backend, cluster_id: int) -> dict[str, Any]:
    return dict(plain(backend.clusters.settings(cluster_id)))


def _with_plugins(backend: Backend, cluster_id: int, sections: dict[str, Any]) -> dict[str, Any]:
    """Return settings of an environment with a section for each plugin that is enabled there or supports its
    release."""
    release = backend.releases.get(backend.clusters.get(cluster_id).release_id)
    versions_by_name: dict[str, list[Plugin]] = {}
    for plugin in backend.plugins.list():
        if cluster_id in plugin.clusters or _supports(plugin, release):
            versions_by_name.setdefault(plugin.name, []).append(plugin)
    for name, versions in versions_by_name.items():
        enabled = next((plugin for plugin in versions if cluster_id in plugin.clusters), None)
        section = sections.setdefault(name, {})
        known = section.get("metadata")
        section["metadata"] = {**(known if isinstance(known, dict) else {}), **_metadata(versions, enabled)}
    return {_EDITABLE: sections, "generated": {}}


def _supports(plugin: Plugin, release: Release) -> bool:
    return any(
        isinstance(record, Mapping)
        and str(record.get("os", "")).lower() == release.operating_system.lower()
        and release.version.startswith(str(record.get("version", "")))
        for record in plugin.metadata.get("releases") or ()
    )


def _metadata(versions: Sequence[Plugin], enabled: Plugin | None) -> dict[str, Any]:
    """Return what Nailgun says about a plugin in the metadata of its section."""
    chosen = enabled or versions[-1]
    return {
        "class": "plugin",
        "enabled": enabled is not None,
        "toggleable": True,
        "label": chosen.title or chosen.name,
        "weight": 70,
        "chosen_id": chosen.id,
        "versions": [
            {"metadata": {"plugin_id": plugin.id, "plugin_version": plugin.version, "always_editable": False}}
            for plugin in versions
        ],
    }


def _store(call: Call, sections: Mapping[str, Any]) -> Any:
    """Store settings and enable or disable plugins; after an error, restore all of it."""
    cluster_id = call.id("cluster_id")
    with call.connections.exclusive() as backend:
        known = {plugin.id: plugin for plugin in backend.plugins.list()}
        wanted, values = _split(sections, {plugin.name for plugin in known.values()})
        before = {plugin.name: plugin for plugin in known.values() if cluster_id in plugin.clusters}
        backend.clusters.get(cluster_id)
        undo: list[tuple[bool, int]] = []
        settings = plain(backend.clusters.settings(cluster_id))
        chosen = {name: _plugin(known, name, plugin_id, before.get(name)) for name, plugin_id in wanted.items()}
        try:
            for name, plugin in chosen.items():
                if plugin is not None:
                    _switch(backend, cluster_id, before.get(name), plugin, undo)
            # A plugin's own settings are compared with its defaults, which are known only while it is enabled.
            backend.clusters.set_settings(cluster_id, values)
            for name, plugin in chosen.items():
                if plugin is None:
                    _switch(backend, cluster_id, before.get(name), None, undo)
        except FuelError:
            for enable, plugin_id in reversed(undo):
                (backend.plugins.enable if enable else backend.plugins.disable)(plugin_id, cluster_id)
            backend.clusters.set_settings(cluster_id, settings)
            raise
        stored = _stored(backend, cluster_id)
        return _with_plugins(backend, cluster_id, stored)


def _switch(
    backend: Backend, cluster_id: int, before: Plugin | None, after: Plugin | None, undo: list[tuple[bool, int]]
) -> None:
    """Enable one version of a plugin, or disable it; append how to undo that to `undo`."""
    if before == after:
        return
    if after is None and before is not None:
        backend.plugins.disable(before.id, cluster_id)
        undo.append((True, before.id))
    elif after is not None:
        backend.plugins.enable(after.id, cluster_id)
        undo.append((True, before.id) if before else (False, after.id))


def _split(sections: Mapping[str, Any], names: set[str]) -> tuple[dict[str, int | None], dict[str, Any]]:
    """Split sections into the plugins they ask for (id by name, None to disable) and the settings themselves.

    A plugin's section without `metadata.enabled` does not enable or disable anything.
    """
    wanted: dict[str, int | None] = {}
    values: dict[str, Any] = {}
    for name, section in sections.items():
        metadata = section.get("metadata") if isinstance(section, Mapping) else None
        if name not in names or not isinstance(metadata, Mapping) or not isinstance(metadata.get("enabled"), bool):
            values[name] = section
            continue
        chosen = metadata.get("chosen_id", metadata.get("plugin_id"))
        wanted[name] = None if not metadata["enabled"] else chosen if isinstance(chosen, int) else 0
        own = {key: value for key, value in section.items() if key != "metadata"}
        if metadata["enabled"] or own:  # settings of a disabled plugin are kept until it is enabled again
            values[name] = own
    return wanted, values


def _plugin(known: Mapping[int, Plugin], name: str, plugin_id: int | None, enabled: Plugin | None) -> Plugin | None:
    """Return the plugin that the section `name` asks for; the id 0 means the version that is enabled, or the only one
    of that name."""
    if plugin_id is None:
        return None
    if plugin_id == 0 and enabled is not None:
        return enabled
    versions = [plugin for plugin in known.values() if plugin.name == name]
    if plugin_id == 0:
        if len(versions) > 1:
            raise UsageError(
                f"Plugin {name} is installed in several versions.", hint="Give the id of one in metadata.chosen_id."
            )
        return versions[0]
    if plugin_id not in known or known[plugin_id].name != name:
        raise NotFound("plugin", plugin_id, known=[str(plugin.id) for plugin in versions])
    return known[plugin_id]


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `above` into `below`: mappings merge, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


_METADATA = opened(enabled=BOOLEAN, chosen_id=maybe(NUMBER))
_SECTIONS = {"type": "object", "additionalProperties": opened(metadata=_METADATA)}
_BODY = closed((_EDITABLE,), editable=_SECTIONS, generated=MAPPING)
_SETTINGS = opened((_EDITABLE, "generated"), editable=MAPPING, generated=MAPPING)
_PATH = "clusters/{cluster_id}/attributes"
_FORCE = (Query("force", QueryType.FLAG, "accepted for clients of Nailgun; nothing is locked here"),)

ROUTES = (
    Route("GET", _PATH, show, "Show the settings of an environment", {200: _SETTINGS}),
    Route("PUT", _PATH, replace, "Set the settings of an environment", {200: _SETTINGS}, _FORCE, _BODY),
    Route("PATCH", _PATH, update, "Change settings of an environment", {200: _SETTINGS}, _FORCE, _BODY),
    Route("GET", f"{_PATH}/defaults", defaults, "Show the settings of the release", {200: _SETTINGS}),
)
