"""Assign networks to the interfaces of a node, and compute its `network_scheme`: interfaces, bridges and ports.

Source: Nailgun's `NetworkManager`, and its Neutron serializers from 8.0 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.environment.networks import ADMIN, PUBLIC, spread
from fuelclient.facts.given import Master
from fuelclient.facts.names import FactNode
from fuelclient.facts.networks import BAREMETAL, MANAGEMENT, PRIVATE, STORAGE, Addresses, Network, Networks
from fuelclient.model.node import Node
from fuelclient.serializers.values import mapping

INPUTS = frozenset({"interfaces", "meta", "hostname", "network_data", "group_id", "cluster_id"})
"""Attributes of a node that are inputs of facts, and not facts."""


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface of a node, or a bond of several (`slaves`). `networks` is None if they are not given."""

    name: str
    mac: str = ""
    pxe: bool = False
    driver: str = ""
    bus_info: str = ""
    mtu: int | None = None
    offload: Mapping[str, bool | None] = field(default_factory=dict)
    disable_offloading: bool = False
    vendor: Mapping[str, Any] = field(default_factory=dict)
    networks: tuple[str, ...] | None = None
    slaves: tuple[str, ...] = ()
    bond: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_bond(self) -> bool:
        return bool(self.slaves)


def interfaces_of(node: Node, document: Sequence[Any] | None) -> tuple[Interface, ...]:
    """Read the interfaces of a node.

    They come from the document that was stored for it, or from its attributes (`interfaces`, or `meta.interfaces` as
    a master's agent reports them). The default is eth0, from which it boots, and eth1.
    """
    given = document or node.attributes.get("interfaces") or mapping(node.attributes.get("meta")).get("interfaces")
    records = [record for record in given or () if isinstance(record, Mapping) and record.get("name")]
    interfaces = [_read(record) for record in records] if records else [Interface("eth0"), Interface("eth1")]
    macs = {interface.mac.lower() for interface in interfaces}
    boots = [interface.pxe for interface in interfaces]
    if not any(boots):
        first = next((i for i, it in enumerate(interfaces) if node.mac and it.mac.lower() == node.mac.lower()), 0)
        boots[first] = True
    return tuple(
        replace(interface, pxe=pxe, mac=interface.mac or (node.mac if pxe and node.mac.lower() not in macs else ""))
        for interface, pxe in zip(interfaces, boots, strict=True)
    )


def mac_of(node: Node, position: int, interface: Interface) -> str:
    """The MAC address of an interface; if it is not given, one derived from the node's id and `position`."""
    if interface.mac:
        return interface.mac
    high, low = divmod(node.id, 256)
    return f"52:54:{position % 256:02x}:{high // 256 % 256:02x}:{high % 256:02x}:{low:02x}"


def _read(record: Mapping[str, Any]) -> Interface:
    attributes = record.get("attributes") or record.get("interface_properties") or {}
    networks = record.get("networks", record.get("assigned_networks"))
    mtu = record.get("mtu") or _setting(attributes, "mtu", "value") or _setting(attributes, "mtu")
    modes = record.get("ethtool_offload")
    return Interface(
        name=str(record["name"]),
        mac=str(record.get("mac") or ""),
        pxe=bool(record.get("pxe")),
        driver=str(record.get("driver") or ""),
        bus_info=str(record.get("bus_info") or ""),
        mtu=mtu if isinstance(mtu, int) else None,
        offload=modes if isinstance(modes, Mapping) else dict(_modes(record.get("offloading_modes") or ())),
        disable_offloading=bool(_setting(attributes, "offloading", "disable_offloading")),
        vendor=mapping(record.get("vendor_specific")),
        networks=None if networks is None else tuple(map(_name, networks)),
        slaves=tuple(map(_name, record.get("slaves") or ())),
        bond=mapping(record.get("bond_properties")),
    )


def _name(value: Any) -> str:
    return str(value.get("name")) if isinstance(value, Mapping) else str(value)


def _setting(attributes: Any, *path: str) -> Any:
    """Read a value in the attributes of an interface, plain or as `{value: ...}`."""
    value = attributes
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value.get("value") if isinstance(value, Mapping) and "value" in value else value


def _modes(given: Sequence[Any]) -> Iterator[tuple[str, bool | None]]:
    for mode in given:
        if isinstance(mode, Mapping) and mode.get("name"):
            yield str(mode["name"]), mode.get("state")
            yield from _modes(mode.get("sub") or ())


