"""What facts are computed from, apart from the environment; and facts that users uploaded, which override computed
ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.model.fact import DeploymentFacts, uid_of
from fuelclient.serializers.values import deep_merged, rebased

NULL = "null"
"""The uid of the sync points."""


@dataclass(frozen=True, slots=True)
class Master:
    """The data of a master in facts. The defaults are those of its installation."""

    ip: str = "10.20.0.2"
    domain: str = "domain.tld"
    dns: tuple[str, ...] = ("8.8.8.8",)
    ntp: tuple[str, ...] = ("0.fuel.pool.ntp.org", "1.fuel.pool.ntp.org", "2.fuel.pool.ntp.org")


@dataclass(frozen=True, slots=True)
class Kept:
    """Values that were chosen once for an environment and stored, so that facts are the same in every run.

    `generated` has the values of generators in the `generated` block of the release, nested as there. `addresses` are
    keyed by network and node id, `vips` by name.
    """

    generated: Mapping[str, Any] = field(default_factory=dict)
    addresses: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    vips: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """What the facts of an environment are computed from, apart from the environment."""

    kept: Kept = field(default_factory=Kept)
    master: Master = field(default_factory=Master)


def by_node(facts: DeploymentFacts) -> DeploymentFacts:
    """Merge the records of each node's roles into one part for the node. Later records win.

    >>> by_node(DeploymentFacts({}, {"controller_1": {"a": 1, "b": 1}, "cinder_1": {"b": 2}})).nodes
    {'1': {'a': 1, 'b': 2}}
    """
    parts: dict[str, Mapping[str, Any]] = {}
    for name, part in facts.nodes.items():
        uid = uid_of(name)
        parts[uid] = deep_merged(parts[uid], part) if uid in parts else part
    return DeploymentFacts(facts.common, parts)


def effective_facts(default: DeploymentFacts, uploaded: DeploymentFacts) -> DeploymentFacts:
    """Override computed facts key by key with uploaded ones.

    Every node, the master and the sync points have a part. Uploaded parts of other nodes are ignored.
    """
    uploaded = by_node(uploaded)
    parts = {uid: deep_merged(part, uploaded.nodes.get(uid, {})) for uid, part in default.nodes.items()}
    return DeploymentFacts(deep_merged(default.common, uploaded.common), parts)


def since_copied(original: DeploymentFacts, then: DeploymentFacts, now: DeploymentFacts) -> DeploymentFacts:
    """The facts of a copy: those of its original, with all changes between the facts that were computed for the copy
    when it was made (`then`) and now."""
    return DeploymentFacts(
        rebased(original.common, then.common, now.common), rebased(original.nodes, then.nodes, now.nodes)
    )


def with_assumed(facts: DeploymentFacts, assumed: DeploymentFacts) -> DeploymentFacts:
    """Add assumed facts where `facts` have none.

    >>> with_assumed(DeploymentFacts({"a": {"x": 1}}), DeploymentFacts({"a": {"x": 2, "y": 2}})).common
    {'a': {'x': 1, 'y': 2}}
    """
    if assumed.is_empty:
        return facts
    assumed = by_node(assumed)
    parts = {uid: deep_merged(assumed.nodes.get(uid, {}), part) for uid, part in facts.nodes.items()}
    return DeploymentFacts(deep_merged(assumed.common, facts.common), parts)
