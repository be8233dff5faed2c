"""Facts that users upload, over those that are computed, and the facts that an environment was copied with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.fact import DeploymentFacts, uid_of
from fuelclient.serializers.values import deep_merged, rebased

NULL = "null"
"""The uid of the sync points."""


def by_node(facts: DeploymentFacts) -> DeploymentFacts:
    """Return the facts with one part for each node: the records of its roles, a later one over the earlier ones.

    >>> by_node(DeploymentFacts({}, {"controller_1": {"a": 1, "b": 1}, "cinder_1": {"b": 2}})).nodes
    {'1': {'a': 1, 'b': 2}}
    """
    parts: dict[str, Mapping[str, Any]] = {}
    for name, part in facts.nodes.items():
        uid = uid_of(name)
        parts[uid] = deep_merged(parts[uid], part) if uid in parts else part
    return DeploymentFacts(facts.common, parts)


def effective_facts(default: DeploymentFacts, uploaded: DeploymentFacts) -> DeploymentFacts:
    """Return the computed facts, overridden key by key by the uploaded ones.

    Every node, the master and the sync points have a part. Uploaded parts of other nodes are ignored.
    """
    uploaded = by_node(uploaded)
    parts = {uid: deep_merged(part, uploaded.nodes.get(uid, {})) for uid, part in default.nodes.items()}
    return DeploymentFacts(deep_merged(default.common, uploaded.common), parts)


def since_copied(original: DeploymentFacts, then: DeploymentFacts, now: DeploymentFacts) -> DeploymentFacts:
    """Return the facts of a copy: those of its original, with what differs between the facts that were computed for the
    copy when it was made and those that are computed now."""
    return DeploymentFacts(
        rebased(original.common, then.common, now.common), rebased(original.nodes, then.nodes, now.nodes)
    )


def with_assumed(facts: DeploymentFacts, assumed: DeploymentFacts) -> DeploymentFacts:
    """Return the facts, and assumed ones where they have none.

    >>> with_assumed(DeploymentFacts({"a": {"x": 1}}), DeploymentFacts({"a": {"x": 2, "y": 2}})).common
    {'a': {'x': 1, 'y': 2}}
    """
    if assumed.is_empty:
        return facts
    assumed = by_node(assumed)
    parts = {uid: deep_merged(assumed.nodes.get(uid, {}), part) for uid, part in facts.nodes.items()}
    return DeploymentFacts(deep_merged(assumed.common, facts.common), parts)
