"""Nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuelclient.backends import executor_kinds
from fuelclient.model.document import Document
from fuelclient.model.label import Label
from fuelclient.model.node import Node
from fuelclient.serializers.node import node_record_to, nodes_from
from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import LARGEST_CHOSEN, MAPPING, NAME, NODE, NUMBER, TEXT, Schema, closed, listed, maybe

_FIELDS = ("id", "name", "roles", "ip", "status", "online", "executor", "ssh", "attributes")


def every(call: Call) -> Any:
    return [node_record_to(one) for one in call.backend.nodes.list(call.only.get("cluster_id"))]


def one(call: Call) -> Any:
    return node_record_to(call.backend.nodes.get(call.id("node_id")))


def create(call: Call) -> Any:
    """The node, or all nodes of a list, are stored; `cluster` gives them to an environment with their roles."""
    several = isinstance(call.body, list)
    wanted = [_node(item) for item in (call.body if several else [call.body])]
    made = [node_record_to(one) for one in call.backend.nodes.create(wanted)]
    return made if several else made[0]


def update(call: Call) -> Any:
    """The node has the name, the host name and the labels of the body; what it does not state stays."""
    node_id, body = call.id("node_id"), call.body
    with call.connections.alone() as backend:
        before = backend.nodes.get(node_id)
        if "name" in body or "hostname" in body:
            backend.nodes.update(node_id, name=body.get("name"), hostname=body.get("hostname"))
        if "labels" in body:
            gone = [Label(name) for name in before.labels if name not in body["labels"]]
            backend.nodes.set_labels([node_id], body["labels"])
            if gone:
                backend.nodes.delete_labels([node_id], gone)
        return node_record_to(backend.nodes.get(node_id))


def attributes(call: Call) -> Any:
    return plain(call.backend.nodes.attributes(call.id("node_id")))


def set_attributes(call: Call) -> Any:
    """The attributes of the node are those of the body, and nothing that was stated before."""
    call.backend.nodes.set_attributes(call.id("node_id"), call.body)
    return attributes(call)


def delete(call: Call) -> None:
    call.backend.nodes.delete([call.id("node_id")], force=call.truth("force"))


def delete_several(call: Call) -> None:
    """The nodes of `ids` are removed, all or none."""
    call.backend.nodes.delete(call.only["ids"], force=call.truth("force"))


def _node(item: dict[str, Any]) -> Node:
    """One node of a body, checked as one of a nodes file is; what Nailgun says beside that is no part of it."""
    stated = {key: value for key, value in item.items() if key in _FIELDS and value not in (None, "")}
    deployed = tuple(item.get("roles") or ()) if "pending_roles" in item else ()
    if "pending_roles" in item:  # a record of a node, where `roles` are those that are deployed
        stated["roles"] = item["pending_roles"]
    if stated.get("id") == 0:
        del stated["id"]
    (found,) = nodes_from(Document([stated], ""), executor_kinds())
    return replace(found, cluster_id=item.get("cluster"), mac=item.get("mac") or "", roles=deployed)


_BODY = closed(
    ("name",),
    id={"type": "integer", "minimum": 0, "maximum": LARGEST_CHOSEN}, name=NAME, cluster=maybe(NUMBER),
    roles=listed(NAME), pending_roles=listed(NAME), ip={"type": ["string", "null"]}, mac={"type": ["string", "null"]},
    status=NODE["properties"]["status"], online={"type": "boolean"}, executor={"type": "string"},
    ssh={"type": "object"}, attributes={"type": "object"},
)  # fmt: skip
_BODIES: Schema = {"anyOf": [_BODY, listed(_BODY, 1)]}
_ANSWERS: Schema = {"anyOf": [NODE, listed(NODE)]}
_LABELS: Schema = {"type": "object", "additionalProperties": maybe(TEXT), "propertyNames": NAME}
_UPDATE: Schema = {**closed(name=NAME, hostname=NAME, labels=_LABELS), "minProperties": 1}
_ONLY = (Query("cluster_id", Kind.NUMBER, "only those of this environment"),)
_FORCE = Query("force", Kind.TRUTH, "even one that belongs to an environment")

ROUTES = (
    Route("GET", "nodes", every, "All nodes", {200: listed(NODE)}, _ONLY),
    Route("POST", "nodes", create, "Create a node, or all of a list", {201: _ANSWERS}, body=_BODIES),
    Route(
        "DELETE",
        "nodes",
        delete_several,
        "Delete nodes",
        {204: None},
        (Query("ids", Kind.NUMBERS, "these nodes", required=True), _FORCE),
    ),
    Route("GET", "nodes/{node_id}", one, "One node", {200: NODE}),
    Route("PUT", "nodes/{node_id}", update, "Name and label a node", {200: NODE}, body=_UPDATE),
    Route("GET", "nodes/{node_id}/attributes", attributes, "What was stated of a node", {200: MAPPING}),
    Route("PUT", "nodes/{node_id}/attributes", set_attributes, "State attributes of a node", {200: MAPPING},
          body=MAPPING),
    Route("DELETE", "nodes/{node_id}", delete, "Delete a node", {204: None}, (_FORCE,)),
)  # fmt: skip
