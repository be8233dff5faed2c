"""The settings of an environment: its own over the defaults of its release and its enabled plugins.

Restrictions of roles read them. Source: Nailgun's `editable` attributes of a cluster, into which the plugin
manager puts a section for each plugin under its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.environment import Environment
from fuelclient.model.plugin import Plugin
from fuelclient.serializers.values import beyond, deep_merged, in_words, key_text, mapping, plain

MODE = "ha_compact"
"""The mode of every environment. Recent releases of Fuel support no other."""

EDITABLE = "editable"
"""The key under which Nailgun keeps the settings that users may change."""

_PLUGIN_WEIGHT = 70


def effective(environment: Environment) -> dict[str, Any]:
    """Return the settings by section, as restrictions read them.

    The settings of a plugin count while it is enabled, which itself is not a setting.
    """
    settings = deep_merged(defaults(environment), environment.own_settings)
    for plugin in environment.plugins:
        section = settings[plugin.name]
        section["metadata"] = {**mapping(section.get("metadata")), **_state(plugin)}
    return settings


def defaults(environment: Environment) -> dict[str, Any]:
    """Return the default settings by section."""
    attributes = environment.release.metadata.get("attributes_metadata") or {}
    stated = plain(attributes.get(EDITABLE) or {})
    settings = {name: section for name, section in stated.items() if isinstance(section, dict)}
    for plugin in environment.plugins:
        section = plain(plugin.metadata.get("attributes_metadata") or {})
        about = {"label": plugin.title or plugin.name, "toggleable": True, "weight": _PLUGIN_WEIGHT}
        section["metadata"] = {**about, **mapping(section.get("metadata")), **_state(plugin)}
        settings[plugin.name] = section
    return settings


def own_from(document: Mapping[Any, Any], environment: Environment) -> dict[str, Any]:
    """Return the sections of `document` without what equals a default.

    So a document that was downloaded, changed in one place and uploaded again sets that place only, and later changes
    of other defaults still reach the environment. Raise `InvalidDocument` as `sections_from` does.
    """
    return beyond(sections_from(document), defaults(environment))


def sections_from(document: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the sections of a settings document, with or without Nailgun's `editable` around them.

    Raise `InvalidDocument` if a section is not a mapping.
    """
    stated: Any = document.get(EDITABLE) if list(document) == [EDITABLE] else document
    if not isinstance(stated, Mapping):
        raise InvalidDocument(
            f"Settings are a mapping of sections, not {in_words(stated)}.", hint="Write section: {...}."
        )
    for name, section in stated.items():
        if not isinstance(section, Mapping):
            raise InvalidDocument(
                f"The section {key_text(name)} of the settings is {in_words(section)}, not a mapping.",
                hint="Write each setting below its section: `storage: {volumes_ceph: {value: true}}`.",
            )
    return dict(plain(stated))


def models(environment: Environment) -> dict[str, Mapping[str, Any]]:
    """Return what expressions of restrictions can read, under Fuel's names."""
    cluster = environment.cluster
    return {
        "settings": effective(environment),
        "cluster": {
            "id": cluster.id,
            "name": cluster.name,
            "mode": MODE,
            "net_provider": "neutron",
            "status": str(cluster.status),
            "release_id": cluster.release_id,
        },
        "version": {"feature_groups": list(environment.feature_groups)},
        "networking_parameters": {"segmentation_type": cluster.net_segment_type},
    }


def is_on(settings: Mapping[str, Any], section: str, name: str) -> bool:
    """Return whether a setting exists and has a true value.

    >>> is_on({"storage": {"ceph": {"value": True}}}, "storage", "ceph")
    True
    """
    setting = (settings.get(section) or {}).get(name)
    return bool(setting.get("value")) if isinstance(setting, Mapping) else bool(setting)


def _state(plugin: Plugin) -> dict[str, Any]:
    """Return what Nailgun says about an enabled plugin in the `metadata` of its section, whatever the plugin states."""
    return {
        "class": "plugin",
        "enabled": True,
        "hot_pluggable": plugin.metadata.get("is_hotpluggable") is True,
        "plugin_id": plugin.id,
        "plugin_version": plugin.version,
    }
