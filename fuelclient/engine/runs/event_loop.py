"""Run one graph: an event loop that connects its schedule, its executor and its journal.

Changes are written to the store before anything relies on them. Simultaneous changes share one write.
"""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from fuelclient import redact
from fuelclient.engine.runs.processes import now
from fuelclient.errors import FuelError, Gone
from fuelclient.executors.job import Executor, Job, Log, Outcome
from fuelclient.model.run import EventKind, Run
from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.plan.schedule import Schedule
from fuelclient.plan.work import Work
from fuelclient.store import history, runners, runs
from fuelclient.store.database import Connection, Database, Locked
from fuelclient.store.history import Written

_RETRY_SECONDS = 0.05
"""Seconds between two tries to write while another process has locked the engine file."""


class Lost(FuelError):
    """Another process has taken over the environment, so this one must not write anything more."""


class Journal:
    """Stores the progress of one graph's run.

    Waiting for another process's lock does not block the event loop: meanwhile, instances can end, time out and be
    killed.
    """

    def __init__(self, database: Database, child: Run) -> None:
        self._database, self._child = database, child
        self._progress = child.progress
        self._is_lost = False

    async def write(self, changes: Sequence[Written], progress: int) -> None:
        """Add simultaneous changes to the history and to the events."""
        moment = now()

        def add(connection: Connection) -> None:
            history.write(connection, self._child.id, changes, moment)
            history.append_events(connection, self._child, [written.change for written in changes], moment, progress)
            if progress != self._progress:
                runs.set_progress(connection, self._child, progress)
                self._progress = progress

        await self._when_unlocked(add)

    async def begin_again(self, vertices: Sequence[int]) -> None:
        await self._when_unlocked(lambda connection: history.begin_again(connection, self._child.id, vertices, now()))

    async def leave_undecided(self, vertices: Sequence[int], message: str) -> None:
        """Store that the results of these instances are unknown, so that a user has to decide what to do."""

        def mark(connection: Connection) -> None:
            history.mark_interrupted(connection, self._child.id, vertices, Reason.INTERRUPTED)
            history.append_event(connection, self._child, EventKind.RUNNER, "interrupted", now(), message)

        await self._when_unlocked(mark)

    def beat_and_read_stop(self) -> str:
        """Store that the runner lives, and return the request to stop the run, if any.

        The heartbeat is skipped while another process writes, because a kill must not wait for that. Raise `Lost` if
        this process is no longer the runner; it then has to end as if it were killed.
        """
        parent_id = self._child.parent_id or self._child.id
        try:
            with self._database.write(at_once=True) as connection:
                is_ours = runners.beat(connection, self._child.cluster_id, os.getpid(), now())
                stop = runs.stop_of(connection, parent_id)
        except Locked:
            with self._database.read() as connection:
                runner = runners.find(connection, self._child.cluster_id)
                is_ours = runner is not None and runner.pid == os.getpid()
                stop = runs.stop_of(connection, parent_id)
        if not is_ours:
            self._is_lost = True
            raise Lost("Another process is running this environment.")
        return stop

    async def _when_unlocked(self, work: Callable[[Connection], None]) -> None:
        """Do the work in one transaction, as soon as the engine file is not locked.

        Raise `Unavailable` if it stays locked for too long, `Lost` if another process has become the runner meanwhile.
        """
        began = reported = time.monotonic()
        while True:
            if self._is_lost:
                raise Lost("Another process is running this environment.")
            try:
                with self._database.write(at_once=True) as connection:
                    work(connection)
            except Locked:
                await asyncio.sleep(_RETRY_SECONDS)
                if time.monotonic() - reported >= self._database.busy_seconds:
                    reported = time.monotonic()
                    self._database.still_waiting(reported - began)
            else:
                return


LOOK_SECONDS = 0.5
"""Seconds between two checks for a request to stop. Each check also stores a heartbeat."""

_ENDING_SECONDS = 30.0
"""How many seconds a run whose engine file is gone waits for the end of the commands that it kills."""


