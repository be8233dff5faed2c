"""Follow a run: a thread that reads its events again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound
from fuelclient.model.run import Event, Run
from fuelclient.tui.workers import close_quietly, is_lost

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
            self._stopped.wait(pause)
        close_quietly(backend)
