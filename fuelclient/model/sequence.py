"""Sequences: named lists of graph types of a release, which are run one after another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeploymentSequence:
    """A sequence, whose name is unique within its release."""

    id: int
    release_id: int
    name: str
    graph_types: tuple[str, ...]
