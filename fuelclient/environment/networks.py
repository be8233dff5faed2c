"""The network configuration of an environment: the release's, with its own changes and virtual addresses.

Source: Nailgun's `network_configuration`. Networks and parameters are defined in the `neutron` section of the release's
`networks_metadata`; VIPs are defined by network roles. A network is identified by its name; its id is valid only within
the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any, TypeVar

from fuelclient.environment import settings
from fuelclient.environment.roles import network_roles, role_vips, roles
from fuelclient.errors import InvalidDocument
from fuelclient.model.environment import Environment
from fuelclient.model.network import Vip
from fuelclient.model.node import Node
from fuelclient.serializers.values import deep_merged, mapping, mappings, plain

ADMIN = "fuelweb_admin"
"""The network in which nodes boot. It belongs to no environment."""

PUBLIC = "public"

NETWORKS, PARAMETERS, SEGMENTATION = "networks", "networking_parameters", "segmentation_type"
IP_RANGES, BY_RANGES = "ip_ranges", "ip_ranges"
VIP_ROLES = ("controller", "primary-controller")
"""The roles whose nodes carry a VIP, unless the network role names others."""

_ADMIN: Mapping[str, Any] = {
    "name": ADMIN,
    "ip_ranges": [["10.20.0.129", "10.20.0.254"]],
    "id": 1,
    "meta": {
        "unmovable": True, "use_gateway": True, "notation": BY_RANGES, "render_addr_mask": None, "render_type": None,
        "map_priority": 0, "configurable": False,
    },
    "vlan_start": None,
    "cidr": "10.20.0.0/24",
    "group_id": None,
    "gateway": "10.20.0.1",
}  # fmt: skip
_PARAMETERS: Mapping[str, Any] = {
    "configuration_template": None,
    "dns_nameservers": ["8.8.4.4", "8.8.8.8"],
    "net_l23_provider": "ovs",
}
"""Parameters that no release defines, with the values of Nailgun's database."""

_BAREMETAL = "baremetal"
_LAST_PRIORITY = 2


def network_configuration(environment: Environment) -> dict[str, Any]:
    """Compute the network configuration of an environment, as Nailgun shows it.

    It has `networks`, `networking_parameters`, `vips` by name, and the addresses of VIPs under their older names.
    """
    networks = list(_networks(environment))
    vips = dict(_vips(environment, {network["name"] for network in networks}))
    aliases = {
        vip["alias"]: vips[vip["name"]]["ipaddr"]
        for _, vip in role_vips(network_roles(environment))
        if isinstance(vip.get("alias"), str) and vip["name"] in vips
    }
    return {**aliases, "vips": vips, PARAMETERS: _parameters(environment, networks), NETWORKS: networks}


def default_configuration(environment: Environment) -> dict[str, Any]:
    return network_configuration(replace(environment, own_networks={}))


def vip_records(environment: Environment) -> list[dict[str, Any]]:
    """The virtual addresses of an environment, in the shape of Nailgun's `ips/vips`."""
    ids = {network["name"]: network["id"] for network in _networks(environment)}
    return [
        {
            "id": vip.id,
            "network": ids.get(vip.network),
            "node": None,
            "ip_addr": vip.ip_addr,
            "vip_name": vip.name,
            "vip_namespace": vip.namespace,
            "is_user_defined": vip.is_user_defined,
        }
        for vip in environment.vips
    ]


def default_interfaces(environment: Environment | None, node: Node) -> list[dict[str, Any]]:
    """The interfaces of a node, with the networks of its environment as Nailgun assigns them at first.

    The interfaces come from `meta.interfaces` in the node's attributes; by default they are eth0, from which it boots,
    and eth1. In the order of `map_priority`, each interface gets all remaining tagged networks and at most one untagged
    one. The admin network is on the interface from which the node boots, and networks that are left over are on the
    first. Only nodes whose roles need it are connected to the public network.
    """
    interfaces = _interfaces(node)
    known = _networks(environment) if environment else ()
    connected = public_nodes(environment, [node])[1] if environment else ()
    networks = [network for network in known if network["name"] != PUBLIC or node.id in connected]

    def priority(network: Mapping[str, Any]) -> int:
        given = network["meta"].get("map_priority")
        return given if isinstance(given, int) else _LAST_PRIORITY

    def name_and_tagging(network: Mapping[str, Any]) -> tuple[str, bool]:
        is_tagged = network["vlan_start"] is not None or bool(network["meta"].get("neutron_vlan_range"))
        return network["name"], is_tagged

    placed = spread([interface["pxe"] for interface in interfaces], sorted(networks, key=priority), name_and_tagging)
    for interface, assigned in zip(interfaces, placed, strict=True):
        interface["assigned_networks"] = [{"id": network["id"], "name": network["name"]} for network in assigned]
    return interfaces


