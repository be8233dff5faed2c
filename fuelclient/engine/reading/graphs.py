"""Use cases of graphs: upload, read one layer, merge the layers of an environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuelclient.engine.reading import environment, lookup, orphaned_records
from fuelclient.environment.layers import snapshot
from fuelclient.environment.owners import owners as owners_of
from fuelclient.errors import Conflict, InvalidGraph, NotFound
from fuelclient.graph.merge import merge_layers
from fuelclient.graph.validate import check_document, require_type
from fuelclient.model.finding import Finding, errors_in
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
from fuelclient.model.package import Package
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection, Database


class Graphs:
    """Graphs by owner and type; see `backends.base.Graphs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, cluster_id: int | None = None, levels: Sequence[Level] = ()) -> Sequence[GraphSummary]:
        """All graphs by id, or those of an environment, its release and its enabled plugins; of `levels` only."""
        with self._database.read() as connection:
            owners = None
            if cluster_id is not None:
                members = owners_of(environment.read(connection, cluster_id))
                owners = {(owner.level, owner.id) for owner in members}
            found = graphs.summaries(connection, owners)
        return [summary for summary in found if not levels or summary.owner.level in levels]

    def get(self, owner: OwnerRef, graph_type: str = DEFAULT_TYPE) -> Graph:
        """One layer; `NotFound` for an unknown owner, or a type that it does not have."""
        with self._database.read() as connection:
            return _existing(connection, lookup.owner(connection, owner), graph_type)

    def owner(self, owner: OwnerRef) -> Owner:
        """The named owner; `NotFound` when there is none."""
        with self._database.read() as connection:
            return lookup.owner(connection, owner)

    def layers(self, cluster_id: int, levels: Sequence[Level], graph_type: str = DEFAULT_TYPE) -> MergedGraph:
        """The merge of the layers of `levels` (none: of all) in one environment; `NotFound` when no layer of it
        has the type."""
        with self._database.read() as connection:
            members = environment.read(connection, cluster_id)
            found = environment.layers(connection, members, graph_type, levels)
        return merge_layers(found, keep_partial=bool(levels) and Level.RELEASE not in levels)

    def merged(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Sequence[Task]:
        """Return the merged tasks of an environment."""
        return [merged.task for merged in self.layers(cluster_id, (), graph_type).tasks]

    def snapshot(self, cluster_id: int, graph_type: str = DEFAULT_TYPE) -> Snapshot:
        """What a plan or a preview needs of an environment, from one read; `NotFound` for an unknown type."""
        with self._database.read() as connection:
            members = environment.read(connection, cluster_id)
            return snapshot(members, environment.layers(connection, members, graph_type), graph_type)

    def upload(self, owner: OwnerRef, document: GraphDocument, graph_type: str = DEFAULT_TYPE) -> Uploaded:
        """Create the graph, or replace the tasks of the one that is there; its id stays.

        Raises `InvalidGraph` with all findings, and leaves everything as it was, when one of them is an error. Records
        of environments that have nothing below them any more are warnings (G021).
        """
        require_type(graph_type)
        with self._database.write() as connection:
            named = lookup.owner(connection, owner)
            users = orphaned_records.users(connection, named)
            before = orphaned_records.of(connection, users, graph_type)
            below = _below(connection, named, graph_type)
            stored = put(connection, named, document, graph_type, below)
            graphs.mark_derived(connection, stored.graph.id, False)
            left = orphaned_records.left(before, orphaned_records.of(connection, users, graph_type))
            return replace(stored, findings=(*stored.findings, *left))

    def delete(self, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
        """Remove a graph; `NotFound` for an unknown owner, or a type that it does not have.

        Where a plugin's package has one of this type, that one is in force again; it goes only with the plugin.
        Records of environments that have nothing below them any more are warnings (G021).
        """
        with self._database.write() as connection:
            named = lookup.owner(connection, owner)
            users = orphaned_records.users(connection, named)
            before = orphaned_records.of(connection, users, graph_type)
            graph = _existing(connection, named, graph_type)
            if owner.level is Level.PLUGIN and graphs.is_derived(connection, graph.id):
                raise Conflict(
                    f"The {graph_type} graph of {named.label} belongs to its package.",
                    hint="Disable or remove the plugin, or upload an empty graph in place of this one.",
                )
            graphs.delete(connection, graph.id)
            package = plugins.package(connection, owner.id) if owner.level is Level.PLUGIN else None
            if package is not None:
                _restore(connection, named, graph_type, package)
            return orphaned_records.left(before, orphaned_records.of(connection, users, graph_type))


def put_derived(connection: Connection, owner: Owner, graph_type: str, document: GraphDocument) -> None:
    """The owner's graph of this type is what its package says, unless one was uploaded."""
    graph_id = graphs.find_id(connection, owner.level, owner.id, graph_type)
    if graph_id is None:
        graph_id = graphs.create(connection, owner.level, owner.id, graph_type)
    elif not graphs.is_derived(connection, graph_id):
        return
    graphs.mark_derived(connection, graph_id, True)
    graphs.reset(connection, graph_id)
    graphs.describe(connection, graph_id, document.name, document.metadata)
    graphs.put_tasks(connection, graph_id, document.tasks)


def put(
    connection: Connection, owner: Owner, document: GraphDocument, graph_type: str, below: Sequence[Layer] | None
) -> Uploaded:
    """The owner's graph of this type says what `document` says; its name and metadata change where stated.

    `below` are the layers that it lies over, None where they are not known. Raises `InvalidGraph` with all
    findings when one of them is an error; the caller's transaction undoes the rest.
    """
    findings = check_document(document, owner, below)
    errors = errors_in(findings)
    if errors:
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        raise InvalidGraph(f"The {graph_type} graph of {owner} is not stored: {count}.", findings=findings)
    graph_id = graphs.find_id(connection, owner.level, owner.id, graph_type)
    created = graph_id is None
    if graph_id is None:
        graph_id = graphs.create(connection, owner.level, owner.id, graph_type)
    graphs.describe(connection, graph_id, document.name, document.metadata)
    graphs.put_tasks(connection, graph_id, document.tasks)
    return Uploaded(_existing(connection, owner, graph_type), created, findings)


def _restore(connection: Connection, owner: Owner, graph_type: str, package: Package) -> None:
    """The graph of this type that the owner's package has, where it has one, is in force again."""
    from fuelclient.plugins.select import for_any_release  # what reads packages is not needed for anything else here

    graph = for_any_release(package).graphs.get(graph_type)
    if graph is not None:
        put_derived(connection, owner, graph_type, graph)


def _existing(connection: Connection, owner: Owner, graph_type: str) -> Graph:
    graph = graphs.find(connection, owner.level, owner.id, graph_type)
    if graph is None:
        known = graphs.types(connection, owner.level, owner.id)
        hint = "" if known else f"{str(owner).capitalize()} has no graph."
        raise NotFound("graph type", graph_type, known=known, hint=hint)
    return graph


def _below(connection: Connection, owner: Owner, graph_type: str) -> Sequence[Layer] | None:
    """The layers below a graph of this owner: none for a release, not known for a plugin, which may be enabled on
    any release."""
    if owner.level is Level.RELEASE:
        return ()
    if owner.level is Level.PLUGIN:
        return None
    members = environment.read(connection, owner.id)
    if graph_type not in environment.types(connection, members):
        return ()
    return environment.layers(connection, members, graph_type, (Level.RELEASE, Level.PLUGIN))
