from __future__ import annotations

from dataclasses import replace

import pytest

from fuelclient.model.cluster import Cluster
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.store import facts, plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, nodes, releases

RELEASE = Release(5, "Newton", "10.0", "Ubuntu", "manageonly", "ä", {"roles_metadata": {"z": {}, "a": None}, "n": 0})
NODE = Node(
    id=9,
    name="node-9",
    cluster_id=None,
    status="error",
    roles=("a",),
    pending_roles=("b", "c"),
    primary_tags=("a",),
    ip="10.0.0.9",
    mac="aa:bb",
    online=False,
    executor="ssh",
    ssh={"user": "root", "port": 22},
    attributes={"cpu": [1, 2]},
    error_type="deploy",
    pending_addition=True,
    pending_deletion=True,
)


def test_a_release_comes_back_as_it_was_put(connection: Connection) -> None:
    assert releases.insert(connection, RELEASE) == 5
    result = releases.find(connection, 5)
    assert result == RELEASE
    assert list(result.metadata["roles_metadata"]) == ["z", "a"]
    assert releases.named(connection, "Newton", "10.0") == 5
    assert releases.named(connection, "Newton", "9.0") is None


def test_a_node_comes_back_as_it_was_put_and_changed(connection: Connection) -> None:
    assert nodes.insert(connection, NODE) == 9
    assert nodes.find(connection, 9) == NODE
    plain = Node(9, "other")
    nodes.update(connection, plain)
    assert nodes.every(connection) == [plain]
    nodes.delete(connection, 9)
    assert nodes.find(connection, 9) is None


def test_a_cluster_that_goes_leaves_its_nodes(connection: Connection) -> None:
    release_id = releases.insert(connection, RELEASE)
    cluster_id = clusters.insert(connection, Cluster(0, "prod", release_id, "error", "gre"))
    assert clusters.find(connection, cluster_id) == Cluster(cluster_id, "prod", release_id, "error", "gre")
    nodes.insert(connection, replace(NODE, cluster_id=cluster_id))
    assert [node.id for node in nodes.every(connection, cluster_id=cluster_id)] == [9]
    clusters.delete(connection, cluster_id)
    assert nodes.find(connection, 9) == NODE


def test_plugins_come_by_name_and_version_with_their_clusters(connection: Connection) -> None:
    release_id = releases.insert(connection, RELEASE)
    first = clusters.insert(connection, Cluster(0, "one", release_id))
    second = clusters.insert(connection, Cluster(0, "two", release_id))
    values = [Plugin(0, "b", "1.0.0"), Plugin(0, "a", "2.0.0"), Plugin(0, "a", "1.0.0", "T", "4.0.0", {"x": {}})]
    ids = [plugins.insert(connection, plugin) for plugin in values]
    for cluster_id in (second, first, second):
        clusters.enable(connection, cluster_id, ids[2])
    clusters.enable(connection, first, ids[0])

    result = plugins.every(connection)

    assert [(plugin.name, plugin.version) for plugin in result] == [("a", "1.0.0"), ("a", "2.0.0"), ("b", "1.0.0")]
    assert result[0] == Plugin(ids[2], "a", "1.0.0", "T", "4.0.0", {"x": {}}, (first, second))
    assert [plugin.id for plugin in plugins.of_cluster(connection, first)] == [ids[2], ids[0]]
    assert plugins.of_cluster(connection, first)[0] == plugins.find(connection, ids[2]) == result[0]
    clusters.disable(connection, first, ids[2])
    assert [plugin.id for plugin in plugins.of_cluster(connection, first)] == [ids[0]]


def test_a_plugin_comes_back_as_it_was_put_and_changed(connection: Connection) -> None:
    plugin = Plugin(0, "a", "1.0.0", "A", "5.0.0", {"x": [1]}, unpacked="a-1.0@0", by_release=True, origin="/a")
    plugin = replace(plugin, id=plugins.insert(connection, plugin))
    assert plugins.find(connection, plugin.id) == plugin
    changed = Plugin(plugin.id, "a", "1.0.1", unpacked="a-1.0@1")
    plugins.update(connection, changed)
    assert plugins.every(connection) == [changed]


def test_a_release_knows_its_plugin_and_the_plugin_its_releases(connection: Connection) -> None:
    plugin_id = plugins.insert(connection, Plugin(0, "a", "1.0.0"))
    mine = [
        Release(releases.insert(connection, Release(0, "n", name, plugin_id=plugin_id)), "n", name, plugin_id=plugin_id)
        for name in ("1", "2")
    ]
    releases.insert(connection, RELEASE)
    assert releases.every(connection, plugin_id=plugin_id) == mine
    assert [plugin.releases for plugin in plugins.every(connection)] == [tuple(item.id for item in mine)]
    changed = replace(mine[0], version="1.1", operating_system="ubuntu", metadata={"k": 1})
    releases.update(connection, changed)
    assert releases.find(connection, changed.id) == changed


def test_settings_of_a_cluster_are_replaced(connection: Connection) -> None:
    cluster_id = clusters.insert(connection, Cluster(0, "prod", releases.insert(connection, RELEASE)))
    assert clusters.settings(connection, cluster_id) == {}
    for wanted in ({"b": {"x": None}, "a": {}}, {"c": {"y": False}}, {}):
        clusters.put_settings(connection, cluster_id, wanted)
        assert clusters.settings(connection, cluster_id) == wanted


@pytest.mark.parametrize("leave", ["moves", "goes", "is new"])
def test_facts_that_were_stored_for_a_node_go_when_it_leaves(connection: Connection, leave: str) -> None:
    env = clusters.insert(connection, Cluster(0, "a", releases.insert(connection, RELEASE), "new"))
    node = replace(NODE, cluster_id=env)
    for number in (9, 99):
        if leave != "is new":
            nodes.insert(connection, replace(node, id=number))
    parts = DeploymentFacts({}, {"9": {"of": "nine"}, "99": {"of": "other"}, "master": {}})
    facts.put(connection, env, parts)
    facts.put_copied(connection, env, parts, parts)
    if leave == "moves":
        nodes.update(connection, replace(node, status="ready"))
        assert facts.uploaded(connection, env) == parts
        nodes.update(connection, node.freed())
    elif leave == "goes":
        nodes.delete(connection, 9)
    else:
        nodes.insert(connection, node)
    left = replace(parts, nodes={"99": {"of": "other"}, "master": {}})
    assert facts.uploaded(connection, env) == left
    assert facts.copied(connection, env) == (left, left)
