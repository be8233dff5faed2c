"""Sequences of graphs on a master."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import NotFound, UsageError
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.serializers.answer import objects
from fuelclient.serializers.sequence import sequence_from


class Sequences:
    """Sequences; see `base.Sequences`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, release_id: int | None = None, cluster_id: int | None = None) -> Sequence[DeploymentSequence]:
        about = About("release", release_id) if cluster_id is None else About("environment", cluster_id)
        query = {"cluster": cluster_id} if cluster_id is not None else {"release": release_id}
        found = (sequence_from(one) for one in objects(self._session.get("sequences/", about, **query), "sequence"))
        kept = [one for one in found if release_id in (None, one.release_id)]
        return sorted(kept, key=lambda one: one.id)

    def get(self, sequence_id: int) -> DeploymentSequence:
        return sequence_from(self._session.get(_path(sequence_id), _about(sequence_id)))

    def for_cluster(self, sequence_id: int, cluster_id: int) -> DeploymentSequence:
        found = self.get(sequence_id)
        if found.id not in [one.id for one in self.list(cluster_id=cluster_id)]:
            raise NotFound(
                "sequence", f"{found.id} for environment {cluster_id}",
                hint=f"It belongs to release {found.release_id}, and the environment to another.",
            )  # fmt: skip
        return found

    def create(self, release_id: int, name: str, graph_types: Sequence[str]) -> DeploymentSequence:
        _require(name, graph_types)
        body = {"name": name, "release": release_id, "graphs": _graphs(graph_types)}
        return sequence_from(self._session.post("sequences/", body, About("release", release_id)))

    def update(
        self, sequence_id: int, *, name: str | None = None, graph_types: Sequence[str] | None = None
    ) -> DeploymentSequence:
        if name is None and graph_types is None:
            raise UsageError("Nothing to update.", hint="Give the sequence a name, graph types, or both.")
        found = self.get(sequence_id)
        wanted_name = found.name if name is None else name
        wanted_types = found.graph_types if graph_types is None else graph_types
        _require(wanted_name, wanted_types)
        body: dict[str, Any] = {}
        if name is not None:
            body["name"] = name
        if graph_types is not None:
            body["graphs"] = _graphs(graph_types)
        return sequence_from(self._session.put(_path(sequence_id), body, _about(sequence_id)))

    def delete(self, sequence_id: int) -> None:
        self._session.delete(_path(sequence_id), _about(sequence_id))


def _require(name: str, graph_types: Sequence[str]) -> None:
    if not name.strip():
        raise UsageError("A sequence needs a name.", hint="Choose one that its release does not have yet.")
    if not graph_types:
        raise UsageError(f"Sequence {name} needs at least one graph type.", hint="List them in their order.")


def _graphs(graph_types: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": one} for one in graph_types]


def _path(sequence_id: int) -> str:
    return f"sequences/{sequence_id}/"


def _about(sequence_id: int) -> About:
    return About("sequence", sequence_id)
