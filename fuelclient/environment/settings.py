"""The settings of an environment: its own values over the defaults of its release and its enabled plugins.

Restrictions of roles read them. Source: Nailgun's `editable` attributes of a cluster, to which the plugin manager adds
a section named after each plugin.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument, NotFound, UsageError
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.plugin import Plugin
from fuelclient.serializers.values import beyond, deep_merged, in_words, key_text, mapping, mappings, plain

MODE = "ha_compact"
"""The mode of every environment. Recent releases of Fuel support no other."""

EDITABLE = "editable"
"""The key under which Nailgun keeps the settings that users may change."""

METADATA = "metadata"
"""The key in a section that is not a setting."""

_PLUGIN_WEIGHT = 70
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_SETTING_REFERENCE = re.compile(r"settings:([\w-]+)\.([\w-]+)")
"""A reference to a setting in the expression of a restriction."""


def effective(environment: Environment) -> dict[str, Any]:
    """The settings by section, as restrictions read them.

    The settings of a plugin are included while it is enabled. Whether it is enabled is not a setting itself.
    """
    settings = deep_merged(defaults(environment), environment.own_settings)
    for plugin in environment.plugins:
        section = settings[plugin.name]
        section[METADATA] = {**mapping(section.get(METADATA)), **_state(plugin)}
    return settings


def defaults(environment: Environment) -> dict[str, Any]:
    attributes = environment.release.metadata.get("attributes_metadata") or {}
    given = plain(attributes.get(EDITABLE) or {})
    settings = {name: section for name, section in given.items() if isinstance(section, dict)}
    for plugin in environment.plugins:
        section = plain(plugin.metadata.get("attributes_metadata") or {})
        about = {"label": plugin.title or plugin.name, "toggleable": True, "weight": _PLUGIN_WEIGHT}
        section[METADATA] = {**about, **mapping(section.get(METADATA)), **_state(plugin)}
        settings[plugin.name] = section
    return settings


def own_from(document: Mapping[Any, Any], environment: Environment) -> dict[str, Any]:
    """Extract the settings of `document` that differ from the defaults.

    So a document that was downloaded, changed in one place and uploaded again sets that place only, and later changes
    of other defaults still reach the environment. Raise `InvalidDocument` as `sections_from` does.
    """
    return beyond(sections_from(document), defaults(environment))


def sections_from(document: Mapping[Any, Any]) -> dict[str, Any]:
    """Read the sections of a settings document, with or without Nailgun's `editable` around them.

    Raise `InvalidDocument` if a section is not a mapping.
    """
    given: Any = document[EDITABLE] if EDITABLE in document and {*document} <= {EDITABLE, "generated"} else document
    if not isinstance(given, Mapping):
        raise InvalidDocument(
            f"Settings are a mapping of sections, not {in_words(given)}.", hint="Write section: {...}."
        )
    for name, section in given.items():
        if not isinstance(section, Mapping):
            text = f"the section {key_text(name)} of the settings is {in_words(section)}, not a mapping"
            hint = "Write each setting below its section: `storage: {volumes_ceph: {value: true}}`."
            finding = Finding(Severity.ERROR, "N003", text, Place(path=(EDITABLE, name)), hint=hint)
            raise InvalidDocument(f"{text[0].upper()}{text[1:]}.", findings=[finding], hint=hint)
    return dict(plain(given))


def models(environment: Environment) -> dict[str, Mapping[str, Any]]:
    """The values that expressions of restrictions can read, under Fuel's names."""
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
    """Whether a setting exists and has a true value.

    >>> is_on({"storage": {"ceph": {"value": True}}}, "storage", "ceph")
    True
    """
    setting = (settings.get(section) or {}).get(name)
    return bool(setting.get("value")) if isinstance(setting, Mapping) else bool(setting)


