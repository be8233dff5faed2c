"""Ask a backend on which environments its plugins are enabled."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound
from fuelclient.model.plugin import Plugin
from fuelclient.support import supports


def plugins_on(backend: Backend, cluster_ids: Iterable[int]) -> tuple[Plugin, ...]:
    """Return all plugins with those of these environments on which they are enabled.

    A list of plugins says it, except that of a Fuel master: there, the settings of each environment are read.
    """
    plugins = tuple(backend.plugins.list())
    if not plugins or not supports(backend.runs.act):
        return plugins
    using: dict[int, list[int]] = {}
    for cluster_id in cluster_ids:
        with suppress(NotFound):  # it has just been deleted
            for plugin in backend.plugins.enabled(cluster_id):
                using.setdefault(plugin.id, []).append(cluster_id)
    return tuple(replace(plugin, clusters=tuple(using.get(plugin.id, ()))) for plugin in plugins)
