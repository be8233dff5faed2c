"""Examine an engine file without changing it: no lock is taken, and no schema is upgraded."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from fuelclient.model.graph import METADATA
from fuelclient.model.task import COLUMNS
from fuelclient.store import access, migrations
from fuelclient.store.rows import decode

_MAX_REPORTS = 5


@dataclass(frozen=True, slots=True)
class Examined:
    """The state of an engine file: the number of its schema, SQLite's reports of damage and of rows that refer to
    missing rows, and the name and stored directory of each plugin."""

    schema: int
    damage: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    plugins: tuple[tuple[str, str], ...] = ()

    @property
    def is_old(self) -> bool:
        """Whether the next command that writes upgrades the file."""
        return self.schema < migrations.LATEST


def schema(path: str) -> int:
    """The number of the schema of an engine file that exists. Raise the errors of `examine`."""
    access.size_of(path)
    with access.reading(path) as connection:
        return migrations.version(connection, path)


def examine(path: str) -> Examined:
    """Examine an engine file that exists.

    Raise `Unavailable` if it cannot be read, is of another program or of a later version, or is too damaged to be
    opened.
    """
    access.size_of(path)
    with access.reading(path) as connection:
        schema = migrations.version(connection, path)
        lines = [line for (line,) in connection.execute(f"PRAGMA integrity_check({_MAX_REPORTS})") if line != "ok"]
        damage = tuple(lines or migrations.lacking(connection)[:_MAX_REPORTS])
        dangling = tuple(
            f"row {row} of {table} refers to {parent}"
            for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(_MAX_REPORTS)
        )
        if schema != migrations.LATEST or damage:
            return Examined(schema, damage, dangling)
        query = "SELECT name || ' ' || version, directory FROM plugins WHERE directory <> '' ORDER BY id"
        plugins = tuple((str(name), str(directory)) for name, directory in connection.execute(query))
        return Examined(schema, damage, dangling, plugins)


_MAPPING, _LIST, _ANY = "object", "array", ""
"""The JSON types of columns: mappings, lists, or any type."""

_DOCUMENTS: Mapping[str, Mapping[str, str]] = {
    "releases": {"metadata": _MAPPING},
    "clusters": {
        **dict.fromkeys(("settings", "metadata", "generated", "addresses"), _MAPPING),
        **dict.fromkeys(("networks", "copied_graphs"), _ANY),
    },
    "nodes": {
        **dict.fromkeys(("roles", "pending_roles", "primary_tags"), _LIST),
        **dict.fromkeys(("ssh", "attributes", "labels"), _MAPPING),
    },
    "plugins": dict.fromkeys(("metadata", "package"), _MAPPING),
    "deployment_graphs": dict.fromkeys((*METADATA, "warnings"), _ANY),
    "deployment_graph_tasks": dict.fromkeys((*COLUMNS, "_custom", "stated", "source_lines"), _ANY),
    "transactions": {
        **dict.fromkeys(("request", "definitions"), _MAPPING),
        **dict.fromkeys(("nodes", "forgotten", "findings"), _LIST),
        "result": _ANY,
    },
    "history": {"summary": _ANY},
    "sequences": {"graph_types": _LIST},
    **{table: {"body": _ANY} for table in ("cluster_facts", "fact_parts", "node_parts", "leftovers")},
}
"""The columns with documents and their types, by table."""


def misshapen(connection: sqlite3.Connection) -> list[str]:
    """Report documents of an engine file of the latest schema whose type is not that of their column. Rows are named by
    their ids."""
    reports = []
    for table, columns in _DOCUMENTS.items():
        for column, kind in columns.items():
            query = f'SELECT id FROM {table} WHERE json_valid("{column}") AND json_type("{column}") <> ?'  # noqa: S608 - ours
            for (row,) in connection.execute(query, (kind,)).fetchmany(_MAX_REPORTS) if kind else ():
                wanted = "mapping" if kind == _MAPPING else "list"
                reports.append(f"column {column} of row {row} of table {table} is not a {wanted}")
    return reports


def unreadable(path: str) -> list[str]:
    """Report the columns with documents that cannot be read in an engine file of the latest schema."""
    reports = []
    with access.reading(path) as connection:
        for table, columns in _DOCUMENTS.items():
            for column in columns:
                suspect = f'WHERE "{column}" IS NOT NULL AND NOT json_valid("{column}")'
                query = f'SELECT "{column}" FROM {table} {suspect}'  # noqa: S608 - our own names
                if broken := sum(not _is_document(text) for (text,) in connection.execute(query)):
                    where = f"column {column} of table {table}"
                    reports.append(f"{broken} of the values in {where} cannot be read as documents")
        return reports + misshapen(connection)


def _is_document(text: object) -> bool:
    """Whether Python can read a document that SQLite refuses, such as an infinite number."""
    try:
        decode(str(text))
    except (ValueError, RecursionError):
        return False
    return True


def used(connection: sqlite3.Connection) -> int:
    """The bytes of an engine file that are in use."""
    (pages,), (free,), (size,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
