"""Settings of environments.

Nailgun keeps plugins among the settings: `editable.<plugin>.metadata` says which version of a plugin is enabled, and
setting it enables or disables the plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.environment.settings import defaults as default_settings
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.serializers.values import deep_merged, plain
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import BOOLEAN, MAPPING, NUMBER, closed, maybe, opened

_EDITABLE = "editable"


def show(call: Call) -> Any:
    """Answer GET attributes: the settings of an environment, with the plugins that are or can be enabled."""
    return _shown(call.backend, call.id("cluster_id"))


def defaults(call: Call) -> Any:
    """Answer GET attributes/defaults: the settings of the environment's release, and of the plugins that are or can be
    enabled, as `show`."""
    environment = call.backend.clusters.environment(call.id("cluster_id"))
    return _with_plugins(call.backend, environment.cluster.id, default_settings(environment))


def replace(call: Call) -> Any:
    """Answer PUT attributes: set the settings of the body; all that was set before is gone."""
    return _store(call, call.body[_EDITABLE])


def update(call: Call) -> Any:
    """Answer PATCH attributes: merge the body into the settings of an environment."""
    with call.connections.exclusive() as backend:
        current = _shown(backend, call.id("cluster_id"))[_EDITABLE]
        return _store(call, deep_merged(current, call.body[_EDITABLE]))


def _shown(backend: Backend, cluster_id: int) -> dict[str, Any]:
    return _with_plugins(backend, cluster_id, plain(backend.clusters.settings(cluster_id)))


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
    cluster_id = call.id("cluster_id")
    with call.connections.exclusive() as backend:
        backend.clusters.set_settings(cluster_id, {_EDITABLE: sections})
        return _shown(backend, cluster_id)


_SECTION = opened(metadata=opened(enabled=BOOLEAN, chosen_id=maybe(NUMBER)))
_BODY = closed((_EDITABLE,), editable={"type": "object", "additionalProperties": _SECTION}, generated=MAPPING)
_SETTINGS = opened((_EDITABLE, "generated"), editable=MAPPING, generated=MAPPING)
_PATH = "clusters/{cluster_id}/attributes"
_FORCE = (Query("force", QueryType.FLAG, "accepted for clients of Nailgun; nothing is locked here"),)

ROUTES = (
    Route("GET", _PATH, show, "Show the settings of an environment", {200: _SETTINGS}),
    Route("PUT", _PATH, replace, "Set the settings of an environment", {200: _SETTINGS}, _FORCE, _BODY),
    Route("PATCH", _PATH, update, "Change settings of an environment", {200: _SETTINGS}, _FORCE, _BODY),
    Route("GET", f"{_PATH}/defaults", defaults, "Show the settings of the release", {200: _SETTINGS}),
)
