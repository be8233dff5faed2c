"""Deployment facts in Nailgun's shapes, and back.

The facts of an environment are a list with a mapping for each node, which has the `uid` of the node and repeats the
common part. If they are split, the common part is a separate element with the uid `common`. The facts that a run
recorded are a mapping of the common part and the nodes by uid. An upload may have any of these shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.document import Document
from fuelclient.model.fact import DeploymentFacts, uid_of
from fuelclient.serializers.values import deep_merged, in_words, plain

COMMON = "common"
"""The uid of the common part."""

_UID = "uid"


def facts_to(facts: DeploymentFacts, uids: Collection[str] = ()) -> list[dict[str, Any]]:
    """Write split facts: the parts of the nodes `uids` (empty: all), each with its uid, then the common part.

    >>> facts_to(DeploymentFacts({"a": 1}, {"2": {"b": 3}}))
    [{'b': 3, 'uid': '2'}, {'a': 1, 'uid': 'common'}]
    """
    return [] if facts.is_empty else [*_nodes(facts, uids), {**plain(facts.common), _UID: COMMON}]


def facts_to_list(facts: DeploymentFacts, uids: Collection[str] = ()) -> list[dict[str, Any]]:
    """Write one mapping for each node: the common part, overridden by its own part."""
    common = plain(facts.common)
    return [deep_merged(common, node) for node in _nodes(facts, uids)]


def info_to(facts: DeploymentFacts) -> dict[str, Any]:
    """Write facts in the shape in which they are recorded with a run.

    >>> info_to(DeploymentFacts({"a": 1}, {"2": {"uid": "2"}}))
    {'common': {'a': 1}, 'nodes': {'2': {'uid': '2'}}}
    """
    return {COMMON: plain(facts.common), "nodes": plain(facts.nodes)}


def assumed_from(document: Document) -> DeploymentFacts:
    """Read a file of facts: in a shape that `facts_from` reads, or names with values that all nodes share.

    Raise `InvalidDocument` for anything else.
    """
    data = document.data
    is_only_common = isinstance(data, Mapping) and bool(data) and not set(data) <= {"common", "nodes"}
    try:
        return facts_from({"common": data} if is_only_common else data)
    except InvalidDocument as error:
        raise InvalidDocument(f"{document.file}: {error.message}", hint=error.hint) from None


def facts_from(data: Any) -> DeploymentFacts:
    """Read an answer or an upload in any of the shapes above. A list may lack the common part.

    The uids in a list are not kept as facts: `facts_to` adds them again. If a node occurs more than once, each
    occurrence is for one of its roles, as on masters before 9.0.

    Raise `InvalidDocument` for any other shape, for an element without uid, and for a node that occurs twice without a
    role or with the same one.
    """
    common: Mapping[str, Any] = {}
    nodes = data
    if isinstance(data, Mapping):
        common, nodes = data.get(COMMON) or {}, data.get("nodes") or []
    unknown = isinstance(data, Mapping) and not set(data) <= {COMMON, "nodes"}
    if unknown or not isinstance(common, Mapping) or not isinstance(nodes, list | tuple | Mapping):
        hint = "Write {common: {...}, nodes: {}}."
        raise InvalidDocument("Facts are a list of nodes, or a mapping of common and nodes.", hint=hint)
    parts: dict[str, Mapping[str, Any]] = {}
    nodes_with_uids = list(_with_uids(nodes))
    by_role = len(nodes_with_uids) > len(dict(nodes_with_uids))
    for uid, node in nodes_with_uids:
        name = f"{node['role']}_{uid}" if by_role and "role" in node else uid
        if name in parts:
            raise InvalidDocument(f"The facts of node {uid} occur twice.")
        parts[name] = plain(node)
    if not isinstance(data, Mapping):
        common = parts.pop(COMMON, {})
    return DeploymentFacts(plain(common), parts)


def _nodes(facts: DeploymentFacts, uids: Collection[str]) -> list[dict[str, Any]]:
    return [{**plain(part), _UID: uid_of(name)} for name, part in facts.nodes.items() if not uids or name in uids]


def _with_uids(nodes: Collection[Any] | Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each node with its uid. Raise `InvalidDocument` for one without uid, or that is not a mapping."""
    if not isinstance(nodes, Mapping):
        for node in nodes:
            uid = node.get(_UID) if isinstance(node, Mapping) else None
            if not isinstance(uid, str | int) or isinstance(uid, bool):
                lacking = "this mapping has no uid" if isinstance(node, Mapping) else f"not {in_words(node)}"
                message = f"The facts of a node are a mapping with its uid; {lacking}."
                raise InvalidDocument(message, hint="State the uid of each node.")
            yield str(uid), {key: value for key, value in node.items() if key != _UID}
        return
    for uid, node in nodes.items():
        if not isinstance(node, Mapping):
            raise InvalidDocument(f"The facts of node {uid} are {in_words(node)}, not a mapping.")
        yield str(uid), node
