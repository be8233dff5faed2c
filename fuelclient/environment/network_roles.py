"""The network roles of an environment, and the virtual addresses that they ask for.

Source: Nailgun's plugin manager and `policy.merge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fuelclient.environment.owners import metadata_of_owners
from fuelclient.model.environment import Environment
from fuelclient.serializers.values import mapping, mappings

VIP = "vip"


def network_roles(environment: Environment) -> tuple[Mapping[str, Any], ...]:
    """Return the network roles of the release and of its plugins, each id once."""
    stated = (mappings(metadata.get("network_roles_metadata")) for metadata in metadata_of_owners(environment))
    return merged(role for roles in stated for role in roles if role.get("id"))


def merged(records: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return network roles with each id once: a later record extends an earlier one.

    All that it adds is virtual addresses with new names; an empty list of them removes all that were there. They need a
    list in both records, as in Nailgun.

    >>> release, plugin = ({"id": "mgmt", "properties": {"vip": [{"name": name}]}} for name in ("a", "b"))
    >>> [vip["name"] for _, vip in asked_vips(merged([release, plugin]))]
    ['a', 'b']
    >>> list(asked_vips(merged([release, {"id": "mgmt", "properties": {"vip": []}}])))
    []
    """
    found: dict[str, Mapping[str, Any]] = {}
    for role in records:
        name = str(role["id"])
        found[name] = _extended(found[name], role) if name in found else role
    return tuple(found.values())


def asked_vips(roles: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each virtual address that network roles ask for, with its role; the first one of a name."""
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
