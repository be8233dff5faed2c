"""What may be done with the file at the engine's path, before SQLite sees it.

An engine file of somebody else can be read where nothing may be written. SQLite cannot do that by itself: a file in
WAL mode needs two more beside it, and where they may be made, they would belong to the reader and keep the owner from
writing. So a file that nobody has open is read as one that does not change, and looked at again afterwards. On a full
disk those two cannot be made either, and somebody has to see what might be deleted.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from fuelclient.errors import Unavailable

ELSEWHERE = "Name another file with --engine or FUEL_ENGINE."
_ROOM = 1 << 16
"""Bytes that SQLite needs beside a file before anything is written into it."""

_OWN_COPY = "Copy it to a directory of your own and name the copy with --engine or FUEL_ENGINE, or ask its owner."


def size_of(path: str) -> int:
    """The size of the regular file that `path` leads to.

    Raises `Unavailable` for everything else that has a name in the file system: replacing a device, a pipe or a
    socket by a database would be a disaster. `OSError` where there is nothing, or where it may not be looked at.
    """
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise Unavailable(f"Engine file {path} is a directory.", hint=ELSEWHERE)
    if not stat.S_ISREG(found.st_mode):
        raise Unavailable(f"Engine file {path} is not a regular file.", hint=ELSEWHERE)
    return found.st_size


def is_read_only(path: str) -> bool:
    """Whether there is a file that can be read, but cannot be written to, or has no place for files beside it."""
    folder = os.path.dirname(os.path.realpath(path))
    return _may(path, os.R_OK) and not (_may(path, os.W_OK) and _may(folder, os.W_OK))


def is_full(path: str) -> bool:
    """Whether the disk has no room left for the files that SQLite makes beside this one."""
    try:
        found = os.statvfs(os.path.dirname(os.path.realpath(path)))
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _ROOM


def is_quiet(path: str) -> bool:
    """Whether no process has the file open, and none that had it open was killed."""
    return not os.path.exists(f"{os.path.realpath(path)}-wal")


def is_whole(path: str) -> bool:
    """Whether all that was ever written is in the file itself, and nothing beside it."""
    try:
        return not os.path.getsize(f"{os.path.realpath(path)}-wal")
    except FileNotFoundError:
        return True


def read_only(path: str, but: str = "") -> Unavailable:
    """The error for a write to a file of somebody else; `but` says why it cannot even be read."""
    text = f"Engine file {path} is read-only for you: it, or its directory, may not be written to{but}."
    return Unavailable(text, hint=_OWN_COPY)


@contextmanager
def unchanging(path: str) -> Iterator[sqlite3.Connection]:
    """A connection to a file that nobody writes to meanwhile; it takes no locks and leaves nothing behind.

    Raises `Unavailable` at the end, in place of whatever went wrong, when somebody did.
    """
    from urllib.parse import quote  # few runs need it

    before = _stamp(path)
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(os.path.realpath(path)))}?mode=ro&immutable=1", uri=True, isolation_level=None
    )
    try:
        yield connection
    finally:
        connection.close()
        if _stamp(path) != before:
            raise Unavailable(f"Engine file {path} was changed while it was read.", hint="Try again.")


def _may(path: str, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _stamp(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
