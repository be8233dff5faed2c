"""`network_scheme` of a node: its interfaces, bridges and ports. Source: Nailgun's Neutron serializers from 8.0 on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.environment.networks import ADMIN, PUBLIC
from fuelclient.facts.addresses import Addressed
from fuelclient.facts.given import Master
from fuelclient.facts.interfaces import Interface, interfaces_of, laid_out
from fuelclient.facts.names import Named
from fuelclient.facts.networks import BAREMETAL, MANAGEMENT, PRIVATE, STORAGE, Network, Networks

FLOATING, PRIVATE_ROLE, MESH = "neutron/floating", "neutron/private", "neutron/mesh"
"""Network roles that are tied to bridges of their own."""

_BRIDGES = {
    ADMIN: "br-fw-admin",
    MANAGEMENT: "br-mgmt",
    STORAGE: "br-storage",
    PUBLIC: "br-ex",
    BAREMETAL: "br-baremetal",
}
_LONGEST_BRIDGE = 15
_PATCH_MTU = 65000
_PORTS = (MANAGEMENT, STORAGE, PUBLIC, PRIVATE)
"""The order of the ports on an interface, which Nailgun takes from a hash."""


def bridges_of(networks: Networks) -> dict[str, str]:
    """Return the bridge of each network by the network's name.

    A network that users add has `br-` and its name, cut to what Linux allows and made unique by a number.
    """
    known = {**_BRIDGES, PRIVATE: "br-mesh" if networks.are_tunnels else "br-prv"}
    bridges: dict[str, str] = {}
    for network in networks:
        bridge = known.get(network.name) or f"br-{network.name}"[:_LONGEST_BRIDGE]
        number = 0
        while bridge in bridges.values():
            number += 1
            bridge = f"br-{network.name}"[: _LONGEST_BRIDGE - len(str(number))] + str(number)
        bridges[network.name] = bridge
    return bridges


def is_own(network: Network) -> bool:
    """Return whether a user added the network."""
    return network.name not in _BRIDGES and network.name != PRIVATE


class NodeScheme:
    """What follows from the networks and the interfaces of one node."""

    def __init__(
        self, node: Named, networks: Networks, addressed: Addressed, master: Master, interfaces: Sequence[Any] | None
    ) -> None:
        self.node, self.networks, self.addressed, self.master = node, networks, addressed, master
        self.bridges = bridges_of(networks)
        self.connected = networks.find(PUBLIC) is not None and node.node.id in addressed.connected
        self.mapped = [network for network in networks if self._is_mapped(network)]
        self.interfaces = interfaces_of(node.node, interfaces)
        self.slaves = {slave for interface in self.interfaces for slave in interface.slaves}
        self.layout = laid_out(self.interfaces, list(networks), public=self.connected)

    def _is_mapped(self, network: Network) -> bool:
        if network.name == PUBLIC:
            return self.node.node.id in self.addressed.on_public
        return network.name != PRIVATE or self.networks.are_tunnels

    def address(self, network: str) -> str:
        return self.addressed.of(network, self.node.node.id)

    def facts(self) -> dict[str, Any]:
        """Return `network_scheme`."""
        return {
            "version": "1.1",
            "provider": "lnx",
            "interfaces": self._interfaces(),
            "endpoints": self._endpoints(),
            "roles": self._roles(),
            "transformations": self._transformations(),
        }

    def role_addresses(self) -> dict[str, str | None]:
        """Return the address of each network role of the node; the roles of tenant traffic have none."""
        mapped = {network.name for network in self.mapped}
        addresses: dict[str, str | None] = {
            str(role["id"]): self.address(str(role.get("default_mapping")))
            for role in self.networks.roles
            if role.get("default_mapping") in mapped and self.address(str(role.get("default_mapping")))
        }
        return {**addresses, FLOATING: None, PRIVATE_ROLE: None} if self.networks.is_described else addresses

    def _interfaces(self) -> dict[str, Any]:
        return {
            interface.name: _interface(interface, is_slave=interface.name in self.slaves)
            for interface in self.interfaces
            if not interface.is_bond
        }

    def _endpoints(self) -> dict[str, Any]:
        endpoints: dict[str, Any] = {}
        for network in self.mapped:
            address = self.address(network.name)
            if address:
                endpoints[self.bridges[network.name]] = endpoint = {"IP": [f"{address}/{network.net.prefixlen}"]}
                if network.gateway:
                    endpoint["vendor_specific"] = {"provider_gateway": network.gateway}  # type: ignore[assignment]  # an endpoint mixes lists and mappings
        if self.connected:
            endpoints.setdefault(self.bridges[PUBLIC], {"IP": "none"})
            endpoints["br-floating"] = {"IP": "none"}
        public = self.networks.find(PUBLIC)
        if public is not None and public.gateway and self.address(PUBLIC):
            endpoints[self.bridges[PUBLIC]]["gateway"] = public.gateway
        elif self.address(ADMIN):
            endpoints[self.bridges[ADMIN]]["gateway"] = self.networks.admin.gateway or self.master.ip
        if self._private_is_vlans:
            endpoints[self.bridges[PRIVATE]] = {"IP": "none"}
        return endpoints

    @property
    def _private_is_vlans(self) -> bool:
        return self.networks.find(PRIVATE) is not None and not self.networks.are_tunnels

    def _roles(self) -> dict[str, str]:
        mapped = {network.name for network in self.mapped}
        roles = {
            str(role["id"]): self.bridges[str(role["default_mapping"])]
            for role in self.networks.roles
            if role.get("default_mapping") in mapped and role["id"] not in (FLOATING, PRIVATE_ROLE, MESH)
        }
        if self.connected:
            roles.update({"ex": self.bridges[PUBLIC], FLOATING: "br-floating"})
        if self.networks.find(PRIVATE) is not None:
            roles[MESH if self.networks.are_tunnels else PRIVATE_ROLE] = self.bridges[PRIVATE]
        return roles

    def _transformations(self) -> list[dict[str, Any]]:
        has_baremetal = self.networks.find(BAREMETAL) is not None
        untagged = {name: [net for net in on_it if not net.is_tagged] for name, on_it in self.layout.items()}
        plain = (BAREMETAL, ADMIN, MANAGEMENT, STORAGE)
        steps = [_bridge(self.bridges[network.name]) for network in self.mapped if is_own(network)]
        steps += [_bridge(self.bridges[name]) for name in plain if self.networks.find(name) is not None]
        if self.connected:
            steps += [
                _bridge(self.bridges[PUBLIC]),
                _bridge("br-floating", provider="ovs"),
                _patch("br-floating", self.bridges[PUBLIC], mtu=_PATCH_MTU),
            ]
        extra: dict[str, str] = {}
        if self._private_is_vlans:
            steps += self._private(untagged, extra)
        elif self.networks.find(PRIVATE) is not None:
            steps.append(_bridge(self.bridges[PRIVATE]))
        free = [interface for interface in self.interfaces if interface.is_bond or interface.name not in self.slaves]
        for interface in sorted(free, key=lambda interface: interface.is_bond):
            steps += self._ports(interface, extra)
        if has_baremetal:
            steps += [_bridge("br-ironic", provider="ovs"), _patch("br-ironic", self.bridges[BAREMETAL])]
        return steps

    def _private(self, untagged: Mapping[str, Sequence[Network]], extra: dict[str, str]) -> list[dict[str, Any]]:
        """Return how the bridge of tenant vlans joins that of the network without a vlan on the same interface.

        If that interface has no bridge yet, add one to `extra` under the name of the interface.
        """
        bridge = self.bridges[PRIVATE]
        steps = [_bridge(bridge, provider="ovs")]
        place = next((name for name, on_it in self.layout.items() if any(net.name == PRIVATE for net in on_it)), "")
        base = next((self.bridges[network.name] for network in untagged.get(place, ())), "br-aux")
        if base == "br-aux":
            extra[place] = base
            steps.append(_bridge(base))
        return [*steps, _patch(bridge, base, mtu=_PATCH_MTU)]

    def _on(self, interface: Interface) -> list[Network]:
        """Return the networks on an interface in the order of their ports; private ones of vlan ranges have none."""
        has_baremetal = self.networks.find(BAREMETAL) is not None
        order: tuple[str, ...] = (BAREMETAL, *_PORTS) if has_baremetal else _PORTS
        if has_baremetal and self.connected and self.networks.are_tunnels:
            order = (MANAGEMENT, STORAGE, PRIVATE, BAREMETAL, PUBLIC)
        if self.connected and not self.address(PUBLIC):
            order = (*(name for name in order if name != PUBLIC), PUBLIC)
        ranks = {name: rank for rank, name in enumerate(order)}
        on_it = [network for network in self.layout.get(interface.name, ()) if not network.is_range]
        return sorted(on_it, key=lambda network: ranks.get(network.name, -1))

    def _ports(self, interface: Interface, extra: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the ports of an interface: its own, or its bond, and one for each network with a vlan."""
        on_it = self._on(interface)
        bridges = [extra[interface.name]] if interface.name in extra else []
        bridges += [self.bridges[network.name] for network in on_it if not network.is_tagged]
        tagged = [
            {"action": "add-port", "name": f"{interface.name}.{network.vlan}", "bridge": self.bridges[network.name]}
            for network in on_it
            if network.is_tagged
        ]
        if not interface.is_bond:
            return [*({"action": "add-port", "name": interface.name, "bridge": name} for name in bridges), *tagged]
        stated = interface.bond
        bond = {
            "action": "add-bond",
            "name": interface.name,
            "interfaces": sorted(interface.slaves),
            "bond_properties": {key: stated[key] for key in ("mode", "lacp_rate", "xmit_hash_policy") if key in stated},
            "interface_properties": {},
            **({"bridge": bridges[0]} if bridges else {}),
            **({"mtu": interface.mtu} if interface.mtu else {}),
        }
        return [bond, *tagged]


def _interface(interface: Interface, *, is_slave: bool) -> dict[str, Any]:
    if is_slave and not interface.mtu:
        return {}
    known = {key: value for key, value in (("driver", interface.driver), ("bus_info", interface.bus_info)) if value}
    if interface.disable_offloading:
        known["disable_offloading"] = True  # type: ignore[assignment]  # the one value that is no text
    facts: dict[str, Any] = {"vendor_specific": {**known, **interface.vendor}}
    if interface.mtu:
        facts["mtu"] = interface.mtu
    if interface.offload:
        facts["ethtool"] = {"offload": dict(interface.offload)}
    return facts


def _bridge(name: str, *, provider: str = "") -> dict[str, Any]:
    return {"action": "add-br", "name": name, **({"provider": provider} if provider else {})}


def _patch(bridge: str, other: str, *, mtu: int | None = None) -> dict[str, Any]:
    return {"action": "add-patch", "bridges": [bridge, other], "provider": "ovs", **({"mtu": mtu} if mtu else {})}
