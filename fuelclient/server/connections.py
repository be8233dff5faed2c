"""Connections to the backend: one for each thread, and one lock for what reads before it writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuelclient.backends.base import Backend


class Connections:
    """Backends by thread: what one holds open (a connection to SQLite, a session) belongs to the thread that made it.

    A thread that ends lets go of its own.
    """

    def __init__(self, make: Callable[[], Backend]) -> None:
        self._make = make
        self._local = threading.local()
        self._lock = threading.RLock()

    @property
    def backend(self) -> Backend:
        """The backend of this thread, made at first use."""
        found: Backend | None = getattr(self._local, "backend", None)
        if found is None:
            found = self._local.backend = self._make()
        return found

    @contextmanager
    def alone(self) -> Iterator[Backend]:
        """Nobody else in this server does what takes several calls of the backend: read, decide, write."""
        with self._lock:
            yield self.backend

    def close(self) -> None:
        """This thread lets go of its backend."""
        found: Backend | None = getattr(self._local, "backend", None)
        if found is not None:
            self._local.backend = None
            found.close()
