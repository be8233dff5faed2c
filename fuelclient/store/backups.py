"""Copy engine files while they are in use, restore copies, and export and import all rows.

SQLite's backup copies one state of the file, even if others write meanwhile. A restored file gets its new content in
one transaction, so that processes that have it open see either the old or the new state.

An export has all rows as plain data. Columns with JSON are exported as documents, but only if importing them stores the
same text again: an import restores exactly what was exported.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from fuelclient.errors import InvalidDocument, Unavailable
from fuelclient.files.writing import no_directory, temporary_file
from fuelclient.store import access, health, migrations
from fuelclient.store.access import translated
from fuelclient.store.locks import lock
from fuelclient.store.rows import decode, encode, insert_row

_BUSY_SECONDS = 30.0
"""How many seconds to wait for other writers."""

_ENDINGS = ("", "-wal", "-shm")


def copy(source: str, target: str) -> None:
    """Copy the current content of an engine file to `target`, completely or not at all, readable only by its owner.

    Raise `Unavailable` if it cannot be read, is found to be damaged, or the copy cannot be written, and `NotFound` if
    the directory of the copy does not exist.
    """
    try:
        with temporary(target) as fresh:
            _fill(fresh, source, target)
            remove(target, _ENDINGS[1:])  # of a killed process: SQLite would apply its log to the new file
            os.replace(fresh, target)
    except FileNotFoundError:
        raise no_directory(target) from None
    except OSError as error:
        raise Unavailable(
            f"The copy {target} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


@contextmanager
def temporary(path: str) -> Iterator[str]:
    """Yield the path of a new, empty file beside `path`, readable only by its owner. It is removed at the end."""
    with temporary_file(os.path.dirname(path), 0o600) as (fresh, _):
        try:
            yield fresh
        finally:
            remove(fresh)


def create(path: str, fill: Callable[[sqlite3.Connection], object]) -> None:
    """Turn an empty file into an engine file, whose content `fill` writes."""
    with translated(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        fill(connection)


def restore(source: str, target: str) -> str:
    """Give an engine file the content of a copy, upgraded if it is old. Return the path of its earlier content.

    A file that is too damaged to be read is moved to that path.
    """
    real = os.path.realpath(target)
    kept = _unused_path(f"{real}.before-restore")
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
                access.reading(fresh, recover=True, timeout=_BUSY_SECONDS) as origin,
                translated(target),
                closing(sqlite3.connect(target, timeout=_BUSY_SECONDS, isolation_level=None)) as current,
            ):
                origin.backup(current)
        except Unavailable:
            if not _is_damaged(real):
                raise
            _put_in_place(fresh, real, kept)
        return kept


def compact(path: str) -> tuple[int, int]:
    """Give the free pages of an engine file back to the disk. Return its size in bytes, before and after.

    Writers wait meanwhile.
    """
    with translated(path), closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        before = _size(connection)
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before, _size(connection)


def _size(connection: sqlite3.Connection) -> int:
    (pages,), (size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages * size)


def _fill(fresh: str, source: str, target: str) -> None:
    """Copy an engine file into an empty file, which will become `target`; errors of writing name `target`."""
    origin_of = access.reading(source, recover=True, timeout=_BUSY_SECONDS)
    with origin_of as origin, translated(target), closing(sqlite3.connect(fresh)) as copied:
        copied.execute("PRAGMA journal_mode = OFF")  # a copy that fails is removed, so nothing is rolled back
        origin.backup(copied)


def _unused_path(path: str) -> str:
    """A path that does not exist yet, so that an earlier restore's file is kept."""
    names = (path, *(f"{path}-{number}" for number in range(2, 10_000)))
    return next(name for name in names if not os.path.lexists(name))


def _is_damaged(path: str) -> bool:
    """Whether a file is not a database, or is damaged. A lock or a full disk is not damage."""
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
    for ending in _ENDINGS:
        with suppress(FileNotFoundError):
            os.replace(path + ending, kept + ending)


