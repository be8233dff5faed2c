"""Facts of a recorded environment with two plugins, computed by an engine that has their packages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus
from recorded_facts import leaves, ubuntu, vectors
from recordings import line

from fuelclient.engine import Engine
from fuelclient.facts.compute import computed
from fuelclient.facts.given import Given, Kept, Master
from fuelclient.model.environment import Environment
from fuelclient.model.node import Node

pytestmark = pytest.mark.corpus

PLUGINS = ("fuel-plugin-detach-rabbitmq", "fuel-plugin-kubernetes")
ENABLED = ("class", "enabled", "hot_pluggable", "plugin_id", "plugin_version", "toggleable", "weight")
"""What the metadata of an enabled plugin have that its package does not state."""
NETWORKS = {"fuelweb_admin": "fw-admin", "management": "management", "storage": "storage", "public": "ex"}
"""A network role of each network, which names the address of a node in it."""


def environment(directory: Path) -> Environment:
    """Environment 1 of newton with both plugins enabled."""
    engine = Engine(str(directory / "engine.db"))
    engine.releases.create([replace(ubuntu("newton"), id=0)])
    engine.clusters.create("oracle", 1)
    for name in PLUGINS:
        engine.plugins.install(str(corpus("plugins", name)))
    for plugin in engine.plugins.list():
        engine.plugins.enable(plugin.id, 1)
    made = engine.clusters.environment(1)
    engine.close()
    return made


def recorded_node(stated: Mapping[str, Any], facts: Mapping[str, Any]) -> Node:
    interfaces = [
        {
            "name": name,
            "mac": facts["provision"]["interfaces"][name]["mac_address"],
            "pxe": "dns_name" in facts["provision"]["interfaces"][name],
            "ethtool_offload": interface["ethtool"]["offload"],
            **interface["vendor_specific"],
        }
        for name, interface in facts["network_scheme"]["interfaces"].items()
    ]
    attributes = {"interfaces": interfaces, "node_volumes": facts["node_volumes"]}
    return Node(
        int(stated["uid"]), facts["user_node_name"], 1, stated["status"], tuple(stated["roles"]),
        tuple(stated["pending_roles"]), tuple(stated["primary_tags"]), ip=facts["ip"], attributes=attributes,
    )  # fmt: skip


def test_each_leaf_with_plugins_is_nailguns(tmp_path: Path) -> None:
    """All but the secrets, which Nailgun drew."""
    record = json.loads(corpus("oracles", "expansion", "case-4a.json").read_text(encoding="utf-8"))
    facts, master = record["facts"], vectors()["constants"]
    metadata = facts["common"]["network_metadata"]
    addresses = {
        network: {
            int(entry["uid"]): entry["network_roles"][role]
            for entry in metadata["nodes"].values()
            if role in entry["network_roles"]
        }
        for network, role in NETWORKS.items()
    }
    kept = Kept({}, addresses, {name: vip["ipaddr"] for name, vip in metadata["vips"].items()})
    seen = Master(
        master["MASTER_IP"], master["DNS_DOMAIN"], tuple(master["DNS_UPSTREAM"]), tuple(master["NTP_UPSTREAM"])
    )
    nodes = tuple(recorded_node(node, facts["nodes"][node["uid"]]) for node in record["nodes"])
    target = replace(environment(tmp_path), nodes=nodes, own_settings={})
    made = computed(target, Given(kept, seen)).facts

    ours = dict(leaves(json.loads(json.dumps({"common": made.common, "nodes": made.nodes}))))
    theirs = dict(leaves(facts))
    added = {f".common.{name}.metadata.{key}" for name in made.common for key in ENABLED} & set(ours) - set(theirs)
    assert set(ours) - added == set(theirs)
    ours = {path: value for path, value in ours.items() if path not in added}
    drawn = {f".common.{path}" for path in vectors()["cases"]["1"]["random"]}
    differing = {path for path in ours if ours[path] != theirs[path] and path not in drawn}
    assert {path for path in differing if ".user_accounts[" not in path} == set()
    assert len(theirs) > 6000
    # The plugins of this recording were not enabled by a request; one that was has more in its metadata.
    enabled = line(463).response_body["common"]["detach-rabbitmq"]["metadata"]
    assert made.common["detach-rabbitmq"]["metadata"] == {**enabled, "plugin_id": 1}
