"""Networks, virtual addresses, and the disks and interfaces of nodes in the store."""

from __future__ import annotations

from fuelclient.model.cluster import Cluster
from fuelclient.model.network import NodePart, Vip
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.store import inventory as networks
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, nodes, releases

VIP = Vip(0, "public", "172.16.0.3", "public", "haproxy", is_user_defined=False)


def cluster(connection: Connection) -> int:
    return clusters.insert(connection, Cluster(0, "prod", releases.insert(connection, Release(0, "n", "1")), "new"))


def test_networks_come_back_as_they_were_put(connection: Connection) -> None:
    env = cluster(connection)
    assert networks.own_networks(connection, env) == {}
    own = {"networks": {"management": {"vlan_start": None}}}
    networks.put_own_networks(connection, env, own)
    assert networks.own_networks(connection, env) == own


def test_address_replaces_its_namesake_and_keeps_the_id(connection: Connection) -> None:
    env = cluster(connection)
    number = networks.put_vip(connection, env, VIP)
    other = networks.put_vip(connection, env, Vip(0, "x", "172.16.0.4"))
    assert networks.put_vip(connection, env, Vip(99, "public", "172.16.0.9", "public")) == number
    assert networks.vips(connection, env) == [
        Vip(number, "public", "172.16.0.9", "public"),
        Vip(other, "x", "172.16.0.4"),
    ]
    clusters.delete(connection, env)
    assert networks.vips(connection, env) == []


def test_documents_go_with_their_node(connection: Connection) -> None:
    env = cluster(connection)
    node = nodes.insert(connection, Node(0, "node-1", env))
    assert networks.node_part(connection, node, NodePart.DISKS) is None
    networks.put_node_part(connection, node, NodePart.DISKS, [{"id": "sda"}])
    networks.put_node_part(connection, node, NodePart.DISKS, [])
    networks.put_node_part(connection, node, NodePart.INTERFACES, [{"name": "eth0"}])
    assert networks.node_part(connection, node, NodePart.DISKS) == []
    assert networks.node_parts(connection, env, NodePart.INTERFACES) == {str(node): [{"name": "eth0"}]}
    nodes.delete(connection, node)
    assert networks.node_parts(connection, env, NodePart.INTERFACES) == {}
