"""Deployment facts, from which expressions and parameters of an environment are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DeploymentFacts:
    """The common part, and by uid ("1", "master") what a node adds or overrides."""

    common: Mapping[str, Any] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.common and not self.nodes


NO_FACTS = DeploymentFacts()
