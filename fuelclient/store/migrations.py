"""Bring the schema of an engine file up to date, in numbered steps.

A step and its number are written together, or not at all. The number of the last step is in the file (`PRAGMA
user_version`), with a mark that distinguishes engine files from the SQLite files of other programs (`PRAGMA
application_id`). Statements run one by one, because `executescript` would commit the open transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from fuelclient.errors import Unavailable
from fuelclient.store import schema

APPLICATION_ID = 0x4655454C
"""The characters FUEL as a number, which SQLite keeps in the header of the file."""


@dataclass(frozen=True, slots=True)
class Migration:
    """A step: its number (from 1, without gaps), its purpose, and its statements."""

    number: int
    purpose: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(1, "releases, environments, nodes, plugins", schema.NOUNS),
    Migration(2, "graphs, their owners and their tasks", schema.GRAPHS),
    Migration(3, "packages of plugins, releases of plugins, settings of environments", schema.PACKAGES),
    Migration(4, "runs, history, events, facts, sequences", schema.RUNS),
    Migration(5, "roles and tags of environments, labels of nodes", schema.DESCRIPTIONS),
    Migration(6, "networks and virtual addresses of environments, disks and interfaces of nodes", schema.NETWORKS),
    Migration(7, "values that keep the facts of environments the same", schema.KEPT_FACTS),
    Migration(8, "the digests of the graphs that a copy of an environment was made from", schema.COPIED_GRAPHS),
    Migration(9, "files of deleted runs that are still to be removed", schema.LEFTOVERS),
    Migration(10, "the warnings about uploaded graph documents", schema.WARNINGS),
)
"""All steps in their order."""

LATEST = MIGRATIONS[-1].number
"""The version of the schema that this code reads and writes."""


def version(connection: sqlite3.Connection, path: str) -> int:
    """The number of the last step that was applied to `path`; 0 for an empty file.

    Raise `Unavailable` for the database of another program, or of a later version of this one.
    """
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if mark != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if mark or number or tables:
            raise Unavailable(
                f"{path} is the database of another program, not an engine file.",
                hint="Name another file with --engine or FUEL_ENGINE.",
            )
    if number > LATEST:
        raise Unavailable(
            f"Engine file {path} was written by a later version of fuel2: its schema is {number}, "
            f"this one knows schemas up to {LATEST}.",
            hint="Upgrade fuelclient, or name another file with --engine or FUEL_ENGINE.",
        )
    return int(number)


def migrate(connection: sqlite3.Connection, path: str, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply the steps that the file lacks. A step that fails raises its error and changes nothing."""
    applied = version(connection, path)
    for step in steps:
        if step.number > applied:
            connection.execute("BEGIN IMMEDIATE")
            try:
                for statement in step.statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {step.number:d}")
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise


def lacking(connection: sqlite3.Connection) -> list[str]:
    """Report columns, views, indices and triggers that a file with the number of the latest schema lacks.

    SQLite does not notice damage to their names.
    """
    if connection.execute("PRAGMA user_version").fetchone() != (LATEST,):
        return []
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as intact:
        migrate(intact, ":memory:")
        expected = _parts(intact)
    return sorted(f"{part[0]} is missing or damaged" for part in expected - _parts(connection))


def _parts(connection: sqlite3.Connection) -> set[tuple[str, ...]]:
    """The columns, and the other parts of the schema with their SQL. The SQL of tables depends on their history."""
    columns = (
        "SELECT 'column ' || c.name || ' of table ' || m.name FROM sqlite_master m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table'"
    )
    others = "SELECT type || ' ' || name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"
    return {*connection.execute(columns), *connection.execute(others)}