def layout(interfaces: Sequence[Interface], networks: Sequence[Network], *, public: bool) -> dict[str, list[Network]]:
    """Assign networks to interfaces; the keys are the interfaces' names.

    Networks that an interface names are on it. If none names any, each interface in turn takes all networks with a
    vlan and one without. The rest is on the first. `public`: the node is on the public network.
    """
    slaves = {slave for interface in interfaces for slave in interface.slaves}
    free = [interface for interface in interfaces if interface.name not in slaves]
    connected = [network for network in networks if public or network.name != PUBLIC]
    left = sorted(connected, key=lambda network: (network.name != ADMIN, network.name != PUBLIC))
    if all(interface.networks is None for interface in free):
        assigned = spread([interface.pxe for interface in free], left, lambda each: (each.name, each.is_tagged))
    else:
        assigned = [[net for name in each.networks or () for net in left if net.name == name] for each in free]
        given = {network.name for on_it in assigned for network in on_it}
        assigned[0] += [network for network in left if network.name not in given]
    placed: dict[str, list[Network]] = {interface.name: [] for interface in free}
    for interface, on_it in zip(free, assigned, strict=True):
        placed[interface.name] += on_it
    return placed


FLOATING, PRIVATE_ROLE, MESH = "neutron/floating", "neutron/private", "neutron/mesh"
"""Network roles that have bridges of their own."""

_BRIDGES = {
    ADMIN: "br-fw-admin",
    MANAGEMENT: "br-mgmt",
    STORAGE: "br-storage",
    PUBLIC: "br-ex",
    BAREMETAL: "br-baremetal",
}
_MAX_BRIDGE_CHARS = 15
_PATCH_MTU = 65000
_PORT_ORDER = (MANAGEMENT, STORAGE, PUBLIC, PRIVATE)
"""The order of the ports on an interface, which Nailgun takes from a hash."""


def bridges_of(networks: Networks) -> dict[str, str]:
    """The name of each network's bridge, by the network's name.

    The bridge of a network that users add is `br-` and its name, cut to 15 characters and made unique by a number.
    """
    fixed = {**_BRIDGES, PRIVATE: "br-mesh" if networks.uses_tunnels else "br-prv"}
    bridges: dict[str, str] = {}
    for network in networks:
        bridge = fixed.get(network.name) or f"br-{network.name}"[:_MAX_BRIDGE_CHARS]
        number = 0
        while bridge in bridges.values():
            number += 1
            bridge = f"br-{network.name}"[: _MAX_BRIDGE_CHARS - len(str(number))] + str(number)
        bridges[network.name] = bridge
    return bridges


def _is_added(network: Network) -> bool:
    return network.name not in _BRIDGES and network.name != PRIVATE


