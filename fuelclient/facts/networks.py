"""The networks of an environment as facts need them, from its network configuration, and the addresses in them.

Source: Nailgun's `IPAddrManager`, with nodes in the order of their ids.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Network, ip_network
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
from fuelclient.environment.roles import network_roles, role_vips
from fuelclient.errors import InvalidDocument
from fuelclient.facts.given import Kept
from fuelclient.facts.names import FactNode
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Severity

MANAGEMENT, STORAGE, PRIVATE, BAREMETAL = "management", "storage", "private", "baremetal"
VLAN = "vlan"
"""The segmentation with which the private network has no addresses."""

Range = tuple[int, int]
"""The first and the last address of a range, as numbers."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network. Without `cidr` it provides no addresses. `is_range`: it uses Neutron's range of vlans, not one vlan.

    `fact_prefix` begins the facts about the addresses of nodes in it (`internal` for `internal_address`).
    `has_range_fact`: its cidr is the fact `NAME_network_range`.
    """

    name: str
    cidr: str = ""
    gateway: str = ""
    ranges: tuple[Range, ...] = ()
    vlan: int | None = None
    is_range: bool = False
    fact_prefix: str = ""
    has_range_fact: bool = False

    @property
    def is_tagged(self) -> bool:
        return self.vlan is not None or self.is_range

    @property
    def net(self) -> IPv4Network:
        """The parsed cidr, which must not be empty."""
        return _net(self.cidr)

    def covers(self, number: int) -> bool:
        """Whether an address is in the network, within its ranges or not."""
        return int(self.net.network_address) <= number <= int(self.net.broadcast_address)

    def ranges_cover(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)


@dataclass(frozen=True, slots=True)
class Networks:
    """All networks of an environment: the master's, those of the release, and those that users add.

    `parameters` are those of Neutron, `roles` the network roles, `fixed_vips` the addresses that users chose for VIPs.
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
    def uses_tunnels(self) -> bool:
        """Whether tenants are separated by tunnels, so that the private network has addresses."""
        return self.segmentation != VLAN

    @property
    def is_described(self) -> bool:
        """Whether the release defines networks besides the one by which a master reaches its nodes."""
        return len(self.by_name) > 1


def networks_of(environment: Environment) -> Networks:
    """Read the networks of an environment. Raise `InvalidDocument` for an invalid cidr or range."""
    configuration = network_configuration(environment)
    networks = {str(record["name"]): _network(record) for record in configuration[NETWORKS]}
    parameters = configuration[PARAMETERS]
    return Networks(
        {ADMIN: networks[ADMIN], **networks},
        parameters,
        str(parameters.get(SEGMENTATION) or VLAN),
        network_roles(environment),
        {vip.name: vip.ip_addr for vip in environment.vips if vip.is_user_defined},
    )


def _network(record: Mapping[str, Any]) -> Network:
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
    parts = address.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts):
        return None
    return int.from_bytes(bytes(map(int, parts)), "big")


def network_ranges(networks: Networks) -> dict[str, str]:
    """The facts `NAME_network_range`: the cidrs of networks."""
    return {f"{network.name}_network_range": network.cidr for network in networks if network.has_range_fact}


_BLOCK_SIZE = 1 << 18
_FIRST_ASSUMED = (100 << 24) + (64 << 16)
_ASSUMED = range(_FIRST_ASSUMED, _FIRST_ASSUMED + (1 << 22))
"""Addresses that are assumed if the ranges of a network are used up: 100.64.0.0/10, which is not routed (RFC 6598).
Each network has a block of them."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of an environment: `nodes` by network and node id, `vips` by name.

    `on_public` has the ids of nodes with a public address, `connected` of all nodes on the public network.
    """

    nodes: Mapping[str, Mapping[int, str]]
    vips: Mapping[str, str]
    on_public: Collection[int] = ()
    connected: Collection[int] = ()
    findings: tuple[Finding, ...] = ()

    def of(self, network: str, node: int) -> str:
        """The address of a node in a network; empty if it has none."""
        return self.nodes.get(network, {}).get(node, "")

    def kept(self, before: Kept) -> Kept:
        """Add the addresses to the stored values, so that none of them changes later."""
        return replace(before, addresses=self.nodes, vips=self.vips)


