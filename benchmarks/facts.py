"""Truthful fleets and facts of any size, the same for the same seed: what Fuel tells tasks of an environment.

The shape is that of Nailgun's deployment facts for a newton environment (common part, parts of nodes, a part of
the master); names, addresses and passwords are made here.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.plan.fleet import MASTER, Fleet, FleetNode

CONTROLLER_TAGS = ("controller", "database", "keystone", "neutron", "rabbitmq")
MGMT_ROLES = (
    "aodh/api", "ceilometer/api", "cinder/api", "glance/api", "glance/glare", "heat/api", "horizon", "ironic/api",
    "keystone/api", "management", "mgmt/corosync", "mgmt/database", "mgmt/memcache", "mgmt/messaging", "mgmt/vip",
    "mongo/db", "murano/api", "murano/cfapi", "neutron/api", "nova/api", "nova/migration", "sahara/api", "swift/api",
)  # fmt: skip
STORAGE_ROLES = ("ceph/public", "ceph/replication", "cinder/iscsi", "storage", "swift/replication")
SERVICES = (
    "aodh", "ceilometer", "cinder", "glance", "glance_glare", "heat", "ironic", "keystone", "murano", "murano-cfapi",
    "nova", "sahara", "swift",
)  # fmt: skip
ENABLED = {"heat": True, "ceilometer": False, "ironic": False, "murano": False, "murano-cfapi": False, "sahara": False}
DISK = 480_000


def fleet(count: int) -> Fleet:
    """`count` nodes: three controllers, of the others each tenth a cinder node and the rest compute nodes."""
    nodes: list[FleetNode] = []
    for uid in range(1, count + 1):
        if uid <= 3:
            prefix = "primary-" if uid == 1 else ""
            nodes.append(FleetNode(uid, tuple(prefix + tag for tag in CONTROLLER_TAGS)))
        else:
            nodes.append(FleetNode(uid, ("cinder",) if uid % 10 == 4 else ("compute",)))
    return Fleet((FleetNode(None), FleetNode(MASTER), *nodes))


def facts(places: Fleet, seed: int = 1) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The common part, and the parts of the nodes by uid."""
    chance = random.Random(seed)  # noqa: S311 - the same passwords each time are the point
    nodes = [node for node in places.nodes if isinstance(node.uid, int)]
    parts = {str(node.uid): _node(int(node.uid or 0), node.tags, chance) for node in nodes}
    parts[MASTER] = {"uid": MASTER, "roles": [MASTER]}
    parts["null"] = {}
    return _common(nodes, chance), parts


def _password(chance: random.Random) -> str:
    return "".join(chance.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=24))


def _address(network: int, uid: int) -> str:
    """Room for 64 000 nodes in each of the networks."""
    return f"10.{network}.{(uid + 9) // 250}.{(uid + 9) % 250 + 1}"


def _panel(label: str, weight: int) -> dict[str, Any]:
    return {"metadata": {"group": "general", "label": label, "weight": weight}}


def _common(nodes: Sequence[FleetNode], chance: random.Random) -> dict[str, Any]:
    common: dict[str, Any] = {
        "cluster": {"id": 1, "name": "bench", "mode": "ha_compact", "status": "new", "fuel_version": "10.0"},
        "deployment_id": 1, "deployment_mode": "ha_compact", "fuel_version": "10.0", "openstack_version": "newton-10.0",
        "release": {"name": "Newton on Ubuntu 16.04", "operating_system": "Ubuntu", "version": "newton-10.0"},
        "master_ip": "10.20.0.2", "deployed_before": {"value": False}, "plugins": [], "last_controller": "node-3",
        "network_metadata": {
            "nodes": {f"node-{node.uid}": _network_of(node) for node in nodes},
            "vips": {name: _vip(name, position) for position, name in enumerate(("management", "public", "vrouter"))},
        },
        "nodes": [_listed(node, tag) for node in nodes for tag in node.tags],
    }  # fmt: skip
    return common | _services(chance) | _settings(chance)


def _services(chance: random.Random) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in SERVICES:
        result[name] = {"db_password": _password(chance), "user_password": _password(chance)}
        if name in ENABLED:
            result[name]["enabled"] = ENABLED[name]
    result["keystone"]["admin_token"] = _password(chance)
    result["mysql"] = {"root_password": _password(chance), "wsrep_password": _password(chance)}
    result["rabbit"] = {"password": _password(chance)}
    result["horizon"] = {"secret_key": _password(chance)}
    return result


