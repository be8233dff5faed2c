"""Read changes of the network configuration of an environment from documents, and check them.

Only differences from the release are kept, so that later changes of other defaults still reach the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address
from itertools import pairwise
from typing import Any

from fuelclient.environment import networks
from fuelclient.environment.roles import network_roles, role_vips
from fuelclient.errors import InvalidDocument
from fuelclient.model.environment import Environment
from fuelclient.model.network import NodePart, Vip
from fuelclient.model.node import Node
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import in_words, mapping, mappings, plain

_CODE = "N001"
_FIELDS = ("cidr", "gateway", networks.IP_RANGES, "vlan_start", "meta")
"""The fields of a network that users can change."""

_KEYS: dict[NodePart, tuple[str, ...]] = {
    NodePart.DISKS: ("id", "name", "size", "volumes", "extra", "type", "bootable", "free_space"),
    NodePart.INTERFACES: ("id", "name", "mac", "type", "mode", "slaves", "assigned_networks", "attributes", "state"),
}
"""Keys of disks with their volumes, and of interfaces with their networks; a master has more."""

OVERLAP_HINT = "Change one cidr."
_LAST_VLAN = 4094


def own_networks_from(document: Any, environment: Environment) -> dict[str, Any]:
    """Extract the values of a network configuration that differ from the defaults, in the shape of `own_networks`.

    Networks and parameters that the document leaves out do not change. Raise `InvalidDocument` with all findings.
    """
    report = Report("", layer=environment.label)
    if not isinstance(document, Mapping):
        raise InvalidDocument(f"A network configuration is a mapping, not {in_words(document)}.", hint=_NETWORKS_HINT)
    default = networks.default_configuration(environment)
    known = {network["name"]: network for network in default[networks.NETWORKS]}
    before = {network["name"]: network for network in networks.network_configuration(environment)[networks.NETWORKS]}
    own = dict(environment.own_networks.get(networks.NETWORKS) or {})
    given = document.get(networks.NETWORKS)
    if not isinstance(given, list | tuple | None):
        report.error(_CODE, 0, f"{networks.NETWORKS} is {in_words(given)}, not a list", _NETWORKS_HINT)
        given = ()
    for network in given or ():
        if not isinstance(network, Mapping) or not isinstance(network.get("name"), str) or not network["name"]:
            report.error(_CODE, 0, "a network is a mapping with a name", _NETWORKS_HINT)
            continue
        name = network["name"]
        after = _network(network, before.get(name) or networks.new_network(name), report)
        is_new, default_network = name not in known, known.get(name, {})
        changed = (field for field in ("name", *_FIELDS) if is_new or after[field] != default_network.get(field))
        own[name] = {field: after[field] for field in changed}
    parameters = _parameters(document, default[networks.PARAMETERS], environment, report)
    for message in overlaps({**known.get(name, {}), **own.get(name, {})} for name in {**known, **own}):
        report.error(_CODE, 0, message, OVERLAP_HINT)
    report.raise_errors()
    changed_networks = {name: changes for name, changes in own.items() if changes}
    return {
        key: value for key, value in ((networks.NETWORKS, changed_networks), (networks.PARAMETERS, parameters)) if value
    }


def vips_of(document: Mapping[str, Any], environment: Environment) -> list[Vip]:
    """Read the addresses of VIPs from a network configuration. Raise `InvalidDocument` for an invalid address."""
    default_networks = _default_networks(environment)
    stored = {vip.name: vip for vip in environment.vips}
    vips: list[Vip] = []
    for name, record in mapping(document.get("vips")).items():
        if not isinstance(record, Mapping) or record.get("ipaddr") is None:
            continue
        before = stored.get(str(name), Vip(0, str(name), "", default_networks.get(name, "")))
        address = _address(record["ipaddr"], f"VIP {name}")
        is_own = name not in default_networks or _is_own(record, False, before, address)
        vips.append(Vip(0, before.name, address, before.network, record.get("namespace"), is_own))
    return vips


def vips_from(records: Any, environment: Environment) -> list[Vip]:
    """Read virtual addresses in Nailgun's shape; each is merged over the stored one with its id or name.

    Raise `InvalidDocument` for records without a name and an address, or with an unknown id or network.
    """
    if not isinstance(records, list | tuple):
        raise InvalidDocument(f"Virtual addresses are a list, not {in_words(records)}.", hint=_VIPS_HINT)
    return [_vip(record, environment) for record in records]


def part_from(part: NodePart, document: Any, node: Node) -> list[Any]:
    """Check the document of a node's disks or interfaces. Raise `InvalidDocument` with all findings.

    An interface needs a name, a disk an id; networks of an interface and volumes of a disk need names. If it is known
    which ones the node has, there are no others; a bond may have any name, but not any interfaces.
    """
    reported = (*mappings(mapping(node.attributes.get("meta")).get(part)), *mappings(node.attributes.get(part)))
    known = sorted({str(each[key]) for each in reported for key in ("disk", "name") if each.get(key)})
    report = Report("", layer=f"the {part}")
    if not isinstance(document, list | tuple):
        raise InvalidDocument(f"The {part} of a node are a list, not {in_words(document)}.", hint=_PARTS_HINT)
    key, children_key = ("id", "volumes") if part is NodePart.DISKS else ("name", "assigned_networks")
    seen: set[str] = set()
    for item in document:
        name = mapping(item).get(key)
        if not isinstance(name, str) or not name:
            report.error(_CODE, 0, f"an item without {key}", _PARTS_HINT)
            continue
        if name in seen:
            report.error(_CODE, 0, f"{name} is there twice", "Remove one of them.")
        seen.add(name)
        slaves = item.get("slaves")
        used = [mapping(slave).get("name", slave) for slave in slaves] if isinstance(slaves, list | tuple) else []
        used = used or [name] * (item.get("type") in (None, "ether", "disk"))  # a bond or a vlan may have any name
        for absent in (each for each in used if known and each not in known):
            report.error(_CODE, 0, f"the node has no {part[:-1]} {absent}", f"It has {', '.join(known)}.")
        children = item.get(children_key, ())
        report.subject = name
        for record in (item, *mappings(children)):
            report.check_slips(record, _KEYS[part], _CODE)
            size = record.get("size", 0)
            if part is NodePart.DISKS and not (isinstance(size, int) and size >= 0):
                report.error(_CODE, 0, f"size is {in_words(size)}, not a whole number of megabytes", _PARTS_HINT)
        report.subject = ""
        with_names = [part for part in mappings(children) if isinstance(part.get("name"), str)]
        if not isinstance(children, list | tuple) or len(with_names) < len(children):
            report.error(_CODE, 0, f"{children_key} of {name} is not a list of mappings with names", _PARTS_HINT)
    report.raise_errors()
    return list(plain(document))


def _network(given: Mapping[str, Any], before: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Check the given fields of a network, and merge them over its earlier ones."""
    report.subject = f"network {before['name']}"
    report.check_slips(given, ("id", "name", "group_id", *_FIELDS), _CODE)
    after = {**before, **{field: plain(given[field]) for field in _FIELDS if field in given}}
    if not isinstance(after["meta"], Mapping):
        report.error(_CODE, 0, f"meta is {in_words(after['meta'])}, not a mapping", _NETWORKS_HINT)
        after["meta"] = before["meta"]
    cidr = networks.cidr_of(after["cidr"])
    if after["cidr"] is not None and cidr is None:
        report.error(_CODE, 0, f"cidr is {in_words(after['cidr'])}, not a network", "Write it like 192.168.0.0/24.")
    by_notation = networks.ranges(after["meta"], str(cidr) if cidr else None, after["gateway"])
    if after["meta"].get("notation") == "cidr" and after[networks.IP_RANGES] in (
        before[networks.IP_RANGES],
        by_notation,
    ):
        after[networks.IP_RANGES] = by_notation
    elif (
        after["meta"].get("notation") != networks.BY_RANGES and after[networks.IP_RANGES] != before[networks.IP_RANGES]
    ):
        hint = f"Set meta.notation to {networks.BY_RANGES} to choose the ranges yourself."
        report.error(_CODE, 0, "its notation does not allow other ip_ranges", hint)
    for message in wrong_values(after):
        report.error(_CODE, 0, message)
    report.subject = ""
    return after