def _state(plugin: Plugin) -> dict[str, Any]:
    """What Nailgun writes about an enabled plugin into the `metadata` of its section, over the plugin's own values."""
    return {
        "class": "plugin",
        "enabled": True,
        "hot_pluggable": plugin.metadata.get("is_hotpluggable") is True,
        "plugin_id": plugin.id,
        "plugin_version": plugin.version,
    }


def with_values(section: Mapping[str, Any], values: Mapping[str, Any], plugin: str) -> dict[str, Any]:
    """The settings of a plugin's section that are in `values`, with these values.

    A string is converted to the type of the current value: true or false, a number, or a list or mapping in JSON. Raise
    `NotFound` for an unknown setting, `UsageError` for a value that the setting cannot have.

    >>> with_values({"debug": {"type": "checkbox", "value": False}, "metadata": {}}, {"debug": "yes"}, "lma-1.0.0")
    {'debug': {'type': 'checkbox', 'value': True}}
    """
    known = [name for name in section if name != METADATA]
    settings = {}
    for name, value in values.items():
        if name not in known:
            hint = "" if known else "This plugin has no settings."
            raise NotFound("setting", f"{name} of plugin {plugin}", known=known, hint=hint)
        setting = mapping(section[name])
        settings[name] = {**setting, "value": _typed(name, setting, value)}
    return settings


def settings_in_refusal(settings: Mapping[str, Any], text: str) -> list[str]:
    """Find the settings (`section.name`) that a refusal is about: `text` has a message of their regex or restrictions.

    `settings` are those of an environment by section; a Fuel master has those of a plugin in its `versions`.

    >>> net = {"value": "", "regex": {"source": "x", "error": "No net"}}
    >>> settings_in_refusal({"dvs": {"metadata": {"versions": [{"net": net}]}}}, "Restrictions failed: [u'No net']")
    ['dvs.net']
    """
    names = (
        name
        for section, given in settings.items()
        if isinstance(given, Mapping)
        for name in _concerned(section, given, text)
    )
    return list(dict.fromkeys(names))


def _typed(name: str, setting: Mapping[str, Any], value: Any) -> Any:
    current = setting.get("value")
    if isinstance(value, str) and not isinstance(current, str):
        value = _parsed(name, current, value)
    choices = [choice["data"] for choice in mappings(setting.get("values")) if "data" in choice]
    if choices and value not in choices and not isinstance(value, list):
        known = ", ".join(map(str, choices))
        raise UsageError(f"The setting {name} cannot be {value!r}.", hint=f"It can be {known}.")
    return value


_NUMBER = int | float


def _parsed(name: str, current: Any, text: str) -> Any:
    if isinstance(current, bool):
        if text.lower() not in _BOOLEANS:
            raise UsageError(f"The setting {name} is true or false, not {text!r}.", hint=f"Write {name}=true.")
        return _BOOLEANS[text.lower()]
    if not isinstance(current, _NUMBER | list | dict):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    is_number = isinstance(current, _NUMBER)
    if isinstance(value, bool) or not isinstance(value, _NUMBER if is_number else type(current)):
        kind = "a number" if is_number else "a list or mapping in JSON"
        raise UsageError(f"The setting {name} is {kind}, not {text!r}.")
    return value


def _concerned(section: str, given: Mapping[str, Any], text: str) -> Iterator[str]:
    metadata = mapping(given.get(METADATA))
    yield from _restricted(metadata, text)
    for version in mappings(metadata.get("versions")):
        yield from _concerned(section, version, text)
    for name, setting in given.items():
        if name == METADATA or not isinstance(setting, Mapping):
            continue
        error = mapping(setting.get("regex")).get("error")
        own = list(_restricted(setting, text))
        if own or (isinstance(error, str) and error and error in text):
            yield f"{section}.{name}"
        yield from own


def _restricted(given: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the settings in the conditions of those restrictions whose message is in `text`."""
    for restriction in mappings(given.get("restrictions")):
        message = restriction.get("message")
        if isinstance(message, str) and message and message in text:
            for section, name in _SETTING_REFERENCE.findall(str(restriction.get("condition", ""))):
                yield f"{section}.{name}"