class NodeScheme:
    """The facts of one node that depend on its networks and interfaces."""

    def __init__(
        self, node: FactNode, networks: Networks, addresses: Addresses, master: Master, interfaces: Sequence[Any] | None
    ) -> None:
        self.node, self.networks, self.addresses, self.master = node, networks, addresses, master
        self.bridges = bridges_of(networks)
        self.connected = networks.find(PUBLIC) is not None and node.node.id in addresses.connected
        hidden = {PUBLIC} if node.node.id not in addresses.on_public else set()
        hidden |= {PRIVATE} if not networks.uses_tunnels else set()
        self.mapped = [network for network in networks if network.name not in hidden]
        names = {network.name for network in self.mapped}
        self.mapped_roles = {
            str(role["id"]): str(role["default_mapping"])
            for role in networks.roles
            if role.get("default_mapping") in names
        }
        self.interfaces = interfaces_of(node.node, interfaces)
        self.slaves = {slave for interface in self.interfaces for slave in interface.slaves}
        self.layout = layout(self.interfaces, list(networks), public=self.connected)

    def address(self, network: str) -> str:
        return self.addresses.of(network, self.node.node.id)

    def facts(self) -> dict[str, Any]:
        return {
            "version": "1.1",
            "provider": "lnx",
            "interfaces": {
                interface.name: _interface(interface, is_slave=interface.name in self.slaves)
                for interface in self.interfaces
                if not interface.is_bond
            },
            "endpoints": self._endpoints(),
            "roles": self._roles(),
            "transformations": self._transformations(),
        }

    def role_addresses(self) -> dict[str, str | None]:
        """The address of each network role of the node; the roles of tenant traffic have none."""
        addresses: dict[str, str | None] = {
            role: self.address(network) for role, network in self.mapped_roles.items() if self.address(network)
        }
        return {**addresses, FLOATING: None, PRIVATE_ROLE: None} if self.networks.is_described else addresses

    def _endpoints(self) -> dict[str, Any]:
        endpoints: dict[str, Any] = {}
        for network in self.mapped:
            if address := self.address(network.name):
                gateway = {"vendor_specific": {"provider_gateway": network.gateway}} if network.gateway else {}
                endpoints[self.bridges[network.name]] = {"IP": [f"{address}/{network.net.prefixlen}"], **gateway}
        if self.connected:
            endpoints.setdefault(self.bridges[PUBLIC], {"IP": "none"})
            endpoints["br-floating"] = {"IP": "none"}
        if (public := self.networks.find(PUBLIC)) is not None and public.gateway and self.address(PUBLIC):
            endpoints[self.bridges[PUBLIC]]["gateway"] = public.gateway
        elif self.address(ADMIN):
            endpoints[self.bridges[ADMIN]]["gateway"] = self.networks.admin.gateway or self.master.ip
        if self._private_is_vlans:
            endpoints[self.bridges[PRIVATE]] = {"IP": "none"}
        return endpoints

    @property
    def _private_is_vlans(self) -> bool:
        return self.networks.find(PRIVATE) is not None and not self.networks.uses_tunnels

    def _roles(self) -> dict[str, str]:
        own = (FLOATING, PRIVATE_ROLE, MESH)
        roles = {role: self.bridges[network] for role, network in self.mapped_roles.items() if role not in own}
        if self.connected:
            roles.update({"ex": self.bridges[PUBLIC], FLOATING: "br-floating"})
        if self.networks.find(PRIVATE) is not None:
            roles[MESH if self.networks.uses_tunnels else PRIVATE_ROLE] = self.bridges[PRIVATE]
        return roles

    def _transformations(self) -> list[dict[str, Any]]:
        has_baremetal = self.networks.find(BAREMETAL) is not None
        untagged = {name: [net for net in on_it if not net.is_tagged] for name, on_it in self.layout.items()}
        plain = (BAREMETAL, ADMIN, MANAGEMENT, STORAGE)
        steps = [_bridge(self.bridges[network.name]) for network in self.mapped if _is_added(network)]
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
        """Connect the bridge of tenant vlans to that of the network without a vlan on the same interface.

        If there is none, add br-aux to `extra` under the name of the interface.
        """
        bridge = self.bridges[PRIVATE]
        steps = [_bridge(bridge, provider="ovs")]
        interface = next((name for name, on_it in self.layout.items() if any(net.name == PRIVATE for net in on_it)), "")
        base = next((self.bridges[network.name] for network in untagged.get(interface, ())), "br-aux")
        if base == "br-aux":
            extra[interface] = base
            steps.append(_bridge(base))
        return [*steps, _patch(bridge, base, mtu=_PATCH_MTU)]

    def _networks_on(self, interface: Interface) -> list[Network]:
        """The networks on an interface in the order of their ports. Networks with a range of vlans have none."""
        has_baremetal = self.networks.find(BAREMETAL) is not None
        order: tuple[str, ...] = (BAREMETAL, *_PORT_ORDER) if has_baremetal else _PORT_ORDER
        if has_baremetal and self.connected and self.networks.uses_tunnels:
            order = (MANAGEMENT, STORAGE, PRIVATE, BAREMETAL, PUBLIC)
        if self.connected and not self.address(PUBLIC):
            order = (*(name for name in order if name != PUBLIC), PUBLIC)
        ranks = {name: rank for rank, name in enumerate(order)}
        on_it = [network for network in self.layout.get(interface.name, ()) if not network.is_range]
        return sorted(on_it, key=lambda network: ranks.get(network.name, -1))

    def _ports(self, interface: Interface, extra: Mapping[str, str]) -> list[dict[str, Any]]:
        """The ports of an interface: one for itself or its bond, and one for each network with a vlan."""
        on_it = self._networks_on(interface)
        bridges = [extra[interface.name]] if interface.name in extra else []
        bridges += [self.bridges[network.name] for network in on_it if not network.is_tagged]
        tagged = [
            {"action": "add-port", "name": f"{interface.name}.{network.vlan}", "bridge": self.bridges[network.name]}
            for network in on_it
            if network.is_tagged
        ]
        if not interface.is_bond:
            return [*({"action": "add-port", "name": interface.name, "bridge": name} for name in bridges), *tagged]
        given = interface.bond
        bond = {
            "action": "add-bond",
            "name": interface.name,
            "interfaces": sorted(interface.slaves),
            "bond_properties": {key: given[key] for key in ("mode", "lacp_rate", "xmit_hash_policy") if key in given},
            "interface_properties": {},
            **({"bridge": bridges[0]} if bridges else {}),
            **({"mtu": interface.mtu} if interface.mtu else {}),
        }
        return [bond, *tagged]


def _interface(interface: Interface, *, is_slave: bool) -> dict[str, Any]:
    if is_slave and not interface.mtu:
        return {}
    specific = {name: getattr(interface, name) for name in ("driver", "bus_info", "disable_offloading")}
    facts: dict[str, Any] = {
        "vendor_specific": {**{name: value for name, value in specific.items() if value}, **interface.vendor},
        "mtu": interface.mtu,
        "ethtool": interface.offload and {"offload": dict(interface.offload)},
    }
    return {name: value for name, value in facts.items() if value or name == "vendor_specific"}


def _bridge(name: str, *, provider: str = "") -> dict[str, Any]:
    return {"action": "add-br", "name": name, **({"provider": provider} if provider else {})}


def _patch(bridge: str, other: str, *, mtu: int | None = None) -> dict[str, Any]:
    return {"action": "add-patch", "bridges": [bridge, other], "provider": "ovs", **({"mtu": mtu} if mtu else {})}
