"""Facts of invented environments: what releases, users and nodes may say differently from the recordings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from networked import networked

from fuelclient.environment.network_changes import own_networks_from, vips_of
from fuelclient.environment.networks import IP_RANGES
from fuelclient.errors import InvalidDocument
from fuelclient.facts.compute import computed
from fuelclient.facts.given import Given, Kept, Master
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release


def environment(
    *roles: str, own: Mapping[str, Any] | None = None, segmentation: str = "vlan", **more: Any
) -> Environment:
    nodes = tuple(
        Node(number, f"n{number}", 1, pending_roles=tuple(role.split("+"))) for number, role in enumerate(roles, 1)
    )
    made = Environment(Cluster(1, "e", 1, net_segment_type=segmentation), networked(), (), nodes, own or {})
    return replace(made, **more)


def described(target: Environment, *networks: Mapping[str, Any], **document: Any) -> Environment:
    """The environment with a network configuration that a user uploaded."""
    stated = {"networks": list(networks), **document}
    return replace(target, own_networks=own_networks_from(stated, target), vips=tuple(vips_of(stated, target)))


def facts(target: Environment, **given: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    made = computed(target, Given(**given)).facts
    return made.common, made.nodes


def with_attributes(target: Environment, **attributes: Any) -> Environment:
    """The environment whose first node says this about itself."""
    first, *others = target.nodes
    return replace(target, nodes=(replace(first, attributes=attributes), *others))


def steps(node: Mapping[str, Any], action: str) -> list[Any]:
    return [
        step.get("name") or tuple(step["bridges"])
        for step in node["network_scheme"]["transformations"]
        if step["action"] == action
    ]


def test_settings_reach_their_places() -> None:
    common, _ = facts(environment("controller"))

    assert common["debug"] is True
    assert common["metadata"] == {"label": "Common"}
    assert common["ironic"] == {"enabled": False}
    assert common["heat"]["enabled"] is True
    assert len(common["heat"]["db_password"]) == 24
    assert common["syslog"] == {"server": "10.20.0.2"}
    assert common["ssh"]["networks"] == ["10.20.0.2"]
    assert len(common["storage"]["key"]) == 36
    assert not {"common", "additional_components"} & set(common)


def test_secret_is_the_kept_one_or_follows_from_environment() -> None:
    target = environment("controller")
    kept = Kept({"heat": {"db_password": "mine"}})
    assert facts(target, kept=kept)[0]["heat"]["db_password"] == "mine"  # noqa: S105
    other = replace(target, cluster=replace(target.cluster, id=2))
    first, second, third = (facts(one)[0]["heat"]["db_password"] for one in (target, target, other))
    assert first == second != third


ABOUT = {
    "class": "plugin", "enabled": True, "hot_pluggable": False, "label": "watch", "plugin_id": 3,
    "plugin_version": "1.2.0", "toggleable": True, "weight": 70,
}  # fmt: skip


@pytest.mark.parametrize(
    ("package", "stated", "own", "expected"),
    [
        ({}, None, {}, {}),
        ({}, "odd", {}, {}),
        ({"is_hotpluggable": True}, {"weight": 7, "label": "Watch it"}, {}, {"weight": 7, "label": "Watch it"}),
        ({}, {"toggleable": False, "group": "network"}, {}, {"toggleable": False, "group": "network"}),
        ({}, {"enabled": False, "plugin_id": 9, "class": "x"}, {}, {}),
        ({}, {}, {"enabled": False, "weight": 8}, {"weight": 8}),
    ],
)
def test_plugin_settings_are_a_section_with_nailguns_metadata(
    package: dict[str, Any], stated: Any, own: dict[str, Any], expected: dict[str, Any]
) -> None:
    attributes = {"level": {"value": 2}, **({} if stated is None else {"metadata": stated})}
    plugin = Plugin(3, "watch", "1.2.0", metadata={**package, "attributes_metadata": attributes})
    target = environment("controller", plugins=(plugin,))
    common, _ = facts(replace(target, own_settings={"watch": {"metadata": own}} if own else {}))
    about = {**ABOUT, "hot_pluggable": bool(package), **expected}
    assert common["watch"] == {"metadata": about, "level": 2}
    assert [entry["name"] for entry in common["plugins"]] == ["watch"]


def test_a_network_that_only_gets_another_cidr_uses_all_of_it() -> None:
    network = {"name": "management", "cidr": "10.1.0.0/16", "vlan_start": 7}
    common, nodes = facts(described(environment("controller", "compute"), network))
    scheme = nodes["2"]["network_scheme"]
    assert scheme["endpoints"]["br-mgmt"] == {"IP": ["10.1.0.2/16"]}
    assert "eth0.7" in steps(nodes["2"], "add-port")
    assert common["network_metadata"]["vips"]["management"]["ipaddr"] == "10.1.0.3"


def test_a_vip_that_users_choose_is_theirs() -> None:
    chosen = {"management": {"ipaddr": "192.168.0.1", "is_user_defined": True}}
    common, nodes = facts(described(environment("controller"), vips=chosen))
    vip = common["network_metadata"]["vips"]["management"]
    assert (vip["ipaddr"], vip["is_user_defined"], vip["node_roles"]) == (
        "192.168.0.1", True, ["controller", "primary-controller"],
    )  # fmt: skip
    assert nodes["1"]["network_scheme"]["endpoints"]["br-mgmt"] == {"IP": ["192.168.0.2/24"]}


def test_without_a_controller_there_is_no_vip() -> None:
    assert facts(environment("compute"))[0]["network_metadata"]["vips"] == {}


@pytest.mark.parametrize(
    "record", [{"cidr": "10.0.0.0/24", IP_RANGES: [["10.0.0.1", "x"]]}, {"cidr": "10.0.0"}, {"cidr": "fe80::/64"}]
)
def test_networks_that_cannot_be(record: dict[str, Any]) -> None:
    """The engine refuses them when they are uploaded; an earlier version may have stored them."""
    own = {"networks": {"management": {"name": "management", **record}}}
    with pytest.raises(InvalidDocument):
        facts(environment("compute", own_networks=own))


def test_tunnels_give_the_private_network_addresses() -> None:
    common, nodes = facts(environment("controller", "compute", segmentation="tun"))
    scheme = nodes["2"]["network_scheme"]
    assert scheme["endpoints"]["br-mesh"] == {"IP": ["192.168.2.2/24"]}
    assert scheme["roles"]["neutron/mesh"] == "br-mesh"
    assert common["network_metadata"]["nodes"]["node-2"]["network_roles"]["neutron/mesh"] == "192.168.2.2"
    assert common["quantum_settings"]["L2"]["tunnel_id_ranges"] == "2:9"
    assert "physnet2" not in common["quantum_settings"]["L2"]["phys_nets"]


def test_ironic_has_a_network_of_its_own() -> None:
    own = {"additional_components": {"ironic": {"value": True}}}
    common, nodes = facts(environment("controller", "compute", own=own))
    assert nodes["2"]["network_scheme"]["endpoints"]["br-baremetal"] == {"IP": ["192.168.3.3/24"]}
    assert steps(nodes["2"], "add-br")[0] == "br-baremetal"
    assert steps(nodes["2"], "add-br")[-1] == "br-ironic"
    assert "baremetal" in common["quantum_settings"]["predefined_networks"]


def test_distributed_routers_put_computes_on_the_public_network() -> None:
    own = {"neutron_advanced_configuration": {"neutron_dvr": {"value": True}}}
    _, nodes = facts(environment("controller", "compute", own=own))
    scheme = nodes["2"]["network_scheme"]
    assert scheme["endpoints"]["br-ex"] == {"IP": "none"}
    assert scheme["roles"]["ex"] == "br-ex"
    assert scheme["endpoints"]["br-fw-admin"]["gateway"] == "10.20.0.1"


def test_a_bond_carries_the_networks_that_are_on_it() -> None:
    interfaces = [
        {"name": "eno1", "mac": "52:54:00:00:00:01", "pxe": True, "assigned_networks": [{"name": "fuelweb_admin"}]},
        {"name": "eno2"},
        {"name": "eno3", "attributes": {"mtu": {"value": {"value": 9000}}}},
        {"name": "bond0", "slaves": [{"name": "eno3"}, {"name": "eno2"}], "bond_properties": {"mode": "802.3ad"},
         "assigned_networks": [{"name": "public"}, {"name": "management"}, {"name": "private"}]},
    ]  # fmt: skip
    target = with_attributes(environment("controller"), interfaces=interfaces)
    part = facts(target)[1]["1"]
    scheme = part["network_scheme"]
    (bond,) = (step for step in scheme["transformations"] if step["action"] == "add-bond")
    assert (bond["interfaces"], bond["bridge"]) == (["eno2", "eno3"], "br-ex")
    assert steps(part, "add-port") == ["eno1", "bond0.101"]
    assert ("br-prv", "br-ex") in steps(part, "add-patch")
    assert set(scheme["interfaces"]) == {"eno1", "eno2", "eno3"}
    assert scheme["interfaces"]["eno2"] == {}
    assert scheme["interfaces"]["eno3"]["mtu"] == 9000
    assert "interfaces" not in part


def test_a_network_that_users_add_has_its_bridge_first() -> None:
    network = {"name": "monitoring-and-more", "cidr": "10.9.0.0/24", "vlan_start": 9}
    _, nodes = facts(described(environment("controller"), network))
    assert steps(nodes["1"], "add-br")[0] == "br-monitoring-a"
    assert nodes["1"]["network_scheme"]["endpoints"]["br-monitoring-a"] == {"IP": ["10.9.0.1/24"]}


def test_addresses_that_run_out_are_assumed_and_reported() -> None:
    network = {"name": "management", "cidr": "10.1.0.0/29"}
    target = described(environment("controller", *["compute"] * 9), network)
    made = computed(target, Given())
    addresses = made.kept.addresses["management"]
    assert len(set(addresses.values())) == 10
    assert addresses[7].startswith("100.")
    assert [finding.code for finding in made.findings] == ["G048"]
    assert computed(target, Given(made.kept)).facts == made.facts


def test_own_address_of_a_node_counts_in_the_admin_network() -> None:
    target = environment("controller", "compute")
    first, second = target.nodes
    target = replace(target, nodes=(replace(first, ip="10.20.0.130"), replace(second, ip="192.0.2.7")))
    _, nodes = facts(target)
    assert nodes["1"]["network_scheme"]["endpoints"]["br-fw-admin"]["IP"] == ["10.20.0.130/24"]
    assert nodes["2"]["network_scheme"]["endpoints"]["br-fw-admin"]["IP"] == ["10.20.0.129/24"]
    assert [nodes[uid]["ip"] for uid in "12"] == ["10.20.0.130", "192.0.2.7"]


def test_a_node_that_is_to_be_deleted_is_unknown_to_the_others() -> None:
    target = environment("controller", "compute")
    first, second = target.nodes
    common, nodes = facts(replace(target, nodes=(first, replace(second, pending_deletion=True))))
    assert list(common["network_metadata"]["nodes"]) == ["node-1"]
    assert {entry["uid"] for entry in common["nodes"]} == {"1"}
    assert nodes["2"]["deleted"] is True


def test_placement_groups_follow_the_disks_for_ceph() -> None:
    disks = [{"type": "disk", "id": "sda", "volumes": [{"name": "ceph", "type": "partition", "size": 100}] * 2}]
    own = {"storage": {"volumes_ceph": {"value": True}}}
    target = with_attributes(environment("ceph-osd", "controller", own=own), node_volumes=disks)
    pools = facts(target)[0]["storage"]["per_pool_pg_nums"]
    assert (pools["volumes"], pools["backups"], pools["images"]) == (256, 64, 64)
    assert facts(environment("controller"))[0]["storage"]["pg_num"] == 128


def test_stored_disks_and_interfaces_of_a_node_count() -> None:
    disks = {
        "1": [{"id": "sda", "size": 9, "volumes": [{"name": "ceph", "size": 9}, {"name": "image", "size": 100000}]}]
    }
    interfaces = {"1": [{"name": "eno1", "assigned_networks": [{"id": 2, "name": "public"}]}, {"name": "eno2"}]}
    common, nodes = facts(environment("ceph-osd", "controller", disks=disks, interfaces=interfaces))
    assert common["storage"]["pg_num"] == 64
    assert nodes["1"]["node_volumes"][0]["type"] == "disk"
    assert nodes["1"]["glance"] == {"image_cache_max_size": str(10485760000)}
    assert set(nodes["1"]["network_scheme"]["interfaces"]) == {"eno1", "eno2"}


def test_what_a_node_says_of_itself_is_over_what_is_computed() -> None:
    target = with_attributes(environment("controller"), hostname="db1", glance={"image_cache_max_size": "1"}, rack="r1")
    common, nodes = facts(target, master=Master(domain="example.org"))
    assert (nodes["1"]["glance"], nodes["1"]["rack"]) == ({"image_cache_max_size": "1"}, "r1")
    assert nodes["1"]["fqdn"] == "db1.example.org"
    assert common["network_metadata"]["nodes"]["node-1"]["name"] == "db1"
    assert common["last_controller"] == "db1"


def test_primaries_are_chosen_among_the_nodes_of_a_run() -> None:
    target = environment("controller", "controller")
    assert computed(target, Given()).facts.nodes["1"]["roles"] == ["primary-controller"]
    assert computed(target, Given(), (2,)).facts.nodes["2"]["roles"] == ["primary-controller"]


def test_a_release_without_networks_has_only_the_masters() -> None:
    target = environment("controller", release=Release(1, "Bare", "1"))
    common, nodes = facts(target)
    assert "quantum" not in common
    assert list(nodes["1"]["network_scheme"]["endpoints"]) == ["br-fw-admin"]
    json.dumps([common, nodes])
