"""Closing: a transaction whose runner is gone, and which nobody wants to go on with, comes to its end."""

from __future__ import annotations

from collections.abc import Mapping

from fuelclient.engine.runs.abandon import abandon
from fuelclient.engine.runs.execution import finish_parent, settle
from fuelclient.model.run import Run
from fuelclient.model.status import RunStatus, Verdict
from fuelclient.store import history, runners, runs
from fuelclient.store.database import Connection

_STOPPED = "Stopped by user after its runner was killed"
_MAY_GO_ON = "these may go on"
_NAMED = 5


def close(connection: Connection, parent: Run, ended: Mapping[str, str] | None = None) -> None:
    """What was running is failed, what never ran is skipped, and the nodes and the environment say so.

    `ended` says of the commands that were running what `leftovers.end` made of them; None when nobody tried.
    """
    message = _message(connection, parent, ended)
    for child in runs.children(connection, parent.id):
        if not child.is_final:
            abandon(connection, parent.id, child, Verdict.STOPPED, ended)
            settle(connection, parent.id, child, RunStatus.ERROR, message, child.findings)
            break
    finish_parent(connection, parent.id)
    working = runners.find(connection, parent.cluster_id)
    if working is not None and working.run_id == parent.id:
        runners.remove(connection, parent.cluster_id, working.pid)


def _message(connection: Connection, parent: Run, ended: Mapping[str, str] | None) -> str:
    """How a transaction ended, with the names of the commands that nobody has ended."""
    children = runs.children(connection, parent.id)
    left = [name for child in children for name in history.running_names(connection, child.id).values()]
    if ended is not None:
        left = [name for name in left if ended.get(name)]
    if not left:
        return f"{_STOPPED}."
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"{_STOPPED}; {_MAY_GO_ON}: {', '.join(left[:_NAMED])}{more}."
