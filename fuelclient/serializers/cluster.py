"""Environments in Nailgun's shape, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.cluster import Cluster, ClusterStatus
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import plain

MODE = "ha_compact"
"""The mode of every environment; later releases of Fuel have no other."""


def cluster_to(cluster: Cluster, *, fuel_version: str = "") -> dict[str, Any]:
    """Write an environment; `fuel_version` is that of its release."""
    return {
        "id": cluster.id,
        "name": cluster.name,
        "mode": MODE,
        "changes": plain(cluster.changes),
        "status": str(cluster.status),
        "ui_settings": {},
        "is_customized": cluster.is_customized,
        "net_provider": "neutron",
        "release_id": cluster.release_id,
        "fuel_version": fuel_version or cluster.fuel_version,
        "is_locked": False,
        "components": [],
        "net_segment_type": cluster.net_segment_type,
    }


def cluster_from(data: Any) -> Cluster:
    """Read an environment. Nailgun keeps the segmentation type elsewhere; if it is absent, the default is used."""
    answer = Answer(data, "environment")
    status, segment = answer.text("status", ClusterStatus.NEW), answer.text("net_segment_type", "vlan")
    changes = tuple(change for change in answer.items("changes") if isinstance(change, Mapping))
    return answer.into(Cluster, "id", "name", "release_id", status=status, net_segment_type=segment, changes=changes)
