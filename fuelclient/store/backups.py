"""Copy engine files while they are in use, and put a copy back.

SQLite's backup copies one state of the file, whoever writes meanwhile, and a file that is restored gets its new content
in one transaction, so that processes that have it open see either state.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from fuelclient.errors import Unavailable
from fuelclient.files.writing import spooled
from fuelclient.store import access, migrations
from fuelclient.store.failures import translated
from fuelclient.store.file_lock import lock

_SECONDS = 30.0
"""How long to wait for other writers."""

_BESIDE = ("", "-wal", "-shm")


def copy(source: str, target: str) -> None:
    """Write what an engine file holds now to `target`, whole or not at all, readable only by its owner.

    Raise `Unavailable` if it cannot be read, is damaged where it is read, or the copy cannot be written.
    """
    try:
        with temporary(target) as fresh:
            _fill(fresh, source, target)
            remove(target, _BESIDE[1:])  # of a process that was killed: SQLite would write it over the new file
            os.replace(fresh, target)
    except OSError as error:
        raise Unavailable(
            f"The copy {target} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


@contextmanager
def temporary(path: str) -> Iterator[str]:
    """Yield the path of a new, empty file beside `path`, readable only by its owner. It is removed at the end."""
    with spooled(os.path.dirname(path), 0o600) as (fresh, _):
        try:
            yield fresh
        finally:
            remove(fresh)


def create(path: str, fill: Callable[[sqlite3.Connection], object]) -> None:
    """Make an empty file an engine file, whose content `fill` writes."""
    with translated(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        fill(connection)


def restore(source: str, target: str) -> str:
    """Give an engine file the content of a copy, upgraded if it is old; return where its earlier content is kept.

    A file that is too damaged to be read is moved aside as it is.
    """
    real = os.path.realpath(target)
    kept = _free(f"{real}.before-restore")
    with lock(real), temporary(real) as fresh:
        _fill(fresh, source, real)
        with translated(source), closing(sqlite3.connect(fresh, isolation_level=None)) as copied:
            migrations.migrate(copied, source)
        if not os.path.exists(real) or not access.size_of(target):
            copy(fresh, real)
            return ""
        try:
            copy(target, kept)
            with (
                _reading(fresh) as origin,
                translated(target),
                closing(sqlite3.connect(target, timeout=_SECONDS, isolation_level=None)) as current,
            ):
                origin.backup(current)
        except Unavailable:
            if not _is_damaged(real):
                raise
            _put_in_place(fresh, real, kept)
        return kept


def compact(path: str) -> tuple[int, int]:
    """Give the pages of an engine file that are free back to the disk; return its size before and after that, in bytes.

    Writers wait meanwhile.
    """
    with translated(path), closing(sqlite3.connect(path, timeout=_SECONDS, isolation_level=None)) as connection:
        before = _size(connection)
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before, _size(connection)


def _size(connection: sqlite3.Connection) -> int:
    (pages,), (size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages * size)


def _fill(fresh: str, source: str, target: str) -> None:
    """Copy an engine file into an empty file, which will be `target`; errors of writing name that."""
    with _reading(source) as origin, translated(target), closing(sqlite3.connect(fresh)) as copied:
        copied.execute("PRAGMA journal_mode = OFF")  # a copy that fails is removed, so nothing is rolled back
        origin.backup(copied)


def _free(path: str) -> str:
    """Return a path at which there is nothing: what an earlier restore has kept stays."""
    names = (path, *(f"{path}-{number}" for number in range(2, 10_000)))
    return next(name for name in names if not os.path.lexists(name))


def _is_damaged(path: str) -> bool:
    """Return whether a file is no database, or a damaged one; not whether it is locked or the disk is full."""
    try:
        with closing(access.opened(path, "ro")) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
    except sqlite3.OperationalError:
        return False
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # SQLite's message quotes the damaged text
        return True


def _put_in_place(fresh: str, path: str, kept: str) -> None:
    _move_aside(path, kept)
    try:
        copy(fresh, path)
    except Unavailable:
        _move_aside(kept, path)
        raise


def _move_aside(path: str, kept: str) -> None:
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            os.replace(path + ending, kept + ending)


def remove(path: str, endings: Sequence[str] = _BESIDE) -> None:
    """Remove a file with those that SQLite keeps beside it, or those with some of their endings."""
    for ending in endings:
        with suppress(FileNotFoundError):
            os.unlink(path + ending)


@contextmanager
def _reading(path: str) -> Iterator[sqlite3.Connection]:
    unchanging = access.is_read_only(path) and access.is_quiet(path)
    mode = "ro&immutable=1" if unchanging else "ro" if access.is_read_only(path) else "rw"
    with translated(path), closing(access.opened(path, mode, timeout=_SECONDS)) as connection:
        yield connection
