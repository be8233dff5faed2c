"""Compute all facts of an environment, most of them with the other modules of this package.

The facts about the environment itself and the lists of all nodes are computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.environment.networks import ADMIN, VIP_ROLES
from fuelclient.environment.settings import MODE
from fuelclient.facts.disks import glance_facts, node_volumes, placement_groups
from fuelclient.facts.given import NULL, Given, Kept, Master
from fuelclient.facts.names import FactNode, named_nodes
from fuelclient.facts.networks import Addresses, Networks, addresses_of, network_ranges, networks_of, vip_facts
from fuelclient.facts.neutron import neutron_facts
from fuelclient.facts.provision import provision_facts
from fuelclient.facts.scheme import INPUTS, NodeScheme
from fuelclient.facts.settings import environment_version, setting_facts, version_of
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.plan.fleet import MASTER
from fuelclient.serializers.values import deep_merged

_FATAL_TAGS = frozenset({"primary-controller", "primary-mongo", "primary-swift-proxy", "ceph-osd", "controller"})
_DPDK_ALWAYS = ((9, 0),)
"""Releases whose tasks read `dpdk` even on nodes without DPDK."""

_IMAGE = {
    "container_format": "bare", "disk_format": "qcow2", "glance_properties": "", "img_name": "TestVM",
    "min_ram": 64, "os_name": "cirros", "properties": {}, "public": "true",
}  # fmt: skip
_UBUNTU_IMAGE = "/usr/share/cirros-testvm/cirros-x86_64-disk.img"
_OTHER_IMAGE = "/opt/vm/cirros-x86_64-disk.img"


@dataclass(frozen=True, slots=True)
class Computed:
    """Facts, the values to store so that they stay the same, and findings about them."""

    facts: DeploymentFacts
    kept: Kept
    findings: tuple[Finding, ...] = ()


def computed(environment: Environment, given: Given, participants: tuple[int, ...] = ()) -> Computed:
    """Compute the facts of an environment and of each of its nodes, the master and the sync points.

    `participants` are the ids of the nodes of a run, from which missing primaries are chosen; empty means all nodes.
    Nodes that wait for deletion have a part, but are not listed. Raise `InvalidDocument` for invalid networks.
    """
    named = named_nodes(environment, given.master, participants)
    networks = networks_of(environment)
    addresses = addresses_of(environment, networks, named, given.kept)
    schemes = [
        NodeScheme(node, networks, addresses, given.master, environment.interfaces.get(node.uid)) for node in named
    ]
    remaining = [scheme for scheme in schemes if not scheme.node.node.pending_deletion]
    present = [scheme.node for scheme in remaining]
    settings = setting_facts(environment, given)
    common = {
        **settings,
        **environment_facts(environment, present, given.master),
        **network_ranges(networks),
        "nodes": node_list(networks, present, addresses),
        "network_metadata": network_metadata(networks, addresses, remaining),
    }
    if networks.is_described:
        common.update(neutron_facts(networks, settings))
    if isinstance(settings.get("storage"), Mapping):
        common["storage"] = {**settings["storage"], **placement_groups(present, environment.disks, settings["storage"])}
    parts = {NULL: {}, MASTER: {"uid": MASTER, "roles": [MASTER]}}
    parts |= {scheme.node.uid: _part(scheme, environment, settings) for scheme in schemes}
    return Computed(DeploymentFacts(common, parts), addresses.kept(given.kept), addresses.findings)


def kept_of(environment: Environment, given: Given) -> Kept:
    """Choose the values to store, as `computed` does, without computing the facts."""
    named = named_nodes(environment, given.master)
    return addresses_of(environment, networks_of(environment), named, given.kept).kept(given.kept)


def _part(scheme: NodeScheme, environment: Environment, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of one node: computed values, overridden by the attributes that users gave it."""
    node = scheme.node
    volumes = node_volumes(node, environment.disks)
    profile = str((settings.get("cobbler") or {}).get("profile") or environment.release.operating_system).lower()
    part: dict[str, Any] = {
        "uid": node.uid,
        "fqdn": node.fqdn,
        "user_node_name": node.node.name,
        "roles": list(node.tags),
        "ip": node.node.ip or scheme.address(ADMIN),
        "status": str(node.node.status),
        "online": node.node.online,
        "fail_if_error": bool(node.tags) and node.tags[0] in _FATAL_TAGS,
        "configuration": {},
        "configuration_options": {},
        "node_volumes": volumes,
        "glance": glance_facts(volumes),
        "network_scheme": scheme.facts(),
        "provision": provision_facts(scheme, environment, settings, volumes),
        "test_vm_image": {**_IMAGE, "img_path": _UBUNTU_IMAGE if "ubuntu" in profile else _OTHER_IMAGE},
        "vms_conf": [],
        **network_ranges(scheme.networks),
    }
    if version_of(environment.release) in _DPDK_ALWAYS:
        part["dpdk"] = {}
    if node.node.pending_deletion:
        part["deleted"] = True
    return deep_merged(part, {key: value for key, value in node.node.attributes.items() if key not in INPUTS})


