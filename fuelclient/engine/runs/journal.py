"""Write down what happens in a run before anything relies on it, all of one moment in one write."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from fuelclient.engine.runs.processes import now
from fuelclient.errors import FuelError
from fuelclient.model.run import Event, EventKind, Run
from fuelclient.model.status import Reason
from fuelclient.store import events, history, runners, runs
from fuelclient.store.database import Connection, Database, Locked
from fuelclient.store.history import Written

_PAUSE = 0.05
"""Seconds between two tries to write while another process has locked the engine file."""


class Lost(FuelError):
    """Another process has taken over the environment: this one must write no more."""


class Journal:
    """The journal of one graph's run.

    Waiting for the lock of another process does not block the event loop: meanwhile, instances are still watched, can
    time out, and can be killed.
    """

    def __init__(self, database: Database, parent_id: int, child: Run, pid: int) -> None:
        self._database, self._parent, self._child, self._pid = database, parent_id, child, pid
        self._progress = child.progress
        self._is_lost = False

    async def write(self, changes: Sequence[Written], progress: int) -> None:
        """Add the changes of one moment to the history and to the events."""
        moment = now()

        def add(connection: Connection) -> None:
            history.write(connection, self._child.id, changes, moment)
            plain = [written.change for written in changes]
            events.append_changes(connection, self._parent, self._child.id, plain, moment, progress)
            if progress != self._progress:
                set_progress(connection, self._parent, self._child.id, progress)
                self._progress = progress

        await self._when_free(add)

    async def begin_again(self, vertices: Sequence[int]) -> None:
        """Note that interrupted instances begin once more."""
        await self._when_free(lambda connection: history.begin_again(connection, self._child.id, vertices, now()))

    async def leave_undecided(self, vertices: Sequence[int], message: str) -> None:
        """Note that the result of these instances is not known, so that a user has to decide about them."""

        def mark(connection: Connection) -> None:
            history.mark_interrupted(connection, self._child.id, vertices, Reason.INTERRUPTED)
            tell(connection, self._parent, self._child.id, EventKind.RUNNER, "interrupted", message)

        await self._when_free(mark)

    def stop_asked(self) -> str:
        """Return how the run was asked to stop, and note that the runner lives.

        The heartbeat is left out while another process writes, because a kill must not wait for that. Raise `Lost` if
        this process is no longer the runner: it has to end like one that is killed.
        """
        try:
            with self._database.write(at_once=True) as connection:
                is_ours = runners.beat(connection, self._child.cluster_id, self._pid, now())
                asked = runs.stop_of(connection, self._parent)
        except Locked:
            with self._database.read() as connection:
                runner = runners.find(connection, self._child.cluster_id)
                is_ours = runner is not None and runner.pid == self._pid
                asked = runs.stop_of(connection, self._parent)
        if not is_ours:
            self._is_lost = True
            raise Lost("Another process runs this environment now.")
        return asked

    async def _when_free(self, work: Callable[[Connection], None]) -> None:
        """Do the work in one write, as soon as the engine file is not locked.

        Raise `Unavailable` if it stays locked for too long, `Lost` if another process has become the runner meanwhile.
        """
        began = reported = time.monotonic()
        while True:
            if self._is_lost:
                raise Lost("Another process runs this environment now.")
            try:
                with self._database.write(at_once=True) as connection:
                    work(connection)
            except Locked:
                await asyncio.sleep(_PAUSE)
                if time.monotonic() - reported >= self._database.busy_seconds:
                    reported = time.monotonic()
                    self._database.still_waiting(reported - began)
            else:
                return


def set_progress(connection: Connection, parent_id: int, child_id: int, progress: int) -> None:
    """Store the progress of a child, and that of its parent: the mean of all its children."""
    runs.set_progress(connection, child_id, progress)
    children = [child.progress for child in runs.children(connection, parent_id)]
    runs.set_progress(connection, parent_id, sum(children) // len(children) if children else progress)


def tell(
    connection: Connection,
    parent_id: int,
    run_id: int,
    kind: EventKind,
    status: str,
    message: str = "",
    *,
    node: int | None = None,
    progress: int = 0,
) -> None:
    """Store an event that is not about a task instance."""
    events.append(
        connection,
        Event(0, now(), kind, parent_id, run_id, node=node, status=status, message=message, progress=progress),
    )
