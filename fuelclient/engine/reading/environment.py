"""Read environments from the store.

Every function uses the connection of its caller, so that all reads are part of one transaction. Pure computations on
environments are in `fuelclient.environment`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from fuelclient import settings
from fuelclient.engine.reading import lookup
from fuelclient.environment.layers import graph_types, layer, require_graph_type
from fuelclient.environment.roles import network_roles, owners, role_vips
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Graph, GraphSummary, Layer, Level, Owner
from fuelclient.model.network import NodePart
from fuelclient.model.package import Contents
from fuelclient.model.plugin import SCRIPTS, Plugin
from fuelclient.model.release import Release
from fuelclient.plan.inputs import Inputs
from fuelclient.serializers.release_metadata import well_formed
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, node_parts, nodes, own_networks, vips


def read(connection: Connection, cluster_id: int) -> Environment:
    """Read an environment. Raise `NotFound` if it does not exist."""
    return connection.once(("environment", repr(cluster_id)), lambda: _read(connection, cluster_id))


def _read(connection: Connection, cluster_id: int, release: Release | None = None) -> Environment:
    """Read an environment. If it has the given `release`, do not read that again: its metadata is large."""
    cluster = lookup.cluster(connection, cluster_id)
    if release is None or release.id != cluster.release_id:
        release = lookup.release(connection, cluster.release_id)
        release = replace(release, metadata=well_formed(release.metadata))  # earlier versions stored malformed metadata
    target = Environment(
        cluster,
        release,
        tuple(for_release(connection, plugin, release) for plugin in plugins.of_cluster(connection, cluster_id)),
        tuple(nodes.every(connection, cluster_id=cluster_id)),
        {},
        well_formed(clusters.metadata(connection, cluster_id)),
        own_networks(connection, cluster_id),
        tuple(vips(connection, cluster_id)),
        node_parts(connection, cluster_id, NodePart.DISKS),
        node_parts(connection, cluster_id, NodePart.INTERFACES),
        feature_groups=settings.load().feature_groups,
    )
    # The settings and the virtual addresses of a plugin stay stored when it is disabled.
    requested = {vip["name"] for _, vip in role_vips(network_roles(target))}
    disabled = plugins.names(connection) - {plugin.name for plugin in target.plugins}
    own = clusters.settings(connection, cluster_id)
    return replace(
        target,
        own_settings={name: section for name, section in own.items() if name not in disabled},
        vips=tuple(vip for vip in target.vips if vip.is_user_defined or vip.name in requested),
    )


def put_settings(connection: Connection, cluster_id: int, own: Mapping[str, Any]) -> None:
    """Store the own settings of an environment. Keep the settings of disabled plugins that `own` does not have."""
    disabled = plugins.names(connection) - {plugin.name for plugin in plugins.of_cluster(connection, cluster_id)}
    kept = {name: section for name, section in clusters.settings(connection, cluster_id).items() if name in disabled}
    clusters.put_settings(connection, cluster_id, {**kept, **own})


@contextmanager
def checking_rules(
    connection: Connection, cluster_ids: Iterable[int], *, gives_roles: bool = False
) -> Iterator[list[Environment]]:
    """Yield environments to a block that writes, and check the rules of environments after it.

    For a rule that the block has broken, raise what `environment.rules` raises; the transaction is then rolled back.
    `gives_roles` is passed to `rules.require_no_new_breaks`.
    """
    from fuelclient.environment import rules

    present = nodes.ids(connection)
    before = [read(connection, cluster_id) for cluster_id in dict.fromkeys(cluster_ids)]
    yield before
    for was in before:
        now = _read(connection, was.cluster.id, was.release)
        rules.require_no_new_breaks(was, now, present, gives_roles=gives_roles)


def for_release(connection: Connection, plugin: Plugin, release: Release) -> Plugin:
    """Add the contents of a plugin for a release to its metadata."""
    if not plugin.by_release:
        return plugin
    from fuelclient.plugins.select import select

    package = lookup.last_package(connection, plugin)
    plugin = lookup.as_now(plugin, package)
    return replace(plugin, metadata={**plugin.metadata, **metadata_from(select(package, release).contents)})


def metadata_from(contents: Contents) -> dict[str, Any]:
    """Arrange the contents of a package under the names of Nailgun's metadata.

    >>> metadata_from(Contents(roles={"watcher": {}}))["roles_metadata"]
    {'watcher': {}}
    """
    return {
        "roles_metadata": contents.roles,
        "tags_metadata": contents.tags,
        "volumes_metadata": contents.volumes,
        "network_roles_metadata": list(contents.network_roles),
        "components_metadata": list(contents.components),
        "attributes_metadata": contents.attributes,
    }


def selected(connection: Connection, plugin: Plugin, release: Release, *, strict: bool = True) -> Contents:
    """Select the contents of a plugin for a release. If `strict` is false and a linked plugin cannot be read,
    use its contents at the time of linking."""
    # Imported late: most plugins have the same contents for every release, and do not need this.
    from fuelclient.plugins.select import select

    package = lookup.package if strict else lookup.last_package
    return select(package(connection, plugin), release).contents


def types(connection: Connection, environment: Environment) -> list[str]:
    known: set[str] = set()
    for owner in owners(environment):
        stored = graphs.types(connection, owner.level, owner.id)
        if (plugin := _by_release(environment, owner)) is not None:
            known.update(selected(connection, plugin, environment.release, strict=False).graphs)
            stored = [graph_type for graph_type in stored if _is_uploaded(connection, owner, graph_type)]
        known.update(stored)
    return graph_types(known, release_has_graphs=bool(graphs.types(connection, Level.RELEASE, environment.release.id)))


def layers(
    connection: Connection,
    environment: Environment,
    graph_type: str,
    levels: Sequence[Level] = (),
    *,
    strict: bool = True,
) -> tuple[Layer, ...]:
    """Read the layers of one graph type, least important first; with `levels`, only those of owners of these levels.

    `strict` is that of `selected`: runs and merged graphs need it, warnings do not.

    Raise `NotFound` if no layer of the environment has the type.
    """

    def read_layers() -> tuple[Environment, tuple[Layer, ...]]:
        require_graph_type(graph_type, types(connection, environment), environment.cluster.id)
        wanted = [owner for owner in owners(environment) if not levels or owner.level in levels]
        stored = ((owner, _graph(connection, environment, owner, graph_type, strict=strict)) for owner in wanted)
        found_layers = (layer(environment, owner, graph) for owner, graph in stored if graph is not None)
        return environment, tuple(
            _with_script_directory(connection, environment.release, each) for each in found_layers
        )

    key = ("layers", id(environment), graph_type, *levels, strict)  # what is remembered keeps the environment alive
    return connection.once(key, read_layers)[1]


def with_graphs(connection: Connection, environment: Environment) -> Inputs:
    """Read the graphs of all types of an environment, without facts."""
    known = {name: layers(connection, environment, name) for name in types(connection, environment)}
    return Inputs(environment, known, DeploymentFacts())


def _with_script_directory(connection: Connection, release: Release, found: Layer) -> Layer:
    """Set the working directory of a release's layer to the scripts of the package that defines the release.

    A plugin's layer already has its own. Fuel has no such default, because its own releases have no scripts.
    """
    if found.owner.level is not Level.RELEASE or SCRIPTS not in release.metadata:
        return found
    source = plugins.defining(connection, release.id)
    return replace(found, cwd=source.scripts) if source is not None else found


def _by_release(environment: Environment, owner: Owner) -> Plugin | None:
    """Return the plugin of an owner if its contents depend on the release, else None."""
    plugins_by_release = (plugin for plugin in environment.plugins if plugin.by_release)
    return next((each for each in plugins_by_release if owner.level is Level.PLUGIN and each.id == owner.id), None)


def _is_uploaded(connection: Connection, owner: Owner, graph_type: str) -> bool:
    """Whether a graph is stored that was uploaded, rather than read from the package of a plugin."""
    graph_id = graphs.find_id(connection, owner.level, owner.id, graph_type)
    return graph_id is not None and not graphs.is_derived(connection, graph_id)


def summaries(connection: Connection, environment: Environment) -> list[GraphSummary]:
    """List the graphs of an environment by id. Graphs of a plugin have the tasks of its package for the release of
    this environment; graphs that the package has only for other releases are left out."""
    listed = graphs.summaries(connection, {(owner.level, owner.id) for owner in owners(environment)})
    known = []
    for summary in listed:
        if (plugin := _by_release(environment, summary.owner)) is None or not graphs.is_derived(connection, summary.id):
            known.append(summary)
        elif graph := selected(connection, plugin, environment.release, strict=False).graphs.get(summary.type):
            known.append(replace(summary, task_ids=tuple(task.id for task in graph.tasks)))
    return known


def _graph(
    connection: Connection, environment: Environment, owner: Owner, graph_type: str, *, strict: bool
) -> Graph | None:
    """Read the graph of an owner. An uploaded graph takes precedence over that of the package for this release."""
    graph = graphs.find(connection, owner.level, owner.id, graph_type)
    plugin = _by_release(environment, owner)
    if plugin is None or (graph is not None and not graphs.is_derived(connection, graph.id)):
        return graph
    document = selected(connection, plugin, environment.release, strict=strict).graphs.get(graph_type)
    if document is None:
        return None
    return Graph(0, graph_type, owner, document.tasks, metadata=document.metadata, warnings=document.findings)
