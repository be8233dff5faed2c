"""Addresses of nodes and virtual addresses. Source: Nailgun's `IPAddrManager`, with nodes in the order of their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.environment.network_roles import asked_vips
from fuelclient.environment.networks import ADMIN, PUBLIC, VIP_ROLES, public_nodes, vip_record
from fuelclient.facts.given import Kept
from fuelclient.facts.names import Named
from fuelclient.facts.networks import Network, Networks, number_of, text_of
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Severity

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
    findings: tuple[Finding, ...] = field(default=())

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
    stated: Mapping[str, Any]


def vip_facts(networks: Networks, named: Sequence[Named], addressed: Addressed) -> dict[str, Any]:
    """Return the virtual addresses as facts have them."""
    present = [node for node in named if not node.node.pending_deletion]
    return {
        vip.name: vip_record(
            vip.role,
            vip.stated,
            addressed.vips[vip.name],
            vip.stated.get("node_roles") or VIP_ROLES,
            is_user_defined=vip.name in networks.fixed_vips,
        )
        for vip in _vips(networks, present, addressed.nodes)
    }


def _vips(networks: Networks, present: Sequence[Named], pools: Collection[str]) -> Iterator[Vip]:
    for role, stated in asked_vips(networks.roles):
        network = str(role.get("default_mapping"))
        wanted = tuple(map(str, stated.get("node_roles") or _CONTROLLERS))
        if network in pools and any(node.carries(wanted) for node in present):
            yield Vip(stated["name"], network, str(role["id"]), stated)


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

    def keeps(self, address: str) -> bool:
        """Take an address that was chosen before, if it may stay; return whether it may."""
        number = number_of(address)
        stays = number is not None and number not in self.taken and self._fits(address, number)
        if stays and number is not None:
            self.taken.add(number)
        return stays

    def _fits(self, address: str, number: int) -> bool:
        return self.network.has(address) or (self.is_small and number in _ASSUMED)

    def place(self, nodes: Sequence[Named], before: Mapping[int, str]) -> None:
        """Give each of `nodes` an address: its own, the one it had, or the next free one."""
        ids = [node.node.id for node in nodes]
        for node in nodes if self.network.name == ADMIN else ():
            number = number_of(node.node.ip)
            if number is not None and number not in self.taken and self.network.covers(number):
                self.taken.add(number)
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
