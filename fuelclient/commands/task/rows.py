"""Runs as table rows and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuelclient.commands.columns import Fields, plain

if TYPE_CHECKING:
    from fuelclient.model.run import NodeKey, Run

COLUMNS = ("id", "status", "name", "graph_type", "cluster", "result", "dry_run", "progress")
"""The columns of a list of runs."""

SYNC_POINTS = "null"
"""The node of sync points, as filters take it."""


def row(run: Run) -> tuple[Any, ...]:
    """Return the cells of `COLUMNS`."""
    return (
        run.id, str(run.status), run.name, run.graph_type or None, run.cluster_id or None,
        Fields(plain(run.result)), run.dry_run, run.progress,
    )  # fmt: skip


def document(run: Run) -> dict[str, Any]:
    """Return a run and its children as a master answers them."""
    return {
        "id": run.id, "cluster": run.cluster_id or None, "uuid": run.uuid, "name": run.name,
        "status": str(run.status), "progress": run.progress, "message": run.message,
        "result": plain(run.result), "dry_run": run.dry_run, "graph_type": run.graph_type,
        "parent_id": run.parent_id, "time_start": run.time_start, "time_end": run.time_end,
        "children": [document(child) for child in run.children],
    }  # fmt: skip


def node(key: NodeKey) -> int | str:
    """Return the node of a task instance as one word.

    >>> node(3), node("master"), node(None)
    (3, 'master', 'null')
    """
    return SYNC_POINTS if key is None else key
