"""The statuses of nodes and environments while and after a graph runs on them.

Source: Nailgun `TransactionsManager` and the `on_success`, `on_error` and `on_stop` of graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.node import DELETED, DEPLOY_ERROR, Node, NodeStatus
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Verdict
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.schedule import Schedule
from fuelclient.plan.work import Work, by_filters


class Fate(StrEnum):
    """What happened to a node in a run, as the key of the graph's metadata that says what follows."""

    SUCCESS = "on_success"
    ERROR = "on_error"
    STOP = "on_stop"


_DEFAULTS: Mapping[Fate, Mapping[str, Any]] = {
    Fate.SUCCESS: {"status": NodeStatus.READY},
    Fate.ERROR: {"status": NodeStatus.ERROR},
    Fate.STOP: {"status": NodeStatus.STOPPED},
}


def fates(work: Work, schedule: Schedule, reasons: Mapping[int, str]) -> dict[int, Fate]:
    """Return the fate of each node, by index of the fleet, after a run.

    A node where an instance failed has failed. A node where one never ran, or was interrupted by a stop, is stopped.
    Nodes that filters left out have no fate. `reasons` are those of the instances.
    """
    fates: dict[int, Fate] = {}
    _, left_out = by_filters(work)
    cut = set(schedule.result.interrupted)
    for vertex in range(work.size):
        node = work.node_of[vertex]
        if node == SYNC or node in left_out:
            continue
        fates.setdefault(node, Fate.SUCCESS)
        if schedule.status(vertex) is InstanceStatus.ERROR and vertex not in cut:
            fates[node] = Fate.ERROR
        elif (vertex in cut or reasons.get(vertex) in NEVER_RAN) and fates[node] is Fate.SUCCESS:
            fates[node] = Fate.STOP
    return fates


def after(node: Node, fate: Fate, metadata: Mapping[str, Any], *, deletes: bool = False) -> Node:
    """Return a node after a run, by its fate and the graph's metadata.

    Without metadata, nodes become ready, failed or stopped, and those that are pending deletion are freed by a graph
    that `deletes`; `node_attributes: {}` changes nothing. A node that becomes ready takes on its pending roles, and is
    no longer a pending addition.
    """
    stated = metadata.get(fate)
    attributes = stated.get("node_attributes") if isinstance(stated, Mapping) else None
    frees = deletes and node.pending_deletion and fate is Fate.SUCCESS
    default = {"status": DELETED} if frees else _DEFAULTS[fate]
    wanted: Mapping[str, Any] = attributes if isinstance(attributes, Mapping) else default
    status = str(wanted.get("status") or "")
    if status == DELETED:
        return node.freed(NodeStatus.DISCOVER)
    changed = replace(
        node,
        status=status or node.status,
        pending_addition=bool(wanted.get("pending_addition", node.pending_addition and status != NodeStatus.READY)),
        pending_deletion=bool(wanted.get("pending_deletion", node.pending_deletion)),
        error_type=str(wanted.get("error_type") or ""),
    )
    if status == NodeStatus.READY:
        return replace(changed, roles=node.all_roles, pending_roles=())
    if status == NodeStatus.ERROR:
        return replace(changed, error_type=changed.error_type or DEPLOY_ERROR)
    return changed


def untouched(node: Node, before: Node) -> Node:
    """Return a node with the status that it had before a run."""
    return replace(node, status=before.status, error_type=before.error_type)


def cluster_status(nodes: Iterable[Node], verdict: Verdict) -> ClusterStatus:
    """Return the status of an environment after a run: operational if all of its nodes are ready."""
    if verdict is Verdict.STOPPED:
        return ClusterStatus.STOPPED
    are_ready = [node.status == NodeStatus.READY and not node.error_type for node in nodes]
    return ClusterStatus.OPERATIONAL if are_ready and all(are_ready) else ClusterStatus.PARTIALLY_DEPLOYED
