"""Plugins in Nailgun's shape, and back."""

from __future__ import annotations

from typing import Any

from fuelclient.model.plugin import Plugin
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import plain

_DEFAULTS: dict[str, Any] = {
    "description": "", "releases": [], "groups": [], "authors": [], "licenses": [], "homepage": None,
    "fuel_version": [], "is_hotpluggable": False,
}  # fmt: skip
"""Keys that clients expect in a plugin, with their default values."""


def plugin_to(plugin: Plugin) -> dict[str, Any]:
    """Write a plugin as Nailgun does: its `metadata.yaml`, its contents, and its id."""
    return {
        **plain(_DEFAULTS),
        **plain(plugin.metadata),
        **{key: getattr(plugin, key) for key in ("name", "version", "title", "package_version", "id")},
    }


def plugin_from(data: Any) -> Plugin:
    """Read a plugin, whose metadata is all but the id. Raise `InvalidDocument` if it is not one."""
    answer = Answer(data, "plugin")
    texts = ("title", "package_version")
    return answer.into(Plugin, "id", "name", "version", optional=texts, metadata=answer.rest("id"))
