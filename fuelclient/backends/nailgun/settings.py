"""The settings of a master's environments, which say which plugins are enabled.

A plugin is a section under its name, with `metadata` that say `class: plugin`, whether it is `enabled`, and with
`chosen_id` which of its versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.backends.http.session import Session
from fuelclient.backends.nailgun.facet import resource
from fuelclient.environment.settings import EDITABLE
from fuelclient.serializers.answer import Answer

ATTRIBUTES = "attributes"
"""The path of an environment's settings, below its own."""

_ID_KEYS = ("chosen_id", "plugin_id")


def settings_of(session: Session, cluster_id: int) -> dict[str, Any]:
    """Return the settings of an environment by section, which has one for each plugin that could be enabled. Raise
    `NotFound` if the environment does not exist."""
    attributes = resource(session, "environment", cluster_id, ATTRIBUTES)
    return Answer(attributes.get(), "environment's attributes").mapping(EDITABLE)


def enabled_plugins(stated: Mapping[str, Any]) -> frozenset[int]:
    """Return the ids of the plugins that the settings of an environment enable.

    >>> lma = {"metadata": {"class": "plugin", "enabled": True, "chosen_id": 3}}
    >>> sorted(enabled_plugins({"lma": lma, "common": {}}))
    [3]
    """
    sections = map(plugin_metadata, stated.values())
    chosen = {plugin_id_in(metadata) for metadata in sections if metadata.get("enabled") is True}
    return frozenset(plugin_id for plugin_id in chosen if plugin_id is not None)


def plugin_metadata(section: Any) -> Mapping[str, Any]:
    """Return the metadata of the section of a plugin; nothing for other sections."""
    metadata = section.get("metadata") if isinstance(section, Mapping) else None
    return metadata if isinstance(metadata, Mapping) and metadata.get("class") == "plugin" else {}


def plugin_id_in(metadata: Mapping[str, Any]) -> int | None:
    """Return the id that the metadata of a plugin, or of one of its versions, state."""
    values = (metadata.get(key) for key in _ID_KEYS)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)
