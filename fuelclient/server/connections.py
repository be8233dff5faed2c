"""The connections of the server to its backend: one for each thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuelclient.backends.base import Backend


class ThreadBackends:
    """One backend for each thread, because SQLite connections and HTTP sessions belong to the thread that opened them.

    A thread that ends drops its backend.
    """

    def __init__(self, make: Callable[[], Backend]) -> None:
        self._make = make
        self._local = threading.local()
        self._lock = threading.RLock()

    @property
    def backend(self) -> Backend:
        """The backend of this thread, made at first use."""
        backend: Backend | None = getattr(self._local, "backend", None)
        if backend is None:
            backend = self._local.backend = self._make()
        return backend

    @contextmanager
    def exclusive(self) -> Iterator[Backend]:
        """Hold the server's only lock, for what takes several calls of the backend: read, decide, write."""
        with self._lock:
            yield self.backend

    def close(self) -> None:
        """Close the backend of this thread."""
        backend: Backend | None = getattr(self._local, "backend", None)
        if backend is not None:
            self._local.backend = None
            backend.close()
