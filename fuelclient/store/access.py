"""Check what can be done with the engine file, and read it where nothing can be written.

People read engine files of colleagues. SQLite cannot do that by itself: a file in WAL mode needs two more files beside
it, and if the reader may create them, they belong to the reader and keep the owner from writing. So a file that no
process has open is read as immutable, and checked for changes afterwards. On a full disk the two files cannot be
created either, and users have to see what they might delete.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fuelclient.errors import Unavailable

_Connection = TypeVar("_Connection", bound=sqlite3.Connection)

ELSEWHERE = "Name another file with --engine (--to-engine of a copy) or FUEL_ENGINE."
_ROOM = 1 << 16
"""Bytes that SQLite needs for the files beside the database before it can read."""

_OWN_COPY = "Copy it to a directory of your own and name that with --engine or FUEL_ENGINE, or ask its owner."


def size_of(path: str) -> int:
    """Return the size of the regular file at `path`, through links.

    Raise `Unavailable` if it is anything but a regular file: replacing a device, a pipe or a socket with a database
    would be a disaster. Raise `OSError` if it does not exist or cannot be examined.
    """
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise Unavailable(f"Engine file {path} is a directory.", hint=ELSEWHERE)
    if not stat.S_ISREG(status.st_mode):
        raise Unavailable(f"Engine file {path} is not a regular file.", hint=ELSEWHERE)
    return status.st_size


def is_read_only(path: str) -> bool:
    """Return whether the file can be read, but not written, or no files can be created beside it."""
    folder = os.path.dirname(os.path.realpath(path))
    return _may(path, os.R_OK) and not (_may(path, os.W_OK) and _may(folder, os.W_OK))


def is_full(path: str) -> bool:
    """Return whether the disk lacks room for the files that SQLite creates beside this one."""
    try:
        disk = os.statvfs(os.path.dirname(os.path.realpath(path)))
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _ROOM


def is_quiet(path: str) -> bool:
    """Return whether no process has the file open, and none was killed while it had."""
    return not os.path.exists(f"{os.path.realpath(path)}-wal")


def is_whole(path: str) -> bool:
    """Return whether everything that was written is in the file itself, and nothing in the log beside it."""
    try:
        return not os.path.getsize(f"{os.path.realpath(path)}-wal")
    except FileNotFoundError:
        return True


def read_only(path: str, but: str = "") -> Unavailable:
    """Return the error for a write to a read-only file; `but` says why it cannot even be read."""
    text = f"Engine file {path} is read-only for you: you cannot write to it or to its directory{but}."
    return Unavailable(text, hint=_OWN_COPY)


def opened(path: str, mode: str, **options: Any) -> Any:
    """Return a connection to the file that `path` leads to, opened as SQLite's `mode` says: `rw`, `ro`, or
    `ro&immutable=1` for a file that no process writes to. Raise what SQLite raises."""
    from urllib.parse import quote  # most commands open no file in this way

    return sqlite3.connect(f"file:{quote(os.fsencode(os.path.realpath(path)))}?mode={mode}", uri=True, **options)


@contextmanager
def unchanging(path: str, kind: type[_Connection]) -> Iterator[_Connection]:
    """Yield a connection to a file that does not change meanwhile; it takes no locks and leaves nothing behind.

    Raise `Unavailable` at the end, instead of any other error, if the file was changed.
    """
    before = _stamp(path)
    connection: _Connection = opened(path, "ro&immutable=1", isolation_level=None, factory=kind)
    try:
        yield connection
    finally:
        connection.close()
        if _stamp(path) != before:
            raise Unavailable(f"Engine file {path} was changed while it was read.", hint="Try again.")


def _may(path: str, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _stamp(path: str) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
