"""Releases in the store."""

from __future__ import annotations

from typing import Any

from fuelclient.model.release import Release
from fuelclient.store import rows
from fuelclient.store.database import Connection
from fuelclient.store.rows import encoded_or_null, insert_row, mapping, update_row

_SELECT = "SELECT id, name, version, operating_system, state, description, metadata, plugin_id FROM releases "


def every(connection: Connection) -> list[Release]:
    """Return all releases by id."""
    return [_release(row) for row in connection.execute(_SELECT + "ORDER BY id")]


def find(connection: Connection, release_id: int) -> Release | None:
    """Return a release, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (release_id,)).fetchone()
    return _release(row) if row else None


def named(connection: Connection, name: str, version: str) -> int | None:
    """Return the id of the release with this name and version, or None."""
    row = connection.execute("SELECT id FROM releases WHERE name = ? AND version = ?", (name, version)).fetchone()
    return int(row[0]) if row else None


def ids(connection: Connection) -> list[int]:
    """Return all ids in ascending order."""
    return rows.ids(connection, "releases")


def insert(connection: Connection, release: Release) -> int:
    """Store a release under its id, or under a new one if that is 0, and return the id."""
    return insert_row(connection, "releases", {"id": release.id or None, **_row(release)})


def update(connection: Connection, release: Release) -> None:
    """Store all fields of a release."""
    update_row(connection, "releases", release.id, _row(release))


def of_plugin(connection: Connection, plugin_id: int) -> list[Release]:
    """Return the releases that a plugin defines, by id."""
    return [_release(row) for row in connection.execute(_SELECT + "WHERE plugin_id = ? ORDER BY id", (plugin_id,))]


def delete(connection: Connection, release_id: int) -> None:
    """Remove a release with its graphs."""
    connection.execute("DELETE FROM releases WHERE id = ?", (release_id,))


def _release(row: tuple[Any, ...]) -> Release:
    values = (*row[:6], mapping(row[6]), row[7])
    return Release(*values)


def _row(release: Release) -> dict[str, Any]:
    return {
        "name": release.name,
        "version": release.version,
        "operating_system": release.operating_system,
        "state": release.state,
        "description": release.description,
        "metadata": encoded_or_null(release.metadata),
        "plugin_id": release.plugin_id,
    }
