"""`quantum_settings`: what Neutron is to be set up with. Source: Nailgun's Neutron serializers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.facts.networks import BAREMETAL, PRIVATE, Network, Networks, number_of
from fuelclient.serializers.values import deep_merged

_PHYSNET, _TENANT_PHYSNET, _IRONIC_PHYSNET = "physnet1", "physnet2", "physnet-ironic"


def neutron_facts(networks: Networks, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return `quantum` and `quantum_settings`; `facts` are those of the settings, with Neutron's passwords."""
    parameters = networks.parameters
    access = facts.get("access")
    tenant = access.get("tenant") if isinstance(access, Mapping) else None
    internal, floating = str(parameters.get("internal_name") or ""), str(parameters.get("floating_name") or "")
    settings = {
        "L3": {"use_namespaces": True},
        "L2": _l2(networks),
        "default_private_net": internal,
        "default_floating_net": floating,
        "predefined_networks": _predefined(networks, tenant, internal, floating),
    }
    before = facts.get("quantum_settings")
    return {"quantum": True, "quantum_settings": deep_merged(before if isinstance(before, Mapping) else {}, settings)}


def _l2(networks: Networks) -> dict[str, Any]:
    parameters = networks.parameters
    physical: dict[str, Any] = {_PHYSNET: {"bridge": "br-floating", "vlan_range": None}}
    l2 = {"base_mac": parameters.get("base_mac"), "segmentation_type": networks.segmentation, "phys_nets": physical}
    if networks.are_tunnels:
        l2["tunnel_id_ranges"] = _colon(parameters.get("gre_id_range"))
    elif networks.find(PRIVATE) is not None:
        physical[_TENANT_PHYSNET] = {"bridge": "br-prv", "vlan_range": _colon(parameters.get("vlan_range"))}
    if networks.find(BAREMETAL) is not None:
        physical[_IRONIC_PHYSNET] = {"bridge": "br-ironic", "vlan_range": None}
    return l2


def _predefined(networks: Networks, tenant: Any, internal: str, floating: str) -> dict[str, Any]:
    parameters = networks.parameters
    nameservers = list(parameters.get("dns_nameservers") or ())
    ranges = [_colon(pair) for pair in _pairs(parameters.get("floating_ranges"))]
    outside = _holding(networks, ranges)
    made = {
        internal: {
            "L3": {
                "subnet": parameters.get("internal_cidr"), "gateway": parameters.get("internal_gateway"),
                "nameservers": nameservers, "floating": None, "enable_dhcp": True,
            },
            "L2": _network_l2(
                networks.segmentation, None if networks.are_tunnels else _TENANT_PHYSNET, external=False
            ),
            "tenant": tenant,
            "shared": False,
        },
        floating: {
            "L3": {
                "subnet": outside.cidr if outside else None, "gateway": (outside.gateway or None) if outside else None,
                "nameservers": [], "floating": ranges, "enable_dhcp": False,
            },
            "L2": _network_l2("flat", _PHYSNET, external=True),
            "tenant": tenant,
            "shared": False,
        },
    }  # fmt: skip
    baremetal = networks.find(BAREMETAL)
    if baremetal is not None:
        made["baremetal"] = {
            "L3": {
                "subnet": baremetal.cidr, "gateway": parameters.get("baremetal_gateway"), "nameservers": nameservers,
                "floating": _colon(parameters.get("baremetal_range")), "enable_dhcp": True,
            },
            "L2": _network_l2("flat", _IRONIC_PHYSNET, external=False),
            "tenant": tenant,
            "shared": True,
        }  # fmt: skip
    return made


def _network_l2(kind: str, physnet: str | None, *, external: bool) -> dict[str, Any]:
    return {"network_type": kind, "segment_id": None, "router_ext": external, "physnet": physnet}


def _holding(networks: Networks, ranges: Sequence[str | None]) -> Network | None:
    """Return the network that the first floating range is in."""
    first = number_of((ranges[0] or "").partition(":")[0]) if ranges else None
    for network in networks:
        if first is not None and network.cidr:
            net = network.net
            if int(net.network_address) <= first <= int(net.broadcast_address):
                return network
    return None


def _pairs(value: Any) -> Sequence[Any]:
    """Return a list of ranges, of which users may also state a single one."""
    if not isinstance(value, list | tuple) or not value:
        return ()
    return [value] if not isinstance(value[0], list | tuple) else value


def _colon(pair: Any) -> str | None:
    """Return a range as Neutron's configuration has it.

    >>> _colon([1000, 1030])
    '1000:1030'
    """
    return ":".join(map(str, pair)) if isinstance(pair, list | tuple) else None
