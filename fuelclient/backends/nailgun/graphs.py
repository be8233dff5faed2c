"""Graphs of a master: read by layer and merged here; uploaded whole, because Nailgun knows no partial records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.backends.base import Backend, OwnerRef, Uploaded
from fuelclient.backends.nailgun.environment import (
    NOUNS,
    RESOURCES,
    environment_of,
    layers_of,
    members_of,
    plugins_of,
    summaries_of,
    types_of,
)
from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.environment.layers import snapshot
from fuelclient.environment.owners import owners, plugin_owner, release_owner
from fuelclient.errors import InvalidGraph, NotFound
from fuelclient.graph.merge import merge_layers
from fuelclient.graph.validate import check_document, require_type
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Severity, errors_in
from fuelclient.model.graph import (
    DEFAULT_TYPE,
    Graph,
    GraphDocument,
    GraphSummary,
    Layer,
    Level,
    MergedGraph,
    Owner,
)
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.finding import findings_from
from fuelclient.serializers.graph import document_from, graph_from, legacy_to, summary_from
from fuelclient.serializers.task import task_to


class Graphs:
    """Graphs; see `base.Graphs`. `facets` has the other nouns of the same master, each made at its first use."""

    def __init__(self, session: Session, facets: Backend) -> None:
        self._session = session
        self._facets = facets

    def list(self, cluster_id: int | None = None, levels: Sequence[Level] = ()) -> Sequence[GraphSummary]:
        """As `base.Graphs`; without an environment releases and environments are known by their ids only."""
        if cluster_id is None:
            found = self._named([summary_from(one) for one in objects(self._session.get("graphs/"), "graph")])
        else:
            members = members_of(self._session, cluster_id)
            found = [graph for owner in owners(members) for graph in summaries_of(self._session, owner)]
        kept = [one for one in found if not levels or one.owner.level in levels]
        return sorted(kept, key=lambda one: one.id)

    def get(self, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        named = self.owner(owner)
        try:
            return graph_from(self._session.get(_path(owner, graph_type), _about(owner, graph_type)), named)
        except NotFound as error:
            raise self._unknown(named, graph_type) from error

    def layers(self, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE) -> MergedGraph:
        members = members_of(self._session, cluster_id)
        found = layers_of(self._session, members, graph_type, levels)
        return merge_layers(found, keep_partial=bool(levels) and Level.RELEASE not in levels)

    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Sequence[Task]:
        """As `base.Graphs`: the master's own answer, not computed here."""
        data = self._session.get(
            f"clusters/{cluster_id}/deployment_tasks/", About("environment", cluster_id), graph_type=graph_type
        )
        document = document_from(Document(list(objects(data, "task")), ""), owner_label="master")
        errors = errors_in(document.findings)
        if errors:
            raise InvalidGraph(f"The master's merge cannot be read: {errors[0].message}.", findings=errors)
        return document.tasks

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        """As `base.Graphs`. For a Fuel master, records without type are resolved against the layers below before they
        are sent, and a finding says so for each."""
        require_type(graph_type)
        named = self.owner(owner)
        below = self._below(owner, graph_type)
        findings = check_document(document, named, below)
        errors = errors_in(findings)
        if errors:
            count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
            raise InvalidGraph(f"The {graph_type} graph of {named} is not stored: {count}.", findings=findings)
        tasks, resolved = document.tasks, list[Finding]()
        if not self._session.capabilities.partial_records:
            tasks, resolved = _whole(document.tasks, named, below)
        created = graph_type not in types_of(self._session, named)
        send = self._session.post if created else self._session.put
        about = _about(owner, graph_type, InvalidGraph)
        body = _body(document, tasks, ours=self._session.capabilities.partial_records)
        answer = send(_path(owner, graph_type), body, about)
        stored = replace(graph_from(answer, named), type=graph_type)
        return Uploaded(stored, created, (*findings, *resolved, *_told(answer)))

    def delete(self, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        """As `base.Graphs`; a master has no partial records that could lose what they override."""
        try:
            self._session.delete(_path(owner, graph_type), _about(owner, graph_type))
        except NotFound as error:
            raise self._unknown(self.owner(owner), graph_type) from error
        return ()

    def owner(self, owner: OwnerRef) -> Owner:
        if owner.level is Level.CLUSTER:
            return Owner(owner.level, owner.id, self._facets.clusters.get(owner.id).name)
        if owner.level is Level.PLUGIN:
            return plugin_owner(self._facets.plugins.get(owner.id))
        return release_owner(self._facets.releases.get(owner.id))

    def snapshot(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        """As `base.Graphs`, from several requests one after another."""
        environment = environment_of(self._session, cluster_id)
        return snapshot(environment, layers_of(self._session, environment, graph_type), graph_type)

    def _named(self, graphs: Sequence[GraphSummary]) -> Sequence[GraphSummary]:
        """`graphs` with the names and versions of their plugins, which are what people know them by."""
        if all(one.owner.level is not Level.PLUGIN for one in graphs):
            return graphs
        known = {plugin.id: plugin_owner(plugin) for plugin in plugins_of(self._session)}
        return [
            replace(one, owner=known.get(one.owner.id, one.owner)) if one.owner.level is Level.PLUGIN else one
            for one in graphs
        ]

    def _unknown(self, owner: Owner, graph_type: str) -> NotFound:
        known = types_of(self._session, owner)
        return NotFound("graph type", graph_type, known=known, hint="" if known else f"There is no graph in {owner}.")

    def _below(self, owner: OwnerRef, graph_type: str) -> Sequence[Layer] | None:
        """The layers below a graph of this owner: none for a release, not known for a plugin, which may be enabled on
        any release."""
        if owner.level is not Level.CLUSTER:
            return () if owner.level is Level.RELEASE else None
        members = members_of(self._session, owner.id)
        try:
            return layers_of(self._session, members, graph_type, (Level.RELEASE, Level.PLUGIN))
        except NotFound:
            return ()  # nothing has this type yet


def _whole(
    tasks: Sequence[Task], owner: Owner, below: Sequence[Layer] | None
) -> tuple[tuple[Task, ...], list[Finding]]:
    """`tasks` with each partial record as the whole definition that it makes with what lies below it, and a notice
    (G022) for each.

    Raises `InvalidGraph` where it is not known what lies below, or where that is several variants.
    """
    partial = [task for task in tasks if task.is_partial]
    if not partial:
        return tuple(tasks), []
    findings = []
    whole: dict[str, Task] = {}
    merged = merge_layers([*(below or ()), Layer(owner, tuple(tasks))])
    for task in partial:
        made = [one.task for one in merged.tasks if one.id == task.id]
        place = task.source.place()
        if below is None or len(made) != 1 or made[0].is_partial:
            why = "it has no type, and a master cannot store it so"
            message = f"task {task.id}: {why}"
            error = Finding(Severity.ERROR, "G020", message, place, task.id, "State the whole task with its type.")
            raise InvalidGraph(f"The graph of {owner} is not stored: {message}.", findings=[error])
        whole[task.id] = replace(made[0], source=task.source)
        message = f"task {task.id}: a master stores whole tasks, so what lies below it now was written out"
        hint = "Upload it again when the layers below change."
        findings.append(Finding(Severity.WARNING, "G022", message, place, task.id, hint))
    return tuple(whole.get(task.id, task) if task.is_partial else task for task in tasks), findings


def _told(answer: Mapping[str, Any]) -> list[Finding]:
    """What a server of ours found that cannot be found here: what an upload does to the environments above (G021)."""
    stated = findings_from(Answer(answer, "graph").items("findings"))
    return [one for one in stated if one.code == "G021"]


def _body(document: GraphDocument, tasks: Sequence[Task], *, ours: bool) -> dict[str, Any]:
    """What is sent: the tasks, and what the document states beside them; to a server of ours also which tasks are
    legacy entries, of which Nailgun would not hear."""
    body: dict[str, Any] = {} if document.name is None else {"name": document.name}
    if ours:
        body |= legacy_to(tasks)
    return {**body, **document.metadata, "tasks": [task_to(task) for task in tasks]}


def _path(owner: OwnerRef, graph_type: str) -> str:
    return f"{RESOURCES[owner.level]}/{owner.id}/deployment_graphs/{graph_type}/"


def _about(owner: OwnerRef, graph_type: str, invalid: type[InvalidGraph] | None = None) -> About:
    return About("graph type", graph_type, (NOUNS[owner.level], owner.id), invalid)
