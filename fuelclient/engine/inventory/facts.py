"""Read and change the deployment facts of environments."""

from __future__ import annotations

from collections.abc import Mapping

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup
from fuelclient.engine.reading.computed_facts import computed_now, effective, keep_primaries, store_kept_values
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.facts.given import NULL, by_node
from fuelclient.model.fact import DeploymentFacts, uid_of
from fuelclient.plan.fleet import MASTER
from fuelclient.serializers.values import in_words
from fuelclient.store import facts as stored
from fuelclient.store.database import Connection
from fuelclient.store.inventory import nodes


class Facts(Facet):
    """Deployment facts; see `backends.base.Facts`."""

    @reads
    def get(self, connection: Connection, cluster_id: int) -> DeploymentFacts:
        lookup.cluster(connection, cluster_id)
        return stored.uploaded(connection, cluster_id)

    def default(self, cluster_id: int) -> DeploymentFacts:
        """Compute the facts from the release, settings, networks and nodes of the environment."""
        self._store_kept_values(cluster_id)
        with self._database.read() as connection:
            return computed_now(connection, environment.read(connection, cluster_id)).facts

    def effective(self, cluster_id: int) -> DeploymentFacts:
        self._store_kept_values(cluster_id)
        with self._database.read() as connection:
            target = environment.read(connection, cluster_id)
            return effective(connection, target, computed_now(connection, target))

    def _store_kept_values(self, cluster_id: int) -> None:
        if not self._database.is_reading:
            store_kept_values(self._database, cluster_id)

    def put(self, cluster_id: int, facts: DeploymentFacts) -> None:
        """Store the current primary nodes too, since the facts name them. Raise `InvalidDocument` if a part is not a
        mapping."""
        for name, part in (("common part", facts.common), *facts.nodes.items()):
            if not isinstance(part, Mapping):
                raise InvalidDocument(
                    f"The facts of {name} are {in_words(part)}, not a mapping.",
                    hint="Write facts as names with values.",
                )
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            known = [MASTER, NULL, *(str(node.id) for node in nodes.every(connection, cluster_id=cluster_id))]
            for name, part in facts.nodes.items():
                has_role_prefix = part.get("role") == name.rpartition("_")[0]  # otherwise the whole name is a uid
                if (uid_of(name) if has_role_prefix else name) not in known:
                    raise NotFound("node", f"{name} of environment {cluster_id}", known=known)
            stored.put(connection, cluster_id, by_node(facts))
            keep_primaries(connection, cluster_id)

    @writes
    def delete(self, connection: Connection, cluster_id: int) -> None:
        lookup.cluster(connection, cluster_id)
        stored.delete(connection, cluster_id)
