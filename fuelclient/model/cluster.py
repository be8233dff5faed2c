"""Clusters, which the command line calls environments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ClusterStatus(StrEnum):
    """The status of a cluster, in Nailgun's words."""

    NEW = "new"
    DEPLOYMENT = "deployment"
    STOPPED = "stopped"
    OPERATIONAL = "operational"
    ERROR = "error"
    REMOVE = "remove"
    UPDATE = "update"
    UPDATE_ERROR = "update_error"
    PARTIALLY_DEPLOYED = "partially_deployed"


@dataclass(frozen=True, slots=True)
class Cluster:
    """An environment with its release and its status.

    A master adds its version of Fuel, `changes` since deployment, and whether facts were uploaded (`is_customized`).
    """

    id: int
    name: str
    release_id: int
    status: str = ClusterStatus.NEW
    net_segment_type: str = "vlan"
    fuel_version: str = ""
    is_customized: bool = False
    changes: tuple[Mapping[str, Any], ...] = ()
