"""Compute `quantum_settings`, the configuration of Neutron. Source: Nailgun's Neutron serializers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.facts.networks import BAREMETAL, PRIVATE, Network, Networks, number_of
from fuelclient.serializers.values import deep_merged, mapping

_PHYSNET, _TENANT_PHYSNET, _IRONIC_PHYSNET = "physnet1", "physnet2", "physnet-ironic"


def neutron_facts(networks: Networks, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Compute `quantum` and `quantum_settings`. `facts` are those of settings, with Neutron's passwords."""
    parameters = networks.parameters
    internal, floating = str(parameters.get("internal_name") or ""), str(parameters.get("floating_name") or "")
    settings = {
        "L3": {"use_namespaces": True},
        "L2": _l2(networks),
        "default_private_net": internal,
        "default_floating_net": floating,
        "predefined_networks": _predefined(networks, mapping(facts.get("access")).get("tenant"), internal, floating),
    }
    return {"quantum": True, "quantum_settings": deep_merged(mapping(facts.get("quantum_settings")), settings)}


def _l2(networks: Networks) -> dict[str, Any]:
    parameters = networks.parameters
    physical: dict[str, Any] = {_PHYSNET: {"bridge": "br-floating", "vlan_range": None}}
    l2 = {"base_mac": parameters.get("base_mac"), "segmentation_type": networks.segmentation, "phys_nets": physical}
    if networks.uses_tunnels:
        l2["tunnel_id_ranges"] = _with_colon(parameters.get("gre_id_range"))
    elif networks.find(PRIVATE) is not None:
        physical[_TENANT_PHYSNET] = {"bridge": "br-prv", "vlan_range": _with_colon(parameters.get("vlan_range"))}
    if networks.find(BAREMETAL) is not None:
        physical[_IRONIC_PHYSNET] = {"bridge": "br-ironic", "vlan_range": None}
    return l2


def _predefined(networks: Networks, tenant: Any, internal: str, floating: str) -> dict[str, Any]:
    parameters = networks.parameters
    nameservers = list(parameters.get("dns_nameservers") or ())
    ranges = [_with_colon(pair) for pair in _pairs(parameters.get("floating_ranges"))]
    external = _network_of_ranges(networks, ranges)

    def network(kind: str, physnet: str | None, subnet: Any, gateway: Any, nameservers: Any, pool: Any) -> Any:
        is_external, is_shared = physnet == _PHYSNET, physnet == _IRONIC_PHYSNET
        l3 = {"subnet": subnet, "gateway": gateway, "nameservers": nameservers, "floating": pool}
        l2 = {"network_type": kind, "segment_id": None, "router_ext": is_external, "physnet": physnet}
        return {"L3": {**l3, "enable_dhcp": not is_external}, "L2": l2, "tenant": tenant, "shared": is_shared}

    physnet = None if networks.uses_tunnels else _TENANT_PHYSNET
    subnet, gateway = parameters.get("internal_cidr"), parameters.get("internal_gateway")
    predefined = {internal: network(networks.segmentation, physnet, subnet, gateway, nameservers, None)}
    subnet, gateway = (external.cidr, external.gateway or None) if external else (None, None)
    predefined[floating] = network("flat", _PHYSNET, subnet, gateway, [], ranges)
    if (baremetal := networks.find(BAREMETAL)) is not None:
        gateway, pool = parameters.get("baremetal_gateway"), _with_colon(parameters.get("baremetal_range"))
        predefined["baremetal"] = network("flat", _IRONIC_PHYSNET, baremetal.cidr, gateway, nameservers, pool)
    return predefined


def _network_of_ranges(networks: Networks, ranges: Sequence[str | None]) -> Network | None:
    """The network that contains the first floating range."""
    first = number_of((ranges[0] or "").partition(":")[0]) if ranges else None
    return next((net for net in networks if first is not None and net.cidr and net.covers(first)), None)


def _pairs(value: Any) -> Sequence[Any]:
    """The ranges as a list. Users may also give a single range."""
    if not isinstance(value, list | tuple) or not value:
        return ()
    return [value] if not isinstance(value[0], list | tuple) else value


def _with_colon(pair: Any) -> str | None:
    """Format a range as in Neutron's configuration.

    >>> _with_colon([1000, 1030])
    '1000:1030'
    """
    return ":".join(map(str, pair)) if isinstance(pair, list | tuple) else None
