"""An invented release with networks, settings and secrets, as small as possible."""

from __future__ import annotations

from typing import Any

from fuelclient.model.release import Release

MANAGEMENT = {"name": "management", "cidr": "192.168.0.0/24", "vlan_start": 101, "notation": "cidr"}
PUBLIC = {
    "name": "public", "cidr": "172.16.0.0/24", "ip_range": ["172.16.0.2", "172.16.0.126"], "use_gateway": True,
    "notation": "ip_ranges", "vlan_start": None, "render_addr_mask": "public",
}  # fmt: skip
VLANS = {"name": "private", "seg_type": "vlan", "neutron_vlan_range": True, "vlan_start": None}
TUNNELS = {"name": "private", "seg_type": "tun", "cidr": "192.168.2.0/24", "vlan_start": 103, "notation": "cidr"}
BAREMETAL = {
    "name": "baremetal", "cidr": "192.168.3.0/24", "ip_range": ["192.168.3.2", "192.168.3.50"], "vlan_start": 104,
    "notation": "ip_ranges",
    "restrictions": [{"condition": "settings:additional_components.ironic.value == false"}],
}  # fmt: skip
CONFIG = {
    "vlan_range": [1000, 1030], "gre_id_range": [2, 9], "floating_name": "out", "internal_name": "in",
    "floating_ranges": [["172.16.0.130", "172.16.0.254"]],
}  # fmt: skip
NETWORK_ROLES = [
    {"id": "mgmt/vip", "default_mapping": "management", "properties": {"vip": [{"name": "management"}]}},
    {"id": "ex", "default_mapping": "public"},
    {"id": "neutron/mesh", "default_mapping": "private"},
]
EDITABLE: dict[str, Any] = {
    "common": {"metadata": {"label": "Common"}, "debug": {"value": True}},
    "additional_components": {"ironic": {"value": False}, "heat": {"value": True}, "metadata": {"label": "More"}},
    "public_network_assignment": {"assign_to_all_nodes": {"value": False}},
    "neutron_advanced_configuration": {"neutron_dvr": {"value": False}},
    "access": {"tenant": {"value": "admin"}},
    "storage": {
        "osd_pool_size": {"value": "2"}, "volumes_ceph": {"value": False}, "key": {"value": {"generator": "uuid4"}},
    },
    "ssh": {"networks": {"value": ["{settings.MASTER_IP}"], "regex": {"source": "{cluster.id}"}}},
}  # fmt: skip
GENERATED = {
    "heat": {"db_password": {"generator": "password"}},
    "syslog": {"server": {"generator": "ip", "generator_arg": "admin"}},
}
ROLES: dict[str, Any] = {
    "controller": {"has_primary": True, "public_ip_required": True},
    "compute": {"public_for_dvr_required": True},
    "ceph-osd": {},
}


def networked(identity: int = 1) -> Release:
    """The release, of Fuel 9.2."""
    neutron = {"networks": [PUBLIC, MANAGEMENT, VLANS, TUNNELS, BAREMETAL], "config": CONFIG}
    metadata = {
        "roles_metadata": ROLES,
        "networks_metadata": {"neutron": neutron},
        "network_roles_metadata": NETWORK_ROLES,
        "attributes_metadata": {"editable": EDITABLE, "generated": GENERATED},
    }
    return Release(identity, "Networked", "test-9.2", "Ubuntu", metadata=metadata)
