"""Values for the settings of a plugin, and which settings a refusal of a Fuel master is about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import NotFound, UsageError
from fuelclient.serializers.values import mapping, mappings

METADATA = "metadata"
"""The key of a section that is not a setting."""

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_READ = re.compile(r"settings:([\w-]+)\.([\w-]+)")
"""A setting in an expression of a restriction."""


def valued(section: Mapping[str, Any], values: Mapping[str, Any], plugin: str) -> dict[str, Any]:
    """Return the settings of a plugin's section that `values` names, with these values.

    A text becomes what the setting has already: true or false, a number, or a list or mapping in JSON. Raise `NotFound`
    for an unknown setting, `UsageError` for a value that the setting cannot have.

    >>> valued({"debug": {"type": "checkbox", "value": False}, "metadata": {}}, {"debug": "yes"}, "lma-1.0.0")
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


def concerned(settings: Mapping[str, Any], text: str) -> list[str]:
    """Return the settings (`section.name`) that a refusal is about, from the messages that they state for one.

    `settings` are those of an environment by section; a Fuel master has those of a plugin in its `versions`.

    >>> net = {"value": "", "regex": {"source": "x", "error": "No net"}}
    >>> concerned({"dvs": {"metadata": {"versions": [{"net": net}]}}}, "Restrictions failed: [u'No net']")
    ['dvs.net']
    """
    names = (
        name
        for section, stated in settings.items()
        if isinstance(stated, Mapping)
        for name in _concerned(section, stated, text)
    )
    return list(dict.fromkeys(names))


def _typed(name: str, setting: Mapping[str, Any], value: Any) -> Any:
    current = setting.get("value")
    if isinstance(value, str) and not isinstance(current, str):
        value = _read(name, current, value)
    choices = [choice["data"] for choice in mappings(setting.get("values")) if "data" in choice]
    if choices and value not in choices and not isinstance(value, list):
        known = ", ".join(map(str, choices))
        raise UsageError(f"The setting {name} cannot be {value!r}.", hint=f"It can be {known}.")
    return value


def _read(name: str, current: Any, text: str) -> Any:
    """Return the value that a text means for a setting with the value `current`."""
    number = int | float
    if isinstance(current, bool):
        if text.lower() not in _WORDS:
            raise UsageError(f"The setting {name} is true or false, not {text!r}.", hint=f"Write {name}=true.")
        return _WORDS[text.lower()]
    if not isinstance(current, number | list | dict):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    is_number = isinstance(current, number)
    if isinstance(value, bool) or not isinstance(value, number if is_number else type(current)):
        kind = "a number" if is_number else "a list or mapping in JSON"
        raise UsageError(f"The setting {name} is {kind}, not {text!r}.")
    return value


def _concerned(section: str, stated: Mapping[str, Any], text: str) -> Iterator[str]:
    metadata = mapping(stated.get(METADATA))
    yield from _restricted(metadata, text)
    for version in mappings(metadata.get("versions")):
        yield from _concerned(section, version, text)
    for name, setting in stated.items():
        if name == METADATA or not isinstance(setting, Mapping):
            continue
        error = mapping(setting.get("regex")).get("error")
        own = list(_restricted(setting, text))
        if own or (isinstance(error, str) and error and error in text):
            yield f"{section}.{name}"
        yield from own


def _restricted(stated: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the settings that the conditions read of restrictions whose message is in `text`."""
    for restriction in mappings(stated.get("restrictions")):
        message = restriction.get("message")
        if isinstance(message, str) and message and message in text:
            for section, name in _READ.findall(str(restriction.get("condition", ""))):
                yield f"{section}.{name}"
