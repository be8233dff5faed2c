"""Worker threads, each with its own backend, and a thread that reads the events of a run again and again.

An engine connection is usable only in the thread that opened it, so a backend never leaves the thread that made it,
which also closes it. Threads are daemons: a backend that never answers does not keep the UI from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, NotFound, Unavailable
from fuelclient.model.run import Event, Run

SIZE = 3
"""How many answers are worked on at once; those that hang do not count."""

STUCK = 10.0
"""Seconds after which a worker is taken for hanging, and another one may take its place."""

BATCH = 1000
"""How many events are asked for at once."""

PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two looks at a run: while things happen, and when nothing has happened for a while."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do with a backend if `wanted` still says so; `failed` gets any exception."""

    wanted: Callable[[], bool]
    run: Callable[[Backend], None]
    failed: Callable[[Exception], None]


@dataclass(slots=True)
class _Worker:
    """A thread, and since when it has been busy (None: it waits for work)."""

    thread: threading.Thread | None = None
    since: float | None = None


class Workers:
    """At most `SIZE` threads; each is started when it is needed and makes its backend when it has work."""

    def __init__(self, connect: Callable[[], Backend], now: Callable[[], float]) -> None:
        self._connect, self._now = connect, now
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._outstanding = 0
        self._lock = threading.Lock()

    def put(self, job: Job) -> None:
        """Do something as soon as a worker is free."""
        with self._lock:
            self._outstanding += 1
            stuck = sum(busy.since is not None and self._now() - busy.since > STUCK for busy in self._workers)
            if self._outstanding > len(self._workers) and len(self._workers) - stuck < SIZE:
                worker = _Worker()
                worker.thread = threading.Thread(target=self._work, args=(worker,), name="tui-worker", daemon=True)
                self._workers.append(worker)
                worker.thread.start()
        self._jobs.put(job)

    def close(self, seconds: float = 1.0) -> None:
        """Close all backends; workers that do not end within `seconds` are left alone."""
        end = self._now() + seconds
        for _ in self._workers:
            self._jobs.put(None)
        for worker in self._workers:
            if worker.thread is not None:
                worker.thread.join(max(0.0, end - self._now()))

    def _work(self, worker: _Worker) -> None:
        backend: Backend | None = None
        while (job := self._jobs.get()) is not None:
            worker.since = self._now()
            try:
                if job.wanted():
                    backend = backend or self._connect()
                    job.run(backend)
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    _close(backend)
                    backend = None
                job.failed(error)
            worker.since = None
            with self._lock:
                self._outstanding -= 1
        _close(backend)


def is_lost(error: Exception) -> bool:
    """Return whether an error is about the backend and may pass; the other ones are about the request and stay."""
    return not isinstance(error, FuelError) or isinstance(error, Unavailable)


def _close(backend: Backend | None) -> None:
    """Close a backend, if there is one, and ignore whatever goes wrong."""
    if backend is not None:
        try:
            backend.close()
        except Exception:  # the backend is given up anyway
            return


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened to a run since the last batch, and how it stands; or why that could not be read."""

    events: tuple[Event, ...] = ()
    run: Run | None = None
    trouble: Exception | None = None
    delay: float = 0.0


class Feed:
    """The events of one run, read in its own thread until the run has ended or `stop` is called.

    What it reads waits in a queue. `patience` says how many seconds to wait after that many failures in a row.
    """

    def __init__(self, connect: Callable[[], Backend], run_id: int, patience: Callable[[int], float]) -> None:
        self._connect, self._id, self._patience = connect, run_id, patience
        self._batches: SimpleQueue[Batch] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, name=f"follow-{run_id}", daemon=True)
        self._thread.start()

    def take(self) -> list[Batch]:
        """Return everything that has come since the last call."""
        taken = []
        while True:
            try:
                taken.append(self._batches.get_nowait())
            except Empty:
                return taken

    def stop(self) -> None:
        """Read no more."""
        self._stopped.set()

    def is_reading(self) -> bool:
        """Return whether its thread still runs."""
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait until the thread has closed its backend, for at most that many seconds."""
        self._thread.join(seconds)

    def _read(self) -> None:
        backend: Backend | None = None
        after, failures, pause = 0, 0, PAUSE
        while not self._stopped.is_set():
            try:
                backend = backend or self._connect()
                run = backend.runs.get(self._id)  # before its events: the last of them report its end
                events = tuple(backend.runs.events(self._id, after=after, limit=BATCH))
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    _close(backend)
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
            self._stopped.wait(pause)
        _close(backend)
