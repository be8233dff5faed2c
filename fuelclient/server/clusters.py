"""Environments and their nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError
from fuelclient.model.cluster import Cluster
from fuelclient.serializers.cluster import cluster_to
from fuelclient.serializers.node import node_record_to
from fuelclient.server.routes import Call, Kind, Query, Reply, Route
from fuelclient.server.schemas import CLUSTER, LEFT, NAME, NODE, NUMBER, closed, listed, opened


def record(backend: Backend, cluster: Cluster) -> dict[str, Any]:
    """The environment with the version of Fuel that its release is of."""
    release = backend.releases.get(cluster.release_id)
    return cluster_to(cluster, fuel_version=release.version.rpartition("-")[2])


def every(call: Call) -> Any:
    versions = {one.id: one.version.rpartition("-")[2] for one in call.backend.releases.list()}
    return [cluster_to(one, fuel_version=versions.get(one.release_id, "")) for one in call.backend.clusters.list()]


def create(call: Call) -> Any:
    release_id = call.body.get("release_id", call.body.get("release"))
    kind = call.body.get("net_segment_type", "vlan")
    made = call.backend.clusters.create(call.body["name"], release_id, net_segment_type=kind)
    return record(call.backend, made)


def one(call: Call) -> Any:
    return record(call.backend, call.backend.clusters.get(call.id("cluster_id")))


def rename(call: Call) -> Any:
    return record(call.backend, call.backend.clusters.rename(call.id("cluster_id"), call.body["name"]))


def delete(call: Call) -> Reply:
    """No body, unless there is something to say of what stays on nodes."""
    left = call.backend.clusters.delete(call.id("cluster_id"), force=call.truth("force"))
    return Reply(json.dumps({"left": left})) if left else Reply(status=204)


def assign(call: Call) -> Any:
    """The nodes have the roles, all of them or none; the nodes of the environment that were named."""
    cluster_id, wanted = call.id("cluster_id"), call.body
    with call.connections.alone() as backend:
        done: list[int] = []
        try:
            for roles, ids in _by_roles(wanted).items():
                backend.clusters.add_nodes(cluster_id, ids, roles)
                done += ids
        except FuelError:
            if done:
                backend.clusters.remove_nodes(cluster_id, done)
            raise
        return [node_record_to(backend.nodes.get(item["id"])) for item in wanted]


def unassign(call: Call) -> Any:
    """The nodes are out of the environment."""
    ids = list(dict.fromkeys(item["id"] for item in call.body))
    call.backend.clusters.remove_nodes(call.id("cluster_id"), ids)
    return [node_record_to(call.backend.nodes.get(node_id)) for node_id in ids]


def _by_roles(wanted: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], list[int]]:
    """The ids of the nodes that get the same roles.

    >>> _by_roles([{"id": 1, "roles": ["a"]}, {"id": 2, "roles": ["b"]}, {"id": 3, "roles": ["a"]}])
    {('a',): [1, 3], ('b',): [2]}
    """
    found: dict[tuple[str, ...], list[int]] = {}
    for item in wanted:
        found.setdefault(tuple(dict.fromkeys(item["roles"])), []).append(item["id"])
    return found


_SEGMENTS = {"enum": ["vlan", "gre", "tun"]}
_NOTHING = {"type": "array", "maxItems": 0}
_CREATE = {
    **closed(
        ("name",),
        name=NAME, release_id=NUMBER, release=NUMBER, net_segment_type=_SEGMENTS, nodes=_NOTHING, tasks=_NOTHING,
        mode={"const": "ha_compact"}, net_provider={"const": "neutron"},
    ),
    "anyOf": [{"required": ["release_id"]}, {"required": ["release"]}],
}  # fmt: skip
_ASSIGNMENT = listed(opened(("id", "roles"), id=NUMBER, roles=listed(NAME, 1)), 1)
_UNASSIGNMENT = listed(opened(("id",), id=NUMBER), 1)
_ONE = "clusters/{cluster_id}"

ROUTES = (
    Route("GET", "clusters", every, "All environments", {200: listed(CLUSTER)}),
    Route("POST", "clusters", create, "Create an environment", {201: CLUSTER}, body=_CREATE),
    Route("GET", _ONE, one, "One environment", {200: CLUSTER}),
    Route("PUT", _ONE, rename, "Rename an environment", {200: CLUSTER}, body=closed(("name",), name=NAME)),
    Route("DELETE", _ONE, delete, "Delete an environment with its graphs", {204: None, 200: LEFT},
          query=(Query("force", Kind.TRUTH, "even one that is deployed"),)),
    Route("POST", f"{_ONE}/assignment", assign, "Give nodes to an environment", {200: listed(NODE)}, body=_ASSIGNMENT),
    Route("POST", f"{_ONE}/unassignment", unassign, "Take nodes out of an environment", {200: listed(NODE)},
          body=_UNASSIGNMENT),
)  # fmt: skip
