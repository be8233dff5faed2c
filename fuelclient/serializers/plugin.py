"""Plugins, and the results of synchronisations, in Nailgun's shape, and back."""

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
"""What clients expect of a plugin, with its defaults."""


def plugin_to(plugin: Plugin) -> dict[str, Any]:
    """Return the plugin as Nailgun's REST API does: its `metadata.yaml`, its contents, and its id.

    Our own fields besides are the environments that have it enabled, the ids of the releases that it defines, its
    directory, and the fields that its package does not state.
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
    """Return the plugin in an answer. Raise `InvalidDocument` if it is not one.

    Its metadata is every field that is not one of ours, without the defaults that a server of ours has added.
    """
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
    """Return the result of a synchronisation. Nailgun returns an empty object, and its clients ignore it."""
    return {
        **{word: [plugin_to(plugin) for plugin in getattr(synced, word)] for word in ("created", "updated", "removed")},
        "findings": [finding_to(finding) for finding in synced.findings],
    }


def synced_from(data: Any) -> Synced:
    """Return the result of a synchronisation; it is empty if a Fuel master made it."""
    answer = Answer(data, "synchronisation")
    created, updated, removed = (
        tuple(map(plugin_from, answer.items(word))) for word in ("created", "updated", "removed")
    )
    return Synced(created, updated, removed, findings_from(answer.items("findings")))
