"""The network interfaces of nodes, and which network is on which. Source: Nailgun's `NetworkManager`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.environment.networks import PUBLIC, spread
from fuelclient.facts.networks import Network
from fuelclient.model.node import Node

INPUTS = frozenset({"interfaces", "meta", "hostname", "network_data", "group_id", "cluster_id"})
"""Attributes of a node that describe it, and are no facts."""


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface of a node, or a bond of several (`slaves`). `networks` is None if that is not stated."""

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
    """Return the interfaces of a node.

    They are those of the document that was stored for it, or those in its attributes (`interfaces`, or
    `meta.interfaces` as a master's agent reports them); otherwise eth0, by which it starts, and eth1.
    """
    meta = node.attributes.get("meta")
    stated = (
        document or node.attributes.get("interfaces") or (meta.get("interfaces") if isinstance(meta, Mapping) else None)
    )
    records = [record for record in stated or () if isinstance(record, Mapping) and record.get("name")]
    found = [_interface(record) for record in records] if records else [Interface("eth0"), Interface("eth1")]
    macs = {interface.mac.lower() for interface in found}
    starts = [interface.pxe for interface in found]
    if not any(starts):
        first = next((i for i, it in enumerate(found) if node.mac and it.mac.lower() == node.mac.lower()), 0)
        starts[first] = True
    return tuple(
        replace(interface, pxe=pxe, mac=interface.mac or (node.mac if pxe and node.mac.lower() not in macs else ""))
        for interface, pxe in zip(found, starts, strict=True)
    )


def mac_of(node: Node, position: int, interface: Interface) -> str:
    """Return the address of an interface's card; an invented one, which stays the same, if it is not known."""
    if interface.mac:
        return interface.mac
    high, low = divmod(node.id, 256)
    return f"52:54:{position % 256:02x}:{high // 256 % 256:02x}:{high % 256:02x}:{low:02x}"


def _interface(record: Mapping[str, Any]) -> Interface:
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
        vendor=record["vendor_specific"] if isinstance(record.get("vendor_specific"), Mapping) else {},
        networks=None if networks is None else tuple(map(_name, networks)),
        slaves=tuple(map(_name, record.get("slaves") or ())),
        bond=record["bond_properties"] if isinstance(record.get("bond_properties"), Mapping) else {},
    )


def _name(value: Any) -> str:
    return str(value.get("name")) if isinstance(value, Mapping) else str(value)


def _setting(attributes: Any, *path: str) -> Any:
    """Return a value below the attributes of an interface, in place or as `{value: ...}`."""
    value = attributes
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value.get("value") if isinstance(value, Mapping) and "value" in value else value


def _modes(stated: Sequence[Any]) -> Iterator[tuple[str, bool | None]]:
    """Yield the offloading modes that an agent reports, those below others included."""
    for mode in stated:
        if isinstance(mode, Mapping) and mode.get("name"):
            yield str(mode["name"]), mode.get("state")
            yield from _modes(mode.get("sub") or ())


def laid_out(interfaces: Sequence[Interface], networks: Sequence[Network], *, public: bool) -> dict[str, list[Network]]:
    """Return the networks on each interface, by the name of the interface.

    Where that is stated, they are there. Otherwise the interfaces take, one after another, all networks with a vlan
    and one without; what is left goes to the first. `public` says whether the node reaches the public network.
    """
    slaves = {slave for interface in interfaces for slave in interface.slaves}
    free = [interface for interface in interfaces if interface.name not in slaves]
    left = sorted((network for network in networks if public or network.name != PUBLIC), key=lambda net: net.priority)
    if all(interface.networks is None for interface in free):
        on_each = spread([interface.pxe for interface in free], left, lambda each: (each.name, each.is_tagged))
    else:
        on_each = [[net for name in each.networks or () for net in left if net.name == name] for each in free]
        stated = {network.name for on_it in on_each for network in on_it}
        on_each[0] += [network for network in left if network.name not in stated]
    placed: dict[str, list[Network]] = {interface.name: [] for interface in free}
    for interface, on_it in zip(free, on_each, strict=True):
        placed[interface.name] += on_it
    return placed
