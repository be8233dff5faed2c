"""Use cases of deployment facts."""

from __future__ import annotations

from collections.abc import Mapping

from fuelclient.engine.reading import environment, lookup
from fuelclient.environment.facts import NULL, default_facts, effective_facts
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.plan.fleet import MASTER
from fuelclient.serializers.values import kind
from fuelclient.store import facts as stored
from fuelclient.store import nodes
from fuelclient.store.database import Connection, Database


class Facts:
    """Deployment facts; see `backends.base.Facts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, cluster_id: int) -> DeploymentFacts:
        """The facts that were uploaded; empty when none were."""
        with self._database.read() as connection:
            lookup.cluster(connection, cluster_id)
            return stored.uploaded(connection, cluster_id)

    def default(self, cluster_id: int) -> DeploymentFacts:
        """What the environment's settings and nodes say."""
        with self._database.read() as connection:
            return default_facts(environment.read(connection, cluster_id))

    def effective(self, cluster_id: int) -> DeploymentFacts:
        """What a run would see now."""
        with self._database.read() as connection:
            return effective(connection, environment.read(connection, cluster_id))

    def put(self, cluster_id: int, facts: DeploymentFacts) -> None:
        """Store the common part and the parts of the given nodes. `NotFound` for a node of elsewhere,
        `InvalidDocument` for a part that is no mapping."""
        for name, part in (("common part", facts.common), *facts.nodes.items()):
            if not isinstance(part, Mapping):
                raise InvalidDocument(
                    f"The facts of {name} are {kind(part)}, not a mapping.", hint="Facts are names with values."
                )
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            known = [MASTER, NULL, *(str(node.id) for node in nodes.of_cluster(connection, cluster_id))]
            for uid in facts.nodes:
                if uid not in known:
                    raise NotFound("node", f"{uid} of environment {cluster_id}", known=known)
            stored.put(connection, cluster_id, facts)

    def delete(self, cluster_id: int) -> None:
        """Nothing is uploaded any more."""
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            stored.delete(connection, cluster_id)


def effective(connection: Connection, of: Environment) -> DeploymentFacts:
    """Return what a run of an environment would see now."""
    return effective_facts(default_facts(of), stored.uploaded(connection, of.cluster.id))
