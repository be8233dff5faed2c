"""Removal: what executions leave behind goes with them, in the store and beside it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress

from fuelclient.engine.runs import processes
from fuelclient.engine.runs.paths import log_path, spool_path
from fuelclient.errors import Conflict
from fuelclient.model.run import NodeKey, Run
from fuelclient.store import history, runners, runs
from fuelclient.store.database import Connection


def removable(connection: Connection, cluster_id: int) -> list[Run]:
    """The executions of an environment, which may all be removed.

    `Conflict` while one has not ended: also when its runner was killed, since its commands may live on and nobody
    could end them afterwards.
    """
    found = runs.unfinished(connection, cluster_id)
    if found is not None:
        working = runners.find(connection, cluster_id)
        if working is not None and working.run_id == found.id and processes.is_alive(working):
            message = f"Transaction {found.id} runs on environment {cluster_id}."
        else:
            message = f"Transaction {found.id} has not ended on environment {cluster_id}: its runner was killed."
        raise Conflict(message, hint=f"End it first: `fuel2 task stop {found.id} --kill`.")
    return [one for one in runs.every(connection, cluster_id=cluster_id) if one.parent_id is None]


def require_idle(connection: Connection, cluster_id: int, node_ids: Collection[int]) -> None:
    """Nothing happens when no live run works on any of these nodes of an environment, nor waits to; `Conflict` that
    names the run otherwise. One whose runner was killed keeps nobody from anything: it is not resumed without them.
    """
    found = runs.unfinished(connection, cluster_id)
    working = runners.find(connection, cluster_id)
    if found is None or working is None or working.run_id != found.id or not processes.is_alive(working):
        return
    taken: set[NodeKey] = set(found.request.node_ids)
    for child in runs.children(connection, found.id):
        if not child.is_final:
            taken |= history.nodes_of(connection, child.id)
    busy = [str(node_id) for node_id in dict.fromkeys(node_ids) if node_id in taken]
    if busy:
        raise Conflict(
            f"Transaction {found.id} runs on node{'s' if len(busy) > 1 else ''} {', '.join(busy)} of environment "
            f"{cluster_id}.",
            hint=f"Wait for it (`fuel2 task watch {found.id}`), or end it first (`fuel2 task stop {found.id} --kill`).",
        )


def outputs(engine: str, parent: Run) -> None:
    """What the commands of an execution wrote, and its runner, is gone from this machine; how they ended is not.

    That is what takes room on a disk, and nothing that a runner has to know of commands that ended or still run.
    """
    spool = spool_path(engine, parent)
    for path in (log_path(engine, parent.id), *spool.glob("*/*/*/out"), *spool.glob("*/*/*/err")):
        with suppress(OSError):
            os.truncate(path, 0)


def files(engine: str, parent: Run) -> None:
    """The spool of an execution and the log of its runner are gone from this machine; `spools` has those of nodes."""
    shutil.rmtree(spool_path(engine, parent), ignore_errors=True)
    with suppress(OSError):
        log_path(engine, parent.id).unlink()
