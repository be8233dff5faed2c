"""Deployment facts of environments."""

from __future__ import annotations

from typing import Any

from fuelclient.model.fact import DeploymentFacts
from fuelclient.serializers.fact import facts_from, facts_to, facts_to_list
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import MAPPING, Schema, listed, opened


def uploaded(call: Call) -> Any:
    return _told(call, call.backend.facts.get(call.id("cluster_id")))


def default(call: Call) -> Any:
    return _told(call, call.backend.facts.default(call.id("cluster_id")))


def upload(call: Call) -> Any:
    """The facts of the body are stored; those of nodes that it does not name stay."""
    facts = facts_from(call.body)
    call.backend.facts.put(call.id("cluster_id"), facts)
    return uploaded(call)


def delete(call: Call) -> None:
    call.backend.facts.delete(call.id("cluster_id"))


def _told(call: Call, facts: DeploymentFacts) -> Any:
    """A list of nodes, as Nailgun gives it, or the common part apart from them where `split` asks for that.

    A list has no place for a common part of its own: where no node has facts, only a split answer shows it.
    """
    uids = set(map(str, call.only.get("nodes", ())))
    return facts_to(facts, uids) if call.truth("split") else facts_to_list(facts, uids)


_PATH = "clusters/{cluster_id}/orchestrator/deployment"
_NODES = listed(opened(("uid",), uid={"type": ["string", "integer"]}))
_SPLIT: Schema = {
    "type": "object", "properties": {"common": MAPPING, "nodes": _NODES}, "additionalProperties": False,
}  # fmt: skip
_FACTS: Schema = {"anyOf": [_NODES, _SPLIT]}
_QUERY = (
    Query("nodes", Kind.NUMBERS, "only these nodes"),
    Query("split", Kind.TRUTH, "the common part apart from the nodes"),
)

ROUTES = (
    Route("GET", _PATH, uploaded, "The uploaded deployment facts", {200: _FACTS}, _QUERY),
    Route("PUT", _PATH, upload, "Upload deployment facts", {200: _FACTS}, _QUERY, _FACTS),
    Route("DELETE", _PATH, delete, "Delete the uploaded deployment facts", {204: None}),
    Route("GET", f"{_PATH}/defaults", default, "The facts that an environment has by itself", {200: _FACTS}, _QUERY),
)
