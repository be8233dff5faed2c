"""Graphs of a master: layers are merged here, and tasks uploaded whole, because Nailgun has no partial records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from fuelclient.backends.http.answers import About
from fuelclient.backends.nailgun.environment import (
    environment_of,
    environment_with_plugins,
    layers_of,
    owners_of,
    summaries_of,
    types_of,
)
from fuelclient.backends.nailgun.facet import NOUNS, PATHS, Facet, Resource, resource
from fuelclient.environment.layers import snapshot, types_for
from fuelclient.environment.roles import plugin_owner, release_owner
from fuelclient.errors import InvalidGraph, NotFound
from fuelclient.graph.merge import merge_layers
from fuelclient.graph.validate import check_document, require_type
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Severity, errors_in, require_no_errors
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
from fuelclient.serializers.answer import objects
from fuelclient.serializers.graph import document_from, graph_from, summary_from
from fuelclient.serializers.plugin import plugin_from
from fuelclient.serializers.task import task_to


class Graphs(Facet):
    def list(self, cluster_id: int | None = None, levels: Sequence[Level] = ()) -> Sequence[GraphSummary]:
        """Only owners that are plugins have names."""
        if cluster_id is None:
            summaries = self._with_plugin_names([*map(summary_from, objects(self._session.get("graphs/"), "graph"))])
        else:
            owners = owners_of(self._master, cluster_id, levels)
            summaries = [graph for owner in owners for graph in summaries_of(self._master, owner)]
        kept = [summary for summary in summaries if not levels or summary.owner.level in levels]
        return sorted(kept, key=lambda summary: summary.id)

    def types(self, release_id: int) -> Collection[str]:
        return types_for(release_id, [*map(summary_from, objects(self._session.get("graphs/"), "graph"))], None)

    def get(self, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        """Only an owner that is a plugin has its name."""
        labelled_owner = self._owner_for_messages(owner)
        if (graph := self._stored(labelled_owner, graph_type)) is None:
            raise self._unknown(labelled_owner, graph_type)
        return graph

    def layers(self, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE) -> MergedGraph:
        layers = layers_of(self._master, environment_with_plugins(self._master, cluster_id), graph_type, levels)
        return merge_layers(layers, keep_partial=bool(levels) and Level.RELEASE not in levels)

    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE, *, only_plugins: bool = False) -> Sequence[Task]:
        below = f"deployment_tasks/{'plugins/' if only_plugins else ''}"
        tasks = resource(self._session, "environment", cluster_id, below, invalid=InvalidGraph)
        data = tasks.get(graph_type=graph_type)
        document = document_from(Document(list(objects(data, "task")), ""), owner_label="master")
        if errors := errors_in(document.findings):
            raise InvalidGraph(f"The master's merge cannot be read: {errors[0].message}.", findings=errors)
        return document.tasks

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        """Merge records without type, which a master rejects, with the layers below; each has a finding.

        The layers are only read for a document with such records, or with stages.
        """
        from fuelclient.expressions.readable import refusals  # only uploads need expressions

        require_type(graph_type)
        labelled_owner = self._owner_for_messages(owner)
        stored_before = self._stored(labelled_owner, graph_type)
        needs_layers = any(task.is_partial or task.stage for task in document.tasks)
        below = self._below(owner, graph_type) if needs_layers or owner.level is Level.PLUGIN else ()
        findings = check_document(document, labelled_owner, below)
        require_no_errors(findings, f"The {graph_type} graph of {labelled_owner} is not stored")
        tasks, resolved = _whole(document.tasks, labelled_owner, below)
        place = self._graph(owner, graph_type, InvalidGraph)
        name = {} if document.name is None else {"name": document.name}
        body = {**name, **document.metadata, "tasks": list(map(task_to, tasks))}
        answer = place.post(body) if stored_before is None else place.put(body)
        stored = replace(graph_from(answer, labelled_owner), type=graph_type)
        warnings = (replace(finding, severity=Severity.WARNING) for finding in refusals(document))
        replaced = len(stored_before.tasks) if stored_before else 0
        return Uploaded(stored, stored_before is None, (*findings, *resolved, *warnings), replaced)

    def delete(self, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        """Return no warnings: a master has no records that could lose what they override."""
        try:
            self._graph(owner, graph_type).delete()
        except NotFound as error:
            raise self._unknown(self.owner(owner), graph_type) from error
        return ()

    def _owner_for_messages(self, owner: OwnerRef) -> Owner:
        """The owner, with a name only if it is a plugin: messages have no other names, and each takes a request."""
        return self.owner(owner) if owner.level is Level.PLUGIN else Owner(owner.level, owner.id)

    def _stored(self, owner: Owner, graph_type: str) -> Graph | None:
        """A graph, or None if the owner has none of this type. Raise `NotFound` for an unknown owner."""
        try:
            return graph_from(self._graph(OwnerRef(owner.level, owner.id), graph_type).get(), owner)
        except NotFound as error:
            if error.noun != "graph type":
                raise
            return None

    def owner(self, owner: OwnerRef) -> Owner:
        if owner.level is Level.CLUSTER:
            return Owner(owner.level, owner.id, self._master.clusters.get(owner.id).name)
        if owner.level is Level.PLUGIN:
            return plugin_owner(plugin_from(resource(self._session, "plugin", owner.id).get()))
        return release_owner(self._master.releases.get(owner.id))

    def snapshot(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        """Read the snapshot with several requests, between which the environment may change."""
        cluster = environment_of(self._master, cluster_id)
        return snapshot(cluster, layers_of(self._master, cluster, graph_type), graph_type)

    def _with_plugin_names(self, graphs: Sequence[GraphSummary]) -> Sequence[GraphSummary]:
        """Add the names and versions of the plugins."""
        if all(graph.owner.level is not Level.PLUGIN for graph in graphs):
            return graphs
        known = {plugin.id: plugin_owner(plugin) for plugin in self._master.plugins.list()}
        return [
            replace(graph, owner=known.get(graph.owner.id, graph.owner)) if graph.owner.level is Level.PLUGIN else graph
            for graph in graphs
        ]

    def _unknown(self, owner: Owner, graph_type: str) -> NotFound:
        known = types_of(self._master, owner)
        return NotFound("graph type", graph_type, known=known, hint="" if known else f"There is no graph in {owner}.")

    def _graph(self, owner: OwnerRef, graph_type: str, invalid: type[InvalidGraph] | None = None) -> Resource:
        noun = NOUNS[owner.level]
        path = f"{PATHS[noun]}/{owner.id}/deployment_graphs/{graph_type}/"
        return Resource(self._session, path, About("graph type", graph_type, (noun, owner.id), invalid))

    def _below(self, owner: OwnerRef, graph_type: str) -> Sequence[Layer] | None:
        """The layers below a graph: none for a release, None for a plugin, which may be enabled anywhere."""
        if owner.level is not Level.CLUSTER:
            return () if owner.level is Level.RELEASE else None
        target = environment_with_plugins(self._master, owner.id)
        try:
            return layers_of(self._master, target, graph_type, (Level.RELEASE, Level.PLUGIN))
        except NotFound:
            return ()  # nothing has this type yet


def _whole(
    tasks: Sequence[Task], owner: Owner, below: Sequence[Layer] | None
) -> tuple[tuple[Task, ...], list[Finding]]:
    """Merge each partial record with the task that it overrides, with a warning (G022).

    Raise `InvalidGraph` for a record that overrides nothing, or something with several variants.
    """
    if not (partial := [task for task in tasks if task.is_partial]):
        return tuple(tasks), []
    findings = []
    whole: dict[str, Task] = {}
    merged = merge_layers([*(below or ()), Layer(owner, tuple(tasks))])
    for task in partial:
        variants = [candidate.task for candidate in merged.tasks if candidate.id == task.id]
        place = task.source.place()
        if below is None or len(variants) != 1 or variants[0].is_partial:
            message = f"task {task.id}: it has no type, and a master only stores tasks with a type"
            error = Finding(Severity.ERROR, "G020", message, place, task.id, "State the whole task with its type.")
            raise InvalidGraph(f"The graph of {owner} is not stored: {message}.", findings=[error])
        whole[task.id] = replace(variants[0], source=task.source)
        message = f"task {task.id}: a master stores whole tasks, so it was merged with the layers below it"
        hint = "Upload it again when the layers below change."
        findings.append(Finding(Severity.WARNING, "G022", message, place, task.id, hint))
    return tuple(whole.get(task.id, task) if task.is_partial else task for task in tasks), findings
