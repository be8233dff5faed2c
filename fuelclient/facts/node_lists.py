"""`network_metadata` and `nodes`: what every node knows of all nodes. Source: Nailgun's deployment serializers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuelclient.facts.addresses import Addressed, vip_facts
from fuelclient.facts.names import Named
from fuelclient.facts.networks import Networks
from fuelclient.facts.scheme import NodeScheme


def network_metadata(
    networks: Networks, named: Sequence[Named], addressed: Addressed, schemes: dict[int, NodeScheme]
) -> dict[str, Any]:
    """Return the virtual addresses, and the nodes by their permanent keys `node-<id>`."""
    return {
        "vips": vip_facts(networks, named, addressed),
        "nodes": {
            f"node-{node.node.id}": {
                **node.about,
                "node_roles": list(node.tags),
                "network_roles": schemes[node.node.id].role_addresses(),
                "nova_cpu_pinning_enabled": False,
                "nova_hugepages_enabled": False,
            }
            for node in named
        },
    }


def node_list(networks: Networks, named: Sequence[Named], addressed: Addressed) -> list[dict[str, Any]]:
    """Return each node once for each of its tags, as older releases read them."""
    masked = [network for network in networks if network.mask and network.cidr]
    entries: list[dict[str, Any]] = []
    for node in named:
        about: dict[str, Any] = dict(node.about)
        for network in masked:
            address = addressed.of(network.name, node.node.id)
            if address:
                about[f"{network.mask}_address"] = address
                about[f"{network.mask}_netmask"] = str(network.net.netmask)
        entries += ({**about, "role": tag} for tag in node.tags)
    return entries
