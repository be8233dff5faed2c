"""Networks of environments, their virtual addresses, and the disks and interfaces of nodes."""

from __future__ import annotations

from typing import Any

from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Query, QueryType, Route
from fuelclient.server.schemas import BOOLEAN, MAPPING, NAME, NUMBER, TEXT, listed, maybe, opened, whole


def list_vips(call: Call) -> Any:
    vips = call.backend.networks.vips(
        call.id("cluster_id"), network_id=call.query.get("network"), network_role=call.query.get("network-role", "")
    )
    return [plain(vip) for vip in vips]


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


_PARTS = listed(MAPPING)
_CONFIGURATION = whole(networks=listed(MAPPING), networking_parameters=MAPPING)
_CHANGES = opened(networks=listed(whole(name=NAME)), networking_parameters=MAPPING, vips=MAPPING)
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
    Route("GET", _NEUTRON, lambda call: plain(call.backend.networks.configuration(call.id("cluster_id"))),
          "Show the network configuration of an environment", {200: _CONFIGURATION}),
    Route("PUT", _NEUTRON,
          lambda call: plain(call.backend.networks.set_configuration(call.id("cluster_id"), call.body)),
          "Change the network configuration of an environment", {200: _CONFIGURATION}, body=_CHANGES),
    Route("GET", f"{_IPS}/vips", list_vips, "List the virtual addresses of an environment", {200: listed(_VIP)},
          _VIPS_QUERY),
    Route("PUT", f"{_IPS}/vips", set_vips, "Set virtual addresses of an environment", {200: listed(_VIP)},
          body=listed(MAPPING)),
    Route("POST", f"{_IPS}/vips", create_vip, "Add a virtual address to an environment", {200: _VIP}, body=_NEW),
    Route("GET", f"{_IPS}/{{vip_id}}/vips",
          lambda call: plain(call.backend.networks.vips(call.id("cluster_id"), vip_id=call.id("vip_id"))[0]),
          "Show a virtual address of an environment", {200: _VIP}),
    Route("GET", f"{_NODE}/disks", lambda call: plain(call.backend.nodes.disks(call.id("node_id"))),
          "Show the disks of a node", {200: _PARTS}),
    Route("GET", f"{_NODE}/disks/defaults", lambda call: plain(call.backend.nodes.default_disks(call.id("node_id"))),
          "Show the default disks of a node", {200: _PARTS}),
    Route("PUT", f"{_NODE}/disks", lambda call: plain(call.backend.nodes.set_disks(call.id("node_id"), call.body)),
          "Set the disks of a node", {200: _PARTS}, body=_PARTS),
    Route("GET", f"{_NODE}/interfaces", lambda call: plain(call.backend.nodes.interfaces(call.id("node_id"))),
          "Show the interfaces of a node", {200: _PARTS}),
    Route("GET", f"{_NODE}/interfaces/default_assignment",
          lambda call: plain(call.backend.nodes.default_interfaces(call.id("node_id"))),
          "Show the default interfaces of a node", {200: _PARTS}),
    Route("PUT", f"{_NODE}/interfaces",
          lambda call: plain(call.backend.nodes.set_interfaces(call.id("node_id"), call.body)),
          "Set the interfaces of a node", {200: _PARTS}, body=_PARTS),
)  # fmt: skip