def _settings(chance: random.Random) -> dict[str, Any]:
    storage_flags = ("ephemeral_ceph", "images_ceph", "objects_ceph", "volumes_ceph", "volumes_block_device")
    repositories = [
        {"name": f"repo-{number}", "priority": 1000 + number, "section": "main", "suite": f"suite-{number}",
         "type": "deb", "uri": f"http://10.20.0.2:8080/newton-10.0/ubuntu/repo-{number}"}
        for number in range(8)
    ]  # fmt: skip
    return {
        "access": {"email": "admin@localhost", "user": "admin", "tenant": "admin", "password": _password(chance)}
        | _panel("OpenStack Access", 10),
        "public_ssl": {"cert_data": "", "cert_source": "self_signed", "horizon": True, "services": True,
                       "hostname": "public.bench.example"} | _panel("Public TLS", 20),
        "storage": dict.fromkeys(storage_flags, False) | {"volumes_lvm": True, "osd_pool_size": "3", "pg_num": 128}
        | _panel("Storage", 60),
        "neutron_advanced_configuration": dict.fromkeys(
            ("neutron_dvr", "neutron_l2_pop", "neutron_l3_ha", "neutron_qos"), False) | _panel("Neutron", 70),
        "quantum": True, "debug": False, "nova_quota": False, "use_cow_images": True, "libvirt_type": "kvm",
        "quantum_settings": {"database": {"passwd": _password(chance)},
                             "keystone": {"admin_password": _password(chance)},
                             "L2": {"base_mac": "fa:16:3e:00:00:00", "segmentation_type": "vlan"},
                             "L3": {"use_namespaces": True}},
        "murano_settings": {"murano_glance_artifacts_plugin": True} | _panel("Murano", 20),
        "external_dns": {"dns_list": ["10.20.0.2", "10.20.0.3"]} | _panel("DNS", 90),
        "external_ntp": {"ntp_list": ["0.pool.example", "1.pool.example"]} | _panel("NTP", 100),
        "external_mongo": {"hosts_ip": "", "mongo_db_name": "ceilometer"} | _panel("MongoDB", 20),
        "mongo": {"enabled": False}, "mp": [{"point": "1", "weight": "1"}, {"point": "2", "weight": "2"}],
        "operator_user": {"name": "fueladmin", "homedir": "/home/fueladmin", "password": _password(chance)},
        "service_user": {"name": "fuel", "homedir": "/var/lib/fuel", "password": _password(chance)},
        "workloads_collector": {"enabled": True, "password": _password(chance)},
        "base_syslog": {"syslog_port": "514", "syslog_server": "10.20.0.2"},
        "syslog": {"syslog_port": "514", "syslog_server": "", "syslog_transport": "tcp"} | _panel("Syslog", 50),
        "puppet": {"manifests": "rsync://10.20.0.2:/puppet/manifests/", "modules": "rsync://10.20.0.2:/puppet/modules/"},
        "cgroups": _panel("Cgroups", 90), "resume_guests_state_on_host_boot": True,
        "repo_setup": {"repos": repositories} | _panel("Repositories", 50),
    }  # fmt: skip


def _network_of(node: FleetNode) -> dict[str, Any]:
    uid = int(node.uid or 0)
    roles = dict.fromkeys(MGMT_ROLES, _address(40, uid)) | dict.fromkeys(STORAGE_ROLES, _address(41, uid))
    return {
        "fqdn": f"node-{uid}.bench.example", "name": f"node-{uid}", "uid": str(uid), "user_node_name": f"node-{uid}",
        "swift_zone": str(uid), "node_roles": list(node.tags), "nova_cpu_pinning_enabled": False,
        "nova_hugepages_enabled": False,
        "network_roles": roles | dict.fromkeys(("admin/pxe", "fw-admin"), _address(20, uid)) | {"ex": None},
    }  # fmt: skip


def _vip(name: str, position: int) -> dict[str, Any]:
    return {
        "ipaddr": f"10.40.255.{position + 1}", "is_user_defined": False, "vendor_specific": None,
        "namespace": "vrouter" if name == "vrouter" else "haproxy", "network_role": "mgmt/vip",
        "node_roles": ["controller", "primary-controller"],
    }  # fmt: skip


def _listed(node: FleetNode, tag: str) -> dict[str, Any]:
    uid = int(node.uid or 0)
    return {
        "uid": str(uid), "fqdn": f"node-{uid}.bench.example", "name": f"node-{uid}", "user_node_name": f"node-{uid}",
        "role": tag, "swift_zone": str(uid), "internal_address": _address(40, uid), "internal_netmask": "255.255.0.0",
        "storage_address": _address(41, uid), "storage_netmask": "255.255.0.0",
    }  # fmt: skip


