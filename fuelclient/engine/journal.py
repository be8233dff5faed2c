"""The journal of a run: what happens is written before anybody relies on it, and all of one moment in one write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fuelclient.engine.recovery import now
from fuelclient.model.status import Reason
from fuelclient.model.transaction import Event, EventKind, Transaction
from fuelclient.store import events, history, runners, transactions
from fuelclient.store.database import Connection, Database
from fuelclient.store.history import Written


class Journal:
    """The journal of one graph's run."""

    def __init__(self, database: Database, parent_id: int, child: Transaction, pid: int) -> None:
        self._database, self._parent, self._child, self._pid = database, parent_id, child, pid
        self._progress = child.progress

    def write(self, changes: Sequence[Written], progress: int) -> None:
        """The changes of one moment are in the history and among the events; nothing is written for none."""
        if not changes:
            return
        moment = now()
        with self._database.write() as connection:
            history.write(connection, self._child.id, changes, moment)
            told = [one.change for one in changes]
            events.append_changes(connection, self._parent, self._child.id, told, moment, progress)
            if progress != self._progress:
                set_progress(connection, self._parent, self._child.id, progress)
                self._progress = progress

    def begin_again(self, vertices: Iterable[int]) -> None:
        """Interrupted instances are begun once more."""
        with self._database.write() as connection:
            history.begin_again(connection, self._child.id, vertices, now())

    def leave_undecided(self, vertices: Sequence[int], message: str) -> None:
        """Nobody knows how these instances ended; the transaction says so and waits for somebody to decide."""
        with self._database.write() as connection:
            history.mark_interrupted(connection, self._child.id, vertices, Reason.INTERRUPTED)
            tell(connection, self._parent, self._child.id, EventKind.RUNNER, "interrupted", message)

    def stop_asked(self) -> str:
        """How the execution was asked to stop; this is also the runner's heartbeat, and one that is not the runner
        any more is to end like one that is killed."""
        with self._database.write() as connection:
            is_ours = runners.beat(connection, self._child.cluster_id, self._pid, now())
            return transactions.stop_of(connection, self._parent) if is_ours else "lost"


def set_progress(connection: Connection, parent_id: int, child_id: int, progress: int) -> None:
    """The child has come so far, and its parent to the mean of all its children."""
    transactions.set_progress(connection, child_id, progress)
    every = [one.progress for one in transactions.children(connection, parent_id)]
    transactions.set_progress(connection, parent_id, sum(every) // len(every) if every else progress)


def tell(
    connection: Connection,
    parent_id: int,
    transaction_id: int,
    kind: EventKind,
    status: str,
    message: str = "",
    *,
    node: int | None = None,
    progress: int = 0,
) -> None:
    """One event that is not about a task instance."""
    events.append(
        connection,
        Event(0, now(), kind, parent_id, transaction_id, node=node, status=status, message=message, progress=progress),
    )
