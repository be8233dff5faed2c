"""Read environments of a master with everything that they consist of: release, plugins, nodes, settings, graphs.

It takes several requests, and a change between two of them may be in one and not in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fuelclient.backends.http.errors import About
from fuelclient.backends.http.session import Session
from fuelclient.backends.nailgun.settings import enabled_plugins, plugin_metadata, settings_of
from fuelclient.environment import settings
from fuelclient.environment.layers import graph_types, layer, require_graph_type
from fuelclient.environment.owners import in_merge_order, owners, plugin_owner
from fuelclient.environment.roles import roles, tags
from fuelclient.errors import NotFound, Unsupported
from fuelclient.model.environment import Environment
from fuelclient.model.graph import Graph, GraphSummary, Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Tag
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.cluster import cluster_from
from fuelclient.serializers.graph import graph_from, summary_from
from fuelclient.serializers.node import node_record_from
from fuelclient.serializers.plugin import plugin_from
from fuelclient.serializers.release import release_record_from
from fuelclient.serializers.role import role_from, tag_from

RESOURCES = {Level.RELEASE: "releases", Level.PLUGIN: "plugins", Level.CLUSTER: "clusters"}
"""The resource of each level of owners."""

NOUNS = {Level.RELEASE: "release", Level.PLUGIN: "plugin", Level.CLUSTER: "environment"}
"""How messages name them."""


def environment_of(session: Session, cluster_id: int) -> Environment:
    """Return the environment. Raise `NotFound` if it does not exist."""
    about = About("environment", cluster_id)
    environment, stated = _members(session, cluster_id)
    records = objects(session.get("nodes/", about, cluster_id=cluster_id), "node")
    return replace(
        environment,
        nodes=tuple(sorted(map(node_record_from, records), key=lambda node: node.id)),
        own_settings=settings.own_from(_without_other_plugins(stated, environment), environment),
        own_metadata=_own_metadata(session, environment),
        unique_tasks=True,
        feature_groups=Answer(session.version, "version").texts("feature_groups"),
    )


def members_of(session: Session, cluster_id: int) -> Environment:
    """Return the environment with only its release and its plugins, which say whose graphs it has."""
    return _members(session, cluster_id)[0]


def owners_of(session: Session, cluster_id: int, levels: Sequence[Level] = ()) -> list[Owner]:
    """Return the owners of an environment's graphs, or those of `levels`, least important first.

    Only plugins have names, and nothing is read of a level that is not asked for. Raise `NotFound` if the environment
    does not exist; of CLUSTER alone nothing is read, so that only reading its graphs does.
    """
    found = []
    if not levels or Level.RELEASE in levels:
        cluster = cluster_from(session.get(f"clusters/{cluster_id}/", About("environment", cluster_id)))
        found.append(Owner(Level.RELEASE, cluster.release_id))
    if not levels or Level.PLUGIN in levels:
        found += [plugin_owner(plugin) for plugin in _enabled(session, settings_of(session, cluster_id))]
    if not levels or Level.CLUSTER in levels:
        found.append(Owner(Level.CLUSTER, cluster_id))
    return found


def plugins_of(session: Session) -> list[Plugin]:
    """Return all plugins of a master, in the order of its answer."""
    return [plugin_from(record) for record in objects(session.get("plugins/"), "plugin")]


def graphs_of(session: Session, owner: Owner) -> dict[str, Graph]:
    """Return the graphs of an owner by type. Raise `NotFound` if the owner does not exist."""
    graphs = (graph_from(record, owner) for record in _graph_records(session, owner))
    return {graph.type: graph for graph in graphs}


def summaries_of(session: Session, owner: Owner) -> list[GraphSummary]:
    """Return what a listing needs of the graphs of an owner. Raise `NotFound` if the owner does not exist."""
    return [summary_from(record, owner) for record in _graph_records(session, owner)]


def types_of(session: Session, owner: Owner) -> list[str]:
    """Return the types of an owner's graphs, sorted. Raise `NotFound` if the owner does not exist."""
    return sorted({graph.type for graph in summaries_of(session, owner)})


def layers_of(
    session: Session, environment: Environment, graph_type: str, levels: Sequence[Level] = ()
) -> tuple[Layer, ...]:
    """Return the layers of one type, least important first; with `levels` only those of these levels.

    Raise `NotFound` if no layer of the environment, whatever its level, has the type.
    """
    release, *others = owners(environment)
    graphs = {owner: graphs_of(session, owner) for owner in (release, *others)}
    types = graph_types({name for by_type in graphs.values() for name in by_type}, of_release=bool(graphs[release]))
    require_graph_type(graph_type, types, environment.cluster.id)
    return tuple(
        layer(environment, owner, by_type[graph_type])
        for owner, by_type in graphs.items()
        if graph_type in by_type and (not levels or owner.level in levels)
    )


def _members(session: Session, cluster_id: int) -> tuple[Environment, dict[str, Any]]:
    """Return the environment with its release and its plugins, and its settings as the master states them."""
    cluster = cluster_from(session.get(f"clusters/{cluster_id}/", About("environment", cluster_id)))
    about = About("release", cluster.release_id)
    release = release_record_from(session.get(f"releases/{cluster.release_id}/", about))
    stated = settings_of(session, cluster_id)
    return Environment(cluster, release, _enabled(session, stated)), stated


def _enabled(session: Session, stated: Mapping[str, Any]) -> tuple[Plugin, ...]:
    """Return the plugins that the settings of an environment enable, in the order of their layers."""
    chosen = enabled_plugins(stated)
    return in_merge_order(plugin for plugin in (plugins_of(session) if chosen else ()) if plugin.id in chosen)


def _without_other_plugins(stated: Mapping[str, Any], environment: Environment) -> dict[str, Any]:
    """Return the settings without the sections of plugins that the master only offers."""
    enabled = {plugin.name for plugin in environment.plugins}
    return {name: section for name, section in stated.items() if name in enabled or not plugin_metadata(section)}


def _own_metadata(session: Session, environment: Environment) -> dict[str, Any]:
    """Return the roles and tags that an environment has beside those of its release and its plugins."""
    path, about = f"clusters/{environment.cluster.id}", About("environment", environment.cluster.id)
    known_roles, known_tags = roles(environment), tags(environment)
    every_role = map(role_from, objects(session.get(f"{path}/roles/", about), "role"))
    own_roles = [role for role in every_role if role.name not in known_roles]
    own_tags: dict[str, Any] = {}
    with suppress(NotFound, Unsupported):  # masters before Fuel 10 have no tags, and no such path
        for tag in map(tag_from, objects(session.get(f"{path}/tags/", about), "tag")):
            if tag.name not in known_tags or _is_primary(tag) != _is_primary(known_tags[tag.name]):
                own_tags[tag.name] = tag.metadata
    volumes = {role.name: list(role.volumes) for role in own_roles if role.volumes}
    metadata = {
        "roles_metadata": {role.name: {**role.metadata, "tags": list(role.tags)} for role in own_roles},
        "volumes_metadata": {"volumes_roles_mapping": volumes} if volumes else {},
        "tags_metadata": own_tags,
    }
    return {name: section for name, section in metadata.items() if section}


def _is_primary(tag: Tag) -> bool:
    return bool(tag.metadata.get("has_primary"))


def _graph_records(session: Session, owner: Owner) -> Iterator[Any]:
    path = f"{RESOURCES[owner.level]}/{owner.id}/deployment_graphs/"
    return objects(session.get(path, About(NOUNS[owner.level], owner.id)), "graph")
