"""Write whole rows, and keep JSON in their text columns: compact, readable, in the author's key order."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=False).encode
"""Return the text of a value of plain JSON types. One encoder is kept, because making one costs more than using it."""

_scan = json.JSONDecoder().raw_decode


def decode(text: str) -> Any:
    """Return the value of a text that `encode` made. Raise `ValueError` for any other text.

    Such a text has no white space around its value. `json.loads` takes longer to look for it than to read what most
    columns contain: a graph is thousands of words and short lists.
    """
    value, end = _scan(text)
    if end != len(text):
        raise ValueError(f"more than one value in {text[:80]!r}")
    return value


def encoded_or_null(value: Any) -> str | None:
    """Return the text of a value, or None (NULL) for an empty mapping or list."""
    return encode(value) if value else None


def mapping(text: str | None) -> dict[str, Any]:
    """Return the mapping that `encoded_or_null` stored."""
    value: dict[str, Any] = decode(text) if text else {}
    return value


def names(text: str | None) -> tuple[str, ...]:
    """Return the names that `encoded_or_null` stored."""
    return tuple(decode(text)) if text else ()


def insert_row(connection: sqlite3.Connection, table: str, row: Mapping[str, object]) -> int:
    """Insert a row, given by column, and return its id."""
    marks = ", ".join("?" * len(row))
    statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - the names are our own
    return int(connection.execute(statement, tuple(row.values())).lastrowid or 0)


def update_row(connection: sqlite3.Connection, table: str, row_id: int, row: Mapping[str, object]) -> None:
    """Set columns of the row with this id."""
    changes = ", ".join(f"{column} = ?" for column in row)
    connection.execute(f"UPDATE {table} SET {changes} WHERE id = ?", (*row.values(), row_id))  # noqa: S608 - as above


def ids(connection: sqlite3.Connection, table: str) -> list[int]:
    """Return the ids of a table in ascending order."""
    return [row[0] for row in connection.execute(f"SELECT id FROM {table} ORDER BY id")]  # noqa: S608 - as above
