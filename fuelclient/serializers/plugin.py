"""Plugins in Nailgun's shape, and back; what a synchronisation did."""

from __future__ import annotations

from typing import Any

from fuelclient.model.plugin import Plugin, Synced
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.finding import finding_to, findings_from
from fuelclient.serializers.values import plain

_OURS = ("id", "clusters", "defined_releases", "unpacked", "by_release", "origin", "unstated")
"""The fields that do not come from the package."""

_SHOWN: tuple[tuple[str, Any], ...] = (
    ("description", ""),
    ("releases", []),
    ("groups", []),
    ("authors", []),
    ("licenses", []),
    ("homepage", None),
    ("fuel_version", []),
    ("is_hotpluggable", False),
)
"""What clients expect of a plugin, with what they get where its package says nothing."""


def plugin_to(plugin: Plugin) -> dict[str, Any]:
    """The plugin as Nailgun's REST API returns it: its `metadata.yaml`, its contents, and its id.

    Beside that: the environments where it is enabled, the ids of the releases that it defines, where it lies, and which
    of the fields its package does not state.
    """
    return {
        **{key: plain(default) for key, default in _SHOWN},
        **plain({key: value for key, value in plugin.metadata.items() if key not in _OURS}),
        "name": plugin.name,
        "version": plugin.version,
        "title": plugin.title,
        "package_version": plugin.package_version,
        "id": plugin.id,
        "clusters": list(plugin.clusters),
        "defined_releases": list(plugin.releases),
        "unpacked": plugin.unpacked,
        "by_release": plugin.by_release,
        "origin": plugin.origin,
        "unstated": [key for key, _ in _SHOWN if key not in plugin.metadata],
    }


def plugin_from(data: Any) -> Plugin:
    """The plugin that a server tells of; `InvalidDocument` for what is none. Its metadata has every field that
    is not one of ours, without those that a server of ours has filled in."""
    answer = Answer(data, "plugin")
    stated = answer.rest(*_OURS, *(key for key in answer.texts("unstated") if key in dict(_SHOWN)))
    return Plugin(
        answer.identifier(),
        answer.stated("name"),
        answer.stated("version"),
        answer.text("title"),
        answer.text("package_version"),
        stated,
        answer.numbers("clusters"),
        answer.numbers("defined_releases"),
        answer.text("unpacked"),
        answer.truth("by_release"),
        answer.text("origin"),
    )


def synced_to(synced: Synced) -> dict[str, Any]:
    """What a synchronisation did. Nailgun answers with an empty object, and its clients read nothing of it."""
    return {
        **{word: [plugin_to(one) for one in getattr(synced, word)] for word in ("created", "updated", "removed")},
        "findings": [finding_to(one) for one in synced.findings],
    }


def synced_from(data: Any) -> Synced:
    """What a server says of a synchronisation; nothing is known of one that a Fuel master made."""
    answer = Answer(data, "synchronisation")
    created, updated, removed = (
        tuple(plugin_from(one) for one in answer.items(word)) for word in ("created", "updated", "removed")
    )
    return Synced(created, updated, removed, findings_from(answer.items("findings")))
