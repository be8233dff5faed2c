"""Deployment facts in Nailgun's shapes, and back.

Nailgun returns a list with one mapping for each node, which repeats the common part; or, if asked to split them, a
mapping of the common part and such a list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.fact import DeploymentFacts
from fuelclient.serializers.values import deep_merged, in_words, plain

_UID = "uid"


def facts_to(facts: DeploymentFacts, uids: Collection[str] = ()) -> dict[str, Any]:
    """Return the common part, and the parts of the nodes `uids` (of all if empty), each with its uid."""
    nodes = [{**plain(part), _UID: uid} for uid, part in facts.nodes.items() if not uids or uid in uids]
    return {"common": plain(facts.common), "nodes": nodes}


def facts_to_list(facts: DeploymentFacts, uids: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return one mapping for each node: its own part over the common part."""
    common, nodes = facts_to(facts, uids).values()
    return [deep_merged(common, node) for node in nodes]


def facts_from(data: Any) -> DeploymentFacts:
    """Return the facts in an answer or an upload, in either shape. A list has no common part.

    Raise `InvalidDocument` for any other shape, for a node without uid, and for a node that occurs twice.
    """
    common: Mapping[str, Any] = {}
    nodes = data
    if isinstance(data, Mapping):
        common, nodes = data.get("common") or {}, data.get("nodes") or []
    unknown = isinstance(data, Mapping) and not set(data) <= {"common", "nodes"}
    if unknown or not isinstance(common, Mapping) or not isinstance(nodes, list | tuple):
        message = "Facts are a list of nodes, or a mapping of common and nodes."
        raise InvalidDocument(message, hint="Write {common: {...}, nodes: []}.")
    parts: dict[str, Mapping[str, Any]] = {}
    for node in nodes:
        uid = node.get(_UID) if isinstance(node, Mapping) else None
        if not isinstance(uid, str | int) or isinstance(uid, bool):
            raise InvalidDocument(f"The facts of a node are a mapping with its uid, not {in_words(node)}.")
        if str(uid) in parts:
            raise InvalidDocument(f"The facts of node {uid} occur twice.")
        parts[str(uid)] = {key: plain(value) for key, value in node.items() if key != _UID}
    return DeploymentFacts(plain(common), parts)
