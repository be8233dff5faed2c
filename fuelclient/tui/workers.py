"""Worker threads, each with its own backend.

An engine connection is usable only in the thread that opened it, so a backend never leaves the thread that made it,
which also closes it. Threads are daemons: a backend that never answers does not keep the UI from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, Unavailable

SIZE = 3
"""How many answers are worked on at once; those that hang do not count."""

STUCK = 10.0
"""Seconds after which a worker is taken for hanging, and another one may take its place."""


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
                    close_quietly(backend)
                    backend = None
                job.failed(error)
            worker.since = None
            with self._lock:
                self._outstanding -= 1
        close_quietly(backend)


def is_lost(error: Exception) -> bool:
    """Return whether an error is about the backend and may pass; the other ones are about the request and stay."""
    return not isinstance(error, FuelError) or isinstance(error, Unavailable)


def close_quietly(backend: Backend | None) -> None:
    """Close a backend, if there is one, and ignore whatever goes wrong."""
    if backend is not None:
        try:
            backend.close()
        except Exception:  # the backend is given up anyway
            return
