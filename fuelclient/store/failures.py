"""What went wrong with the engine file, in our words: errors of SQLite, of the file system, and of damaged pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from fuelclient.errors import FuelError, InvalidDocument, Unavailable
from fuelclient.store import access, migrations
from fuelclient.store.access import ELSEWHERE

_REFUSALS = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN})
_MAYBE_FULL = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_REASONS = {
    sqlite3.SQLITE_NOTADB: ("is not an engine file", ELSEWHERE),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Restore it from a copy, or move it away and import again."),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free some space; nothing was changed."),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Check the disk; nothing was changed."),
    sqlite3.SQLITE_READONLY: ("cannot be written", f"Check its permissions. {ELSEWHERE}"),
    sqlite3.SQLITE_PERM: ("cannot be opened", f"Check its permissions. {ELSEWHERE}"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", f"Check the permissions of it and its directory. {ELSEWHERE}"),
    sqlite3.SQLITE_BUSY: ("is locked by another process", "Try again when it has finished."),
    sqlite3.SQLITE_LOCKED: ("is locked by another process", "Try again when it has finished."),
}


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into `Unavailable`, but not mistakes in our own SQL."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
        if code not in _REASONS:
            if _is_damaged(path, error):
                raise unavailable(path, sqlite3.SQLITE_CORRUPT) from error
            raise
        if code in _REFUSALS and access.is_read_only(path):
            raise access.read_only(path) from error
        if code in _MAYBE_FULL and access.is_full(path):
            code = sqlite3.SQLITE_FULL
        raise unavailable(path, code) from error
    except json.JSONDecodeError as error:  # we store nothing else
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
    """Return whether an error that should not happen comes from a file whose pages are damaged.

    SQLite reports only some damage by itself; elsewhere it returns wrong rows, or text that is none.
    """
    if isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error):
        return True
    try:
        with closing(sqlite3.connect(path)) as connection:
            sound = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
            dangling = sound and connection.execute("PRAGMA foreign_key_check").fetchone()
            return not sound or bool(dangling or migrations.lacking(connection))
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # SQLite's message quotes the damaged text
        return True


def unavailable(path: str, code: int) -> Unavailable:
    """Return the error for a result code of SQLite that has a reason."""
    reason, hint = _REASONS[code]
    return Unavailable(f"Engine file {path} {reason}.", hint=hint)
