"""Snapshots: all that a plan or a preview needs to know of one environment, read in one go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import DEFAULT_TYPE, Layer
from fuelclient.model.node import Node
from fuelclient.model.release import Role


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One environment at one moment.

    `layers` are those of `graph_type`, least important first: the release's, the enabled plugins' by
    (name, version), the cluster's own. `roles` are those of the release and of the enabled plugins;
    `primary_tags` are the tags of which one node is the primary.
    """

    cluster: Cluster
    layers: tuple[Layer, ...]
    nodes: tuple[Node, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    primary_tags: frozenset[str] = frozenset()
    graph_type: str = DEFAULT_TYPE
