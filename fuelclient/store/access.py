"""Check access to the engine file, read it where nothing can be written, and translate errors of SQLite.

Users read their colleagues' engine files. SQLite does not support this: a file in WAL mode needs two more files beside
it, and if the reader creates them, they belong to the reader and keep the owner from writing. So a file that no process
has open is read as immutable, and checked for changes afterwards. On a full disk the two files cannot be created
either, and users need to read the file to choose what to delete.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from fuelclient.errors import FuelError, InvalidDocument, Unavailable
from fuelclient.store import migrations

_Connection = TypeVar("_Connection", bound=sqlite3.Connection)

ELSEWHERE = "Name another file: with --engine or FUEL_ENGINE, --to-engine of a copy, or the FILE of a restore."
_MIN_FREE_BYTES = 1 << 16
"""Bytes that SQLite needs for the files beside the database before it can read."""

_OWN_COPY = "Copy it to a directory of your own and name that with --engine or FUEL_ENGINE, or ask its owner."


def size_of(path: str) -> int:
    """The size of the regular file at `path`, through links.

    Raise `Unavailable` if it is not a regular file: a device, a pipe or a socket must not be replaced with a
    database. Raise `OSError` if it does not exist or cannot be examined.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise Unavailable(f"Engine file {path} is {kind}.", hint=ELSEWHERE)
    return status.st_size


def is_read_only(path: str) -> bool:
    """Whether the file can be read, but either it cannot be written or no files can be created beside it."""
    folder = os.path.dirname(os.path.realpath(path))
    return _may(path, os.R_OK) and not (_may(path, os.W_OK) and _may(folder, os.W_OK))


def is_full(path: str) -> bool:
    """Whether the disk lacks room for the files that SQLite creates beside this one."""
    try:
        disk = os.statvfs(os.path.dirname(os.path.realpath(path)))
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _MIN_FREE_BYTES


def is_quiet(path: str) -> bool:
    """Whether no process has the file open, and no process was killed while it had the file open."""
    return not os.path.exists(f"{os.path.realpath(path)}-wal")


def is_whole(path: str) -> bool:
    """Whether all data are in the file itself, and none in the log beside it."""
    try:
        return not os.path.getsize(f"{os.path.realpath(path)}-wal")
    except FileNotFoundError:
        return True


def read_only(path: str, reason: str = "") -> Unavailable:
    """The error for a write to a read-only file. `reason` continues the sentence: why it cannot even be read."""
    text = f"Engine file {path} is read-only for you: you cannot write to it or to its directory{reason}."
    return Unavailable(text, hint=_OWN_COPY)


def opened(path: str, mode: str, **options: Any) -> Any:
    """Connect to the file that `path` leads to, in a `mode` of SQLite: `rw`, `ro`, or `ro&immutable=1` for a file that
    no process writes to. Raise the errors of SQLite."""
    from urllib.parse import quote  # most commands open no file in this way

    return sqlite3.connect(f"file:{quote(os.fsencode(os.path.realpath(path)))}?mode={mode}", uri=True, **options)


@contextmanager
def reading(path: str, *, recover: bool = False, **options: Any) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a file for reading. Its errors are translated.

    Only a file that no process writes to may be read as immutable; otherwise the write-ahead log must be read, too.
    With `recover`, a writable file is opened for writing, so that SQLite can copy its write-ahead log into it.
    """
    mode = "rw" if recover else "ro"
    if is_read_only(path):
        mode = "ro&immutable=1" if is_quiet(path) else "ro"
    with translated(path), closing(opened(path, mode, **options)) as connection:
        yield connection


@contextmanager
def unchanging(path: str, kind: type[_Connection]) -> Iterator[_Connection]:
    """Yield a connection to a file that must not change meanwhile. It takes no locks and creates no files.

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


_REFUSALS = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN})
_MAYBE_FULL = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_REASONS = {
    sqlite3.SQLITE_NOTADB: ("is not an engine file", ELSEWHERE),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Restore it from a copy, or move it away and import again."),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free some space; nothing was changed."),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Check the disk; nothing was changed."),
    sqlite3.SQLITE_READONLY: ("cannot be written", f"Check its permissions. {ELSEWHERE}"),
    sqlite3.SQLITE_PERM: ("cannot be opened", f"Check its permissions. {ELSEWHERE}"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", f"Check its permissions and those of its directory. {ELSEWHERE}"),
    sqlite3.SQLITE_BUSY: ("is locked by another process", "Try again when it has finished."),
    sqlite3.SQLITE_LOCKED: ("is locked by another process", "Try again when it has finished."),
}


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into `Unavailable`, but not mistakes in our own SQL."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if (code := getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF) not in _REASONS:
            if _is_damaged(path, error):
                raise unavailable(path, sqlite3.SQLITE_CORRUPT) from error
            raise
        if code in _REFUSALS and is_read_only(path):
            raise read_only(path) from error
        if code in _MAYBE_FULL and is_full(path):
            code = sqlite3.SQLITE_FULL
        raise unavailable(path, code) from error
    except json.JSONDecodeError as error:  # columns with documents contain only JSON
        raise unavailable(path, sqlite3.SQLITE_CORRUPT) from error
    except UnicodeEncodeError as error:
        raise InvalidDocument(
            f"The string {error.object!r} contains half of a surrogate pair (\\ud800 to \\udfff) and cannot be stored.",
            hint="Write the character itself, or its whole escape.",
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not isinstance(error, FuelError) and _is_damaged(path, error):
            raise unavailable(path, sqlite3.SQLITE_CORRUPT) from error
        raise


def _is_damaged(path: str, error: Exception) -> bool:
    """Whether an error that should not happen comes from a file whose pages are damaged.

    SQLite reports only some damage; otherwise it returns wrong rows or invalid text.
    """
    if isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error):
        return True
    try:
        with closing(sqlite3.connect(path)) as connection:
            is_intact = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
            dangling = is_intact and connection.execute("PRAGMA foreign_key_check").fetchone()
            return not is_intact or bool(dangling or migrations.lacking(connection))
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # SQLite's message quotes the damaged text
        return True


def unavailable(path: str, code: int) -> Unavailable:
    """The error for a result code of SQLite in `_REASONS`."""
    reason, hint = _REASONS[code]
    return Unavailable(f"Engine file {path} {reason}.", hint=hint)