def _node(uid: int, tags: Sequence[str], chance: random.Random) -> dict[str, Any]:
    volumes = _volumes(chance)
    mac = ":".join(f"{chance.randrange(256):02x}" for _ in range(6))
    return {
        "uid": str(uid), "fqdn": f"node-{uid}.bench.example", "user_node_name": f"node-{uid}", "roles": list(tags),
        "ip": _address(20, uid), "online": True, "status": "provisioned", "fail_if_error": "controller" in tags[0],
        "configuration": {}, "configuration_options": {}, "vms_conf": [], "node_volumes": volumes,
        "glance": {"image_cache_max_size": str(chance.randrange(10**11))},
        "management_network_range": "10.40.0.0/16", "storage_network_range": "10.41.0.0/16",
        "network_scheme": _scheme(uid),
        "provision": {
            "hostname": f"node-{uid}.bench.example", "name": f"node-{uid}", "profile": "ubuntu_bootstrap",
            "uid": str(uid), "power_address": _address(20, uid), "power_type": "ssh",
            "interfaces": {"eth0": {"ip_address": _address(20, uid), "mac_address": mac, "netmask": "255.255.0.0"}},
            "kernel_options": {"netcfg/choose_interface": mac, "udevrules": f"{mac}_eth0"},
            "ks_meta": {"admin_net": "10.20.0.0/16", "gw": "10.20.0.1", "mco_identity": uid,
                        "mco_password": _password(chance), "pm_data": {"ks_spaces": _copied(volumes)}},
        },
        "test_vm_image": {"img_name": "TestVM", "img_path": "/usr/share/cirros-testvm/cirros.img", "min_ram": 64,
                          "os_name": "cirros", "public": "true", "properties": {}},
    }  # fmt: skip


def _volumes(chance: random.Random) -> list[dict[str, Any]]:
    disks: list[dict[str, Any]] = [
        {"id": f"sd{letter}", "name": f"sd{letter}", "type": "disk", "bootable": letter == "a", "extra": [],
         "size": DISK, "free_space": DISK - chance.randrange(1000),
         "volumes": [{"type": "boot", "size": 300}, {"type": "raid", "name": "Boot", "mount": "/boot", "size": 200},
                     {"type": "pv", "vg": "os", "size": 55_360, "lvm_meta_size": 64},
                     {"type": "pv", "vg": "vm", "size": DISK - 56_000, "lvm_meta_size": 64}]}
        for letter in "abcdef"
    ]  # fmt: skip
    group = {"id": "os", "type": "vg", "label": "Base System", "min_size": 55_296,
             "volumes": [{"type": "lv", "name": "root", "mount": "/", "size": 51_200}]}  # fmt: skip
    return [*disks, group]


def _copied(value: Any) -> Any:
    """A copy that shares nothing, as facts have it that were read from a file."""
    if isinstance(value, Mapping):
        return {key: _copied(below) for key, below in value.items()}
    return [_copied(below) for below in value] if isinstance(value, list) else value


def _scheme(uid: int) -> dict[str, Any]:
    bridges = {"br-fw-admin": 20, "br-mgmt": 40, "br-storage": 41}
    offload = ("rx-checksumming", "tx-checksum-ipv4", "tx-checksum-ipv6", "tx-checksum-sctp", "tx-checksumming")
    endpoints: dict[str, Any] = {name: {"IP": [f"{_address(net, uid)}/16"]} for name, net in bridges.items()}
    endpoints["br-fw-admin"]["gateway"] = "10.20.0.1"
    return {
        "version": "1.1", "provider": "lnx", "endpoints": endpoints | {"br-prv": {"IP": "none"}},
        "interfaces": {
            f"eth{number}": {"ethtool": {"offload": dict.fromkeys(offload)},
                             "vendor_specific": {"bus_info": f"0000:0{number}:00.0", "driver": "igb"}}
            for number in range(2)
        },
        "roles": dict.fromkeys(MGMT_ROLES, "br-mgmt") | dict.fromkeys(STORAGE_ROLES, "br-storage"),
        "transformations": [{"action": "add-br", "name": name} for name in bridges]
        + [{"action": "add-port", "bridge": name, "name": f"eth0.{net}"} for name, net in bridges.items()],
    }  # fmt: skip
