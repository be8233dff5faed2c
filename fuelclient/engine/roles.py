"""Use cases of roles."""

from __future__ import annotations

from collections.abc import Mapping

from fuelclient.engine import environment, lookup
from fuelclient.model.release import Role, roles_in
from fuelclient.serializers.release_parts import sound
from fuelclient.store.database import Database


class Roles:
    """Roles; see `backends.base.Roles`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_release(self, release_id: int) -> Mapping[str, Role]:
        """The roles of a release, in its order; `NotFound` when there is none."""
        with self._database.read() as connection:
            return roles_in(sound(lookup.release(connection, release_id).metadata))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Role]:
        """The roles of an environment: its release's, then its enabled plugins'."""
        with self._database.read() as connection:
            return environment.read(connection, cluster_id).roles
