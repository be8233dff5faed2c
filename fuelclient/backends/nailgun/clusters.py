"""Environments of a master."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.http.answers import About
from fuelclient.backends.nailgun.facet import ATTRIBUTES, Facet, by_id, resource
from fuelclient.environment.checks import require_deletable, require_name
from fuelclient.environment.settings import EDITABLE, sections_from
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.plan.fleet import require_nodes_in
from fuelclient.printing import ids_text
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.cluster import cluster_from
from fuelclient.support import refuses, unsupported


class Clusters(Facet):
    def list(self) -> Sequence[Cluster]:
        return by_id(cluster_from, self._session.get("clusters/"), "environment")

    def get(self, cluster_id: int) -> Cluster:
        return cluster_from(self._at(cluster_id).get())

    def create(self, name: str, release_id: int, *, net_segment_type: str = "vlan") -> Cluster:
        require_name("environment", name)
        body = {
            "nodes": [], "tasks": [], "name": name, "release_id": release_id, "net_segment_type": net_segment_type,
        }  # fmt: skip
        return cluster_from(self._session.post("clusters/", About("release", release_id), body))

    def rename(self, cluster_id: int, name: str) -> Cluster:
        require_name("environment", name)
        return cluster_from(self._at(cluster_id).put({"name": name}))

    change_release = unsupported(
        "A Fuel master does not move environment {0} to another release.",
        hint="Create an environment with the other release, or try the change in a copy (`fuel2 env clone`).",
    )

    def delete(self, cluster_id: int, *, force: bool = False) -> tuple[str, ...]:
        """Refuse operational environments here, because a master would delete them."""
        require_deletable(self.get(cluster_id), force=force)
        self._at(cluster_id).delete()
        return ()

    def add_nodes(self, cluster_id: int, node_ids: Sequence[int], roles: Sequence[str]) -> None:
        body = [{"id": node_id, "roles": list(roles)} for node_id in node_ids]
        about = About("node", ids_text(node_ids), within=("environment", cluster_id))
        self._session.post(f"clusters/{cluster_id}/assignment/", about, body)

    @refuses(
        "force",
        "A Fuel master frees a deployed node only after it has deleted it.",
        hint="Leave --force out, and deploy the changes (`fuel2 env deploy`).",
    )
    def remove_nodes(self, cluster_id: int, node_ids: Sequence[int] | None, *, force: bool = False) -> Sequence[int]:  # noqa: ARG002
        self.get(cluster_id)
        present = [node.id for node in self._master.nodes.list(cluster_id)]
        wanted = present if node_ids is None else list(dict.fromkeys(node_ids))
        require_nodes_in(cluster_id, wanted, present)
        if wanted:
            self._at(cluster_id, "unassignment/").post([{"id": node_id} for node_id in wanted])
        return wanted

    def environment(self, cluster_id: int) -> Environment:
        """Read the environment with several requests, between which it may change."""
        from fuelclient.backends.nailgun.environment import environment_of  # it imports many modules

        return environment_of(self._master, cluster_id)

    def settings(self, cluster_id: int) -> Mapping[str, Any]:
        return Answer(self._at(cluster_id, ATTRIBUTES).get(), "environment's attributes").mapping(EDITABLE)

    def set_settings(self, cluster_id: int, settings: Mapping[str, Any], *, force: bool = False) -> Mapping[str, Any]:
        body = {EDITABLE: sections_from(settings)}
        attributes = resource(self._session, "environment", cluster_id, ATTRIBUTES, invalid=InvalidDocument)
        try:
            attributes.put(body, force=force or None)
        except Conflict as error:
            if not force and "deployment" in error.message:
                error.hint = error.hint or "Use --force to change settings of a deployed environment."
            raise
        return self.settings(cluster_id)