def addresses_of(environment: Environment, networks: Networks, named: Sequence[FactNode], kept: Kept) -> Addresses:
    """Choose the addresses of nodes and the virtual addresses.

    A stored address in the ranges of a network is kept. Others are the next free ones: for nodes in the order of ids,
    then for virtual addresses in the order of network roles.
    """
    present = [node for node in named if not node.node.pending_deletion]
    on_public, connected = public_nodes(environment, (node.node for node in present))
    names = [network.name for network in networks if network.cidr]
    vips = {vip["name"]: str(role["default_mapping"]) for role, vip in _present_vips(networks, present, names)}
    pools = {
        network.name: _Pool(network, index, len(present) + len(vips))
        for index, network in enumerate(networks)
        if network.cidr
    }
    fixed, vip_addresses = networks.fixed_vips, dict[str, str]()
    for name, pool in pools.items():
        with_address = [node for node in present if name != PUBLIC or node.node.id in on_public]
        before = kept.addresses.get(name, {})
        of_nodes = {before.get(node.node.id) for node in with_address}
        here = [vip for vip, network in vips.items() if network == name]
        pool.take(fixed[vip] for vip in here if vip in fixed)
        for vip in here:
            address = fixed.get(vip) or kept.vips.get(vip, "")
            is_free = address not in of_nodes  # after a VIP returns, a node may have its address
            if vip in fixed or (is_free and pool.keep(address)):
                vip_addresses[vip] = address
        pool.place(with_address, before)
    return Addresses(
        {name: pool.placed for name, pool in pools.items()},
        {vip: vip_addresses[vip] if vip in vip_addresses else pools[network].next() for vip, network in vips.items()},
        on_public,
        connected,
        tuple(finding for pool in pools.values() for finding in pool.findings()),
    )


def vip_facts(networks: Networks, named: Sequence[FactNode], addresses: Addresses) -> dict[str, Any]:
    """Compute `network_metadata.vips`. `named` must not contain nodes that wait for deletion."""
    return {
        vip["name"]: {
            "network_role": str(role["id"]),
            "namespace": vip.get("namespace"),
            "ipaddr": addresses.vips[vip["name"]],
            "is_user_defined": vip["name"] in networks.fixed_vips,
            "node_roles": vip.get("node_roles") or list(VIP_ROLES),
            "vendor_specific": vip.get("vendor_specific"),
        }
        for role, vip in _present_vips(networks, named, addresses.nodes)
    }


def _present_vips(
    networks: Networks, present: Sequence[FactNode], names: Collection[str]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield (network role, VIP) for each VIP whose network is in `names` and that a node can carry."""
    for role, vip in role_vips(networks.roles):
        carriers = tuple(map(str, vip.get("node_roles") or ("controller",)))
        if str(role.get("default_mapping")) in names and any(node.carries(carriers) for node in present):
            yield role, vip


class _Pool:
    """The used and the free addresses of one network."""

    def __init__(self, network: Network, index: int, demand: int) -> None:
        self.network = network
        self.size = sum(last - first + 1 for first, last in network.ranges)
        self.is_small = demand >= self.size
        self.placed: dict[int, str] = {}
        self.taken: set[int] = set()
        self._free = self._candidates(index)
        self.take([network.gateway])

    def take(self, addresses: Any) -> None:
        self.taken.update(number for number in map(number_of, addresses) if number is not None)

    def keep(self, address: str, *, outside_ranges: bool = False) -> bool:
        """Take an address that was chosen before; false if it is used or no longer valid."""
        number = number_of(address)
        if number is None or number in self.taken:
            return False
        is_assumed = self.is_small and number in _ASSUMED
        stays = self.network.covers(number) if outside_ranges else is_assumed or self.network.ranges_cover(number)
        if stays:
            self.taken.add(number)
        return stays

    def place(self, nodes: Sequence[FactNode], before: Mapping[int, str]) -> None:
        """Give each of `nodes` an address: its own, the one it had, or the next free one."""
        placed: dict[int, str] = {}
        for node in nodes if self.network.name == ADMIN else ():
            if self.keep(node.node.ip, outside_ranges=True):
                placed[node.node.id] = node.node.ip
        left = [node.node.id for node in nodes if node.node.id not in placed]
        placed |= {node: before[node] for node in left if self.keep(before.get(node, ""))}
        placed |= {node: self.next() for node in left if node not in placed}
        self.placed = dict(sorted(placed.items()))

    def next(self) -> str:
        number = next(number for number in self._free if number not in self.taken)
        self.taken.add(number)
        return str(IPv4Address(number))

    def _candidates(self, index: int) -> Iterator[int]:
        for first, last in self.network.ranges:
            yield from range(first, last + 1)
        start = _FIRST_ASSUMED + index * _BLOCK_SIZE
        yield from range(start + 1, start + _BLOCK_SIZE)

    def findings(self) -> Iterator[Finding]:
        if any((number_of(address) or 0) in _ASSUMED for address in self.placed.values()):
            yield Finding(
                Severity.WARNING,
                "G048",
                f"network {self.network.name} ({self.network.cidr}) has {self.size} addresses, which is not enough; "
                f"addresses in 100.64.0.0/10 are assumed for the others",
                hint="Describe a larger network, or upload the facts of a Fuel master.",
            )