def remove(path: str, endings: Sequence[str] = _ENDINGS) -> None:
    """Remove a file and the files of SQLite beside it, or those with these endings."""
    for ending in endings:
        with suppress(FileNotFoundError):
            os.unlink(path + ending)


FORMAT = "fuelclient-engine"

_HIGHEST_IDS = "sqlite_sequence"
"""SQLite's table of the highest ids that were used, which are never used again."""


def exported(connection: sqlite3.Connection) -> dict[str, Any]:
    """All rows of an engine file as plain data."""
    contents = {name: [*_rows(connection, name)] for name in (*_tables(connection), _HIGHEST_IDS)}
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    return {"format": FORMAT, "schema": schema, "tables": contents}


def size(connection: sqlite3.Connection) -> int:
    """The bytes of text in an engine file; an export of it is larger."""
    total = 0
    for name in _tables(connection):
        lengths = " + ".join(f'coalesce(length(CAST("{column}" AS BLOB)), 0)' for column in _columns(connection, name))
        (length,) = connection.execute(f"SELECT sum({lengths}) FROM {name}").fetchone()  # noqa: S608 - as in `_rows`
        total += length or 0
    return total


def imported(connection: sqlite3.Connection, path: str, contents: Mapping[str, Any]) -> None:
    """Store the result of `exported`, from this or an earlier schema, in a new file, and upgrade it.

    Raise `InvalidDocument` for anything else.
    """
    schema, tables = contents.get("schema"), contents.get("tables")
    if contents.get("format") != FORMAT or not isinstance(schema, int) or not isinstance(tables, dict):
        raise _import_error(f"it is no export of an engine file: it needs format: {FORMAT}, schema and tables")
    if not 0 < schema <= migrations.LATEST:
        raise _import_error(f"its schema is {schema}, this version knows schemas from 1 to {migrations.LATEST}")
    migrations.migrate(connection, path, migrations.MIGRATIONS[:schema])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    known = {name: _columns(connection, name) for name in (*_tables(connection), _HIGHEST_IDS)}
    for name, rows in tables.items():
        _insert(connection, name, rows, known)
    if dangling := connection.execute("PRAGMA foreign_key_check").fetchone():
        raise _import_error(f"row {dangling[1]} of {dangling[0]} refers to a row of {dangling[2]} that is missing")
    connection.execute("COMMIT")
    migrations.migrate(connection, path)
    if misshapen := health.misshapen(connection):
        raise _import_error(misshapen[0])


def _insert(connection: sqlite3.Connection, name: str, rows: Any, known: Mapping[str, set[str]]) -> None:
    if name not in known or not isinstance(rows, list):
        raise _import_error(f"{name} is no table of an engine file, or not a list of rows")
    if name == _HIGHEST_IDS:
        connection.execute(f"DELETE FROM {_HIGHEST_IDS}")  # noqa: S608 - rows of other tables have been counted
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not row.keys() <= known[name]:
            raise _import_error(f"row {number} of {name} is not a mapping of its columns")
        stored = {key: encode(value) if isinstance(value, dict | list) else value for key, value in row.items()}
        try:
            insert_row(connection, name, {f'"{key}"': value for key, value in stored.items()})
        except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError, OverflowError) as error:
            raise _import_error(f"row {number} of {name} cannot be stored: {error}") from error


def _tables(connection: sqlite3.Connection) -> list[str]:
    """Our tables, each after those that it refers to as far as the schema was written in that order."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    return [name for (name,) in connection.execute(query)]


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - the name is one of the schema
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield {name: _document(value) for name, value in zip(names, row, strict=True) if value is not None}


def _document(value: Any) -> Any:
    """Decode a text if encoding it again gives the same text; keep other values."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        decoded = decode(value)
        return decoded if encode(decoded) == value else value
    except (ValueError, RecursionError):
        return value


def _import_error(why: str) -> InvalidDocument:
    return InvalidDocument(f"The file cannot be imported: {why}.", hint="Name a file that `fuel2 engine export` wrote.")
