"""The roles, tags and volumes of an environment, from its release, its plugins and itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fuelclient.environment.owners import metadata_of_owners, plugin_owner
from fuelclient.model.environment import Environment
from fuelclient.model.release import Role, Tag, primary_tags_in, roles_in, tags_in


def roles(environment: Environment) -> dict[str, Role]:
    """Return the roles of the release, of the plugins and of the environment itself.

    A later one of the same name replaces an earlier one, but a plugin's role is not hidden by the environment's own.
    """
    defined = volumes(environment)
    known = roles_in(environment.release.metadata, volumes=defined)
    for plugin in environment.plugins:
        for name, role in roles_in(plugin.metadata, plugin_owner(plugin).label, defined).items():
            known[name] = replace(role, metadata=_only_with_plugin(role.metadata, plugin.name))
    of_plugins = {name for plugin in environment.plugins for name in roles_in(plugin.metadata)}
    own = roles_in(environment.own_metadata, environment.label, defined)
    known.update({name: role for name, role in own.items() if name not in of_plugins})
    return known


def tags(environment: Environment) -> dict[str, Tag]:
    """Return the tags of the release, of the plugins and of the environment itself, in the order of `roles`."""
    known = tags_in(environment.release.metadata)
    for plugin in environment.plugins:
        known.update(_stated_tags(plugin.metadata, plugin_owner(plugin).label, known))
    known.update(_stated_tags(environment.own_metadata, environment.label, known))
    return known


def primary_tags(environment: Environment) -> frozenset[str]:
    """Return the tags of which one node is the primary.

    These are the tags that say so themselves, and the tags of plugin roles with `has_primary`.
    """
    of_plugins = (role for plugin in environment.plugins for role in roles_in(plugin.metadata).values())
    of_roles = (role.tags for role in of_plugins if role.metadata.get("has_primary"))
    return frozenset[str]().union(*map(primary_tags_in, metadata_of_owners(environment)), *of_roles)


def volumes(environment: Environment) -> dict[str, Any]:
    """Return the volumes of each role and their definitions, in the shape of `volumes_metadata`.

    Source: Nailgun's plugin manager, which lets a plugin replace the mapping of a role silently.
    """
    mapped: dict[str, Any] = {}
    defined: list[Any] = []
    for metadata in metadata_of_owners(environment):
        stated = metadata.get("volumes_metadata") or {}
        mapped.update(stated.get("volumes_roles_mapping") or {})
        defined.extend(stated.get("volumes") or ())
    return {"volumes_roles_mapping": mapped, "volumes": defined}


def _stated_tags(metadata: Mapping[str, Any], owner: str, below: Mapping[str, Tag]) -> dict[str, Tag]:
    """Return the tags of one owner. Those that its roles only imply do not replace a tag below."""
    stated = metadata.get("tags_metadata") or {}
    return {name: tag for name, tag in tags_in(metadata, owner).items() if name in stated or name not in below}


def _only_with_plugin(metadata: Mapping[str, Any], plugin: str) -> dict[str, Any]:
    """Return a plugin's role with the restriction that Nailgun puts first: only if the plugin is enabled."""
    stated = metadata.get("restrictions")
    own = stated if isinstance(stated, list) else [stated] if stated else []
    return {**metadata, "restrictions": [f"settings:{plugin}.metadata.enabled == false", *own]}