def environment_facts(environment: Environment, named: Sequence[FactNode], master: Master) -> dict[str, Any]:
    """The facts of an environment that follow neither from settings nor from networks."""
    cluster, release = environment.cluster, environment.release
    version = environment_version(release)
    controllers = [node for node in named if node.carries(VIP_ROLES)]
    plugins = []
    for plugin in sorted(environment.plugins, key=lambda plugin: plugin.id):
        url = f"rsync://{master.ip}:/plugins/{plugin.directory}/deployment_scripts/"
        scripts = [{"local_path": f"/etc/fuel/plugins/{plugin.directory}/", "remote_url": url}]
        plugins.append({"name": plugin.name, "scripts": scripts})
    facts: dict[str, Any] = {
        "cluster": {
            "id": cluster.id, "name": cluster.name, "mode": MODE, "status": str(cluster.status),
            "fuel_version": version,
        },
        "release": {"name": release.name, "version": release.version, "operating_system": release.operating_system},
        "openstack_version": release.version,
        "deployment_id": cluster.id,
        "deployment_mode": MODE,
        "fuel_version": version,
        "master_ip": master.ip,
        "last_controller": controllers[-1].hostname if controllers else None,
        "mp": [{"point": "1", "weight": "1"}, {"point": "2", "weight": "2"}],
        "plugins": plugins,
    }  # fmt: skip
    if any(node.carries(("cinder",)) for node in named):
        facts["use_cinder"] = True
    return facts


def network_metadata(networks: Networks, addresses: Addresses, schemes: Sequence[NodeScheme]) -> dict[str, Any]:
    """The virtual addresses, and the nodes by their permanent keys `node-<id>`."""
    return {
        "vips": vip_facts(networks, [scheme.node for scheme in schemes], addresses),
        "nodes": {
            f"node-{scheme.node.uid}": {
                **scheme.node.basic_facts,
                "node_roles": list(scheme.node.tags),
                "network_roles": scheme.role_addresses(),
                "nova_cpu_pinning_enabled": False,
                "nova_hugepages_enabled": False,
            }
            for scheme in schemes
        },
    }


def node_list(networks: Networks, named: Sequence[FactNode], addresses: Addresses) -> list[dict[str, Any]]:
    """List each node once for each of its tags, as older releases expect."""
    with_addresses = [network for network in networks if network.fact_prefix and network.cidr]
    entries: list[dict[str, Any]] = []
    for node in named:
        entry: dict[str, Any] = dict(node.basic_facts)
        for network in with_addresses:
            if address := addresses.of(network.name, node.node.id):
                entry[f"{network.fact_prefix}_address"] = address
                entry[f"{network.fact_prefix}_netmask"] = str(network.net.netmask)
        entries += ({**entry, "role": tag} for tag in node.tags)
    return entries
