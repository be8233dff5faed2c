"""What a backend holds, in short."""

from __future__ import annotations

from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.model.graph import Level, OwnerRef


def task_ids(backend: Backend, level: Level, owner_id: int, kind: str = "default") -> list[str]:
    """The tasks of one graph, in its order."""
    return [one.id for one in backend.graphs.get(OwnerRef(level, owner_id), kind).tasks]


def described(backend: Backend) -> list[Any]:
    """Everything that an installation could change."""
    return [
        [(one.id, one.label, one.unpacked, one.clusters) for one in backend.plugins.list()],
        list(backend.releases.list()),
        list(backend.graphs.list()),
    ]
