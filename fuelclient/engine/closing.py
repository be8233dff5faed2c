"""Closing: a transaction whose runner is gone, and which nobody wants to go on with, comes to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuelclient.engine import statuses
from fuelclient.engine.journal import tell
from fuelclient.engine.recovery import now
from fuelclient.engine.running import finish_parent, settle
from fuelclient.engine.statuses import Fate
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.node import Node
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Reason, TransactionStatus
from fuelclient.model.transaction import EventKind, Transaction
from fuelclient.plan.schedule import Change
from fuelclient.store import clusters, events, history, nodes, runners, transactions
from fuelclient.store.database import Connection
from fuelclient.store.history import Written

_INTERRUPTED = "It is not known how it ended: the runner was killed, and nobody went on with the run."
_ENDED = "Its processes were ended after the runner was killed."
_LEFT = "It may go on, for its processes could not be ended"
_STOPPED = "Stopped by user after its runner was killed"
_MAY_GO_ON = "these may go on"
_NAMED = 5


def close(connection: Connection, parent: Transaction, ended: Mapping[str, str] | None = None) -> None:
    """What was running is failed, what never ran is skipped, and the nodes and the environment say so.

    `ended` says of the commands that were running what `leftovers.end` made of them; None when nobody tried.
    """
    message = _message(connection, parent, ended)
    for child in transactions.children(connection, parent.id):
        if child.status is TransactionStatus.RUNNING:
            _close_instances(connection, parent.id, child, ended or {})
            if not child.dry_run:
                _close_nodes(connection, parent.id, child)
            settle(connection, parent.id, child, TransactionStatus.ERROR, message, child.findings)
            break
        if not child.is_final:
            settle(connection, parent.id, child, TransactionStatus.ERROR, message)
            break
    finish_parent(connection, parent.id)
    working = runners.find(connection, parent.cluster_id)
    if working is not None and working.transaction_id == parent.id:
        runners.remove(connection, parent.cluster_id, working.pid)


def _message(connection: Connection, parent: Transaction, ended: Mapping[str, str] | None) -> str:
    """How a transaction ended, with the names of the commands that nobody has ended."""
    children = transactions.children(connection, parent.id)
    left = [name for child in children for name in history.running_names(connection, child.id).values()]
    if ended is not None:
        left = [name for name in left if ended.get(name)]
    if not left:
        return f"{_STOPPED}."
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"{_STOPPED}; {_MAY_GO_ON}: {', '.join(left[:_NAMED])}{more}."


def _close_instances(connection: Connection, parent_id: int, child: Transaction, ended: Mapping[str, str]) -> None:
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


def _close_nodes(connection: Connection, parent_id: int, child: Transaction) -> None:
    fates: dict[object, Fate] = {}
    for node, status, reason in history.by_node(connection, child.id):
        fate = fates.setdefault(node, Fate.SUCCESS)
        if status is InstanceStatus.ERROR:
            fates[node] = Fate.ERROR
        elif reason in NEVER_RAN and fate is Fate.SUCCESS:
            fates[node] = Fate.STOP
    present: dict[object, Node] = {one.id: one for one in nodes.of_cluster(connection, child.cluster_id)}
    for key, fate in fates.items():
        if key in present:
            wanted = statuses.after(present[key], fate, {})
            nodes.update(connection, wanted)
            tell(connection, parent_id, child.id, EventKind.NODE, wanted.status, node=wanted.id)
    cluster = clusters.find(connection, child.cluster_id)
    if cluster is not None:
        clusters.update(connection, replace(cluster, status=ClusterStatus.STOPPED))
