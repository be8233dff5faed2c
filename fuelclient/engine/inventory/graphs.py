"""Upload, read, merge and delete graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup, orphaned_records
from fuelclient.environment.layers import snapshot, types_for
from fuelclient.errors import Conflict, FuelError, NotFound
from fuelclient.graph.merge import merge_layers
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Severity, require_no_errors
from fuelclient.model.graph import (
    DEFAULT_TYPE,
    Graph,
    GraphDocument,
    GraphSummary,
    Layer,
    Level,
    MergedGraph,
    Owner,
    OwnerRef,
    Uploaded,
)
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.serializers.release_metadata import well_formed
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters

if TYPE_CHECKING:
    from fuelclient.plan.evaluate import Evaluation


class Graphs(Facet):
    """Graphs by owner and type; see `backends.base.Graphs`."""

    @reads
    def list(
        self, connection: Connection, cluster_id: int | None = None, levels: Sequence[Level] = ()
    ) -> Sequence[GraphSummary]:
        if cluster_id is None:
            linked = {plugin.id for plugin in plugins.every(connection) if plugin.is_linked}
            summaries = [_current_summary(connection, each, linked) for each in graphs.summaries(connection)]
        else:
            summaries = environment.summaries(connection, environment.read(connection, cluster_id))
        return [summary for summary in summaries if not levels or summary.owner.level in levels]

    @reads
    def types(self, connection: Connection, release_id: int) -> Collection[str]:
        return types_for(release_id, graphs.summaries(connection, None), clusters.every(connection))

    @reads
    def get(self, connection: Connection, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        return _current(connection, _existing(connection, lookup.owner(connection, owner), graph_type))

    @reads
    def owner(self, connection: Connection, owner: OwnerRef) -> Owner:
        return lookup.owner(connection, owner)

    @reads
    def layers(
        self, connection: Connection, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE
    ) -> MergedGraph:
        layers = environment.layers(connection, environment.read(connection, cluster_id), graph_type, levels)
        return merge_layers(layers, keep_partial=bool(levels) and Level.RELEASE not in levels)

    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE, *, only_plugins: bool = False) -> Sequence[Task]:
        """Return the tasks that `layers` merges; the engine has no other merge."""
        levels = (Level.PLUGIN,) if only_plugins else ()
        return [merged.task for merged in self.layers(cluster_id, levels, graph_type).tasks]

    @reads
    def snapshot(self, connection: Connection, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        target = environment.read(connection, cluster_id)
        current = snapshot(target, environment.layers(connection, target, graph_type), graph_type)
        if not any(plugin.is_linked for plugin in target.plugins):
            return current
        from fuelclient.engine.packages.enable import conflicts_of_linked  # slow to import

        return replace(current, findings=(*current.findings, *conflicts_of_linked(connection, target)))

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        """Report records of environments that have lost the task they override (G021). Errors that would prevent a run
        are warnings here: unreadable expressions (G024), impossible parameters (G046), and cycles in the environments
        that have the graph (G050)."""
        from fuelclient.expressions.readable import refusals  # only uploads need these
        from fuelclient.graph.validate import check_document, require_type

        require_type(graph_type)
        with self._database.write() as connection:
            target = lookup.owner(connection, owner)
            orphaned = _watch_users(connection, target, graph_type)
            findings = check_document(document, target, _layers_below(connection, target, graph_type))
            require_no_errors(findings, f"The {graph_type} graph of {target} is not stored")
            previous_id = graphs.find_id(connection, target.level, target.id, graph_type)
            replaced = 0 if previous_id is None else len(graphs.task_ids(connection, previous_id))
            graph_id = previous_id or graphs.create(connection, target.level, target.id, graph_type)
            graphs.describe(connection, graph_id, document.name, document.metadata)
            graphs.put_tasks(connection, graph_id, document.tasks, findings)
            graphs.mark_derived(connection, graph_id, False)
            newly_orphaned = orphaned()
            run_errors = (*refusals(document), *dict.fromkeys(_cycles(connection, target, graph_type)))
            warnings = (replace(finding, severity=Severity.WARNING) for finding in run_errors)
            stored = _existing(connection, target, graph_type)
            return Uploaded(stored, previous_id is None, (*findings, *newly_orphaned, *warnings), replaced)

    @writes
    def delete(self, connection: Connection, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        """Raise `NotFound` for an unknown owner, or a graph type that it does not have.

        If the package of a plugin has a graph of this type, that graph applies again; it is only deleted with the
        plugin. Records of environments that have lost the task they override are reported (G021).
        """
        target = lookup.owner(connection, owner)
        orphaned = _watch_users(connection, target, graph_type)
        graph = _existing(connection, target, graph_type)
        if owner.level is Level.PLUGIN and graphs.is_derived(connection, graph.id):
            raise Conflict(
                f"The {graph_type} graph of {target.label} belongs to its package.",
                hint="Disable or remove the plugin, or upload an empty graph to replace this one.",
            )
        graphs.delete(connection, graph.id)
        package = plugins.package(connection, owner.id) if owner.level is Level.PLUGIN else None
        if package is not None:
            from fuelclient.engine.packages.register import put_derived  # nothing else here needs it
            from fuelclient.plugins.select import for_any_release

            if (derived := for_any_release(package).graphs.get(graph_type)) is not None:
                put_derived(connection, target, graph_type, derived)
        return orphaned()


def _watch_users(connection: Connection, owner: Owner, graph_type: str) -> Callable[[], tuple[Finding, ...]]:
    """Watch the environments that use a graph of a release or a plugin; see `orphaned_records.watch`."""
    users = () if owner.level is Level.CLUSTER else lookup.environments_with(connection, owner)
    return orphaned_records.watch(connection, users, graph_type)


def _cycles(connection: Connection, owner: Owner, graph_type: str) -> Iterator[Finding]:
    """Find the cycles (G050) in the environments that use a graph. Without any, a release's graph is examined as an
    environment without nodes would have it: on nodes that are assumed for its roles."""
    from fuelclient.plan.study import cycles_of  # only uploads need it

    targets = [environment.read(connection, each) for each in lookup.environments_with(connection, owner)]
    if not targets and owner.level is Level.RELEASE:
        release = lookup.release(connection, owner.id)
        well = replace(release, metadata=well_formed(release.metadata))  # as environments read it
        targets = [Environment(Cluster(0, "", owner.id), well)]
    for target in targets:
        layers = environment.layers(connection, target, graph_type, strict=False)
        facts = partial(_evaluation, connection, target.cluster.id, graph_type)
        yield from cycles_of(snapshot(target, layers, graph_type, checked=False), facts)


def _evaluation(connection: Connection, cluster_id: int, graph_type: str) -> Evaluation | None:
    """Evaluate expressions with the facts of an environment. Return None if the facts cannot be computed."""
    from fuelclient.engine.runs import inputs
    from fuelclient.environment.plans import evaluation_of
    from fuelclient.model.run import RunRequest

    try:
        return evaluation_of(inputs.read(connection, RunRequest(cluster_id, (graph_type,), force=True)))
    except FuelError:
        return None


def _existing(connection: Connection, owner: Owner, graph_type: str) -> Graph:
    if (graph := graphs.find(connection, owner.level, owner.id, graph_type)) is None:
        known = graphs.types(connection, owner.level, owner.id)
        hint = "" if known else f"{str(owner).capitalize()} has no graph."
        raise NotFound("graph type", graph_type, known=known, hint=hint)
    return graph


def _layers_below(connection: Connection, owner: Owner, graph_type: str) -> Sequence[Layer] | None:
    """Return the layers below a graph: () for a release, None for a plugin, which may be enabled on any release."""
    if owner.level is Level.RELEASE:
        return ()
    if owner.level is Level.PLUGIN:
        return None
    target = environment.read(connection, owner.id)
    if graph_type not in environment.types(connection, target):
        return ()
    return environment.layers(connection, target, graph_type, (Level.RELEASE, Level.PLUGIN), strict=False)


def _current(connection: Connection, stored: Graph) -> Graph:
    """Read the graph from the package if a linked plugin provides it. Raise what `lookup.package` raises."""
    if stored.owner.level is not Level.PLUGIN or not graphs.is_derived(connection, stored.id):
        return stored
    owner = lookup.plugin(connection, stored.owner.id)
    if not owner.is_linked:
        return stored
    from fuelclient.plugins.select import for_any_release

    if (document := for_any_release(lookup.package(connection, owner)).graphs.get(stored.type)) is None:
        return replace(stored, tasks=())
    return replace(stored, tasks=document.tasks, metadata=document.metadata, warnings=document.findings)


def _current_summary(connection: Connection, stored: GraphSummary, linked: Collection[int]) -> GraphSummary:
    """Summarize a graph, with its current tasks if its plugin is linked. `linked` are the ids of linked plugins.

    If the package of a linked plugin cannot be read, the tasks are those at the time of linking.
    """
    is_linked = stored.owner.level is Level.PLUGIN and stored.owner.id in linked
    if not is_linked or not graphs.is_derived(connection, stored.id):
        return stored
    from fuelclient.plugins.select import for_any_release

    package = lookup.last_package(connection, lookup.plugin(connection, stored.owner.id))
    document = for_any_release(package).graphs.get(stored.type)
    return replace(stored, task_ids=tuple(task.id for task in document.tasks) if document else ())
