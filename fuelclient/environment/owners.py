"""The owners of the graphs, roles and tags of an environment: its release, its plugins, itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fuelclient.model.environment import Environment
from fuelclient.model.graph import Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release


def release_owner(release: Release) -> Owner:
    """Return a release as the owner of graphs."""
    return Owner(Level.RELEASE, release.id, release.name, release.version)


def plugin_owner(plugin: Plugin) -> Owner:
    """Return a plugin as the owner of graphs."""
    return Owner(Level.PLUGIN, plugin.id, plugin.name, plugin.version)


def owners(environment: Environment) -> tuple[Owner, ...]:
    """Return all owners of the environment's graphs, least important first."""
    return (
        release_owner(environment.release),
        *(plugin_owner(plugin) for plugin in environment.plugins),
        Owner(Level.CLUSTER, environment.cluster.id, environment.cluster.name),
    )


def in_merge_order(plugins: Iterable[Plugin]) -> tuple[Plugin, ...]:
    """Return plugins in the order in which their layers are merged: by name and version."""
    return tuple(sorted(plugins, key=lambda plugin: plugin_owner(plugin).order))


def metadata_of_owners(environment: Environment) -> Iterator[Mapping[str, Any]]:
    """Yield the metadata of the release, of each plugin, and of the environment itself."""
    of_plugins = (plugin.metadata for plugin in environment.plugins)
    return iter((environment.release.metadata, *of_plugins, environment.own_metadata))
