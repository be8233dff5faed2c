"""Snapshots of environments: the inputs of previews and plans of one graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE, Layer
from fuelclient.model.node import Node
from fuelclient.model.release import Role


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One environment at one moment.

    `layers` are those of `graph_type`, least important first: the release's, the enabled plugins' by
    (name, version), the cluster's own. `roles` come from the release, the enabled plugins and the environment.
    `primary_tags` are the tags with one primary node. `unique_tasks` is as in `Environment`.
    `findings` are about the nodes, not the graph. `fills_parameters` means that a Fuel master adds parameters that
    tasks of its release lack.
    """

    cluster: Cluster
    layers: tuple[Layer, ...]
    nodes: tuple[Node, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    primary_tags: frozenset[str] = frozenset()
    graph_type: str = DEFAULT_TYPE
    unique_tasks: bool = False
    findings: tuple[Finding, ...] = ()
    fills_parameters: bool = False
