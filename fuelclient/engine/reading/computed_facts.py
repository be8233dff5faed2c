"""The facts that runs on an environment see, and what they need to stay the same from run to run."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.engine.reading import environment
from fuelclient.errors import Unavailable
from fuelclient.facts.compute import Computed, computed, kept_of
from fuelclient.facts.given import Given
from fuelclient.facts.uploaded import effective_facts
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.store import facts as stored
from fuelclient.store.database import Connection, Database


def settle(database: Database, cluster_id: int) -> None:
    """Choose and store what the facts of an environment need to stay the same: secrets, addresses, virtual addresses.

    Do nothing if all of it is stored. If the engine file cannot be written, facts are computed all the same: equal ones
    until something changes.
    """
    from fuelclient.engine.reading import generators  # most environments have all their values

    with database.read() as connection:
        target, given = _inputs(connection, cluster_id)
        if not generators.are_missing(target, given.kept) and kept_of(target, given) == given.kept:
            return
    try:
        with database.write() as connection:
            generators.evaluate(connection, cluster_id)
            target, given = _inputs(connection, cluster_id)
            stored.put_kept(connection, cluster_id, kept_of(target, given))
    except Unavailable:
        return  # a plan or a preview of a file that may only be read; a run needs to write and says so itself


def _inputs(connection: Connection, cluster_id: int) -> tuple[Environment, Given]:
    return environment.read(connection, cluster_id), Given(stored.kept(connection, cluster_id))


def computed_now(connection: Connection, target: Environment, participants: Sequence[int] = ()) -> Computed:
    """Return the facts that follow from an environment for a run on `participants` (empty: all nodes)."""
    return computed(target, Given(stored.kept(connection, target.cluster.id)), tuple(participants))


def effective(connection: Connection, target: Environment, default: Computed) -> DeploymentFacts:
    """Return the computed facts of an environment, overridden by the uploaded ones."""
    return effective_facts(default.facts, stored.uploaded(connection, target.cluster.id))