T = TypeVar("T")


def spread(boots: Sequence[bool], networks: Sequence[T], describe: Callable[[T], tuple[str, bool]]) -> list[list[T]]:
    """Divide networks among interfaces as Nailgun does at first; networks that are left over are on the first
    interface.

    `boots` has for each interface whether the node boots from it. `describe` returns the name of a network, and whether
    it is tagged.
    """
    placed: list[list[T]] = []
    left = list(networks)
    for boots_here in boots:
        taken: list[T] = []
        for network in left:
            name, is_tagged = describe(network)
            fits = is_tagged or all(describe(other)[1] for other in taken)
            if fits and (boots_here or name != ADMIN):
                taken.append(network)
        left = [network for network in left if not any(network is other for other in taken)]
        placed.append(taken)
    return [placed[0] + left, *placed[1:]] if placed else []


def public_nodes(environment: Environment, nodes: Iterable[Node]) -> tuple[frozenset[int], frozenset[int]]:
    """The ids of `nodes` with a public address, and of those that are connected to the public network at all."""
    known, effective = roles(environment), settings.effective(environment)
    everyone = settings.is_on(effective, "public_network_assignment", "assign_to_all_nodes")
    has_dvr = settings.is_on(effective, "neutron_advanced_configuration", "neutron_dvr")

    def needs(node: Node, key: str) -> bool:
        return any(role in known and known[role].metadata.get(key) for role in node.all_roles)

    present = tuple(nodes)
    with_address = {node.id for node in present if everyone or needs(node, "public_ip_required")}
    for_dvr = {node.id for node in present if has_dvr and needs(node, "public_for_dvr_required")}
    return frozenset(with_address), frozenset(with_address | for_dvr)


def hosts(cidr: str, *, skip: int = 0) -> list[str]:
    """The first and the last host address of a network, without its first `skip` addresses.

    >>> hosts("192.168.0.0/24"), hosts("10.0.0.0/30", skip=1)
    (['192.168.0.1', '192.168.0.254'], ['10.0.0.2', '10.0.0.2'])
    """
    network = IPv4Network(cidr)
    edge = 1 if network.num_addresses > 2 else 0
    return [str(network[min(edge + skip, network.num_addresses - 1)]), str(network[-1 - edge])]


def cidr_of(text: Any) -> IPv4Network | None:
    """Read a network in the notation 192.168.0.0/24; None for anything else."""
    with suppress(ValueError):
        return IPv4Network(text) if isinstance(text, str) and "/" in text else None
    return None


def within(addresses: Sequence[Any], cidr: IPv4Network | None) -> bool:
    try:
        return cidr is not None and all(
            isinstance(address, str) and IPv4Address(address) in cidr for address in addresses
        )
    except ValueError:
        return False


def new_network(name: str) -> dict[str, Any]:
    """A network that no release defines, before its fields are set."""
    meta = {"name": name, "notation": "cidr", "use_gateway": False, "configurable": True, "map_priority": 2}
    return {"name": name, "cidr": None, "gateway": None, IP_RANGES: [], "vlan_start": None, "meta": meta}


def _networks(environment: Environment) -> Iterator[dict[str, Any]]:
    """Yield the networks of an environment in the order of its release, then those it added, then the admin network."""
    own = {name: mapping(each) for name, each in mapping(environment.own_networks.get(NETWORKS)).items()}
    defined = set()
    of_segmentation = (
        network
        for network in mappings(_neutron(environment).get("networks"))
        if isinstance(network.get("name"), str)
        and network.get("seg_type") in (None, environment.cluster.net_segment_type)
    )
    for number, meta in enumerate(of_segmentation, 2):
        defined.add(meta["name"])
        if _is_available(environment, meta):
            yield {**_network(environment, meta, number), **own.get(meta["name"], {})}
    added = [name for name in own if name not in defined and name != ADMIN]
    for number, name in enumerate(added, len(defined) + 2):
        yield {**new_network(name), **own[name], "id": number, "group_id": environment.cluster.id}
    yield {**plain(_ADMIN), **own.get(ADMIN, {})}


