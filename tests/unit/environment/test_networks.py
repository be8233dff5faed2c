"""Networks of an environment: those of its release, as a real master shows them, and changes over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from corpus import corpus
from recordings import line
from refusals import refused

from fuelclient import files
from fuelclient.environment.network_changes import own_networks_from, part_from, vips_from, vips_of
from fuelclient.environment.networks import default_interfaces, network_configuration, vip_records
from fuelclient.errors import InvalidDocument
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.network import NodePart, Vip
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.serializers.release import releases_from

NETWORKS: Any = {
    "neutron": {
        "config": {"base_mac": "fa:16:3e:00:00:00", "baremetal_gateway": "192.168.3.51", "parameters": {"x": 1}},
        "networks": [
            {"name": "public", "cidr": "172.16.0.0/24", "notation": "ip_ranges", "use_gateway": True,
             "ip_range": ["172.16.0.2", "172.16.0.126"], "map_priority": 1},
            {"name": "management", "cidr": "192.168.0.0/24", "notation": "cidr", "vlan_start": 101, "map_priority": 2},
            {"name": "private", "seg_type": "vlan", "neutron_vlan_range": True, "map_priority": 2},
            {"name": "private", "seg_type": "tun", "cidr": "192.168.2.0/24", "notation": "cidr", "vlan_start": 103},
            {"name": "baremetal", "cidr": "192.168.3.0/24", "notation": "cidr", "vlan_start": 104,
             "restrictions": [{"condition": "settings:additional_components.ironic.value == false"}]},
        ],
    }
}  # fmt: skip
METADATA: Any = {
    "networks_metadata": NETWORKS,
    "network_roles_metadata": [
        {"id": "mgmt/vip", "default_mapping": "management",
         "properties": {"vip": [{"name": "management", "namespace": "haproxy", "alias": "management_vip"}]}},
        {"id": "ironic/baremetal", "default_mapping": "baremetal", "properties": {"vip": [{"name": "baremetal"}]}},
    ],
    "roles_metadata": {"controller": {"public_ip_required": True}, "compute": {}},
    "attributes_metadata": {"editable": {"additional_components": {"ironic": {"value": False}}}},
}  # fmt: skip
CONTROLLER = Node(1, "node-1", 3, pending_roles=("controller",))
ENVIRONMENT = Environment(Cluster(3, "prod", 1), Release(1, "n", "newton-10.0", metadata=METADATA), (), (CONTROLLER,))


def network(configuration: Any, name: str) -> Any:
    return next(network for network in configuration["networks"] if network["name"] == name)


def changed(environment: Environment, document: Any) -> Environment:
    return replace(environment, own_networks=own_networks_from(document, environment))


@cache
def newton() -> Environment:
    """Environment 1 of the recordings, with a controller."""
    path = corpus("fuel-web", "newton", "nailgun", "nailgun", "fixtures", "openstack.yaml")
    release = next(release for release in releases_from(files.load(str(path))) if "16.04" in release.name)
    return Environment(Cluster(1, "env-1", 2), release, (), (Node(1, "node-1", 1, pending_roles=("controller",)),))


@pytest.mark.corpus
def test_the_networks_of_newton_are_those_that_a_master_shows() -> None:
    assert network_configuration(newton()) == line(178).response_body


def by_name(configuration: Any) -> Any:
    """Return a network configuration with its networks by name."""
    return {**configuration, "networks": {network["name"]: network for network in configuration["networks"]}}


@pytest.mark.corpus
@pytest.mark.parametrize("number", [193, 431, 482])
def test_a_configuration_of_a_master_is_the_same_here(number: int) -> None:
    """Addresses of VIPs included; the networks of a master are in no certain order."""
    recorded = line(number).response_body
    addresses = vips_of(recorded, newton())
    own = own_networks_from(recorded, newton())
    copied = network_configuration(replace(newton(), own_networks=own, vips=tuple(addresses)))
    assert by_name(copied) == by_name(recorded)


@pytest.mark.corpus
def test_networks_are_on_interfaces_as_on_a_master() -> None:
    recorded = line(168).response_body
    interfaces = [{key: nic[key] for key in ("name", "mac", "pxe", "driver", "bus_info")} for nic in recorded]
    node = replace(newton().nodes[0], attributes={"meta": {"interfaces": interfaces}})
    made = default_interfaces(replace(newton(), nodes=(node,)), node)
    for nic, seen in zip(made, recorded, strict=True):
        for key in ("id", "name", "mac", "pxe", "driver", "bus_info", "type", "assigned_networks"):
            assert nic[key] == seen[key], key


def test_segmentation_and_restrictions_choose_the_networks() -> None:
    vlan = network_configuration(ENVIRONMENT)
    assert [(one["id"], one["name"]) for one in vlan["networks"]] == [
        (2, "public"), (3, "management"), (4, "private"), (1, "fuelweb_admin"),
    ]  # fmt: skip
    assert network(vlan, "private")["cidr"] is None
    assert "baremetal_gateway" not in vlan["networking_parameters"]
    tun = replace(
        ENVIRONMENT,
        cluster=replace(ENVIRONMENT.cluster, net_segment_type="tun"),
        own_settings={"additional_components": {"ironic": {"value": True}}},
    )
    made = network_configuration(tun)
    assert network(made, "private")["ip_ranges"] == [["192.168.2.1", "192.168.2.254"]]
    assert network(made, "baremetal")["id"] == 5
    assert made["networking_parameters"]["baremetal_gateway"] == "192.168.3.51"
    assert made["networking_parameters"]["segmentation_type"] == "tun"
    assert set(made["vips"]) == {"management", "baremetal"}


def test_an_unchanged_configuration_changes_nothing() -> None:
    assert own_networks_from(network_configuration(ENVIRONMENT), ENVIRONMENT) == {}


def test_a_change_is_kept_alone_and_taken_back() -> None:
    document = network_configuration(ENVIRONMENT)
    network(document, "management").update(cidr="10.1.0.0/24", vlan_start=None)
    document["networking_parameters"]["dns_nameservers"] = ["9.9.9.9"]
    own = own_networks_from(document, ENVIRONMENT)
    ranges = [["10.1.0.1", "10.1.0.254"]]
    assert own == {
        "networks": {"management": {"cidr": "10.1.0.0/24", "vlan_start": None, "ip_ranges": ranges}},
        "networking_parameters": {"dns_nameservers": ["9.9.9.9"]},
    }
    after = replace(ENVIRONMENT, own_networks=own)
    assert network(network_configuration(after), "management")["ip_ranges"] == ranges
    assert own_networks_from(network_configuration(after), after) == own
    part = {"networks": [{"name": "public", "vlan_start": 7}]}
    assert set(own_networks_from(part, after)["networks"]) == {"management", "public"}
    assert own_networks_from(network_configuration(ENVIRONMENT), after) == {}


def test_a_network_of_its_own_gets_an_id() -> None:
    after = changed(ENVIRONMENT, {"networks": [{"name": "backup", "cidr": "10.9.0.0/24", "vlan_start": 200}]})
    backup = network(network_configuration(after), "backup")
    assert (backup["id"], backup["ip_ranges"], backup["group_id"]) == (6, [["10.9.0.1", "10.9.0.254"]], 3)
    assert own_networks_from(network_configuration(after), after) == after.own_networks


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"cidr": "not a cidr"}, ["management", "cidr"]),
        ({"cidr": "10.1.0.5/24"}, ["management", "cidr"]),
        ({"gateway": "10.1.0.1"}, ["gateway", "10.1.0.1"]),
        ({"vlan_start": 5000}, ["vlan_start", 4094]),
        ({"ip_ranges": [["192.168.0.9", "192.168.0.20"]]}, ["ip_ranges", "notation"]),
        ({"ip_ranges": [["192.168.0.9", "192.168.7.1"]], "meta": {"notation": "ip_ranges"}}, ["192.168.0.0/24"]),
        ({"ip_ranges": [["192.168.0.9", "192.168.0.1"]], "meta": {"notation": "ip_ranges"}}, ["192.168.0.9"]),
        ({"ip_ranges": 7, "meta": {"notation": "ip_ranges"}}, ["ip_ranges", 7]),
        ({"meta": []}, ["meta"]),
        ({"cdir": "10.9.0.0/24"}, ["management", "cdir", "Did you mean cidr?"]),
        ({"cidr": "172.16.0.0/25"}, ["management", "public", "overlap"]),
    ],
)
def test_a_wrong_network_is_refused(change: dict[str, Any], named: list[Any]) -> None:
    document = {"networks": [{"name": "management", **change}]}
    with refused(InvalidDocument, *named, codes=["N001"]):
        own_networks_from(document, ENVIRONMENT)


def test_all_faults_of_a_document_are_told_at_once() -> None:
    document = {
        "networks": [{"cidr": "10.0.0.0/8"}, {"name": "public", "vlan_start": 0}],
        "networking_parameters": {"segmentation_type": "gre"},
    }
    with refused(InvalidDocument) as caught:
        own_networks_from(document, ENVIRONMENT)
    assert len(caught.value.findings) == 3
    with refused(InvalidDocument, "mapping"):
        own_networks_from([], ENVIRONMENT)


def test_addresses_of_vips_come_from_the_configuration() -> None:
    document = network_configuration(ENVIRONMENT)
    assert document["vips"]["management"]["ipaddr"] is None
    assert vips_of(document, ENVIRONMENT) == []
    document["vips"]["management"]["ipaddr"] = "192.168.0.2"
    (vip,) = vips_of(document, ENVIRONMENT)
    assert vip == Vip(0, "management", "192.168.0.2", "management", "haproxy", is_user_defined=False)
    after = network_configuration(replace(ENVIRONMENT, vips=(replace(vip, id=1),)))
    assert after["vips"]["management"]["ipaddr"] == after["management_vip"] == "192.168.0.2"


def test_records_of_virtual_addresses_are_read_by_id_or_name() -> None:
    known = replace(ENVIRONMENT, vips=(Vip(7, "management", "192.168.0.2", "management", "haproxy"),))
    assert vips_from(vip_records(known), known) == [known.vips[0]]
    moved = vips_from(
        [{"id": 7, "ip_addr": "192.168.0.9"}, {"vip_name": "x", "ip_addr": "172.16.0.3", "network": 2}], known
    )
    assert moved == [replace(known.vips[0], ip_addr="192.168.0.9"), Vip(0, "x", "172.16.0.3", "public")]
    for record, named in (
        ({"id": 8, "ip_addr": "10.0.0.1"}, [8]),
        ({"ip_addr": "10.0.0.1"}, ["vip_name"]),
        ({"vip_name": "x", "ip_addr": "10.0.0.300"}, ["x", "10.0.0.300"]),
        ({"vip_name": "x", "ip_addr": "10.0.0.1", "network": 99}, [99, "public"]),
        (7, [7]),
    ):
        with refused(InvalidDocument, *named):
            vips_from([record], known)


def test_documents_of_nodes_name_what_they_describe() -> None:
    disks = [{"id": "sda", "size": 100, "volumes": [{"name": "os", "size": 50}]}]
    assert part_from(NodePart.DISKS, disks, CONTROLLER) == disks
    assert part_from(NodePart.INTERFACES, [{"name": "eth0"}], CONTROLLER) == [{"name": "eth0"}]
    assert part_from(NodePart.INTERFACES, [{"name": "eth0", "vendor_note": 1}], CONTROLLER)  # a master may know it
    for part, document, named in (
        (NodePart.DISKS, {"id": "sda"}, ["disks"]),
        (NodePart.DISKS, [{"name": "sda"}], ["id"]),
        (NodePart.DISKS, [{"id": "sda", "volumes": [{"size": 1}]}], ["volumes", "sda"]),
        (NodePart.DISKS, [{"id": "sda", "sise": 1}], ["sda", "sise", "Did you mean size?"]),
        (NodePart.DISKS, [{"id": "sda", "size": "big"}], ["sda", "size", "big"]),
        (NodePart.DISKS, [{"id": "sda", "volumes": [{"name": "os", "size": -1}]}], ["sda", "size", -1]),
        (NodePart.INTERFACES, [{"name": "eth0", "asigned_networks": []}], ["eth0", "Did you mean assigned_networks?"]),
        (NodePart.INTERFACES, [{"name": "eth0"}, {"name": "eth0"}], ["eth0"]),
        (NodePart.INTERFACES, [{"name": "eth0", "assigned_networks": "public"}], ["assigned_networks"]),
    ):
        with refused(InvalidDocument, *named):
            part_from(part, document, CONTROLLER)


def test_documents_of_a_node_have_only_what_it_is_known_to_have() -> None:
    reported = {
        "disks": [{"disk": "disk/by-path/1", "name": "sda"}],
        "interfaces": [{"name": "eno1"}, {"name": "eno2"}],
    }
    known = replace(CONTROLLER, attributes={"meta": reported})
    for part, document in (
        (NodePart.DISKS, [{"id": "disk/by-path/1"}, {"id": "sda"}]),
        (NodePart.INTERFACES, [{"name": "eno1"}]),
        (NodePart.INTERFACES, [{"name": "bond0", "slaves": [{"name": "eno1"}, "eno2"]}, {"name": "eno1"}]),
    ):
        assert part_from(part, document, known) == document
        assert part_from(part, document, CONTROLLER) == document  # of which nothing is known
    wrong: list[tuple[NodePart, Any, list[str]]] = [
        (NodePart.DISKS, [{"id": "sdb"}], ["no disk sdb", "It has disk/by-path/1, sda."]),
        (NodePart.INTERFACES, [{"name": "eno3", "slaves": 7}], ["no interface eno3", "It has eno1, eno2."]),
        (NodePart.INTERFACES, [{"name": "bond0", "slaves": ["eno1", {"name": "eno9"}]}], ["no interface eno9"]),
    ]
    for part, document, named in wrong:
        with refused(InvalidDocument, *named):
            part_from(part, document, known)


def test_only_nodes_that_need_it_are_on_the_public_network() -> None:
    compute = replace(CONTROLLER, pending_roles=("compute",))
    names = [[net["name"] for net in nic["assigned_networks"]] for nic in default_interfaces(ENVIRONMENT, compute)]
    assert names == [["fuelweb_admin", "management", "private"], []]
    names = [[net["name"] for net in nic["assigned_networks"]] for nic in default_interfaces(ENVIRONMENT, CONTROLLER)]
    assert names == [["fuelweb_admin", "management", "private"], ["public"]]
    assert [nic["assigned_networks"] for nic in default_interfaces(None, CONTROLLER)] == [[], []]
