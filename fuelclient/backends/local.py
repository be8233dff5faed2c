"""The local backend: the embedded engine behind the boundary.

The engine's facets are the boundary's own, but for graphs, roles and tags: what names an owner there, and what an
upload returns, are values of the boundary, which stands above the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from fuelclient.backends import base
from fuelclient.backends.base import OwnerRef, Uploaded
from fuelclient.engine import Engine
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.version import SPOKEN, FuelVersion

if TYPE_CHECKING:
    from fuelclient.engine.inventory.roles import Roles
    from fuelclient.engine.inventory.tags import Tags
    from fuelclient.engine.reading.graphs import Graphs
    from fuelclient.model.finding import Finding
    from fuelclient.model.graph import Graph, GraphDocument, GraphSummary, Level, MergedGraph, Owner
    from fuelclient.model.release import Role, Tag
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.model.task import Task


class LocalBackend:
    """A backend over one engine file; see `base.Backend`. Its facets are imported when they are first asked for."""

    def __init__(self, path: str) -> None:
        self._engine = Engine(path)
        self.target = path

    @property
    def releases(self) -> base.Releases:
        return self._engine.releases

    @property
    def clusters(self) -> base.Clusters:
        return self._engine.clusters

    @property
    def nodes(self) -> base.Nodes:
        return self._engine.nodes

    @cached_property
    def roles(self) -> LocalRoles:
        return LocalRoles(self._engine.roles)

    @cached_property
    def tags(self) -> LocalTags:
        return LocalTags(self._engine.tags)

    @property
    def plugins(self) -> base.Plugins:
        return self._engine.plugins

    @cached_property
    def graphs(self) -> LocalGraphs:
        return LocalGraphs(self._engine.graphs)

    @property
    def facts(self) -> base.Facts:
        return self._engine.facts

    @property
    def sequences(self) -> base.Sequences:
        return self._engine.sequences

    @property
    def runs(self) -> base.Runs:
        return self._engine.runs

    def version(self) -> FuelVersion:
        """What the engine speaks: the API that its server has."""
        return SPOKEN

    def close(self) -> None:
        """Let go of the engine file."""
        self._engine.close()


class LocalGraphs:
    """Graphs of the engine; see `base.Graphs`."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs

    def list(self, cluster_id: int | None = None, levels: Sequence[Level] = ()) -> Sequence[GraphSummary]:
        return self._graphs.list(cluster_id, levels)

    def get(self, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        return self._graphs.get(owner.level, owner.id, graph_type)

    def layers(self, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE) -> MergedGraph:
        return self._graphs.layers(cluster_id, levels, graph_type)

    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Sequence[Task]:
        return [one.task for one in self._graphs.layers(cluster_id, (), graph_type).tasks]

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        stored = self._graphs.upload(owner.level, owner.id, document, graph_type)
        return Uploaded(stored.graph, stored.created, stored.findings)

    def delete(self, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        return self._graphs.delete(owner.level, owner.id, graph_type)

    def owner(self, owner: OwnerRef) -> Owner:
        return self._graphs.owner(owner.level, owner.id)

    def snapshot(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        return self._graphs.snapshot(cluster_id, graph_type)


class LocalRoles:
    """Roles of the engine; see `base.Roles`."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles

    def of_release(self, release_id: int) -> Mapping[str, Role]:
        return self._roles.of_release(release_id)

    def of_cluster(self, cluster_id: int) -> Mapping[str, Role]:
        return self._roles.of_cluster(cluster_id)

    def create(self, owner: OwnerRef, role: Role) -> Role:
        return self._roles.create(owner.level, owner.id, role)

    def update(self, owner: OwnerRef, role: Role) -> Role:
        return self._roles.update(owner.level, owner.id, role)

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._roles.delete(owner.level, owner.id, name)


class LocalTags:
    """Tags of the engine; see `base.Tags`."""

    def __init__(self, tags: Tags) -> None:
        self._tags = tags

    def of_release(self, release_id: int) -> Mapping[str, Tag]:
        return self._tags.of_release(release_id)

    def of_cluster(self, cluster_id: int) -> Mapping[str, Tag]:
        return self._tags.of_cluster(cluster_id)

    def create(self, owner: OwnerRef, tag: Tag) -> Tag:
        return self._tags.create(owner.level, owner.id, tag)

    def update(self, owner: OwnerRef, tag: Tag) -> Tag:
        return self._tags.update(owner.level, owner.id, tag)

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._tags.delete(owner.level, owner.id, name)
