"""The lock for work on an engine file as a whole, and the queue of its writers, in the order of their arrival.

SQLite serves writers in no particular order, so with many writers some wait very long. Here each writer takes a number,
and its turn comes when all lower numbers are released. A number is a lock on one byte far beyond the end of a file
beside the engine file. The system releases it when its process ends, in any way: nothing is left to clean up, and a
killed writer does not block others. Counters are at the beginning of the file. If they are wrong, only the order
suffers, because SQLite itself still excludes other writers.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_COUNTERS = struct.Struct("<QQ")
"""The number of the next writer, and a number below which all writers have finished."""

_FIRST_BYTE = 2**40
"""The index of the byte for the number 0. Byte 0 is locked while a writer takes a number."""

_LOCK = struct.Struct("hhqqi4x")
"""The system's `struct flock`: type, whence, start, length, process."""

_MIN_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.001, 0.05
"""Seconds between two polls by the next writer, and by one far behind it."""

STALLED = 1.0
"""Seconds without progress after which a writer tries to overtake the one before it, which may be suspended."""

_SET, _WAIT, _GET = (getattr(fcntl, f"F_OFD_{name}", None) for name in ("SETLK", "SETLKW", "GETLK"))


class Queue:
    """A place in the queue of one file. `close` also leaves the queue."""

    def __init__(self, path: str) -> None:
        """Open the file. Raise `OSError` if it cannot be written, or the system has no open file description locks."""
        if _SET is None:
            raise OSError("this system has no open file description locks")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._number = -1

    def enter(self) -> None:
        """Take a number. Raise `OSError` if the counters cannot be written."""
        self._lock(fcntl.F_WRLCK, 0, 1, wait=True)
        try:
            number, floor = self._counters()
            while not self._lock(fcntl.F_WRLCK, _FIRST_BYTE + number, 1):  # the counters were lost: take a free number
                number += 1
            self._number = number
            os.pwrite(self._descriptor, _COUNTERS.pack(number + 1, min(floor, number)), 0)
        finally:
            self._lock(fcntl.F_UNLCK, 0, 1)

    def wait(self, overtake: Callable[[], bool]) -> bool:
        """Wait for our turn. Return True if `overtake`, which is tried while there is no progress, succeeded first."""
        known, since = -1, time.monotonic()
        while True:
            floor = min(self._counters()[1], self._number)
            if (first := self._lowest_taken(floor)) is None:
                self._put_floor(self._number)
                return False
            if floor != known:
                known, since = floor, time.monotonic()
            elif time.monotonic() - since > STALLED:
                if overtake():
                    self._put_floor(first + 1)  # no writer waits for it any more
                    return True
                since = time.monotonic() - STALLED / 2
            time.sleep(min(_MIN_PAUSE_SECONDS * (self._number - first), _MAX_PAUSE_SECONDS))

    def leave(self) -> None:
        if self._number >= 0:
            with suppress(OSError):
                self._lock(fcntl.F_UNLCK, _FIRST_BYTE + self._number, 1)
            self._number = -1

    def close(self) -> None:
        with suppress(OSError):
            os.close(self._descriptor)

    def _lowest_taken(self, floor: int) -> int | None:
        """The lowest taken number before ours, or None."""
        lowest, end = None, self._number
        while end > floor:
            wanted = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _FIRST_BYTE + floor, end - floor, 0)
            kind, _, start, _, _ = _LOCK.unpack(fcntl.fcntl(self._descriptor, _GET, wanted))  # type: ignore[arg-type]
            if kind == fcntl.F_UNLCK:
                break
            lowest = end = start - _FIRST_BYTE
        return lowest

    def _counters(self) -> tuple[int, int]:
        stored = os.pread(self._descriptor, _COUNTERS.size, 0)
        return _COUNTERS.unpack(stored) if len(stored) == _COUNTERS.size else (0, 0)

    def _put_floor(self, number: int) -> None:
        with suppress(OSError):
            os.pwrite(self._descriptor, struct.pack("<Q", number), 8)

    def _lock(self, kind: int, start: int, length: int, *, wait: bool = False) -> bool:
        wanted = _LOCK.pack(kind, os.SEEK_SET, start, length, 0)
        try:
            fcntl.fcntl(self._descriptor, _WAIT if wait else _SET, wanted)  # type: ignore[arg-type]  # checked above
        except BlockingIOError:
            return False
        return True


@contextmanager
def lock(target: str) -> Iterator[None]:
    """Hold the lock for creating and upgrading `target`. Its file beside `target` is never removed, because then two
    processes could hold two locks of the same name."""
    make_directories(os.path.dirname(target))
    descriptor = os.open(f"{target}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def make_directories(path: str) -> None:
    """Create the missing directories of `path`, for their owner only."""
    if os.path.isdir(path):
        return
    make_directories(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # otherwise another process created it just now
            raise
