"""Threads with backends of their own: workers that answer, and feeds that follow a run.

An engine connection is usable only in the thread that opened it, so a backend never leaves the thread that made it,
which also closes it. Threads are daemons: a backend that never answers does not keep the UI from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from textual.message import Message

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, NotFound, Unavailable
from fuelclient.model.run import Event, Run

SIZE = 3
"""How many answers are worked on at once; those that hang do not count."""

STUCK = 10.0
"""Seconds after which a worker is taken for hanging, and another one may take its place."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do with a backend if `wanted` still says so; `failed` gets any exception. Both say what is posted
    then."""

    wanted: Callable[[], bool]
    run: Callable[[Backend], Message]
    failed: Callable[[Exception], Message]


class Workers:
    """At most `SIZE` threads; each is started when it is needed and makes its backend when it has work."""

    def __init__(
        self, connect: Callable[[], Backend], post: Callable[[Message], object], now: Callable[[], float]
    ) -> None:
        self._connect, self._post, self._now = connect, post, now
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy_since: dict[threading.Thread, float] = {}
        self._outstanding = 0
        self._lock = threading.Lock()

    def put(self, job: Job) -> None:
        """Do something as soon as a worker is free."""
        with self._lock:
            self._outstanding += 1
            stuck = sum(self._now() - since > STUCK for since in self._busy_since.values())
            if self._outstanding > len(self._threads) and len(self._threads) - stuck < SIZE:
                self._threads.append(threading.Thread(target=self._work, name="tui-worker", daemon=True))
                self._threads[-1].start()
        self._jobs.put(job)

    def close(self, seconds: float) -> None:
        """Close all backends; workers that do not end within `seconds` are left alone."""
        end = self._now() + seconds
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - self._now()))

    def _work(self) -> None:
        backend: Backend | None = None
        thread = threading.current_thread()
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._busy_since[thread] = self._now()
            try:
                if job.wanted():
                    backend = backend or self._connect()
                    self._post(job.run(backend))
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    close_quietly(backend)
                    backend = None
                self._post(job.failed(error))
            with self._lock:
                del self._busy_since[thread]
                self._outstanding -= 1
        close_quietly(backend)


BATCH = 1000
"""How many events are asked for at once."""

PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two looks at a run: while things happen, and when nothing has happened for a while, or at a backend
that keeps no events and answers each look with whole histories."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened to a run since the last batch, and how it stands; or why that could not be read."""

    events: tuple[Event, ...] = ()
    run: Run | None = None
    trouble: Exception | None = None
    delay: float = 0.0


class Feed(threading.Thread):
    """A thread that reads the events of one run until the run has ended or `stop` is called.

    What it reads waits in a queue. `patience` says how many seconds to wait after that many failures in a row.
    """

    def __init__(self, connect: Callable[[], Backend], run_id: int, patience: Callable[[int], float]) -> None:
        super().__init__(name=f"follow-{run_id}", daemon=True)
        self._connect, self._id, self._patience = connect, run_id, patience
        self._batches: SimpleQueue[Batch] = SimpleQueue()
        self._ends = threading.Event()

    def take(self) -> list[Batch]:
        """Return everything that has come since the last call."""
        taken = []
        with suppress(Empty):
            while True:
                taken.append(self._batches.get_nowait())
        return taken

    def stop(self) -> None:
        """Read no more."""
        self._ends.set()

    def run(self) -> None:
        backend: Backend | None = None
        after, failures, pause = 0, 0, PAUSE
        while not self._ends.is_set():
            try:
                backend = backend or self._connect()
                run = backend.runs.get(self._id)  # before its events: the last of them report its end
                events = tuple(backend.runs.events(self._id, after=after, limit=BATCH))
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    close_quietly(backend)
                    backend = None
                failures += 1
                pause = self._patience(failures)
                self._batches.put(Batch(trouble=error, delay=pause))
                if isinstance(error, NotFound):
                    break  # the run has been deleted
            else:
                failures, after = 0, events[-1].id if events else after
                self._batches.put(Batch(events, run))
                if not events and (run.is_final or run.runner == "gone"):
                    break
                pause = 0.0 if len(events) == BATCH else PAUSE if events else min(2 * max(pause, PAUSE), LONGEST_PAUSE)
                pause = max(pause, backend.runs.pause)
            self._ends.wait(pause)
        close_quietly(backend)


def is_lost(error: Exception) -> bool:
    """Return whether an error is about the backend and may pass; the other ones are about the request and stay."""
    return not isinstance(error, FuelError) or isinstance(error, Unavailable)


def close_quietly(backend: Backend | None) -> None:
    """Close a backend, if there is one, and ignore whatever goes wrong: it is given up anyway."""
    if backend is not None:
        with suppress(Exception):
            backend.close()
