"""Networks of environments, virtual addresses, disks and interfaces of nodes: the same on every backend."""

from __future__ import annotations

from typing import Any

import pytest
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, InvalidDocument, Unsupported
from fuelclient.model.node import Node
from fuelclient.model.release import Release

RELEASE = Release(
    0, "Newton", "newton-10.0", "Ubuntu",
    metadata={
        "roles_metadata": {"controller": {"public_ip_required": True}},
        "networks_metadata": {
            "neutron": {
                "config": {"base_mac": "fa:16:3e:00:00:00"},
                "networks": [
                    {"name": "public", "cidr": "172.16.0.0/24", "notation": "cidr", "use_gateway": True,
                     "map_priority": 1},
                    {"name": "management", "cidr": "192.168.0.0/24", "notation": "cidr", "vlan_start": 101},
                ],
            }
        },
        "network_roles_metadata": [
            {"id": "mgmt/vip", "default_mapping": "management", "properties": {"vip": [{"name": "management"}]}}
        ],
    },
)  # fmt: skip


@pytest.fixture
def node(backend: Backend, env: int) -> int:
    """A controller of the environment."""
    (node,) = backend.nodes.create([Node(0, "node-1", env, pending_roles=("controller",))])
    return node.id


def network(configuration: Any, name: str) -> Any:
    return next(network for network in configuration["networks"] if network["name"] == name)


def test_a_configuration_comes_back_as_it_was_put(backend: Backend, env: int, node: int) -> None:
    document: Any = backend.networks.configuration(env)
    assert network(document, "public")["gateway"] == "172.16.0.1"
    network(document, "management").update(cidr="10.1.0.0/24", ip_ranges=[["10.1.0.1", "10.1.0.254"]])
    document["vips"]["management"]["ipaddr"] = "10.1.0.2"
    document["networking_parameters"]["floating_name"] = "outside"
    after = backend.networks.set_configuration(env, document)
    assert after == document
    assert backend.networks.configuration(env) == after
    environment = backend.clusters.environment(env)
    assert environment.own_networks["networking_parameters"] == {"floating_name": "outside"}
    assert [(vip.name, vip.ip_addr, vip.network) for vip in environment.vips] == [
        ("management", "10.1.0.2", "management")
    ]


def test_a_wrong_configuration_changes_nothing(backend: Backend, env: int) -> None:
    before = backend.networks.configuration(env)
    wrong = {"networks": [{"name": "public", "cidr": "x"}, {"name": "management", "vlan_start": 0}]}
    with refused(InvalidDocument, "public", codes=["N001", "N001"]):
        backend.networks.set_configuration(env, wrong)
    assert backend.networks.configuration(env) == before
    with missing("environment", 9):
        backend.networks.configuration(9)
    with missing("environment", 9):
        backend.networks.vips(9)


def test_virtual_addresses_are_added_and_moved(backend: Backend, env: int, node: int) -> None:
    assert backend.networks.vips(env) == []
    backend.networks.create_vip(env, "management", "192.168.0.2")
    backend.networks.create_vip(env, "extra", "172.16.0.9", network_id=2, namespace="haproxy")
    with refused(Conflict, "extra", "172.16.0.9"):
        backend.networks.create_vip(env, "extra", "172.16.0.10")
    with missing("network", 77):
        backend.networks.create_vip(env, "more", "172.16.0.10", network_id=77)
    vips = backend.networks.vips(env)
    assert [(vip["vip_name"], vip["ip_addr"], vip["network"]) for vip in vips] == [
        ("management", "192.168.0.2", 3), ("extra", "172.16.0.9", 2),
    ]  # fmt: skip
    assert all(vip["is_user_defined"] for vip in vips)
    backend.networks.set_vips(env, [{**vips[0], "ip_addr": "192.168.0.7"}])
    changed: Any = backend.networks.configuration(env)
    assert changed["vips"]["management"]["ipaddr"] == "192.168.0.7"
    assert changed["vips"]["extra"]["namespace"] == "haproxy"
    (chosen,) = backend.networks.vips(env, vip_id=vips[1]["id"])
    assert chosen == vips[1]
    assert [vip["vip_name"] for vip in backend.networks.vips(env, network_id=3)] == ["management"]
    assert [vip["vip_name"] for vip in backend.networks.vips(env, network_role="mgmt/vip")] == ["management"]
    with missing("virtual address", 77):
        backend.networks.vips(env, vip_id=77)
    with refused(InvalidDocument, "192.168.0.700"):
        backend.networks.set_vips(env, [{**vips[0], "ip_addr": "192.168.0.700"}])


@pytest.mark.parametrize("by_list", [True, False], ids=["list", "configuration"])
def test_edited_address_wins_over_an_allocated_record(backend: Backend, env: int, node: int, by_list: bool) -> None:
    """The record is a downloaded one; the node that has the address gets another."""
    facts: Any = backend.facts.default(env).common["network_metadata"]
    (taken,) = (each["network_roles"]["mgmt/vip"] for each in facts["nodes"].values())
    (vip,) = backend.networks.vips(env)
    document: Any = backend.networks.configuration(env)
    assert vip["ip_addr"] != taken
    assert not vip["is_user_defined"]
    if by_list:
        backend.networks.set_vips(env, [{**vip, "ip_addr": taken}])
    else:
        document["vips"]["management"]["ipaddr"] = taken
        backend.networks.set_configuration(env, document)
    after: Any = backend.facts.default(env).common["network_metadata"]
    assert after["vips"]["management"]["ipaddr"] == taken
    assert all(each["network_roles"]["mgmt/vip"] != taken for each in after["nodes"].values())
    assert [vip["ip_addr"] for vip in backend.networks.vips(env)] == [taken]


def test_interfaces_are_default_until_they_are_stored(backend: Backend, env: int, node: int) -> None:
    default = backend.nodes.default_interfaces(node)
    assert backend.nodes.interfaces(node) == default
    names = [[net["name"] for net in nic["assigned_networks"]] for nic in default]
    assert names == [["fuelweb_admin", "management"], ["public"]]
    changed = [{**default[0], "assigned_networks": default[0]["assigned_networks"] + default[1]["assigned_networks"]}]
    assert backend.nodes.set_interfaces(node, changed) == changed
    assert backend.nodes.interfaces(node) == changed
    assert backend.nodes.default_interfaces(node) == default
    assert backend.clusters.environment(env).interfaces == {str(node): changed}
    with refused(InvalidDocument, "name"):
        backend.nodes.set_interfaces(node, [{"mac": "x"}])


def test_disks_are_those_that_were_stored(backend: Backend, env: int, node: int) -> None:
    assert backend.nodes.disks(node) == []
    disks = [{"id": "sda", "name": "sda", "size": 100, "volumes": [{"name": "os", "size": 100}], "extra": []}]
    assert backend.nodes.set_disks(node, disks) == disks
    assert backend.nodes.disks(node) == disks
    assert backend.clusters.environment(env).disks == {str(node): disks}
    with refused(Unsupported, "disks"):
        backend.nodes.default_disks(node)
    with refused(InvalidDocument, "sda"):
        backend.nodes.set_disks(node, [*disks, *disks])
    with missing("node", 9):
        backend.nodes.disks(9)
    with missing("node", 9):
        backend.nodes.default_disks(9)
