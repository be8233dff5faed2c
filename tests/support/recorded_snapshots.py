"""Cases of a real Nailgun's expansion as snapshots, without an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from building import RELEASE, tasks_from
from building import roles as tagged
from recorded_expansion import NEWTON

from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import METADATA, Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.snapshot import Snapshot


def layers(case: Mapping[str, Any], without: str) -> list[Layer]:
    """The layers as they were stored; where only the merged list was recorded, that list as the release's."""
    if "layers" not in case:
        tasks = [task for task in case["tasks"] if task["id"] != without]
        return [Layer(RELEASE, tasks_from(tasks))]
    result = [_layer(RELEASE, case["layers"]["release"]), _layer(Owner(Level.CLUSTER, 1), case["layers"]["cluster"])]
    for stated in case["layers"]["plugins"]:
        plugin = Plugin(stated["id"], stated["name"], stated["version"], package_version=stated["package_version"])
        owner = Owner(Level.PLUGIN, plugin.id, plugin.name, plugin.version)
        result.append(_layer(owner, stated["graph"], f"/etc/fuel/plugins/{plugin.directory}/"))
    return result


def _layer(owner: Owner, graph: Mapping[str, Any], cwd: str = "") -> Layer:
    metadata = {key: graph[key] for key in METADATA if key in graph}
    return Layer(owner, tasks_from(graph["tasks"], owner.name), metadata, cwd)


def snapshot(case: Mapping[str, Any], without: str = "") -> Snapshot:
    nodes = [
        Node(
            int(node["uid"]), f"node-{node['uid']}", 1, node["status"], tuple(node["roles"]),
            tuple(node["pending_roles"]), tuple(node["primary_tags"]), online=node["online"],
            executor="local", error_type=node["error_type"] or "",
            pending_addition=node["pending_addition"], pending_deletion=node["pending_deletion"],
        )
        for node in case["nodes"]
    ]  # fmt: skip
    tags = {"controller": ("controller",) if case["origin"].get("tags_derived_from_roles") else NEWTON}
    primary = frozenset(tag for node in nodes for tag in node.primary_tags)
    return Snapshot(
        Cluster(1, "recorded", 1), tuple(layers(case, without)), tuple(nodes), tagged(**tags), primary,
        case["options"]["graph_type"],
    )  # fmt: skip
