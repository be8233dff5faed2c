"""Standing: where an execution stands, and what may be done with it therefore."""

from __future__ import annotations

from dataclasses import replace

from fuelclient.engine.reading import lookup
from fuelclient.engine.runs import processes
from fuelclient.errors import Conflict, NotFound
from fuelclient.model.run import Run
from fuelclient.store import runners, runs
from fuelclient.store.database import Connection


def existing(connection: Connection, run_id: int) -> Run:
    """The transaction; `NotFound` with the ids there are."""
    found = runs.find(connection, run_id) if 0 < run_id <= lookup.LARGEST_ID else None
    if found is None:
        known = [str(one) for one in runs.ids(connection)]
        hint = "" if known else "Nothing was executed yet. Run `fuel2 graph execute`."
        raise NotFound("transaction", run_id, known=known[-12:], hint=hint)
    return found


def parent_of(connection: Connection, run_id: int) -> Run:
    """The execution that a transaction is, or belongs to."""
    found = existing(connection, run_id)
    return existing(connection, found.parent_id) if found.parent_id else found


def with_runner(connection: Connection, found: Run) -> Run:
    """The execution with the word for whether a process works at it, as long as it has not ended."""
    if found.is_final or found.parent_id is not None:
        return found
    working = runners.find(connection, found.cluster_id)
    is_ours = working is not None and working.run_id == found.id
    alive = is_ours and working is not None and processes.is_alive(working)
    return replace(found, runner=processes.ALIVE if alive else processes.GONE)


def require_free(connection: Connection, cluster_id: int) -> None:
    """Nothing happens when nothing runs on an environment; `Conflict` that names what does otherwise."""
    found = runs.unfinished(connection, cluster_id)
    if found is None:
        return
    if with_runner(connection, found).runner == processes.ALIVE:
        raise Conflict(
            f"Transaction {found.id} runs on environment {cluster_id} already.",
            hint=f"Wait for it (`fuel2 task watch {found.id}`), or stop it (`fuel2 env stop-deployment {cluster_id}`).",
        )
    raise Conflict(
        f"Transaction {found.id} has not ended on environment {cluster_id}: its runner was killed.",
        hint=f"Go on with it (`fuel2 task resume {found.id}`), or end it (`fuel2 task stop {found.id}`).",
    )


def require_resumable(connection: Connection, found: Run) -> None:
    """Nothing happens when somebody may go on with an execution; `Conflict` when it has ended, or runs."""
    if found.is_final:
        raise Conflict(
            f"Transaction {found.id} has ended: it is {found.status}.",
            hint="Execute the graph again: what is done and has not changed is skipped.",
        )
    if with_runner(connection, found).runner == processes.ALIVE:
        raise Conflict(f"Transaction {found.id} runs already.", hint=f"Follow it: `fuel2 task watch {found.id}`.")


def deletable(connection: Connection, run_id: int, *, force: bool) -> Run:
    """The execution that is to be deleted as a whole; `Conflict` when it runs, or has not ended and not `force`."""
    found = parent_of(connection, run_id)
    if run_id != found.id:
        raise Conflict(f"Transaction {run_id} is a part of {found.id}.", hint=f"Delete {found.id} as a whole.")
    if not found.is_final:
        if with_runner(connection, found).runner == processes.ALIVE:
            raise Conflict(f"Transaction {found.id} runs.", hint=f"Run `fuel2 task stop {found.id}` first.")
        if not force:
            raise Conflict(
                f"Transaction {found.id} has not ended: its runner is gone.",
                hint=f"Run `fuel2 task resume {found.id}`, or delete it with --force.",
            )
    return found
