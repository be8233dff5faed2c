"""Examine an engine file without changing it: no lock is taken, and no schema is upgraded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass

from fuelclient.store import access, migrations
from fuelclient.store.access import translated
from fuelclient.store.rows import decode

_MOST = 5


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found in an engine file: the number of its schema, what SQLite says of damage and of rows that refer to
    nothing, and the directories of plugins, by plugin, as they are stored."""

    schema: int
    damage: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    plugins: tuple[tuple[str, str], ...] = ()

    @property
    def is_old(self) -> bool:
        """Whether the next command that writes upgrades the file."""
        return self.schema < migrations.LATEST


def schema(path: str) -> int:
    """Return the number of the schema of an engine file that exists. Raise what `examine` does."""
    access.size_of(path)
    with translated(path), closing(_opened(path)) as connection:
        return migrations.version(connection, path)


def examine(path: str) -> Examined:
    """Examine an engine file that exists.

    Raise `Unavailable` if it cannot be read, is of another program or of a later version, or is too damaged to be
    opened.
    """
    access.size_of(path)
    with translated(path), closing(_opened(path)) as connection:
        schema = migrations.version(connection, path)
        lines = [line for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST})") if line != "ok"]
        damage = tuple(lines or migrations.lacking(connection)[:_MOST])
        dangling = tuple(
            f"row {row} of {table} refers to {parent}"
            for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
        )
        if schema != migrations.LATEST or damage:
            return Examined(schema, damage, dangling)
        query = "SELECT name || ' ' || version, directory FROM plugins WHERE directory <> '' ORDER BY id"
        plugins = tuple((str(name), str(directory)) for name, directory in connection.execute(query))
        return Examined(schema, damage, dangling, plugins)


_DOCUMENTS = {
    "releases": ("metadata",),
    "clusters": ("settings", "metadata", "networks", "generated", "addresses", "copied_graphs"),
    "nodes": ("roles", "pending_roles", "primary_tags", "ssh", "attributes", "labels"),
    "plugins": ("metadata", "package"),
    "deployment_graphs": ("node_filter", "on_success", "on_error", "on_stop", "warnings"),
    "deployment_graph_tasks": (
        "version", "type", "condition", '"groups"', "tasks", "roles", "reexecute_on", "refresh_on", "required_for",
        "requires", "cross_depended_by", "cross_depends", "parameters", "_custom", "stated", "source_lines",
    ),
    "transactions": ("result", "request", "findings", "nodes", "forgotten", "definitions"),
    "history": ("summary",),
    "cluster_facts": ("body",),
    "fact_parts": ("body",),
    "sequences": ("graph_types",),
    "node_parts": ("body",),
    "leftovers": ("body",),
}  # fmt: skip
"""The columns with documents, by table."""


_SHAPES = {
    "object": {
        "releases": ("metadata",),
        "clusters": ("settings", "metadata", "generated", "addresses"),
        "nodes": ("ssh", "attributes", "labels"),
        "plugins": ("metadata", "package"),
        "transactions": ("request", "definitions"),
    },
    "array": {
        "nodes": ("roles", "pending_roles", "primary_tags"),
        "transactions": ("nodes", "forgotten", "findings"),
        "sequences": ("graph_types",),
    },
}
"""The columns whose documents are always mappings, or always lists."""


def misshapen(connection: sqlite3.Connection) -> list[str]:
    """Return which documents of an engine file of the latest schema are mappings or lists and should be the other, or
    are neither. Rows are named by their ids."""
    found = []
    for shape, tables in _SHAPES.items():
        for table, columns in tables.items():
            for column in columns:
                query = f"SELECT id FROM {table} WHERE json_valid({column}) AND json_type({column}) <> ?"  # noqa: S608 - ours
                for (row,) in connection.execute(query, (shape,)).fetchmany(_MOST):
                    kind = "mapping" if shape == "object" else "list"
                    found.append(f"column {column} of row {row} of table {table} is not a {kind}")
    return found


def unreadable(path: str) -> list[str]:
    """Return where documents cannot be read in an engine file of the latest schema."""
    found = []
    with translated(path), closing(_opened(path)) as connection:
        for table, columns in _DOCUMENTS.items():
            for column in columns:
                suspect = f"WHERE {column} IS NOT NULL AND NOT json_valid({column})"
                query = f"SELECT {column} FROM {table} {suspect}"  # noqa: S608 - our own names
                broken = sum(not _is_document(text) for (text,) in connection.execute(query))
                if broken:
                    found.append(
                        f"{broken} of the values in column {column} of table {table} cannot be read as documents"
                    )
        return found + misshapen(connection)


def _is_document(text: object) -> bool:
    """Return whether we can read what SQLite does not take for a document, such as an infinite number."""
    try:
        decode(str(text))
    except (ValueError, RecursionError):
        return False
    return True


def used(connection: sqlite3.Connection) -> int:
    """Return how many bytes of an engine file are in use."""
    (pages,), (free,), (size,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _opened(path: str) -> sqlite3.Connection:
    # Only a file that no process writes may be read as immutable. A write-ahead log must be read, too, by its index.
    mode = "ro&immutable=1" if access.is_read_only(path) and access.is_quiet(path) else "ro"
    connection: sqlite3.Connection = access.opened(path, mode, isolation_level=None)
    return connection
