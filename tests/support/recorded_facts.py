"""Recorded deployment facts of real environments, with the inputs that explain them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from corpus import corpus

from fuelclient import files
from fuelclient.facts.given import Given, Kept, Master
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.serializers.release import releases_from


@functools.cache
def vectors() -> Mapping[str, Any]:
    text = corpus("..", "reference", "deployment-facts-vectors.json").read_text(encoding="utf-8")
    recorded: Mapping[str, Any] = json.loads(text)
    return recorded


@functools.cache
def ubuntu(version: str) -> Release:
    """The release for Ubuntu of the fixture in `fuel-web/VERSION`."""
    path = corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml")
    return releases_from(files.load(str(path)))[1]


def whole(case: str) -> tuple[Environment, Given]:
    """A recorded environment with everything that Nailgun had drawn or was told: secrets, addresses, disks."""
    recorded, master = vectors()["cases"][case], vectors()["constants"]
    stated, release = recorded["input"], ubuntu("newton")
    editable = release.metadata["attributes_metadata"]["editable"]
    own: dict[str, Any] = {}
    generated: dict[str, Any] = {}
    for path, secret in stated["secrets"].items():
        section, _, name = path.partition(".")
        if name in editable.get(section, {}):
            own.setdefault(section, {})[name] = {"value": secret}
        else:
            _put(generated, path, secret)
    addresses: dict[str, dict[int, str]] = {}
    for node in stated["nodes"]:
        for network, address in node["addresses"].items():
            addresses.setdefault(network, {})[node["id"]] = address
    vips = recorded["expected"]["common"]["network_metadata"]["vips"]
    kept = Kept(generated, addresses, {name: vip["ipaddr"] for name, vip in vips.items()})
    seen = Master(
        master["MASTER_IP"], master["DNS_DOMAIN"], tuple(master["DNS_UPSTREAM"]), tuple(master["NTP_UPSTREAM"])
    )
    nodes = tuple(
        _node(node, {key: node[key] for key in ("interfaces", "node_volumes")}, node["addresses"]["fuelweb_admin"])
        for node in stated["nodes"]
    )
    return environment(case, nodes, own), Given(kept, seen)


def bare(case: str) -> Environment:
    """A recorded environment with nothing but its nodes and their roles."""
    return environment(case, tuple(_node(node) for node in vectors()["cases"][case]["input"]["nodes"]))


def environment(case: str, nodes: tuple[Node, ...], own: Mapping[str, Any] | None = None) -> Environment:
    stated = vectors()["cases"][case]["input"]["environment"]
    cluster = Cluster(stated["id"], stated["name"], 1, stated["status"], stated["net_segment_type"])
    return Environment(cluster, ubuntu("newton"), (), nodes, own or {})


def _node(stated: Mapping[str, Any], attributes: Mapping[str, Any] | None = None, ip: str = "") -> Node:
    return Node(
        stated["id"], stated["name"], 1, stated["status"], tuple(stated["roles"]), ip=ip, online=stated["online"],
        attributes=attributes or {},
    )  # fmt: skip


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        tree = tree.setdefault(name, {})
    tree[last] = value


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything at the ends of a value by its path; empty mappings and lists are ends, too."""
    below: Any = ()
    if isinstance(value, Mapping):
        below = [(f"{path}.{key}", item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        below = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    if below:
        for where, item in below:
            yield from leaves(item, where)
    else:
        yield path, value
