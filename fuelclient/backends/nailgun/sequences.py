"""Sequences of graphs on a master."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.backends.http.errors import About
from fuelclient.backends.nailgun.facet import Facet, by_id
from fuelclient.environment.checks import require_sequence, require_sequence_change
from fuelclient.errors import NotFound
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.serializers.sequence import sequence_from


class Sequences(Facet):
    """Sequences; see `base.Sequences`."""

    noun = "sequence"

    def list(self, *, release_id: int | None = None, cluster_id: int | None = None) -> Sequence[DeploymentSequence]:
        about = About("release", release_id) if cluster_id is None else About("environment", cluster_id)
        query = {"cluster": cluster_id} if cluster_id is not None else {"release": release_id}
        sequences = by_id(sequence_from, self._session.get("sequences/", about, **query), "sequence")
        return [sequence for sequence in sequences if release_id in (None, sequence.release_id)]

    def get(self, sequence_id: int) -> DeploymentSequence:
        return sequence_from(self._at(sequence_id).get())

    def for_cluster(self, sequence_id: int, cluster_id: int) -> DeploymentSequence:
        for sequence in self.list(cluster_id=cluster_id):
            if sequence.id == sequence_id:
                return sequence
        other = self.get(sequence_id)
        raise NotFound(
            "sequence", f"{other.id} for environment {cluster_id}",
            hint=f"It belongs to release {other.release_id}, and the environment to another.",
        )  # fmt: skip

    def create(self, release_id: int, name: str, graph_types: Sequence[str]) -> DeploymentSequence:
        require_sequence(name, graph_types)
        body = {"name": name, "release": release_id, "graphs": _graphs(graph_types)}
        return sequence_from(self._session.post("sequences/", body, About("release", release_id)))

    def update(
        self, sequence_id: int, *, name: str | None = None, graph_types: Sequence[str] | None = None
    ) -> DeploymentSequence:
        require_sequence_change(name, graph_types)
        stored = self.get(sequence_id)
        require_sequence(
            stored.name if name is None else name, stored.graph_types if graph_types is None else graph_types
        )
        stated = {"name": name, "graphs": None if graph_types is None else _graphs(graph_types)}
        body = {key: value for key, value in stated.items() if value is not None}
        return sequence_from(self._at(sequence_id).put(body))

    def delete(self, sequence_id: int) -> None:
        self._at(sequence_id).delete()


def _graphs(graph_types: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": graph_type} for graph_type in graph_types]
