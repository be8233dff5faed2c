"""Attributes of an environment as Nailgun has them: its settings, and which plugins are enabled.

A plugin is a section under its name, with `metadata` that says `class: plugin`, whether it is `enabled`, and which of
its versions by `chosen_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.environment.settings import EDITABLE
from fuelclient.model.plugin import Plugin
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import plain

_ID_KEYS = ("chosen_id", "plugin_id")


def path_of(cluster_id: int) -> str:
    """The resource of an environment's attributes."""
    return f"clusters/{cluster_id}/attributes"


def editable(session: Session, cluster_id: int, *, settings_only: bool = False) -> dict[str, Any]:
    """The settings of an environment by section; `NotFound` for an unknown one.

    With `settings_only` a server of ours says nothing of plugins that could be enabled; a Fuel master always does.
    """
    only = True if settings_only else None
    data = session.get(path_of(cluster_id), About("environment", cluster_id), settings_only=only)
    return Answer(data, "environment's attributes").mapping(EDITABLE)


def enabled(settings: Mapping[str, Any]) -> frozenset[int]:
    """The ids of the plugins that are enabled according to the settings of an environment.

    >>> sorted(enabled({"lma": {"metadata": {"class": "plugin", "enabled": True, "chosen_id": 3}}, "common": {}}))
    [3]
    """
    found = (_metadata(section) for section in settings.values())
    chosen = (_chosen(one) for one in found if one.get("class") == "plugin" and one.get("enabled") is True)
    return frozenset(one for one in chosen if one is not None)


def is_plugin(section: Any) -> bool:
    """Return whether a section of the settings is that of a plugin."""
    return _metadata(section).get("class") == "plugin"


def switched(settings: Mapping[str, Any], plugin: Plugin, *, on: bool) -> dict[str, Any] | None:
    """The one section to upload so that a plugin is on or off; None where the environment does not offer it."""
    section = settings.get(plugin.name)
    metadata = _metadata(section)
    if metadata.get("class") != "plugin" or plugin.id not in _offered(metadata):
        return None
    stated: dict[str, Any] = plain(section)
    stated["metadata"] = {**stated["metadata"], "enabled": on, "chosen_id": plugin.id}
    return {plugin.name: stated}


def switch(plugin: Plugin, *, on: bool) -> dict[str, Any]:
    """The section that says nothing but whether a plugin is enabled."""
    return {plugin.name: {"metadata": {"class": "plugin", "enabled": on, "chosen_id": plugin.id}}}


def _metadata(section: Any) -> Mapping[str, Any]:
    metadata = section.get("metadata") if isinstance(section, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _chosen(metadata: Mapping[str, Any]) -> int | None:
    values: Iterable[Any] = (metadata.get(key) for key in _ID_KEYS)
    return next((one for one in values if isinstance(one, int) and not isinstance(one, bool)), None)


def _offered(metadata: Mapping[str, Any]) -> set[int]:
    """The ids of all versions of a plugin that an environment can enable."""
    found = {_chosen(metadata)}
    versions = metadata.get("versions")
    for one in versions if isinstance(versions, list) else ():
        found.add(_chosen(_metadata(one)))
    return {one for one in found if one is not None}
