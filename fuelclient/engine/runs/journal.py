"""The journal of a run: what happens is written before anybody relies on it, and all of one moment in one write."""

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
"""Seconds between two tries to write while somebody else has locked the engine file."""


class Lost(FuelError):
    """Another process has taken the environment over: this one must not write any more."""


class Journal:
    """The journal of one graph's run.

    Whoever waits for a lock of somebody else waits beside the event loop: what runs is watched meanwhile, its time
    limits count, and it can be killed.
    """

    def __init__(self, database: Database, parent_id: int, child: Run, pid: int) -> None:
        self._database, self._parent, self._child, self._pid = database, parent_id, child, pid
        self._progress = child.progress
        self._is_lost = False

    async def write(self, changes: Sequence[Written], progress: int) -> None:
        """The changes of one moment are in the history and among the events; nothing is written for none."""
        if not changes:
            return
        moment = now()

        def written(connection: Connection) -> None:
            history.write(connection, self._child.id, changes, moment)
            told = [one.change for one in changes]
            events.append_changes(connection, self._parent, self._child.id, told, moment, progress)
            if progress != self._progress:
                set_progress(connection, self._parent, self._child.id, progress)
                self._progress = progress

        await self._when_free(written)

    async def begin_again(self, vertices: Sequence[int]) -> None:
        """Interrupted instances are begun once more."""
        await self._when_free(lambda connection: history.begin_again(connection, self._child.id, vertices, now()))

    async def leave_undecided(self, vertices: Sequence[int], message: str) -> None:
        """Nobody knows how these instances ended; the transaction says so and waits for somebody to decide."""

        def left(connection: Connection) -> None:
            history.mark_interrupted(connection, self._child.id, vertices, Reason.INTERRUPTED)
            tell(connection, self._parent, self._child.id, EventKind.RUNNER, "interrupted", message)

        await self._when_free(left)

    def stop_asked(self) -> str:
        """How the execution was asked to stop. This is also the runner's heartbeat, which is left out while somebody
        else writes: a kill must not wait for that.

        Raises `Lost` when this is not the runner any more: it is to end like one that is killed.
        """
        try:
            with self._database.write(at_once=True) as connection:
                is_ours = runners.beat(connection, self._child.cluster_id, self._pid, now())
                asked = runs.stop_of(connection, self._parent)
        except Locked:
            with self._database.read() as connection:
                working = runners.find(connection, self._child.cluster_id)
                is_ours = working is not None and working.pid == self._pid
                asked = runs.stop_of(connection, self._parent)
        if not is_ours:
            self._is_lost = True
            raise Lost("Another process runs this environment now.")
        return asked

    async def _when_free(self, work: Callable[[Connection], None]) -> None:
        """The work was done in one write; `Unavailable` when the engine file is locked for longer than there is
        patience, `Lost` when somebody else has become the runner while this one waited."""
        began = told = time.monotonic()
        while True:
            if self._is_lost:
                raise Lost("Another process runs this environment now.")
            try:
                with self._database.write(at_once=True) as connection:
                    work(connection)
            except Locked:
                await asyncio.sleep(_PAUSE)
                if time.monotonic() - told >= self._database.busy_seconds:
                    told = time.monotonic()
                    self._database.still_waiting(told - began)
            else:
                return


def set_progress(connection: Connection, parent_id: int, child_id: int, progress: int) -> None:
    """The child has come so far, and its parent to the mean of all its children."""
    runs.set_progress(connection, child_id, progress)
    every = [one.progress for one in runs.children(connection, parent_id)]
    runs.set_progress(connection, parent_id, sum(every) // len(every) if every else progress)


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
    """One event that is not about a task instance."""
    events.append(
        connection,
        Event(0, now(), kind, parent_id, run_id, node=node, status=status, message=message, progress=progress),
    )