def _is_available(environment: Environment, network: Mapping[str, Any]) -> bool:
    """Whether no restriction of a network applies; unreadable restrictions are ignored."""
    if not network.get("restrictions"):
        return True
    from fuelclient.expressions.restrictions import expand_restrictions, unmet  # few networks have restrictions

    try:
        return not unmet(expand_restrictions(network["restrictions"]), settings.models(environment))
    except InvalidDocument:
        return True


def _network(environment: Environment, meta: Mapping[str, Any], number: int) -> dict[str, Any]:
    cidr = meta.get("cidr")
    try:
        IPv4Network(cidr if isinstance(cidr, str) else "")
    except ValueError:
        cidr = None
    gateway = meta.get("gateway") or (hosts(cidr)[0] if cidr and meta.get("use_gateway") else None)
    return {
        "name": meta["name"],
        IP_RANGES: ranges(meta, cidr, gateway),
        "id": number,
        "meta": plain(meta),
        "vlan_start": meta.get("vlan_start"),
        "cidr": cidr,
        "group_id": environment.cluster.id,
        "gateway": gateway,
    }


def ranges(meta: Mapping[str, Any], cidr: str | None, gateway: str | None) -> list[list[str]]:
    """The ranges of addresses that follow from the notation of a network.

    >>> ranges({"notation": "cidr"}, "10.0.0.0/24", None)
    [['10.0.0.1', '10.0.0.254']]
    """
    given = meta.get("ip_range")
    if meta.get("notation") == BY_RANGES and isinstance(given, list | tuple):
        return [plain(given)]
    return [hosts(cidr, skip=1 if gateway else 0)] if cidr and meta.get("notation") else []


def _parameters(environment: Environment, networks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    given = plain(mapping(_neutron(environment).get("config")))
    has_baremetal = any(network["name"] == _BAREMETAL for network in networks)
    default = {
        name: value
        for name, value in {**plain(_PARAMETERS), **given}.items()
        # Nailgun does not show `parameters`, although a release defines it among the parameters.
        if name != "parameters" and (has_baremetal or not name.startswith(f"{_BAREMETAL}_"))
    }
    own = environment.own_networks.get(PARAMETERS) or {}
    return {**default, SEGMENTATION: environment.cluster.net_segment_type, **own}


def _vips(environment: Environment, networks: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the VIPs whose network exists and that a node can carry, then the ones that users added, by name."""
    stored = {vip.name: vip for vip in environment.vips}
    present = {role for node in environment.nodes for role in node.all_roles if not node.pending_deletion}
    for role, vip in role_vips(network_roles(environment)):
        carriers = [str(name) for name in vip.get("node_roles") or VIP_ROLES]
        if role.get("default_mapping") in networks and present.intersection(carriers):
            yield vip["name"], _vip(str(role.get("id")), plain(vip), stored.pop(vip["name"], None), carriers)
    for name, own in stored.items():
        yield name, _vip(None, {"namespace": own.namespace}, own, VIP_ROLES)


def _vip(role: str | None, given: Mapping[str, Any], known: Vip | None, carriers: Sequence[str]) -> dict[str, Any]:
    return {
        "network_role": role,
        "ipaddr": known and known.ip_addr,
        "is_user_defined": known is not None and known.is_user_defined,
        "vendor_specific": given.get("vendor_specific"),
        "namespace": given.get("namespace"),
        "node_roles": list(carriers),
    }


def _interfaces(node: Node) -> list[dict[str, Any]]:
    known = mappings(mapping(node.attributes.get("meta")).get("interfaces"))
    given = known or [{"name": "eth0", "pxe": True}, {"name": "eth1"}]
    without_pxe = not any(interface.get("pxe") for interface in given)
    blank: dict[str, Any] = {"type": "ether", "mac": "", "state": None, "max_speed": None, "current_speed": None}
    return [
        deep_merged(
            {**blank, "id": number, "name": f"eth{number - 1}"},
            {**plain(interface), "pxe": bool(interface.get("pxe")) or (without_pxe and number == 1)},
        )
        for number, interface in enumerate(given, 1)
    ]


def _neutron(environment: Environment) -> Mapping[str, Any]:
    return mapping(mapping(environment.release.metadata.get("networks_metadata")).get("neutron"))
