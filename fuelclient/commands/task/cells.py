"""Transactions as rows and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuelclient.commands.columns import Fields, plain
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.model.transaction import NodeKey, Transaction

COLUMNS = ("id", "status", "name", "graph_type", "cluster", "result", "dry_run", "progress")
"""What a list of transactions shows."""

SYNC_POINTS = "null"
"""The node of sync points, as filters of nodes take it."""


def row(transaction: Transaction) -> tuple[Any, ...]:
    """The cells of `COLUMNS`."""
    return (
        transaction.id, str(transaction.status), transaction.name, transaction.graph_type, transaction.cluster_id,
        Fields(plain(transaction.result)), transaction.dry_run, transaction.progress,
    )  # fmt: skip


def document(transaction: Transaction) -> dict[str, Any]:
    """A transaction as a master answers it, and its children."""
    return {
        "id": transaction.id, "cluster": transaction.cluster_id, "uuid": transaction.uuid, "name": transaction.name,
        "status": str(transaction.status), "progress": transaction.progress, "message": transaction.message,
        "result": plain(transaction.result), "dry_run": transaction.dry_run, "graph_type": transaction.graph_type,
        "parent_id": transaction.parent_id, "time_start": transaction.time_start, "time_end": transaction.time_end,
        "children": [document(child) for child in transaction.children],
    }  # fmt: skip


def node(key: NodeKey) -> int | str:
    """The node of a task instance in one word.

    >>> node(3), node("master"), node(None)
    (3, 'master', 'null')
    """
    return SYNC_POINTS if key is None else key


def instance(task: str, key: NodeKey) -> str:
    """A task instance in one word, as options take it: `task/node`; a sync point has no node. What no terminal can
    show is escaped.

    >>> instance("keystone", 1), instance("deploy_end", None)
    ('keystone/1', 'deploy_end')
    """
    return printable(task if key is None else f"{task}/{key}")