def wrong_values(network: Mapping[str, Any]) -> Iterator[str]:
    """Describe the invalid values of a network, except for its cidr."""
    vlan, gateway, ip_ranges = (network.get(key) for key in ("vlan_start", "gateway", networks.IP_RANGES))
    cidr = networks.cidr_of(network.get("cidr"))
    if vlan is not None and (isinstance(vlan, bool) or not isinstance(vlan, int) or not 1 <= vlan <= _LAST_VLAN):
        yield f"vlan_start is {in_words(vlan)}, not a number from 1 to {_LAST_VLAN}"
    if network.get("cidr") is not None and cidr is None:
        return
    if gateway is not None and not networks.within([gateway], cidr):
        yield f"gateway {gateway} is not an address in {cidr or 'a network without cidr'}"
    if not isinstance(ip_ranges, list | tuple):
        yield f"ip_ranges is {in_words(ip_ranges)}, not a list of pairs of addresses"
        return
    for pair in ip_ranges:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not networks.within(pair, cidr):
            yield f"the range {pair} is not a pair of addresses in {cidr or 'a network without cidr'}"
        elif IPv4Address(pair[0]) > IPv4Address(pair[1]):
            yield f"the range {' to '.join(pair)} ends before it begins"
        elif cidr is not None and cidr.num_addresses > 2:
            for end, edge, what in ((pair[0], cidr[0], "own address"), (pair[1], cidr[-1], "broadcast address")):
                if IPv4Address(end) == edge:
                    yield f"the range {' to '.join(pair)} has the network's {what}, which no node can have"


