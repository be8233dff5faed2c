"""The graphs of linked plugins outside of environments, as their packages have them now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fuelclient.engine.reading import lookup
from fuelclient.model.graph import Graph, GraphSummary, Level
from fuelclient.store import graphs
from fuelclient.store.database import Connection


def graph(connection: Connection, stored: Graph) -> Graph:
    """Return a graph, read again if a linked plugin has it from its package. Raise what `lookup.package` raises."""
    if stored.owner.level is not Level.PLUGIN or not graphs.is_derived(connection, stored.id):
        return stored
    owner = lookup.plugin(connection, stored.owner.id)
    if not owner.is_linked:
        return stored
    from fuelclient.plugins.select import for_any_release

    document = for_any_release(lookup.package(connection, owner)).graphs.get(stored.type)
    if document is None:
        return replace(stored, tasks=())
    return replace(stored, tasks=document.tasks, metadata=document.metadata, warnings=document.findings)


def summary(connection: Connection, stored: GraphSummary, linked: Collection[int]) -> GraphSummary:
    """Return the summary of a graph with the tasks that it has now. `linked` are the ids of linked plugins.

    If the package of one cannot be read, the tasks are those that it had when it was linked.
    """
    is_linked = stored.owner.level is Level.PLUGIN and stored.owner.id in linked
    if not is_linked or not graphs.is_derived(connection, stored.id):
        return stored
    from fuelclient.plugins.select import for_any_release

    package = lookup.last_package(connection, lookup.plugin(connection, stored.owner.id))
    document = for_any_release(package).graphs.get(stored.type)
    return replace(stored, task_ids=tuple(task.id for task in document.tasks) if document else ())
