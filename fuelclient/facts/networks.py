"""The networks of an environment as facts need them, from its network configuration, and the addresses in them.

Source: Nailgun's `IPAddrManager`, with nodes in the order of their ids.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, ip_network
from typing import Any

from fuelclient.environment.networks import (
    ADMIN,
    IP_RANGES,
    NETWORKS,
    PARAMETERS,
    PUBLIC,
    SEGMENTATION,
    VIP_ROLES,
    network_configuration,
    public_nodes,
)
from fuelclient.environment.roles import asked_vips, network_roles
from fuelclient.errors import InvalidDocument
from fuelclient.facts.given import Kept
from fuelclient.facts.names import Named
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Severity

MANAGEMENT, STORAGE, PRIVATE, BAREMETAL = "management", "storage", "private", "baremetal"
VLAN = "vlan"
"""The segmentation with which the private network has no addresses."""

_PRIORITIES = {ADMIN: 0, PUBLIC: 1}
_LAST_PRIORITY = 2

Range = tuple[int, int]
"""The first and the last address of a range, as numbers."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network. One without `cidr` gives no addresses; `is_range` says that its vlans are a range of Neutron's.

    `mask` is the name under which nodes have their address in it (`internal` for `internal_address`). `has_range_fact`
    says that facts name its cidr.
    """

    name: str
    cidr: str = ""
    gateway: str = ""
    ranges: tuple[Range, ...] = ()
    vlan: int | None = None
    is_range: bool = False
    mask: str = ""
    has_range_fact: bool = False

    @property
    def is_tagged(self) -> bool:
        return self.vlan is not None or self.is_range

    @property
    def priority(self) -> int:
        """The order in which networks are put on interfaces."""
        return _PRIORITIES.get(self.name, _LAST_PRIORITY)

    @property
    def net(self) -> IPv4Network:
        """The parsed cidr, which must not be empty."""
        return _net(self.cidr)

    def covers(self, number: int) -> bool:
        """Return whether an address is in the network, in one of its ranges or not."""
        return int(self.net.network_address) <= number <= int(self.net.broadcast_address)

    def has(self, address: str) -> bool:
        """Return whether an address is in one of the ranges."""
        number = number_of(address)
        return number is not None and any(first <= number <= last for first, last in self.ranges)


@dataclass(frozen=True, slots=True)
class Networks:
    """All networks of an environment by name: that of the master, those of the release, those that users add.

    `parameters` are the parameters of Neutron. `roles` are the network roles, `fixed_vips` the vips that users choose.
    """

    by_name: Mapping[str, Network]
    parameters: Mapping[str, Any]
    segmentation: str = VLAN
    roles: tuple[Mapping[str, Any], ...] = ()
    fixed_vips: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Network]:
        return iter(self.by_name.values())

    def find(self, name: str) -> Network | None:
        return self.by_name.get(name)

    @property
    def admin(self) -> Network:
        return self.by_name[ADMIN]

    @property
    def are_tunnels(self) -> bool:
        """Whether tenants are separated by tunnels, so that the private network has addresses."""
        return self.segmentation != VLAN

    @property
    def is_described(self) -> bool:
        """Whether the release has networks at all, beside the one by which a master reaches its nodes."""
        return len(self.by_name) > 1


def networks_of(environment: Environment) -> Networks:
    """Return the networks of an environment. Raise `InvalidDocument` for one that cannot be."""
    configuration = network_configuration(environment)
    records = {str(record["name"]): record for record in configuration[NETWORKS]}
    ordered = {ADMIN: records[ADMIN], **records}
    parameters = configuration[PARAMETERS]
    return Networks(
        {name: _network(record) for name, record in ordered.items()},
        parameters,
        str(parameters.get(SEGMENTATION) or VLAN),
        network_roles(environment),
        {vip.name: vip.ip_addr for vip in environment.vips if vip.is_user_defined},
    )


def _network(record: Mapping[str, Any]) -> Network:
    """Return a network as a network configuration states it."""
    meta, vlan = record.get("meta") or {}, record.get("vlan_start")
    cidr = str(record.get("cidr") or "")
    return Network(
        str(record["name"]), cidr, str(record.get("gateway") or ""),
        tuple(_range(pair, cidr) for pair in record.get(IP_RANGES) or () if cidr),
        vlan if isinstance(vlan, int) else None, bool(meta.get("neutron_vlan_range")),
        str(meta.get("render_addr_mask") or ""), meta.get("render_type") == "cidr",
    )  # fmt: skip


def _range(pair: Any, cidr: str) -> Range:
    first, last = (number_of(str(address)) for address in pair)
    if first is None or last is None:
        raise InvalidDocument(f"{pair} is not a range of network {cidr}.", hint="Give its first and last address.")
    return first, last


@functools.lru_cache(maxsize=256)
def _net(cidr: str) -> IPv4Network:
    try:
        net = ip_network(cidr, strict=False)
    except ValueError as error:
        raise InvalidDocument(f"{cidr!r} is not a network.", hint="Write it like 192.168.0.0/24.") from error
    if not isinstance(net, IPv4Network):
        raise InvalidDocument(f"{cidr!r} is not an IPv4 network.", hint="Fuel knows IPv4 networks only.")
    return net


def number_of(address: str) -> int | None:
    """Return an IPv4 address as a number; None for anything else."""
    parts = address.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts):
        return None
    return int.from_bytes(bytes(map(int, parts)), "big")


def text_of(number: int) -> str:
    """Return the address of a number.

    >>> text_of(number_of("192.168.0.1") or 0)
    '192.168.0.1'
    """
    return ".".join(map(str, number.to_bytes(4, "big")))


def network_ranges(networks: Networks) -> dict[str, str]:
    """Return the facts that name the cidr of networks."""
    return {f"{network.name}_network_range": network.cidr for network in networks if network.has_range_fact}


_CONTROLLERS = ("controller",)

_BLOCK = 1 << 18
_FIRST_ASSUMED = (100 << 24) + (64 << 16)
_ASSUMED = range(_FIRST_ASSUMED, _FIRST_ASSUMED + (1 << 22))
"""Addresses that are assumed where the ranges of a network are used up: 100.64.0.0/10, which is not routed (RFC 6598).
Each network has a block of them."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """The addresses of an environment: `nodes` by network and node id, `vips` by name.

    `on_public` are the ids of nodes with a public address, `connected` those that reach the public network at all.
    """

    nodes: Mapping[str, Mapping[int, str]]
    vips: Mapping[str, str]
    on_public: Collection[int] = ()
    connected: Collection[int] = ()
    findings: tuple[Finding, ...] = ()

    def of(self, network: str, node: int) -> str:
        """Return the address of a node in a network; empty if it has none."""
        return self.nodes.get(network, {}).get(node, "")

    def kept(self, before: Kept) -> Kept:
        """Return what has to be kept so that no address changes."""
        return replace(before, addresses=self.nodes, vips=self.vips)


def addresses_of(environment: Environment, networks: Networks, named: Sequence[Named], kept: Kept) -> Addressed:
    """Return the addresses of nodes and the virtual addresses.

    An address in the ranges of a network stays. What has none gets the next free ones: nodes by their ids, then virtual
    addresses in the order of network roles.
    """
    present = [node for node in named if not node.node.pending_deletion]
    on_public, connected = public_nodes(environment, (node.node for node in present))
    vips = list(_vips(networks, present, [network.name for network in networks if network.cidr]))
    pools = {
        network.name: _Pool(network, index, len(present) + len(vips))
        for index, network in enumerate(networks)
        if network.cidr
    }
    chosen: dict[str, str] = {}
    for name, pool in pools.items():
        wanting = [node for node in present if name != PUBLIC or node.node.id in on_public]
        before = kept.addresses.get(name, {})
        of_nodes = {before.get(node.node.id) for node in wanting}
        here = [vip for vip in vips if vip.network == name]
        pool.take_all(networks.fixed_vips[vip.name] for vip in here if vip.name in networks.fixed_vips)
        for vip in here:
            kept_vip = networks.fixed_vips.get(vip.name) or kept.vips.get(vip.name, "")
            is_free = kept_vip not in of_nodes  # one that returns may find its address taken
            if vip.name in networks.fixed_vips or (is_free and pool.keeps(kept_vip)):
                chosen[vip.name] = kept_vip
        pool.place(wanting, before)
    for vip in vips:
        if vip.name not in chosen:
            chosen[vip.name] = pools[vip.network].next()
    return Addressed(
        {name: pool.placed for name, pool in pools.items()},
        {vip.name: chosen[vip.name] for vip in vips},
        on_public,
        connected,
        tuple(finding for pool in pools.values() for finding in pool.findings()),
    )


@dataclass(frozen=True, slots=True)
class Vip:
    """A virtual address that a network role asks for, in a network that exists, for roles that a node has."""

    name: str
    network: str
    role: str
    request: Mapping[str, Any]


def vip_facts(networks: Networks, named: Sequence[Named], addressed: Addressed) -> dict[str, Any]:
    """Return the virtual addresses as facts have them, for nodes that do not wait for deletion."""
    return {
        vip.name: {
            "network_role": vip.role,
            "namespace": vip.request.get("namespace"),
            "ipaddr": addressed.vips[vip.name],
            "is_user_defined": vip.name in networks.fixed_vips,
            "node_roles": vip.request.get("node_roles") or list(VIP_ROLES),
            "vendor_specific": vip.request.get("vendor_specific"),
        }
        for vip in _vips(networks, named, addressed.nodes)
    }


def _vips(networks: Networks, present: Sequence[Named], pools: Collection[str]) -> Iterator[Vip]:
    for role, request in asked_vips(networks.roles):
        network = str(role.get("default_mapping"))
        wanted = tuple(map(str, request.get("node_roles") or _CONTROLLERS))
        if network in pools and any(node.carries(wanted) for node in present):
            yield Vip(request["name"], network, str(role["id"]), request)


class _Pool:
    """The addresses of one network: those that are taken, and the next free ones."""

    def __init__(self, network: Network, index: int, demand: int) -> None:
        self.network = network
        self.size = sum(last - first + 1 for first, last in network.ranges)
        self.is_small = demand >= self.size
        self.placed: dict[int, str] = {}
        self.taken: set[int] = set()
        self._free = self._candidates(index)
        self.take_all([network.gateway])

    def take_all(self, addresses: Any) -> None:
        self.taken.update(number for number in map(number_of, addresses) if number is not None)

    def keeps(self, address: str, *, outside_ranges: bool = False) -> bool:
        """Take an address that was chosen before, if it may stay; return whether it may."""
        number = number_of(address)
        if number is None or number in self.taken:
            return False
        is_assumed = self.is_small and number in _ASSUMED
        stays = self.network.covers(number) if outside_ranges else is_assumed or self.network.has(address)
        if stays:
            self.taken.add(number)
        return stays

    def place(self, nodes: Sequence[Named], before: Mapping[int, str]) -> None:
        """Give each of `nodes` an address: its own, the one it had, or the next free one."""
        ids = [node.node.id for node in nodes]
        for node in nodes if self.network.name == ADMIN else ():
            if self.keeps(node.node.ip, outside_ranges=True):
                self.placed[node.node.id] = node.node.ip
        for node_id in ids:
            if node_id not in self.placed and self.keeps(before.get(node_id, "")):
                self.placed[node_id] = before[node_id]
        for node_id in ids:
            if node_id not in self.placed:
                self.placed[node_id] = self.next()
        self.placed = dict(sorted(self.placed.items()))

    def next(self) -> str:
        """Take and return the next free address."""
        number = next(number for number in self._free if number not in self.taken)
        self.taken.add(number)
        return text_of(number)

    def _candidates(self, index: int) -> Iterator[int]:
        for first, last in self.network.ranges:
            yield from range(first, last + 1)
        start = _FIRST_ASSUMED + index * _BLOCK
        yield from range(start + 1, start + _BLOCK)

    def findings(self) -> Iterator[Finding]:
        if any((number_of(address) or 0) in _ASSUMED for address in self.placed.values()):
            yield Finding(
                Severity.WARNING,
                "G048",
                f"network {self.network.name} ({self.network.cidr}) has {self.size} addresses, which is not enough; "
                f"addresses in 100.64.0.0/10 are assumed for the others",
                hint="Describe a larger network, or upload the facts of a Fuel master.",
            )
