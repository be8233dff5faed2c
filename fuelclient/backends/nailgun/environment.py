"""What an environment of a master consists of, read over its API: the release, the enabled plugins, their layers.

It is the same as the embedded engine reads from its store, so that the same merge and the same plan come of it. An API
has no transactions: what somebody changes between two requests may be in one of them and not in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.backends.nailgun import attributes
from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import NotFound
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import DEFAULT_TYPE, Graph, GraphSummary, Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, primary_tags_in, roles_in
from fuelclient.serializers.answer import objects
from fuelclient.serializers.cluster import cluster_from
from fuelclient.serializers.graph import graph_from, summary_from
from fuelclient.serializers.layer import layer_record_from
from fuelclient.serializers.plugin import plugin_from
from fuelclient.serializers.release import release_record_from

RESOURCES = {Level.RELEASE: "releases", Level.PLUGIN: "plugins", Level.CLUSTER: "clusters"}
"""The resource of each class of owners."""

NOUNS = {Level.RELEASE: "release", Level.PLUGIN: "plugin", Level.CLUSTER: "environment"}
"""What messages call them."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A cluster with what it is made of; `plugins` are the enabled ones by name and version."""

    cluster: Cluster
    release: Release
    plugins: tuple[Plugin, ...]

    @property
    def owners(self) -> tuple[Owner, ...]:
        """All owners of its graphs, least important first."""
        plugins = [owner_of_plugin(one) for one in self.plugins]
        cluster = Owner(Level.CLUSTER, self.cluster.id, self.cluster.name)
        return (owner_of_release(self.release), *sorted(plugins, key=lambda one: one.order), cluster)

    @property
    def primary_tags(self) -> frozenset[str]:
        """The tags of which one node is the primary: the release's and the plugins'."""
        found = set(primary_tags_in(self.release.metadata))
        for plugin in self.plugins:
            found |= primary_tags_in(plugin.metadata)
            for role in roles_in(plugin.metadata).values():
                if role.metadata.get("has_primary"):
                    found.update(role.tags)
        return frozenset(found)


def environment_of(session: Session, cluster_id: int) -> Environment:
    """The environment; `NotFound` when there is none."""
    cluster = cluster_from(session.get(f"clusters/{cluster_id}/", About("environment", cluster_id)))
    about = About("release", cluster.release_id)
    release = release_record_from(session.get(f"releases/{cluster.release_id}/", about))
    chosen = attributes.enabled(attributes.editable(session, cluster_id))
    known = plugins_of(session) if chosen else []
    plugins = sorted((one for one in known if one.id in chosen), key=lambda one: owner_of_plugin(one).order)
    return Environment(cluster, release, tuple(plugins))


def plugins_of(session: Session) -> list[Plugin]:
    """All plugins of a master, in the order of its answer."""
    return [plugin_from(one) for one in objects(session.get("plugins/"), "plugin")]


def graphs_of(session: Session, owner: Owner) -> dict[str, Graph]:
    """The graphs of an owner by type; `NotFound` when there is no such owner."""
    found = (graph_from(one, owner) for one in _graph_records(session, owner))
    return {graph.type: graph for graph in found}


def summaries_of(session: Session, owner: Owner) -> list[GraphSummary]:
    """What a listing needs of the graphs of an owner; `NotFound` when there is no such owner."""
    return [summary_from(one, owner) for one in _graph_records(session, owner)]


def types_of(session: Session, owner: Owner) -> list[str]:
    """The types of which an owner has a graph, sorted; `NotFound` when there is no such owner."""
    return sorted({one.type for one in summaries_of(session, owner)})


def _graph_records(session: Session, owner: Owner) -> Iterator[Any]:
    path = f"{RESOURCES[owner.level]}/{owner.id}/deployment_graphs/"
    return objects(session.get(path, About(NOUNS[owner.level], owner.id)), "graph")


def layers_of(
    session: Session, environment: Environment, graph_type: str, levels: Sequence[Level] = ()
) -> tuple[Layer, ...]:
    """The layers of one type, least important first; with `levels` those of these classes of owners only.

    `NotFound` when no layer of the environment, whatever its level, has the type.
    """
    if any(plugin.by_release for plugin in environment.plugins):
        return _told(session, environment.cluster.id, graph_type, levels)
    graphs = {owner: graphs_of(session, owner) for owner in environment.owners}
    known = {kind for by_type in graphs.values() for kind in by_type}
    if not graphs[environment.owners[0]]:
        known.add(DEFAULT_TYPE)  # as the embedded engine has it: only a release of other graphs does without
    if graph_type not in known:
        raise NotFound("graph type", graph_type, known=sorted(known))
    by_id = {plugin.id: plugin for plugin in environment.plugins}
    found = []
    for owner, by_type in graphs.items():
        graph = by_type.get(graph_type)
        if graph is None or (levels and owner.level not in levels):
            continue
        plugin = by_id[owner.id] if owner.level is Level.PLUGIN else None
        found.append(Layer(owner, graph.tasks, graph.metadata) if plugin is None else _plugin_layer(plugin, graph))
    return tuple(found)


def _told(session: Session, cluster_id: int, graph_type: str, levels: Sequence[Level]) -> tuple[Layer, ...]:
    """The layers as a server of ours has them: only that knows plugins whose graphs depend on the release."""
    about = About("graph type", graph_type, ("environment", cluster_id))
    data = session.get(f"clusters/{cluster_id}/layers/", about, graph_type=graph_type)
    found = [layer_record_from(one) for one in objects(data, "layer")]
    return tuple(one for one in found if not levels or one.owner.level in levels)


def _plugin_layer(plugin: Plugin, graph: Graph) -> Layer:
    """A plugin's layer with the defaults that Nailgun gives to plugin tasks when it merges them.

    Source: Nailgun's plugin adapters: the working directory of its tasks, and the fault tolerance of the groups
    that are named after its roles.
    """
    tolerance = {
        name: role.metadata["fault_tolerance"]
        for name, role in roles_in(plugin.metadata).items()
        if "fault_tolerance" in role.metadata
    }
    return Layer(graph.owner, graph.tasks, graph.metadata, f"/etc/fuel/plugins/{plugin.directory}/", tolerance)


def owner_of_release(release: Release) -> Owner:
    """A release as the owner of graphs."""
    return Owner(Level.RELEASE, release.id, release.name, release.version)


def owner_of_plugin(plugin: Plugin) -> Owner:
    """A plugin as the owner of graphs."""
    return Owner(Level.PLUGIN, plugin.id, plugin.name, plugin.version)
