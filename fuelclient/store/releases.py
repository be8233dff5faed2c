"""Releases in the store."""

from __future__ import annotations

from fuelclient.model.release import Release
from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, columns_of, mapping, one

_RELEASES = Table("releases", Release, columns_of(Release), {"metadata": mapping})

every, find, ids = _RELEASES.select, _RELEASES.find, _RELEASES.ids
insert, update = _RELEASES.insert, _RELEASES.update
delete = _RELEASES.delete
"""Removes a release with its graphs."""


def named(connection: Connection, name: str, version: str) -> int | None:
    """Return the id of the release with this name and version, or None."""
    found: int | None = one(connection, "SELECT id FROM releases WHERE name = ? AND version = ?", name, version)
    return found


def of_plugin(connection: Connection, plugin_id: int) -> list[Release]:
    """Return the releases that a plugin defines, by id."""
    return _RELEASES.select(connection, "plugin_id = ?", plugin_id)
