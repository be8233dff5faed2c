"""The roles, tags, volumes and network roles that the owners in an environment define.

The owners are its release, its plugins and the environment itself. Source: Nailgun's plugin manager, and `policy.merge`
for network roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fuelclient.model.environment import Environment
from fuelclient.model.graph import Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, Role, Tag, primary_tags_in, roles_in, tags_in
from fuelclient.serializers.values import mapping, mappings

VIP = "vip"


def release_owner(release: Release) -> Owner:
    return Owner(Level.RELEASE, release.id, release.name, release.version)


def plugin_owner(plugin: Plugin) -> Owner:
    return Owner(Level.PLUGIN, plugin.id, plugin.name, plugin.version)


def owners(environment: Environment) -> tuple[Owner, ...]:
    """The owners of an environment's graphs, least important first."""
    return (
        release_owner(environment.release),
        *(plugin_owner(plugin) for plugin in environment.plugins),
        Owner(Level.CLUSTER, environment.cluster.id, environment.cluster.name),
    )


def in_merge_order(plugins: Iterable[Plugin]) -> tuple[Plugin, ...]:
    return tuple(sorted(plugins, key=lambda plugin: plugin_owner(plugin).order))


def metadata_of_owners(environment: Environment) -> Iterator[Mapping[str, Any]]:
    """Yield the metadata of the release, of each plugin, and of the environment itself."""
    of_plugins = (plugin.metadata for plugin in environment.plugins)
    return iter((environment.release.metadata, *of_plugins, environment.own_metadata))


def roles(environment: Environment) -> dict[str, Role]:
    """The roles by name: those of the release, then of the plugins, then of the environment itself.

    A later role replaces an earlier one of its name, but the environment's own role never replaces a plugin's.
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
    """The tags by name, in the order of `roles`."""
    known = tags_in(environment.release.metadata)
    for plugin in environment.plugins:
        known.update(_tags_of_owner(plugin.metadata, plugin_owner(plugin).label, known))
    known.update(_tags_of_owner(environment.own_metadata, environment.label, known))
    return known


def primary_tags(environment: Environment) -> frozenset[str]:
    """The tags with one primary node: those with `has_primary`, and those of plugin roles that have it."""
    of_plugins = (role for plugin in environment.plugins for role in roles_in(plugin.metadata).values())
    of_roles = (role.tags for role in of_plugins if role.metadata.get("has_primary"))
    return frozenset[str]().union(*map(primary_tags_in, metadata_of_owners(environment)), *of_roles)


def volumes(environment: Environment) -> dict[str, Any]:
    """The volumes of each role and their definitions, in the shape of `volumes_metadata`.

    Source: Nailgun's plugin manager, which lets a plugin replace the mapping of a role silently.
    """
    mapped: dict[str, Any] = {}
    defined: list[Any] = []
    for metadata in metadata_of_owners(environment):
        given = metadata.get("volumes_metadata") or {}
        mapped.update(given.get("volumes_roles_mapping") or {})
        defined.extend(given.get("volumes") or ())
    return {"volumes_roles_mapping": mapped, "volumes": defined}


def _tags_of_owner(metadata: Mapping[str, Any], owner: str, earlier: Mapping[str, Tag]) -> dict[str, Tag]:
    """The tags of one owner. A tag that only its roles mention does not replace an earlier one."""
    given = metadata.get("tags_metadata") or {}
    return {name: tag for name, tag in tags_in(metadata, owner).items() if name in given or name not in earlier}


def _only_with_plugin(metadata: Mapping[str, Any], plugin: str) -> dict[str, Any]:
    """Prepend the restriction that Nailgun adds to a plugin's role: the plugin must be enabled."""
    given = metadata.get("restrictions")
    own = given if isinstance(given, list) else [given] if given else []
    return {**metadata, "restrictions": [f"settings:{plugin}.metadata.enabled == false", *own]}


def network_roles(environment: Environment) -> tuple[Mapping[str, Any], ...]:
    """The network roles of the release and of its plugins, each id once."""
    given = (mappings(metadata.get("network_roles_metadata")) for metadata in metadata_of_owners(environment))
    return merged_network_roles(role for roles in given for role in roles if role.get("id"))


def merged_network_roles(records: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Merge network roles with one id: a later record extends an earlier one.

    It adds only virtual addresses with new names; an empty list of them removes the existing ones. Both records need a
    list of them, as in Nailgun.

    >>> release, plugin = ({"id": "mgmt", "properties": {"vip": [{"name": name}]}} for name in ("a", "b"))
    >>> [vip["name"] for _, vip in role_vips(merged_network_roles([release, plugin]))]
    ['a', 'b']
    >>> list(role_vips(merged_network_roles([release, {"id": "mgmt", "properties": {"vip": []}}])))
    []
    """
    found: dict[str, Mapping[str, Any]] = {}
    for role in records:
        name = str(role["id"])
        found[name] = _extended(found[name], role) if name in found else role
    return tuple(found.values())


def role_vips(roles: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield (network role, VIP) for each VIP that network roles define; of equal names only the first."""
    seen: set[str] = set()
    for role in roles:
        for vip in mappings(mapping(role.get("properties")).get(VIP)):
            name = vip.get("name")
            if isinstance(name, str) and name and name not in seen:
                seen.add(name)
                yield role, vip


def _extended(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Mapping[str, Any]:
    ours, theirs = (mapping(role.get("properties")).get(VIP) for role in (target, patch))
    if not isinstance(ours, list | tuple) or not isinstance(theirs, list | tuple):
        return target
    known = [vip.get("name") for vip in mappings(ours)]
    vips = [*ours, *(vip for vip in mappings(theirs) if vip.get("name") not in known)] if theirs else []
    return {**target, "properties": {**target["properties"], VIP: vips}}
