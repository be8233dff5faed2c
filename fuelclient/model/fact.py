"""Deployment facts, from which expressions and parameters of an environment are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DeploymentFacts:
    """The facts common to all nodes, and by uid ("1", "master") those that a node adds or overrides.

    Masters before 9.0 have a record for each role of a node, each under its own key: "controller_1", "cinder_1".
    """

    common: Mapping[str, Any] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.common and not self.nodes


def uid_of(name: str) -> str:
    """The uid in a key of `DeploymentFacts.nodes`: `1`, or `controller_1` for one role of node 1.

    >>> uid_of("primary-controller_1")
    '1'
    """
    return name.rpartition("_")[2]


NO_FACTS = DeploymentFacts()
