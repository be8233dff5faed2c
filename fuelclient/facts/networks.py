"""The networks of an environment as facts need them, from its network configuration."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_network
from typing import Any

from fuelclient.environment.network_roles import network_roles
from fuelclient.environment.networks import (
    ADMIN,
    IP_RANGES,
    NETWORKS,
    PARAMETERS,
    PUBLIC,
    SEGMENTATION,
    network_configuration,
)
from fuelclient.errors import InvalidDocument
from fuelclient.model.environment import Environment

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
