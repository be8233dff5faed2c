"""Sequences in the store."""

from __future__ import annotations

from fuelclient.model.sequence import DeploymentSequence
from fuelclient.similar import normal
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, names

_SEQUENCES = Table("sequences", DeploymentSequence, ("id", "release_id", "name", "graph_types"), {"graph_types": names})

every, find, insert, update = _SEQUENCES.select, _SEQUENCES.find, _SEQUENCES.insert, _SEQUENCES.update
delete = _SEQUENCES.delete


def of_release(connection: Connection, release_id: int) -> list[DeploymentSequence]:
    """Return the sequences of a release by id."""
    return _SEQUENCES.select(connection, "release_id = ?", release_id)


def named(connection: Connection, release_id: int, name: str) -> DeploymentSequence | None:
    """Return the sequence of a release with this name, or None."""
    known = _SEQUENCES.select(connection, "release_id = ?", release_id)
    return next((sequence for sequence in known if normal(sequence.name) == normal(name)), None)
