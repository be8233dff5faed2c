"""The networks of an environment: the release's defaults, and over them what users describe.

Source: Nailgun's `networks_metadata` of releases, its network configuration, and how it makes networks of both.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, ip_address, ip_network
from typing import Any

from fuelclient.environment.settings import models
from fuelclient.errors import InvalidDocument
from fuelclient.expressions.restrictions import expand_restrictions
from fuelclient.facts.given import Given
from fuelclient.model.environment import Environment

ADMIN, PUBLIC, MANAGEMENT, STORAGE, PRIVATE, BAREMETAL = (
    "fuelweb_admin", "public", "management", "storage", "private", "baremetal",
)  # fmt: skip
VLAN = "vlan"
"""The segmentation with which the private network has no addresses."""

_NAMESERVERS = ["8.8.4.4", "8.8.8.8"]
"""The default of a column of Nailgun's database; releases do not state any."""

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

    def with_prefix(self, address: str) -> str:
        return f"{address}/{self.net.prefixlen}"

    def has(self, address: str) -> bool:
        """Return whether an address is in one of the ranges."""
        number = number_of(address)
        return number is not None and any(first <= number <= last for first, last in self.ranges)


@dataclass(frozen=True, slots=True)
class Networks:
    """All networks of an environment by name, in the order of the release; those that users add come last.

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


def networks_of(environment: Environment, given: Given) -> Networks:
    """Return the networks of an environment. Raise `InvalidDocument` for a description that cannot be."""
    stated = environment.release.metadata.get("networks_metadata") or {}
    neutron = stated.get("neutron") if isinstance(stated, Mapping) else None
    neutron = neutron if isinstance(neutron, Mapping) else {}
    described = given.networks
    own = described.get("networking_parameters") or {}
    segmentation = str(own.get("segmentation_type") or environment.cluster.net_segment_type or VLAN)
    known = {ADMIN: _network({**_ADMIN, "name": ADMIN})}
    settings = models(environment)
    for record in neutron.get("networks") or ():
        if not isinstance(record, Mapping) or record.get("seg_type", segmentation) != segmentation:
            continue
        if any(restriction.is_satisfied(settings) for restriction in expand_restrictions(record.get("restrictions"))):
            continue
        known[str(record["name"])] = _network(record)
    for record in described.get("networks") or ():
        name = str(record.get("name"))
        known[name] = _described(known.get(name, Network(name)), record)
    config = neutron.get("config")
    parameters = {
        "dns_nameservers": _NAMESERVERS,
        **(config if isinstance(config, Mapping) else {}),
        **{key: own[key] for key in own if own[key] is not None},
    }
    return Networks(known, parameters, segmentation, network_roles(environment), _fixed(described.get("vips") or {}))


_ADMIN = {
    "cidr": "10.20.0.0/24", "ip_range": ["10.20.0.129", "10.20.0.254"], "gateway": "10.20.0.1", "use_gateway": True,
}  # fmt: skip
"""The network by which a master reaches its nodes, as its installation proposes it."""


def network_roles(environment: Environment) -> tuple[Mapping[str, Any], ...]:
    """Return the network roles of the release and of its plugins; a plugin's role of the same id is merged."""
    found: dict[str, dict[str, Any]] = {}
    for metadata in (environment.release.metadata, *(plugin.metadata for plugin in environment.plugins)):
        for role in metadata.get("network_roles_metadata") or ():
            if not isinstance(role, Mapping) or not role.get("id"):
                continue
            before = found.get(str(role["id"]))
            vips = [*vips_in(before), *(vip for vip in vips_in(role) if vip not in vips_in(before))] if before else []
            merged = {**(before or {}), **role}
            if before:
                merged["properties"] = {
                    **(before.get("properties") or {}),
                    **(role.get("properties") or {}),
                    "vip": vips,
                }
            found[str(role["id"])] = merged
    return tuple(found.values())


def vips_in(role: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the virtual addresses that a network role asks for."""
    properties = role.get("properties")
    stated = properties.get("vip") if isinstance(properties, Mapping) else None
    return [vip for vip in stated or () if isinstance(vip, Mapping) and vip.get("name")]


def _network(record: Mapping[str, Any]) -> Network:
    """Return a network as a release states it."""
    name, cidr = str(record["name"]), str(record.get("cidr") or "")
    gateway = ""
    if record.get("use_gateway") and cidr:
        gateway = str(record.get("gateway") or _at(cidr, 1))
    stated = record.get("ip_range") or record.get("ip_ranges")
    vlan = record.get("vlan_start")
    return Network(
        name, cidr, gateway, _ranges(stated, cidr, gateway, name), vlan if isinstance(vlan, int) else None,
        bool(record.get("neutron_vlan_range")), str(record.get("render_addr_mask") or ""),
        record.get("render_type") == "cidr",
    )  # fmt: skip


def _described(default: Network, record: Mapping[str, Any]) -> Network:
    """Return a network as a user describes it, over the default."""
    cidr = str(record.get("cidr") or default.cidr)
    gateway = default.gateway if cidr == default.cidr or not default.gateway else _at(cidr, 1)
    gateway = str(record["gateway"] or "") if "gateway" in record else gateway
    ranges = default.ranges
    if record.get("ip_ranges") or cidr != default.cidr:
        ranges = _ranges(record.get("ip_ranges"), cidr, gateway, default.name)
    vlan = record.get("vlan_start", default.vlan)
    return replace(default, cidr=cidr, gateway=gateway, ranges=ranges, vlan=vlan if isinstance(vlan, int) else None)


def _ranges(stated: Any, cidr: str, gateway: str, name: str) -> tuple[Range, ...]:
    """Return the ranges of addresses of a network. Raise `InvalidDocument` for one that is not in the network."""
    if not cidr:
        return ()
    net = _net(cidr)
    if not stated:
        first, last = int(net.network_address) + 1, int(net.broadcast_address) - 1
        return ((first + 1 if gateway and number_of(gateway) == first else first, last),)
    pairs = [stated] if isinstance(stated[0], str) else stated
    ranges = []
    for pair in pairs:
        numbers = [number_of(str(address)) for address in pair]
        if len(numbers) != 2 or any(number is None or ip_address(number) not in net for number in numbers):
            raise InvalidDocument(
                f"The range {' - '.join(map(str, pair))} is not in network {name} ({cidr}).",
                hint="Give the first and the last address of the range, both in the network.",
            )
        ranges.append((numbers[0] or 0, numbers[1] or 0))
    return tuple(ranges)


def _fixed(vips: Any) -> dict[str, str]:
    if not isinstance(vips, Mapping):
        return {}
    stated = {str(name): vip.get("ipaddr") if isinstance(vip, Mapping) else vip for name, vip in vips.items()}
    return {name: str(address) for name, address in stated.items() if address}


@functools.lru_cache(maxsize=256)
def _net(cidr: str) -> IPv4Network:
    try:
        net = ip_network(cidr, strict=False)
    except ValueError as error:
        raise InvalidDocument(f"{cidr!r} is not a network.", hint="Write it like 192.168.0.0/24.") from error
    if not isinstance(net, IPv4Network):
        raise InvalidDocument(f"{cidr!r} is not an IPv4 network.", hint="Fuel knows IPv4 networks only.")
    return net


def _at(cidr: str, position: int) -> str:
    return str(_net(cidr).network_address + position)


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
