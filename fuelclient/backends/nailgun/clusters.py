"""Environments of a master."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.http.errors import About
from fuelclient.backends.http.session import Session
from fuelclient.backends.nailgun.nodes import Nodes
from fuelclient.backends.nailgun.settings import attributes_path, settings_of
from fuelclient.environment.checks import require_deletable, require_nodes_in
from fuelclient.environment.settings import EDITABLE, sections_from
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.serializers.answer import objects
from fuelclient.serializers.cluster import cluster_from
from fuelclient.support import refuses, unsupported

_FORCE = "Use --force to change settings of a deployed environment."


class Clusters:
    """Environments; see `base.Clusters`."""

    def __init__(self, session: Session, nodes: Nodes) -> None:
        self._session = session
        self._nodes = nodes

    def list(self) -> Sequence[Cluster]:
        records = objects(self._session.get("clusters/"), "environment")
        return sorted(map(cluster_from, records), key=lambda cluster: cluster.id)

    def get(self, cluster_id: int) -> Cluster:
        return cluster_from(self._session.get(_path(cluster_id), _about(cluster_id)))

    def create(self, name: str, release_id: int, *, net_segment_type: str = "vlan") -> Cluster:
        body = {
            "nodes": [], "tasks": [], "name": name, "release_id": release_id, "net_segment_type": net_segment_type,
        }  # fmt: skip
        return cluster_from(self._session.post("clusters/", body, About("release", release_id)))

    def rename(self, cluster_id: int, name: str) -> Cluster:
        return cluster_from(self._session.put(_path(cluster_id), {"name": name}, _about(cluster_id)))

    change_release = unsupported(
        "A Fuel master does not move environment {0} to another release.",
        hint="Create an environment with the other release, or try the change in a copy (`fuel2 env clone`).",
    )

    def delete(self, cluster_id: int, *, force: bool = False) -> tuple[str, ...]:
        """As `base.Clusters`. A Fuel master deletes operational environments too, so they are refused here."""
        require_deletable(self.get(cluster_id), force=force)
        self._session.delete(_path(cluster_id), _about(cluster_id))
        return ()

    def add_nodes(self, cluster_id: int, node_ids: Sequence[int], roles: Sequence[str]) -> None:
        body = [{"id": node_id, "roles": list(roles)} for node_id in node_ids]
        about = About("node", ", ".join(map(str, node_ids)), within=("environment", cluster_id))
        self._session.post(f"clusters/{cluster_id}/assignment/", body, about)

    @refuses(
        "force",
        "A Fuel master frees a deployed node only after it has deleted it.",
        hint="Leave --force out, and deploy the changes (`fuel2 env deploy`).",
    )
    def remove_nodes(self, cluster_id: int, node_ids: Sequence[int] | None, *, force: bool = False) -> Sequence[int]:  # noqa: ARG002
        self.get(cluster_id)
        present = [node.id for node in self._nodes.list(cluster_id)]
        wanted = present if node_ids is None else list(dict.fromkeys(node_ids))
        require_nodes_in(cluster_id, wanted, present)
        if wanted:
            body = [{"id": node_id} for node_id in wanted]
            self._session.post(f"clusters/{cluster_id}/unassignment/", body, _about(cluster_id))
        return wanted

    def environment(self, cluster_id: int) -> Environment:
        """As `base.Clusters`; from a Fuel master with several requests, one after another."""
        from fuelclient.backends.nailgun.environment import environment_of  # loads all that it is computed from

        return environment_of(self._session, cluster_id)

    def settings(self, cluster_id: int) -> Mapping[str, Any]:
        return settings_of(self._session, cluster_id)

    def set_settings(self, cluster_id: int, settings: Mapping[str, Any], *, force: bool = False) -> Mapping[str, Any]:
        body = {EDITABLE: sections_from(settings)}
        about = About("environment", cluster_id, invalid=InvalidDocument)
        try:
            self._session.put(attributes_path(cluster_id), body, about, force=force or None)
        except Conflict as error:
            if not force and "deployment" in error.message:
                error.hint = error.hint or _FORCE
            raise
        return self.settings(cluster_id)


def _path(cluster_id: int) -> str:
    return f"clusters/{cluster_id}/"


def _about(cluster_id: int) -> About:
    return About("environment", cluster_id)
