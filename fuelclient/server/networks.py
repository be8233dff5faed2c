"""Networks of environments, their virtual addresses, and the disks and interfaces of nodes."""

from __future__ import annotations

from typing import Any

from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import BOOLEAN, MAPPING, NAME, NUMBER, TEXT, listed, maybe, opened


def show(call: Call) -> Any:
    return plain(call.backend.networks.configuration(call.id("cluster_id")))


def change(call: Call) -> Any:
    """Answer PUT network_configuration: change the networks and parameters that the body has."""
    return plain(call.backend.networks.set_configuration(call.id("cluster_id"), call.body))


def list_vips(call: Call) -> Any:
    vips = call.backend.networks.vips(
        call.id("cluster_id"), network_id=call.query.get("network"), network_role=call.query.get("network-role", "")
    )
    return [plain(vip) for vip in vips]


def show_vip(call: Call) -> Any:
    (vip,) = call.backend.networks.vips(call.id("cluster_id"), vip_id=call.id("vip_id"))
    return plain(vip)


def set_vips(call: Call) -> Any:
    """Answer PUT vips: store the virtual addresses of the body, all or none, and return all."""
    call.backend.networks.set_vips(call.id("cluster_id"), call.body)
    return list_vips(call)


def create_vip(call: Call) -> Any:
    """Answer POST vips: add a virtual address and return it."""
    cluster_id, body = call.id("cluster_id"), call.body
    with call.connections.exclusive() as backend:
        backend.networks.create_vip(
            cluster_id, body["vip_name"], body["ip_addr"], network_id=body.get("network"),
            namespace=body.get("vip_namespace"),
        )  # fmt: skip
        return next(plain(vip) for vip in backend.networks.vips(cluster_id) if vip["vip_name"] == body["vip_name"])


def show_disks(call: Call) -> Any:
    return plain(call.backend.nodes.disks(call.id("node_id")))


def default_disks(call: Call) -> Any:
    return plain(call.backend.nodes.default_disks(call.id("node_id")))


def set_disks(call: Call) -> Any:
    return plain(call.backend.nodes.set_disks(call.id("node_id"), call.body))


def show_interfaces(call: Call) -> Any:
    return plain(call.backend.nodes.interfaces(call.id("node_id")))


def default_interfaces(call: Call) -> Any:
    return plain(call.backend.nodes.default_interfaces(call.id("node_id")))


def set_interfaces(call: Call) -> Any:
    return plain(call.backend.nodes.set_interfaces(call.id("node_id"), call.body))


_PARTS = listed(MAPPING)
_CONFIGURATION = opened(("networks", "networking_parameters"), networks=listed(MAPPING), networking_parameters=MAPPING)
_CHANGES = opened(networks=listed(opened(("name",), name=NAME)), networking_parameters=MAPPING, vips=MAPPING)
_VIP = opened(
    ("id", "ip_addr", "vip_name"),
    id=NUMBER, ip_addr=TEXT, vip_name=NAME, vip_namespace=maybe(TEXT), network=maybe(NUMBER), is_user_defined=BOOLEAN,
)  # fmt: skip
_NEW = opened(("ip_addr", "vip_name"), ip_addr=TEXT, vip_name=NAME, vip_namespace=maybe(TEXT), network=maybe(NUMBER))
_VIPS_QUERY = (
    Query("network", QueryType.NUMBER, "only addresses of this network"),
    Query("network-role", QueryType.WORD, "only addresses of this network role"),
)
_NEUTRON = "clusters/{cluster_id}/network_configuration/neutron"
_IPS = "clusters/{cluster_id}/network_configuration/ips"
_NODE = "nodes/{node_id}"

ROUTES = (
    Route("GET", _NEUTRON, show, "Show the network configuration of an environment", {200: _CONFIGURATION}),
    Route("PUT", _NEUTRON, change, "Change the network configuration of an environment", {200: _CONFIGURATION},
          body=_CHANGES),
    Route("GET", f"{_IPS}/vips", list_vips, "List the virtual addresses of an environment", {200: listed(_VIP)},
          _VIPS_QUERY),
    Route("PUT", f"{_IPS}/vips", set_vips, "Set virtual addresses of an environment", {200: listed(_VIP)},
          body=listed(MAPPING)),
    Route("POST", f"{_IPS}/vips", create_vip, "Add a virtual address to an environment", {200: _VIP}, body=_NEW),
    Route("GET", f"{_IPS}/{{vip_id}}/vips", show_vip, "Show a virtual address of an environment", {200: _VIP}),
    Route("GET", f"{_NODE}/disks", show_disks, "Show the disks of a node", {200: _PARTS}),
    Route("GET", f"{_NODE}/disks/defaults", default_disks, "Show the default disks of a node", {200: _PARTS}),
    Route("PUT", f"{_NODE}/disks", set_disks, "Set the disks of a node", {200: _PARTS}, body=_PARTS),
    Route("GET", f"{_NODE}/interfaces", show_interfaces, "Show the interfaces of a node", {200: _PARTS}),
    Route("GET", f"{_NODE}/interfaces/default_assignment", default_interfaces,
          "Show the default interfaces of a node", {200: _PARTS}),
    Route("PUT", f"{_NODE}/interfaces", set_interfaces, "Set the interfaces of a node", {200: _PARTS}, body=_PARTS),
)  # fmt: skip
