"""Create, change and delete sequences of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import lookup
from fuelclient.environment.checks import require_name, require_sequence, require_sequence_change
from fuelclient.errors import Conflict, NotFound
from fuelclient.graph.validate import require_type
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.store.database import Connection
from fuelclient.store.inventory import sequences


class Sequences(Facet):
    """Sequences of graphs; see `backends.base.Sequences`."""

    @reads
    def list(
        self, connection: Connection, *, release_id: int | None = None, cluster_id: int | None = None
    ) -> Sequence[DeploymentSequence]:
        if cluster_id is not None:
            own = lookup.cluster(connection, cluster_id).release_id
            if release_id not in (None, own):
                return []
            release_id = own
        elif release_id is not None:
            lookup.release(connection, release_id)
        return sequences.every(connection, release_id=release_id)

    @reads
    def get(self, connection: Connection, sequence_id: int) -> DeploymentSequence:
        return _existing(connection, sequence_id)

    @reads
    def for_cluster(self, connection: Connection, sequence_id: int, cluster_id: int) -> DeploymentSequence:
        sequence = _existing(connection, sequence_id)
        release_id = lookup.cluster(connection, cluster_id).release_id
        if sequence.release_id != release_id:
            raise NotFound(
                "sequence", f"{sequence.id} for environment {cluster_id}",
                hint=f"It belongs to release {sequence.release_id}, and the environment to release {release_id}.",
            )  # fmt: skip
        return sequence

    def create(self, release_id: int, name: str, graph_types: Sequence[str]) -> DeploymentSequence:
        """Names have to be unique within a release."""
        require_name("sequence", name)
        _require(name, graph_types)
        with self._database.write() as connection:
            lookup.release(connection, release_id)
            _require_free(connection, release_id, name)
            wanted = DeploymentSequence(0, release_id, name, tuple(graph_types))
            return replace(wanted, id=sequences.insert(connection, wanted))

    def update(
        self, sequence_id: int, *, name: str | None = None, graph_types: Sequence[str] | None = None
    ) -> DeploymentSequence:
        require_sequence_change(name, graph_types)
        with self._database.write() as connection:
            stored = _existing(connection, sequence_id)
            types = stored.graph_types if graph_types is None else tuple(graph_types)
            wanted = replace(stored, name=stored.name if name is None else name, graph_types=types)
            _require(wanted.name, wanted.graph_types)
            if wanted.name != stored.name:
                require_name("sequence", wanted.name)
                _require_free(connection, stored.release_id, wanted.name)
            sequences.update(connection, wanted)
            return wanted

    @writes
    def delete(self, connection: Connection, sequence_id: int) -> None:
        sequences.delete(connection, _existing(connection, sequence_id).id)


def _existing(connection: Connection, sequence_id: int) -> DeploymentSequence:
    return lookup.existing(connection, "sequence", sequence_id, sequences)


def _require(name: str, graph_types: Sequence[str]) -> None:
    require_sequence(name, graph_types)
    for graph_type in graph_types:
        require_type(graph_type)


def _require_free(connection: Connection, release_id: int, name: str) -> None:
    if (taken := sequences.named(connection, release_id, name)) is not None:
        raise Conflict(
            f"Release {release_id} already has a sequence {name}, with id {taken.id}.", hint="Choose another name."
        )
