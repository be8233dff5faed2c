"""Sequences in the store."""

from __future__ import annotations

from typing import Any

from fuelclient.model.sequence import DeploymentSequence
from fuelclient.store.database import Connection
from fuelclient.store.rows import decode, encode, insert_row, update_row

_SELECT = "SELECT id, release_id, name, graph_types FROM sequences "


def every(connection: Connection, release_id: int | None = None) -> list[DeploymentSequence]:
    """Return all sequences by id, or those of a release."""
    clause, values = ("", ()) if release_id is None else ("WHERE release_id = ? ", (release_id,))
    return [_sequence(row) for row in connection.execute(f"{_SELECT}{clause}ORDER BY id", values)]


def find(connection: Connection, sequence_id: int) -> DeploymentSequence | None:
    """Return a sequence, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (sequence_id,)).fetchone()
    return _sequence(row) if row else None


def named(connection: Connection, release_id: int, name: str) -> DeploymentSequence | None:
    """Return the sequence of a release with this name, or None."""
    row = connection.execute(_SELECT + "WHERE release_id = ? AND name = ?", (release_id, name)).fetchone()
    return _sequence(row) if row else None


def insert(connection: Connection, sequence: DeploymentSequence) -> int:
    """Store a sequence under a new id, and return the id."""
    return insert_row(connection, "sequences", {"release_id": sequence.release_id, **_row(sequence)})


def update(connection: Connection, sequence: DeploymentSequence) -> None:
    """Store the name and the graph types of a sequence."""
    update_row(connection, "sequences", sequence.id, _row(sequence))


def delete(connection: Connection, sequence_id: int) -> None:
    """Remove a sequence."""
    connection.execute("DELETE FROM sequences WHERE id = ?", (sequence_id,))


def _row(sequence: DeploymentSequence) -> dict[str, Any]:
    return {"name": sequence.name, "graph_types": encode(list(sequence.graph_types))}


def _sequence(row: tuple[Any, ...]) -> DeploymentSequence:
    return DeploymentSequence(row[0], row[1], row[2], tuple(decode(row[3])))
