"""Nodes, their disks and their interfaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fuelclient.errors import NotFound
from fuelclient.model.document import Document
from fuelclient.model.label import Label
from fuelclient.model.node import Node
from fuelclient.printing import ids_text
from fuelclient.serializers.node import node_record_to, nodes_from
from fuelclient.serializers.values import plain
from fuelclient.server.errors import HttpError, refusing, require_same
from fuelclient.server.routes import Call, Query, QueryType, Route, caller
from fuelclient.server.schemas import (
    BOOLEAN,
    LARGEST_CHOSEN,
    MAPPING,
    NAME,
    NODE,
    NUMBER,
    TEXT,
    Schema,
    closed,
    listed,
    maybe,
    one_or_several,
    opened,
)

_FIELDS = ("id", "name", "roles", "ip", "status", "online")


def create(call: Call) -> Any:
    """Create one node, or a list of nodes. A node with `cluster` is added to that environment with its roles."""
    is_list = isinstance(call.body, list)
    nodes = list(map(_node, call.body if is_list else [call.body]))
    records = list(map(node_record_to, call.backend.nodes.create(nodes)))
    return records if is_list else records[0]


def update(call: Call) -> Any:
    """Set the name, hostname and labels that the body has. The body may be all that GET returns."""
    node_id, body = call.id("node_id"), call.body
    with call.backends.exclusive() as backend:
        before = backend.nodes.get(node_id)
        record = node_record_to(before)
        require_same(record, body, "name", "hostname", "labels")
        if names := {key: body[key] for key in ("name", "hostname") if body.get(key, record[key]) != record[key]}:
            backend.nodes.update(node_id, **names)
        if "labels" in body:
            removed = [Label(name) for name in before.labels if name not in body["labels"]]
            backend.nodes.set_labels([node_id], body["labels"])
            if removed:
                backend.nodes.delete_labels([node_id], removed)
        return node_record_to(backend.nodes.get(node_id))


def set_attributes(call: Call) -> Any:
    call.backend.nodes.set_attributes(call.id("node_id"), call.body)
    return plain(call.backend.nodes.attributes(call.id("node_id")))


def delete_several(call: Call) -> None:
    with refusing(NotFound, 404, "NodeCollection not found"):
        call.backend.nodes.delete(call.query["ids"], force=call.flag("force"))


NODES = Query("nodes", QueryType.NUMBERS, "only these nodes")


def members(call: Call, cluster_id: int, nodes: Sequence[Node] | None = None) -> tuple[int, ...]:
    """The ids in the query parameter `nodes`, without duplicates.

    Pass `nodes` if the nodes of the environment have been read already. Raise `HttpError` for a node that does not
    exist (404), or that is not in the environment (400).
    """
    ids = tuple(dict.fromkeys(call.query.get("nodes", ())))
    known = {node.id for node in (call.backend.nodes.list(cluster_id) if nodes is None else nodes)} if ids else set()
    if outsiders := sorted(set(ids) - known):
        if missing := set(outsiders) - {node.id for node in call.backend.nodes.list()}:
            raise HttpError(404, NotFound("node", min(missing)), "NodeCollection not found")
        text = f"Nodes {ids_text(outsiders)} do not belong to cluster {cluster_id}"
        raise HttpError(400, NotFound("node", f"{outsiders[0]} of environment {cluster_id}"), text)
    return ids


def _node(item: dict[str, Any]) -> Node:
    """Read one node of a body with the checks of a nodes file. Other fields that Nailgun has are ignored."""
    fields = {key: value for key, value in item.items() if key in _FIELDS and value not in (None, "")}
    deployed: tuple[str, ...] = ()
    if "pending_roles" in item:  # a node as GET returns it: `roles` are the deployed roles
        deployed = tuple(item.get("roles") or ())
        fields["roles"] = item["pending_roles"]
    if fields.get("id") == 0:
        del fields["id"]
    (node,) = nodes_from(Document([fields], ""), ())
    return replace(node, cluster_id=item.get("cluster"), mac=item.get("mac") or "", roles=deployed)


_BODY = closed(
    ("name",),
    id={"type": "integer", "minimum": 0, "maximum": LARGEST_CHOSEN}, name=NAME, cluster=maybe(NUMBER),
    roles=listed(NAME), pending_roles=listed(NAME), ip={"type": ["string", "null"]}, mac={"type": ["string", "null"]},
    status=NODE["properties"]["status"], online=BOOLEAN,
)  # fmt: skip
_LABELS: Schema = {"type": "object", "additionalProperties": maybe(TEXT), "propertyNames": NAME}
_UPDATE: Schema = {**opened(name=NAME, hostname=NAME, labels=_LABELS), "minProperties": 1}
_FORCE = Query("force", QueryType.FLAG, "delete them even if they belong to an environment")
_PARTS = listed(MAPPING)
_PATH = "nodes/{node_id}"

ROUTES = (
    Route("GET", "nodes", lambda call: list(map(node_record_to, call.backend.nodes.list(call.query.get("cluster_id")))),
          "List nodes", {200: listed(NODE)},
          (Query("cluster_id", QueryType.NUMBER, "only nodes of this environment"),)),
    Route("POST", "nodes", create, "Create a node, or all of a list", {201: one_or_several(NODE)},
          body=one_or_several(_BODY, 1)),
    Route("DELETE", "nodes", delete_several, "Delete nodes", {204: None},
          (Query("ids", QueryType.NUMBERS, "these nodes", required=True), _FORCE)),
    Route("GET", _PATH, caller(lambda backend: backend.nodes.get, node_record_to), "Show a node", {200: NODE}),
    Route("PUT", _PATH, update, "Rename or label a node", {200: NODE}, body=_UPDATE),
    Route("GET", f"{_PATH}/attributes", caller(lambda backend: backend.nodes.attributes),
          "Show the attributes of a node", {200: MAPPING}),
    Route("PUT", f"{_PATH}/attributes", set_attributes, "Set the attributes of a node", {200: MAPPING}, body=MAPPING),
    Route("DELETE", _PATH, lambda call: call.backend.nodes.delete([call.id("node_id")], force=call.flag("force")),
          "Delete a node", {204: None}, (_FORCE,)),
    Route("GET", f"{_PATH}/disks", caller(lambda backend: backend.nodes.disks), "Show the disks of a node",
          {200: _PARTS}),
    Route("GET", f"{_PATH}/disks/defaults", caller(lambda backend: backend.nodes.default_disks),
          "Show the default disks of a node", {200: _PARTS}),
    Route("PUT", f"{_PATH}/disks", caller(lambda backend: backend.nodes.set_disks), "Set the disks of a node",
          {200: _PARTS}, body=_PARTS),
    Route("GET", f"{_PATH}/interfaces", caller(lambda backend: backend.nodes.interfaces),
          "Show the interfaces of a node", {200: _PARTS}),
    Route("GET", f"{_PATH}/interfaces/default_assignment", caller(lambda backend: backend.nodes.default_interfaces),
          "Show the default interfaces of a node", {200: _PARTS}),
    Route("PUT", f"{_PATH}/interfaces", caller(lambda backend: backend.nodes.set_interfaces),
          "Set the interfaces of a node", {200: _PARTS}, body=_PARTS),
)  # fmt: skip
