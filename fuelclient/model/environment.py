"""Environments with their release, plugins, nodes and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fuelclient.model.cluster import Cluster
from fuelclient.model.network import Vip
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment at one moment.

    `plugins` are the enabled ones by name and version. The metadata of each has what it defines for the release of this
    environment, under Nailgun's names (`roles_metadata`, `attributes_metadata`, ...). `own_settings` are the settings
    of the environment without the defaults; `own_metadata` has the roles, tags and volumes that it defines itself;
    `own_networks` is the part of the network configuration that differs from the release's. `disks` and `interfaces`
    have the documents that were stored for nodes, by the id of the node. The environment of a Fuel master, which
    computes its facts itself, has no networks, addresses, disks or interfaces here. `unique_tasks` means that no two
    plugins may define the same task: a Fuel master then merges no graph at all.
    `feature_groups` are those of the engine or the master. `nodes_are_assumed` means that the nodes do not exist.

    `fuelclient.environment` computes everything else from this, for any backend.
    """

    cluster: Cluster
    release: Release
    plugins: tuple[Plugin, ...] = ()
    nodes: tuple[Node, ...] = ()
    own_settings: Mapping[str, Any] = field(default_factory=dict)
    own_metadata: Mapping[str, Any] = field(default_factory=dict)
    own_networks: Mapping[str, Any] = field(default_factory=dict)
    vips: tuple[Vip, ...] = ()
    disks: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    interfaces: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    unique_tasks: bool = False
    feature_groups: tuple[str, ...] = ("experimental",)
    nodes_are_assumed: bool = False

    @property
    def label(self) -> str:
        return f"environment {self.cluster.name}"
