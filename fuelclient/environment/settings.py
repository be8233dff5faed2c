"""The settings of an environment: the defaults of its release and its enabled plugins, and over them what was set.

Restrictions of roles read them. Source: Nailgun's `editable` attributes of a cluster, into which the plugin
manager puts a section for each plugin under its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.environment import Environment
from fuelclient.model.plugin import Plugin
from fuelclient.serializers.values import deep_merged, key_text, kind, plain

MODE = "ha_compact"
"""The mode of every environment: no later release of Fuel knows another."""

EDITABLE = "editable"
"""The key under which Nailgun keeps the settings that users may change."""

_PLUGIN_WEIGHT = 70


def effective(environment: Environment) -> dict[str, Any]:
    """Return the settings by section, as restrictions read them.

    What was set for a plugin counts while it is enabled; whether it is enabled is not a setting.
    """
    settings = deep_merged(defaults(environment), environment.own_settings)
    for plugin in environment.plugins:
        settings[plugin.name]["metadata"].update(_about(plugin))
    return settings


def defaults(environment: Environment) -> dict[str, Any]:
    """Return the settings by section before anything was set."""
    attributes = environment.release.metadata.get("attributes_metadata") or {}
    stated = plain(attributes.get(EDITABLE) or {})
    settings = {name: section for name, section in stated.items() if isinstance(section, dict)}
    for plugin in environment.plugins:
        section = plain(plugin.metadata.get("attributes_metadata") or {})
        metadata = section.get("metadata")
        section["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), **_about(plugin)}
        settings[plugin.name] = section
    return settings


def own_from(document: Mapping[Any, Any], environment: Environment) -> dict[str, Any]:
    """Return the sections of `document` without what equals a default.

    A document that was downloaded, changed in one place and uploaded again therefore fixes that place only. Raise
    `InvalidDocument` as `sections_from` does.
    """
    return _difference(sections_from(document), defaults(environment))


def sections_from(document: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the sections of a document of settings, with Nailgun's `editable` around them or without.

    Raise `InvalidDocument` if a section is not a mapping.
    """
    stated: Any = document.get(EDITABLE) if list(document) == [EDITABLE] else document
    if not isinstance(stated, Mapping):
        raise InvalidDocument(f"Settings are a mapping of sections, not {kind(stated)}.", hint="Write section: {...}.")
    for name, section in stated.items():
        if not isinstance(section, Mapping):
            raise InvalidDocument(
                f"The section {key_text(name)} of the settings is {kind(section)}, not a mapping.",
                hint="Write each setting below its section: `storage: {volumes_ceph: {value: true}}`.",
            )
    sections: dict[str, Any] = plain(stated)
    return sections


def models(environment: Environment) -> dict[str, Mapping[str, Any]]:
    """Return what expressions of this environment can read, under the names that Fuel gives them."""
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
        "version": {"feature_groups": []},
        "networking_parameters": {"segmentation_type": cluster.net_segment_type},
    }


def is_on(settings: Mapping[str, Any], section: str, name: str) -> bool:
    """Return whether a setting is known and has a true value."""
    setting = (settings.get(section) or {}).get(name)
    return bool(setting.get("value")) if isinstance(setting, Mapping) else bool(setting)


def _about(plugin: Plugin) -> dict[str, Any]:
    """Return what Nailgun says about an enabled plugin in the `metadata` of its section."""
    return {
        "class": "plugin",
        "enabled": True,
        "label": plugin.title or plugin.name,
        "plugin_id": plugin.id,
        "plugin_version": plugin.version,
        "toggleable": True,
        "weight": _PLUGIN_WEIGHT,
    }


def _difference(stated: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of `stated` that `known` does not have already.

    >>> _difference({"a": {"x": 1, "y": 2}, "b": {}}, {"a": {"x": 1, "y": 3}})
    {'a': {'y': 2}, 'b': {}}
    """
    found: dict[str, Any] = {}
    for name, value in stated.items():
        if name not in known:
            found[name] = value
            continue
        old = known[name]
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            rest = _difference(value, old)
            if rest:
                found[name] = rest
        elif value != old or isinstance(value, bool) != isinstance(old, bool):
            found[name] = value
    return found
