"""Deployment facts in Nailgun's shapes, and back.

Nailgun gives a list with one mapping to a node, the common part repeated in each; or, asked to split them, a mapping
of the common part and such a list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.fact import DeploymentFacts
from fuelclient.serializers.values import deep_merged, kind, plain

_UID = "uid"
_SPLIT = ("common", "nodes")


def facts_to(facts: DeploymentFacts, uids: Collection[str] = ()) -> dict[str, Any]:
    """The facts split in the common part and the parts of nodes (`uids`, none: all), each with its uid."""
    nodes = [{**plain(part), _UID: uid} for uid, part in facts.nodes.items() if not uids or uid in uids]
    return {"common": plain(facts.common), "nodes": nodes}


def facts_to_list(facts: DeploymentFacts, uids: Collection[str] = ()) -> list[dict[str, Any]]:
    """The facts as one mapping to a node, the common part below the node's own; mappings merge."""
    common, nodes = facts_to(facts, uids).values()
    return [deep_merged(common, node) for node in nodes]


def facts_from(data: Any) -> DeploymentFacts:
    """The facts that a server tells of, or that somebody uploads, in either shape. A list has no common part.

    Raises `InvalidDocument` for anything else, for a node without uid, and for one that is given twice.
    """
    common: Mapping[str, Any] = {}
    nodes = data
    if isinstance(data, Mapping):
        if not set(data) <= set(_SPLIT):
            raise InvalidDocument(
                "Facts are a list of nodes, or a mapping of common and nodes.", hint="Write {common: {...}, nodes: []}."
            )
        common, nodes = data.get("common") or {}, data.get("nodes") or []
    if not isinstance(common, Mapping) or not isinstance(nodes, list | tuple):
        raise InvalidDocument("Facts are a list of nodes, or a mapping of common and nodes.")
    parts: dict[str, Mapping[str, Any]] = {}
    for node in nodes:
        uid = node.get(_UID) if isinstance(node, Mapping) else None
        if not isinstance(uid, str | int) or isinstance(uid, bool):
            raise InvalidDocument(f"The facts of a node are a mapping with its uid, not {kind(node)}.")
        if str(uid) in parts:
            raise InvalidDocument(f"The facts of node {uid} are given twice.")
        parts[str(uid)] = {key: plain(value) for key, value in node.items() if key != _UID}
    return DeploymentFacts(plain(common), parts)
