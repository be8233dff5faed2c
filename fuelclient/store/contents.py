"""All rows of an engine file as plain data, and an engine file from such data.

Columns with documents are written out as documents, but only where the same text is stored again for them: everything
that is exported is imported as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.store import health, migrations
from fuelclient.store.rows import decode, encode, insert_row

FORMAT = "fuelclient-engine"

_NUMBERS = "sqlite_sequence"
"""SQLite's table of the highest ids, which are never used again."""


def exported(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return everything that an engine file holds."""
    contents = {name: [*_rows(connection, name)] for name in (*_tables(connection), _NUMBERS)}
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    return {"format": FORMAT, "schema": schema, "tables": contents}


def size(connection: sqlite3.Connection) -> int:
    """Return how many bytes of text an engine file holds; an export of it is larger."""
    found = 0
    for name in _tables(connection):
        lengths = " + ".join(f'coalesce(length(CAST("{column}" AS BLOB)), 0)' for column in _columns(connection, name))
        (length,) = connection.execute(f"SELECT sum({lengths}) FROM {name}").fetchone()  # noqa: S608 - as in `_rows`
        found += length or 0
    return found


def imported(connection: sqlite3.Connection, path: str, contents: Mapping[str, Any]) -> None:
    """Store what `exported` returned in a new file, of any schema so far, and upgrade it.

    Raise `InvalidDocument` for anything else.
    """
    schema, tables = contents.get("schema"), contents.get("tables")
    if contents.get("format") != FORMAT or not isinstance(schema, int) or not isinstance(tables, dict):
        raise _invalid(f"it is no export of an engine file: it needs format: {FORMAT}, schema and tables")
    if not 0 < schema <= migrations.LATEST:
        raise _invalid(f"its schema is {schema}, this version knows schemas from 1 to {migrations.LATEST}")
    migrations.migrate(connection, path, migrations.MIGRATIONS[:schema])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    known = {name: _columns(connection, name) for name in (*_tables(connection), _NUMBERS)}
    for name, rows in tables.items():
        _insert(connection, name, rows, known)
    dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
    if dangling:
        raise _invalid(f"row {dangling[1]} of {dangling[0]} refers to a row of {dangling[2]} that is missing")
    connection.execute("COMMIT")
    migrations.migrate(connection, path)
    misshapen = health.misshapen(connection)
    if misshapen:
        raise _invalid(misshapen[0])


def _insert(connection: sqlite3.Connection, name: str, rows: Any, known: Mapping[str, set[str]]) -> None:
    if name not in known or not isinstance(rows, list):
        raise _invalid(f"{name} is no table of an engine file, or not a list of rows")
    if name == _NUMBERS:
        connection.execute(f"DELETE FROM {_NUMBERS}")  # noqa: S608 - rows of other tables have been counted
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not row.keys() <= known[name]:
            raise _invalid(f"row {number} of {name} is not a mapping of its columns")
        stored = {key: encode(value) if isinstance(value, dict | list) else value for key, value in row.items()}
        try:
            insert_row(connection, name, {f'"{key}"': value for key, value in stored.items()})
        except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError, OverflowError) as error:
            raise _invalid(f"row {number} of {name} cannot be stored: {error}") from error


def _tables(connection: sqlite3.Connection) -> list[str]:
    """Return our tables, each after those that it refers to as far as the schema was written in that order."""
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
    """Return the document in a text if it has the same text again; else the value itself."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        decoded = decode(value)
        return decoded if encode(decoded) == value else value
    except (ValueError, RecursionError):
        return value


def _invalid(why: str) -> InvalidDocument:
    return InvalidDocument(f"The file cannot be imported: {why}.", hint="Name a file that `fuel2 engine export` wrote.")
