"""Sequences in the store."""

from __future__ import annotations

from typing import Any

from fuelclient.model.sequence import DeploymentSequence
from fuelclient.store.database import Connection
from fuelclient.store.encoding import decode, encode

_SELECT = "SELECT id, release_id, name, graph_types FROM sequences "


def every(connection: Connection, release_id: int | None = None) -> list[DeploymentSequence]:
    """All sequences by id, or those of a release."""
    clause, values = ("", ()) if release_id is None else ("WHERE release_id = ? ", (release_id,))
    return [_sequence(row) for row in connection.execute(f"{_SELECT}{clause}ORDER BY id", values)]


def find(connection: Connection, sequence_id: int) -> DeploymentSequence | None:
    """One sequence, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (sequence_id,)).fetchone()
    return _sequence(row) if row else None


def named(connection: Connection, release_id: int, name: str) -> DeploymentSequence | None:
    """The sequence of this release and name, or None."""
    row = connection.execute(_SELECT + "WHERE release_id = ? AND name = ?", (release_id, name)).fetchone()
    return _sequence(row) if row else None


def insert(connection: Connection, sequence: DeploymentSequence) -> int:
    """Store a sequence under a new id; the id."""
    cursor = connection.execute(
        "INSERT INTO sequences (release_id, name, graph_types) VALUES (?, ?, ?)",
        (sequence.release_id, sequence.name, encode(list(sequence.graph_types))),
    )
    return int(cursor.lastrowid or 0)


def update(connection: Connection, sequence: DeploymentSequence) -> None:
    """Store what changed of a sequence."""
    connection.execute(
        "UPDATE sequences SET name = ?, graph_types = ? WHERE id = ?",
        (sequence.name, encode(list(sequence.graph_types)), sequence.id),
    )


def delete(connection: Connection, sequence_id: int) -> None:
    """Remove a sequence."""
    connection.execute("DELETE FROM sequences WHERE id = ?", (sequence_id,))


def _sequence(row: tuple[Any, ...]) -> DeploymentSequence:
    return DeploymentSequence(row[0], row[1], row[2], tuple(decode(row[3])))