def _parameters(
    document: Mapping[str, Any], default: Mapping[str, Any], environment: Environment, report: Report
) -> dict[str, Any]:
    """Extract the parameters that differ from the default; those that the document leaves out do not change."""
    given, before = document.get(networks.PARAMETERS), dict(environment.own_networks.get(networks.PARAMETERS) or {})
    if given is None:
        return before
    if not isinstance(given, Mapping):
        report.error(_CODE, 0, f"{networks.PARAMETERS} is {in_words(given)}, not a mapping", _NETWORKS_HINT)
        return before
    if given.get(networks.SEGMENTATION, environment.cluster.net_segment_type) != environment.cluster.net_segment_type:
        hint = "Create another environment with `fuel2 env create --net-segmentation-type`."
        report.error(_CODE, 0, f"{networks.SEGMENTATION} cannot be changed", hint)
    after = {**default, **before, **plain(given)}
    return {name: value for name, value in after.items() if name not in default or value != default[name]}


def overlaps(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    cidrs = ((networks.cidr_of(network.get("cidr")), str(network["name"])) for network in records)
    ordered = sorted((cidr, name) for cidr, name in cidrs if cidr is not None)
    for (low, name), (high, other) in pairwise(ordered):
        if low.overlaps(high):
            yield f"networks {name} ({low}) and {other} ({high}) overlap"


def _vip(record: Any, environment: Environment) -> Vip:
    if not isinstance(record, Mapping):
        raise InvalidDocument(f"A virtual address is a mapping, not {in_words(record)}.", hint=_VIPS_HINT)
    number, name = record.get("id"), record.get("vip_name")
    known: dict[Any, Vip] = {vip.name if number is None else vip.id: vip for vip in environment.vips}
    before = known.get(str(name) if number is None else number)
    if number is not None and before is None:
        raise InvalidDocument(f"There is no virtual address with the id {number}.", hint=_VIPS_HINT)
    if before is None and (not isinstance(name, str) or not name):
        raise InvalidDocument("A virtual address needs an id, or a vip_name.", hint=_VIPS_HINT)
    before = before or Vip(0, str(name), "")
    address = _address(record.get("ip_addr", before.ip_addr or None), f"virtual address {before.name}")
    namespace, is_own = record.get("vip_namespace", before.namespace), _is_own(record, True, before, address)
    network_name = _network_name(record.get("network"), before, environment)
    return Vip(before.id, before.name, address, network_name, namespace, is_own)


def _is_own(record: Mapping[str, Any], default: bool, before: Vip, address: str) -> bool:
    """Whether a user chose an address: `is_user_defined` is set, or the address is not the stored one.

    An allocated address would give way to a node that has it.
    """
    return bool(record.get("is_user_defined", default)) or before.ip_addr not in ("", address)


def _network_name(number: Any, before: Vip, environment: Environment) -> str:
    """Find the name of the network with an id; by default the one that the VIP had, or that of its network role."""
    if number is None:
        return before.network or _default_networks(environment).get(before.name, "")
    names = {
        network["id"]: network["name"] for network in networks.network_configuration(environment)[networks.NETWORKS]
    }
    if number not in names:
        shown = ", ".join(f"{known} ({name})" for known, name in names.items())
        raise InvalidDocument(f"There is no network {number} in {environment.label}.", hint=f"It has {shown}.")
    return str(names[number])


def _default_networks(environment: Environment) -> dict[str, str]:
    return {vip["name"]: str(role.get("default_mapping")) for role, vip in role_vips(network_roles(environment))}


def _address(text: Any, noun: str) -> str:
    try:
        return str(IPv4Address(text if isinstance(text, str) else ""))
    except ValueError:
        hint = "Write it like 192.168.0.2."
        raise InvalidDocument(f"The {noun} is {in_words(text)}, not an address.", hint=hint) from None


_NETWORKS_HINT = "Start from 'fuel2 env network download'."
_VIPS_HINT = "Start from 'fuel2 vip download'."
_PARTS_HINT = "Start from 'fuel2 node disks download' or 'fuel2 node interfaces download'."
