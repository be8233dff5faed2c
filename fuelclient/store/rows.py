"""Read and write whole rows. Text columns have compact JSON, with keys in the author's order."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from fuelclient.store.database import Connection

Value = TypeVar("Value", bound=Any)
_Read = Callable[[Connection, int], dict[str, Any]]
_Put = Callable[[Connection, int, Mapping[str, Any]], None]

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=False).encode
"""Encode a value of plain JSON types. One encoder is kept, because making one takes longer than using it."""

_scan = json.JSONDecoder().raw_decode


def decode(text: str) -> Any:
    """Decode a text that `encode` made. Raise `ValueError` for any other text.

    Such a text has no white space around its value. `json.loads` takes longer to search for it than to decode most
    columns: a graph has thousands of words and short lists.
    """
    value, end = _scan(text)
    if end != len(text):
        raise ValueError(f"more than one value in {text[:80]!r}")
    return value


def encoded_or_null(value: Any) -> str | None:
    """Encode a value. An empty mapping or list becomes None (NULL)."""
    return encode(value) if value else None


def mapping(text: str | None) -> dict[str, Any]:
    value: dict[str, Any] = decode(text) if text else {}
    return value


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the lists of a document into tuples, as fields of dataclasses have them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}


def names(text: str | None) -> tuple[str, ...]:
    """Decode names that `encoded_or_null` made."""
    return tuple(decode(text)) if text else ()


def insert_row(connection: sqlite3.Connection, table: str, row: Mapping[str, object]) -> int:
    """Insert a row, given by column, and return its id."""
    marks = ", ".join("?" * len(row))
    statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - the names are our own
    return int(connection.execute(statement, tuple(row.values())).lastrowid or 0)


def update_row(connection: sqlite3.Connection, table: str, row_id: int, row: Mapping[str, object]) -> None:
    changes = ", ".join(f"{column} = ?" for column in row)
    connection.execute(f"UPDATE {table} SET {changes} WHERE id = ?", (*row.values(), row_id))  # noqa: S608 - as above


def firsts(connection: sqlite3.Connection, query: str, *values: object) -> list[Any]:
    return [row[0] for row in connection.execute(query, values)]


def one(connection: sqlite3.Connection, query: str, *values: object) -> Any:
    return next(iter(firsts(connection, query, *values)), None)


def column(connection: sqlite3.Connection, table: str, name: str, row_id: int) -> Any:
    return one(connection, f"SELECT {name} FROM {table} WHERE id = ?", row_id)  # noqa: S608 - as above


def columns_of(kind: type[Any], *, without: Collection[str] = ()) -> tuple[str, ...]:
    """The fields of a dataclass, for a table with a column for each of them."""
    return tuple(field.name for field in fields(kind) if field.name not in without)


def matching(columns: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Make a condition in SQL that selects rows by the values of columns, and its parameters. A list or tuple has all
    allowed values of a column; None allows any value."""
    clauses, values = list[str](), list[Any]()
    for name, wanted in columns.items():
        if wanted is not None:
            allowed = wanted if isinstance(wanted, list | tuple) else (wanted,)
            clauses.append(f"{name} IN ({', '.join('?' * len(allowed))})")
            values += allowed
    return " AND ".join(clauses), values


