"""Settings of environments: the defaults of the release and of the enabled plugins, and over them what was set.

They are what restrictions of roles read. Source: Nailgun's `editable` attributes of a cluster, into which the plugin
manager puts a section for each plugin under its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.engine.reading.environment import Environment
from fuelclient.errors import InvalidDocument
from fuelclient.model.plugin import Plugin
from fuelclient.serializers.values import key_text, kind, plain

MODE = "ha_compact"
"""The mode of every environment: no later release of Fuel knows another."""

_EDITABLE = "editable"
_PLUGIN_WEIGHT = 70


def effective(environment: Environment) -> dict[str, Any]:
    """The settings by section, as restrictions read them.

    What was set for a plugin counts while it is enabled, but not for its being enabled: that is what `plugins
    enable` says.
    """
    settings = deep_merged(defaults(environment), environment.own_settings)
    for plugin in environment.plugins:
        settings[plugin.name]["metadata"].update(_about(plugin))
    return settings


def defaults(environment: Environment) -> dict[str, Any]:
    """The settings by section before anything was set."""
    attributes = environment.release.metadata.get("attributes_metadata") or {}
    stated = plain(attributes.get(_EDITABLE) or {})
    settings = {name: section for name, section in stated.items() if isinstance(section, dict)}
    for plugin in environment.plugins:
        section = plain(environment.metadata_of(plugin).get("attributes_metadata") or {})
        metadata = section.get("metadata")
        section["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), **_about(plugin)}
        settings[plugin.name] = section
    return settings


def own_from(document: Mapping[Any, Any], environment: Environment) -> dict[str, Any]:
    """What `document` sets: its sections without what equals a default.

    So a document that was downloaded, changed in one place and uploaded again fixes that place only. A document as
    Nailgun writes it has all sections under `editable`. Raises `InvalidDocument` for a section that is no mapping.
    """
    stated: Any = document.get(_EDITABLE) if list(document) == [_EDITABLE] else document
    if not isinstance(stated, Mapping):
        raise InvalidDocument(f"Settings are a mapping of sections, not {kind(stated)}.", hint="Write section: {...}.")
    for name, section in stated.items():
        if not isinstance(section, Mapping):
            raise InvalidDocument(
                f"The section {key_text(name)} of the settings is {kind(section)}, not a mapping.",
                hint="Write each setting below its section: `storage: {volumes_ceph: {value: true}}`.",
            )
    return _difference(plain(stated), defaults(environment))


def models(environment: Environment) -> dict[str, Mapping[str, Any]]:
    """What expressions of this environment can read, under the names that Fuel gives them."""
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
    """Whether a setting has a true value; one that nobody knows is off."""
    setting = (settings.get(section) or {}).get(name)
    return bool(setting.get("value")) if isinstance(setting, Mapping) else bool(setting)


def deep_merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with `above` over it: mappings merge, everything else is replaced.

    >>> deep_merged({"a": {"x": 1, "y": [1]}}, {"a": {"y": [2]}, "b": 3})
    {'a': {'x': 1, 'y': [2]}, 'b': 3}
    """
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[name] = deep_merged(old, value) if both and isinstance(old, Mapping) else value
    return merged


def _about(plugin: Plugin) -> dict[str, Any]:
    """What Nailgun says of an enabled plugin in the `metadata` of its section."""
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
    """What of `stated` is not in `known` already.

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
