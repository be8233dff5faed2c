"""Abandoning: what a run had begun comes to an end that nobody waited for, in the history, on nodes and environment.

It is for a run that nobody goes on with: because somebody stopped it when its runner was gone, or because the runner
that took it over found that it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuelclient.engine.runs import node_statuses
from fuelclient.engine.runs.journal import tell
from fuelclient.engine.runs.node_statuses import Fate
from fuelclient.engine.runs.processes import now
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.run import EventKind, Run
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Reason, RunStatus, Verdict
from fuelclient.plan.schedule import Change
from fuelclient.store import clusters, events, history, nodes
from fuelclient.store.database import Connection
from fuelclient.store.history import Written

_INTERRUPTED = "It is not known how it ended: the runner was killed, and nobody went on with the run."
_ENDED = "Its processes were ended after the runner was killed."
_LEFT = "It may go on, for its processes could not be ended"


def abandon(
    connection: Connection,
    parent_id: int,
    child: Run,
    verdict: Verdict,
    ended: Mapping[str, str] | None = None,
) -> None:
    """What was running is failed, what never ran is skipped, and nodes and environment say so if the child had begun.

    `ended` says of the commands that were running what `leftovers.end` made of them. The child itself is left to
    the caller, who knows the message.
    """
    _close_instances(connection, parent_id, child, ended or {})
    if child.status is RunStatus.RUNNING and not child.dry_run:
        is_known = verdict is Verdict.STOPPED and ended is not None and not any(ended.values())
        _close_nodes(connection, parent_id, child, verdict, Fate.STOP if is_known else Fate.ERROR)


def _close_instances(connection: Connection, parent_id: int, child: Run, ended: Mapping[str, str]) -> None:
    changes = []
    names = history.running_names(connection, child.id)
    for vertex, status in history.statuses(connection, child.id):
        if status is InstanceStatus.RUNNING:
            change = Change(vertex, InstanceStatus.ERROR, Reason.INTERRUPTED)
            changes.append(Written(change, _told(ended.get(names[vertex]))))
        elif status is InstanceStatus.PENDING:
            changes.append(Written(Change(vertex, InstanceStatus.SKIPPED, Reason.STOPPED)))
    moment = now()
    history.write(connection, child.id, changes, moment)
    events.append_changes(connection, parent_id, child.id, [one.change for one in changes], moment, 100)


def _told(why: str | None) -> str:
    """What is said of a command that was running, by why it could not be ended."""
    if why is None:
        return _INTERRUPTED
    return f"{_LEFT}: {why}" if why else _ENDED


def _close_nodes(connection: Connection, parent_id: int, child: Run, verdict: Verdict, interrupted: Fate) -> None:
    """The nodes that the child was deploying are not deployed; those that its filters left out it never touched.

    `interrupted` is the fate of a node whose commands were interrupted: it has failed, unless somebody stopped the run
    and all of them are known to have ended.
    """
    fates: dict[object, Fate] = {}
    for node, status, reason in history.by_node(connection, child.id):
        fate = fates.setdefault(node, Fate.SUCCESS)
        its = Fate.SUCCESS
        if status is InstanceStatus.ERROR:
            its = interrupted if reason == Reason.INTERRUPTED else Fate.ERROR
        elif reason in NEVER_RAN:
            its = Fate.STOP
        if fate is not Fate.ERROR and its is not Fate.SUCCESS:
            fates[node] = its
    present: dict[object, Node] = {one.id: one for one in nodes.of_cluster(connection, child.cluster_id)}
    for key, fate in fates.items():
        node_before = present.get(key)
        if node_before is not None and node_before.status == NodeStatus.DEPLOYING:
            wanted = node_statuses.after(node_before, fate, {})
            nodes.update(connection, wanted)
            tell(connection, parent_id, child.id, EventKind.NODE, wanted.status, node=wanted.id)
    cluster = clusters.find(connection, child.cluster_id)
    if cluster is not None:
        status_after = node_statuses.cluster_status(nodes.of_cluster(connection, child.cluster_id), verdict)
        clusters.update(connection, replace(cluster, status=status_after))