def _decoders(kind: type[Any]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Find the decoders of a dataclass's fields in their annotations, which are texts: they cost no start-up time."""
    for field in fields(kind):
        if field.type in _DECODERS or field.type.startswith("Mapping["):
            yield field.name, _DECODERS.get(field.type, mapping)


_DECODERS: Mapping[Any, Callable[[Any], Any]] = {"bool": bool, "tuple[str, ...]": names}


class Table(Generic[Value]):
    """A table whose rows are values of one dataclass, with a column for each of `fields` (by default all). The first
    one is `id`.

    Mappings and tuples of strings, by their annotations, are stored as JSON, and truths as numbers; `read` and `write`
    have decoders and encoders of other fields. `renamed` maps fields to columns of other names. Rows come in the order
    of the columns `order`.
    """

    def __init__(
        self,
        name: str,
        kind: type[Value],
        read: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
        *,
        fields: Sequence[str] = (),
        renamed: Mapping[str, str] = MappingProxyType({}),
        write: Mapping[str, Callable[[Value], Any]] = MappingProxyType({}),
        order: str = "id",
    ) -> None:
        self._name, self._kind, self._write = name, kind, write
        self._fields = tuple(fields) or columns_of(kind)
        self._columns = {field: renamed.get(field, field) for field in self._fields}
        decoders = {field: decoder for field, decoder in _decoders(kind) if field in self._columns} | dict(read)
        self._readers = [(self._fields.index(field), reader) for field, reader in decoders.items()]
        self._json_fields = frozenset(field for field, reader in decoders.items() if reader in (mapping, names))
        self._select = f"SELECT {', '.join(self._columns.values())} FROM {name} "  # noqa: S608 - the names are our own
        self._order = f"ORDER BY {order}"

    def every(self, connection: Connection, **columns: Any) -> list[Value]:
        """All rows, or those with these values of `columns` (see `matching`)."""
        where, values = matching(columns)
        query = f"{self._select}{where and f'WHERE {where} '}{self._order}"
        return [self._value(row) for row in connection.execute(query, values)]

    def find(self, connection: Connection, row_id: int) -> Value | None:
        return self.first(connection, id=row_id)

    def first(self, connection: Connection, **columns: Any) -> Value | None:
        """The first of the rows that `every` returns, or None."""
        return next(iter(self.every(connection, **columns)), None)

    def ids(self, connection: Connection) -> list[int]:
        return firsts(connection, f"SELECT id FROM {self._name} ORDER BY id")  # noqa: S608 - as above

    def insert(self, connection: Connection, value: Value) -> int:
        """Store a value under its id, or under a new one if that is 0, and return the id."""
        return insert_row(connection, self._name, {"id": value.id or None, **self.row(value)})

    def insert_all(self, connection: Connection, values: Sequence[Value]) -> list[Value]:
        """Store values and return them with their ids. Values with ids are stored first, so that new ids differ from
        these."""
        given_first = sorted(enumerate(values), key=lambda pair: not pair[1].id)
        ids = {index: self.insert(connection, value) for index, value in given_first}
        return [replace(value, id=ids[index]) for index, value in enumerate(values)]

    def update(self, connection: Connection, value: Value) -> None:
        update_row(connection, self._name, value.id, self.row(value))

    def delete(self, connection: Connection, row_id: int) -> None:
        """Remove the row with this id, and the rows that the schema removes with it."""
        connection.execute(f"DELETE FROM {self._name} WHERE id = ?", (row_id,))  # noqa: S608 - as above

    def row(self, value: Value, fields: Sequence[str] = ()) -> dict[str, Any]:
        """Encode `fields` of a value, by column; by default all except its id."""
        return {self._columns[field]: self._stored(value, field) for field in fields or self._fields[1:]}

    def document(self, name: str) -> tuple[_Read, _Put]:
        """Make two functions for a column that holds a mapping: one reads it from the row with an id (NULL as an empty
        mapping), the other replaces it."""

        def read(connection: Connection, row_id: int) -> dict[str, Any]:
            return mapping(column(connection, self._name, name, row_id))

        def put(connection: Connection, row_id: int, document: Mapping[str, Any]) -> None:
            update_row(connection, self._name, row_id, {name: encoded_or_null(dict(document))})

        return read, put

    def _stored(self, value: Value, field: str) -> Any:
        if field in self._write:
            return self._write[field](value)
        stored = getattr(value, field)
        return encoded_or_null(stored) if field in self._json_fields else stored

    def _value(self, row: tuple[Any, ...]) -> Value:
        values = list(row)
        for index, read in self._readers:
            values[index] = read(values[index])
        value: Value = self._kind(**dict(zip(self._fields, values, strict=True)))
        return value
