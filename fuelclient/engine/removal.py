"""Removal: what executions leave behind goes with them, in the store and beside it."""

from __future__ import annotations

import shutil
from contextlib import suppress

from fuelclient.engine import recovery
from fuelclient.engine.run_files import log_path, spool_path
from fuelclient.errors import Conflict
from fuelclient.model.transaction import Transaction
from fuelclient.store import runners, transactions
from fuelclient.store.database import Connection


def with_cluster(connection: Connection, cluster_id: int) -> list[Transaction]:
    """No execution of an environment is in the store any more; those that were, for `files`.

    `Conflict` while one has not ended: also when its runner was killed, since its commands may live on and nobody
    could end them afterwards.
    """
    found = transactions.unfinished(connection, cluster_id)
    if found is not None:
        working = runners.find(connection, cluster_id)
        if working is not None and working.transaction_id == found.id and recovery.is_alive(working):
            message = f"Transaction {found.id} runs on environment {cluster_id}."
        else:
            message = f"Transaction {found.id} has not ended on environment {cluster_id}: its runner was killed."
        raise Conflict(message, hint=f"End it first: `fuel2 task stop {found.id} --kill`.")
    parents = [one for one in transactions.every(connection, cluster_id=cluster_id) if one.parent_id is None]
    for parent in parents:
        transactions.delete(connection, parent.id)
    return parents


def files(engine: str, parent: Transaction) -> None:
    """The spool of an execution and the log of its runner are gone from this machine.

    What is on nodes stays there: they may be switched off, or belong to somebody else by now.
    """
    shutil.rmtree(spool_path(engine, parent), ignore_errors=True)
    with suppress(OSError):
        log_path(engine, parent.id).unlink()
