"""Releases in the store."""

from __future__ import annotations

from typing import Any

from fuelclient.model.release import Release
from fuelclient.store.database import Connection
from fuelclient.store.encoding import encoded_or_null, mapping

_SELECT = "SELECT id, name, version, operating_system, state, description, metadata, plugin_id FROM releases "


def every(connection: Connection) -> list[Release]:
    """All releases by id."""
    return [_release(row) for row in connection.execute(_SELECT + "ORDER BY id")]


def find(connection: Connection, release_id: int) -> Release | None:
    """One release, or None."""
    row = connection.execute(_SELECT + "WHERE id = ?", (release_id,)).fetchone()
    return _release(row) if row else None


def named(connection: Connection, name: str, version: str) -> int | None:
    """The id of the release of this name and version, or None."""
    row = connection.execute("SELECT id FROM releases WHERE name = ? AND version = ?", (name, version)).fetchone()
    return int(row[0]) if row else None


def ids(connection: Connection) -> list[int]:
    """The ids there are, in rising order."""
    return [row[0] for row in connection.execute("SELECT id FROM releases ORDER BY id")]


def insert(connection: Connection, release: Release) -> int:
    """Store a release under its id, or under a new one where that is 0; the id."""
    cursor = connection.execute(
        "INSERT INTO releases (id, name, version, operating_system, state, description, metadata, plugin_id) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (release.id or None, *_columns(release)),
    )
    return int(cursor.lastrowid or 0)


def update(connection: Connection, release: Release) -> None:
    """Store what changed of a release."""
    connection.execute(
        "UPDATE releases SET name = ?, version = ?, operating_system = ?, state = ?, description = ?, metadata = ?, "
        "plugin_id = ? WHERE id = ?",
        (*_columns(release), release.id),
    )


def of_plugin(connection: Connection, plugin_id: int) -> list[Release]:
    """The releases that a plugin defines, by id."""
    return [_release(row) for row in connection.execute(_SELECT + "WHERE plugin_id = ? ORDER BY id", (plugin_id,))]


def delete(connection: Connection, release_id: int) -> None:
    """Remove a release with its graphs."""
    connection.execute("DELETE FROM releases WHERE id = ?", (release_id,))


def _release(row: tuple[Any, ...]) -> Release:
    values = (*row[:6], mapping(row[6]), row[7])
    return Release(*values)


def _columns(release: Release) -> tuple[Any, ...]:
    return (
        release.name,
        release.version,
        release.operating_system,
        release.state,
        release.description,
        encoded_or_null(release.metadata),
        release.plugin_id,
    )