@dataclass(slots=True)
class GraphRun:
    """The event loop that runs one graph.

    `make(vertex, attempt)` creates the job for that attempt of an instance, and `executor` runs it. `attempts` has the
    number of attempts that each instance has begun.
    """

    work: Work
    schedule: Schedule
    journal: Journal
    make: Callable[[int, int], Job]
    executor: Executor
    log: Log
    attempts: dict[int, int] = field(default_factory=dict)
    rerun_interrupted: bool = False
    _jobs: dict[int, Job] = field(default_factory=dict)
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _ended: list[tuple[int, Outcome | None]] = field(default_factory=list)
    _outcomes: dict[int, Outcome] = field(default_factory=dict)
    _undecided: list[int] = field(default_factory=list)
    _killing: list[asyncio.Task[None]] = field(default_factory=list)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _stop: str = ""

    async def go(self) -> bool:
        """Run the graph to its end. Return False if a user has to decide about interrupted instances.

        First, recover instances that were running when an earlier runner died. Raise `Lost` and what the store raises:
        then nothing more is started, and commands go on, so that the run can be resumed. If the engine file is `Gone`,
        it cannot be resumed, so the commands are killed.
        """
        ticker = asyncio.create_task(self._tick())
        ticker.add_done_callback(lambda _: self._wake.set())
        try:
            for vertex in self.schedule.running:
                self._start(vertex, recover=True)
            while not self.schedule.is_done:
                started = [] if self._undecided else self.schedule.ready()
                await self._write()
                for vertex in started:
                    self._begin(vertex)
                if not self._tasks:
                    break
                await self._next(ticker)
            await self._write()
        except Gone:
            await self._kill_all()
            raise
        finally:
            left = [ticker, *self._tasks.values(), *self._killing]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        if self._undecided:
            names = ", ".join(self.work.name(vertex) for vertex in sorted(self._undecided))
            message = f"How these ended is not known: {names}."
            self.log(message)
            await self.journal.leave_undecided(self._undecided, message)
        return not self._undecided

    async def _next(self, ticker: asyncio.Task[None]) -> None:
        """Wait until an instance ends or a stop is requested, and update the schedule."""
        await self._wake.wait()
        self._wake.clear()
        if ticker.done():
            ticker.result()
        ended, self._ended = self._ended, []
        for vertex, outcome in ended:
            del self._tasks[vertex], self._jobs[vertex]
            if outcome is not None:
                self._outcomes[vertex] = outcome
                self.schedule.finish(vertex, outcome.status, outcome.reason)
            elif self.rerun_interrupted and not self._stop:
                await self.journal.begin_again([vertex])
                self._begin(vertex)
            elif self._stop:
                self._outcomes[vertex] = Outcome(InstanceStatus.ERROR, message="How it ended is not known.")
                self.schedule.finish(vertex, InstanceStatus.ERROR, Reason.INTERRUPTED)
            else:
                self._undecided.append(vertex)

    def _begin(self, vertex: int) -> None:
        self.attempts[vertex] = self.attempts.get(vertex, 0) + 1
        self._start(vertex, recover=False)

    def _start(self, vertex: int, *, recover: bool) -> None:
        job = self._jobs[vertex] = self.make(vertex, max(1, self.attempts.get(vertex, 1)))
        running = self.executor.recover(job) if recover else self.executor.run(job, self.log)
        self._tasks[vertex] = asyncio.create_task(self._watch(vertex, job, running))
        if self._stop == "kill":  # requested while the journal stored the start of this instance
            self._killing.append(asyncio.create_task(self._kill(job)))

    async def _watch(self, vertex: int, job: Job, running: Awaitable[Outcome | None]) -> None:
        try:
            outcome = await running
        except FuelError as error:
            outcome = Outcome(InstanceStatus.ERROR, message=redact.scrubbed(str(error), job.known_secrets()))
        except Exception as error:  # a defect in an executor makes the task fail, not the run
            self.log(f"{job.label}: {type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
            outcome = Outcome(InstanceStatus.ERROR, message=f"The executor failed: {type(error).__name__}.")
        self._ended.append((vertex, outcome))
        self._wake.set()

    async def _write(self) -> None:
        """Write the new changes of the schedule to the journal."""
        written = []
        for change in self.schedule.changes():
            outcome = None if change.status is InstanceStatus.RUNNING else self._outcomes.pop(change.vertex, None)
            result = (outcome.message, outcome.rc, outcome.summary) if outcome else ()
            written.append(Written(change, *result))
        if written:
            await self.journal.write(written, self.schedule.progress)

    async def _tick(self) -> None:
        """Check for a request to stop every `LOOK_SECONDS`."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (stop := self.journal.beat_and_read_stop()) and stop != self._stop:
                self._stop = stop
                self.schedule.stop()
                if stop == "kill":
                    self._killing += [asyncio.create_task(self._kill(self._jobs[vertex])) for vertex in self._tasks]
                self._wake.set()

    async def _kill(self, job: Job) -> None:
        try:
            await self.executor.kill(job)
        except FuelError as error:
            self.log(redact.scrubbed(f"{job.label} cannot be ended: {error}", job.known_secrets()))

    async def _kill_all(self) -> None:
        """Kill all running commands on machines that can be reached."""
        running = list(self._tasks.values())
        if running:
            self.log("The engine file is gone: ending what is running, because its results could not be stored.")
        await asyncio.gather(*(self._kill(self._jobs[vertex]) for vertex in self._tasks))
        if running:
            await asyncio.wait(running, timeout=_ENDING_SECONDS)
