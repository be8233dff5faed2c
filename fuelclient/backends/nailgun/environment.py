"""Read environments of a master with their parts: release, plugins, nodes, settings and graphs.

This takes several requests; a change between two of them may be seen by the later one only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fuelclient.backends.nailgun.facet import NOUNS, Master, resource
from fuelclient.backends.nailgun.plugins import enabled_plugins, plugin_metadata
from fuelclient.environment import settings
from fuelclient.environment.layers import graph_types, layer, require_graph_type
from fuelclient.environment.roles import in_merge_order, owners, plugin_owner, roles, tags
from fuelclient.errors import NotFound, Unsupported
from fuelclient.model.environment import Environment
from fuelclient.model.graph import Graph, GraphSummary, Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Tag
from fuelclient.serializers.answer import objects
from fuelclient.serializers.graph import graph_from, summary_from


def environment_of(master: Master, cluster_id: int) -> Environment:
    """Raise `NotFound` if it does not exist."""
    environment, stored = _members(master, cluster_id)
    enabled = {plugin.name for plugin in environment.plugins}
    # a master also has the sections of plugins that it only offers
    own = {name: section for name, section in stored.items() if name in enabled or not plugin_metadata(section)}
    return replace(
        environment,
        nodes=tuple(master.nodes.list(cluster_id)),
        own_settings=settings.own_from(own, environment),
        own_metadata=_own_metadata(master, environment),
        unique_tasks=True,
        feature_groups=master.version().feature_groups,
    )


def environment_with_plugins(master: Master, cluster_id: int) -> Environment:
    """The environment with only its release and plugins, which is enough to find the owners of its graphs."""
    return _members(master, cluster_id)[0]


def owners_of(master: Master, cluster_id: int, levels: Sequence[Level] = ()) -> list[Owner]:
    """The owners of an environment's graphs, or those of `levels`, least important first.

    Only plugins have names, and only what `levels` need is read. Raise `NotFound` if the environment does not exist; if
    `levels` is only CLUSTER, nothing is read, and a missing environment is noticed only when its graphs are read.
    """
    selected = []
    if not levels or Level.RELEASE in levels:
        selected.append(Owner(Level.RELEASE, master.clusters.get(cluster_id).release_id))
    if not levels or Level.PLUGIN in levels:
        selected += [plugin_owner(plugin) for plugin in _enabled(master, master.clusters.settings(cluster_id))]
    if not levels or Level.CLUSTER in levels:
        selected.append(Owner(Level.CLUSTER, cluster_id))
    return selected


def graphs_of(master: Master, owner: Owner) -> dict[str, Graph]:
    """The graphs of an owner by type. Raise `NotFound` if the owner does not exist."""
    return {graph.type: graph for graph in (graph_from(record, owner) for record in _graph_records(master, owner))}


def summaries_of(master: Master, owner: Owner) -> list[GraphSummary]:
    """Raise `NotFound` if the owner does not exist."""
    return [summary_from(record, owner) for record in _graph_records(master, owner)]


def types_of(master: Master, owner: Owner) -> list[str]:
    """The types of an owner's graphs, sorted. Raise `NotFound` if the owner does not exist."""
    return sorted({graph.type for graph in summaries_of(master, owner)})


def layers_of(
    master: Master, environment: Environment, graph_type: str, levels: Sequence[Level] = ()
) -> tuple[Layer, ...]:
    """The layers of one type, least important first; with `levels` only those of these levels.

    Raise `NotFound` if no layer of the environment has the type, not even one of another level.
    """
    release, *others = owners(environment)
    graphs = {owner: graphs_of(master, owner) for owner in (release, *others)}
    types = graph_types({name for each in graphs.values() for name in each}, release_has_graphs=bool(graphs[release]))
    require_graph_type(graph_type, types, environment.cluster.id)
    return tuple(
        layer(environment, owner, by_type[graph_type])
        for owner, by_type in graphs.items()
        if graph_type in by_type and (not levels or owner.level in levels)
    )


def _members(master: Master, cluster_id: int) -> tuple[Environment, Mapping[str, Any]]:
    """The environment with its release and its plugins, and its settings in the form of the master."""
    cluster = master.clusters.get(cluster_id)
    release = master.releases.get(cluster.release_id)
    stored = master.clusters.settings(cluster_id)
    return Environment(cluster, release, _enabled(master, stored)), stored


def _enabled(master: Master, stored: Mapping[str, Any]) -> tuple[Plugin, ...]:
    """The plugins that the settings of an environment enable, in the order of their layers."""
    selected = enabled_plugins(stored)
    return in_merge_order(plugin for plugin in (master.plugins.list() if selected else ()) if plugin.id in selected)


def _own_metadata(master: Master, environment: Environment) -> dict[str, Any]:
    """The roles and tags that an environment has besides those of its release and its plugins."""
    cluster_id, known_roles, known_tags = environment.cluster.id, roles(environment), tags(environment)
    own_roles = [role for name, role in master.roles.of_cluster(cluster_id).items() if name not in known_roles]
    own_tags: dict[str, Any] = {}
    with suppress(NotFound, Unsupported):  # masters before Fuel 10 have no tags, and no such path
        for name, tag in master.tags.of_cluster(cluster_id).items():
            if name not in known_tags or _is_primary(tag) != _is_primary(known_tags[name]):
                own_tags[name] = tag.metadata
    volumes = {role.name: list(role.volumes) for role in own_roles if role.volumes}
    metadata = {
        "roles_metadata": {role.name: {**role.metadata, "tags": list(role.tags)} for role in own_roles},
        "volumes_metadata": {"volumes_roles_mapping": volumes} if volumes else {},
        "tags_metadata": own_tags,
    }
    return {name: section for name, section in metadata.items() if section}


def _is_primary(tag: Tag) -> bool:
    return bool(tag.metadata.get("has_primary"))


def _graph_records(master: Master, owner: Owner) -> Iterator[Any]:
    return objects(resource(master.session, NOUNS[owner.level], owner.id, "deployment_graphs/").get(), "graph")
