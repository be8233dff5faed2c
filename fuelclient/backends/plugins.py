"""Find where plugins are enabled, and how enabling another one would change a graph. Nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from fuelclient.backends.base import Backend
from fuelclient.backends.studies import study_of
from fuelclient.environment.layers import Added, changed
from fuelclient.errors import Conflict, NotFound, Unauthorised, Unavailable, Unsupported
from fuelclient.insight.comparison import Comparison, compare
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, errors_in
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.plugin import Plugin
from fuelclient.model.snapshot import Snapshot
from fuelclient.support import supports


def installed_addition(backend: Backend, environment: Environment, known: Snapshot, plugin_id: int) -> Added:
    plugin = backend.plugins.get(plugin_id)
    graph: GraphDocument | None
    try:
        stored = backend.graphs.get(OwnerRef(Level.PLUGIN, plugin_id), known.graph_type)
        graph = GraphDocument(stored.tasks, metadata=stored.metadata)
    except NotFound:
        graph = None
    if plugin.by_release:
        contents = backend.plugins.selection(plugin_id, environment.release.id).contents
        graph = contents.graphs.get(known.graph_type, graph)
        metadata = {**plugin.metadata, "roles_metadata": contents.roles, "tags_metadata": contents.tags}
        plugin = replace(plugin, metadata=metadata)
    return Added(plugin, graph)


def refusals(backend: Backend, cluster_id: int, plugin_ids: Sequence[int]) -> tuple[Finding, ...]:
    """The errors that prevent the first refused one of these plugins from being enabled in an environment.

    They are empty if the backend cannot check this: a Fuel master, an engine file that cannot be written, or a user who
    may only read. The changes by the plugins can be computed anyway.
    """
    try:
        backend.plugins.enabling(plugin_ids, cluster_id, {})
    except Conflict as refused:
        return tuple(errors_in(finding for finding in refused.findings if isinstance(finding, Finding)))
    except (Unauthorised, Unavailable, Unsupported):
        return ()
    return ()


def if_enabled(backend: Backend, cluster_id: int, graph_type: str, plugin_id: int) -> Comparison:
    """Compare the graph of an environment with the graph that an installed plugin would make of it.

    The findings begin with the errors that prevent it from being enabled there. Raise the errors of merging and placing
    the graph, such as `InvalidGraph`.
    """
    known = backend.graphs.snapshot(cluster_id, graph_type)
    environment = backend.clusters.environment(cluster_id)
    added = installed_addition(backend, environment, known, plugin_id)
    comparison = compare(*(study_of(backend, each) for each in (known, changed(environment, known, added=[added]))))
    return replace(comparison, findings=(*refusals(backend, cluster_id, [plugin_id]), *comparison.findings))


def plugins_on(backend: Backend, cluster_ids: Iterable[int]) -> tuple[Plugin, ...]:
    """All plugins, each with those of the given environments in which it is enabled.

    A Fuel master does not list the environments of plugins, so the settings of each environment are read.
    """
    plugins = tuple(backend.plugins.list())
    if not plugins or not supports(backend.runs.act):
        return plugins
    using: dict[int, list[int]] = {}
    for cluster_id in cluster_ids:
        with suppress(NotFound):  # it has just been deleted
            for plugin in backend.plugins.enabled(cluster_id):
                using.setdefault(plugin.id, []).append(cluster_id)
    return tuple(replace(plugin, clusters=tuple(using.get(plugin.id, ()))) for plugin in plugins)
