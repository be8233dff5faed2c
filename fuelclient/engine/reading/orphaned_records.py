"""Orphans: records without type that a change below them leaves with nothing to override.

A merge leaves them out, and says so (G020). But who changes the graph of a release or of a plugin may never look at
the environments over it: so the change itself tells what it does to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from fuelclient.engine.reading import environment
from fuelclient.graph.merge import merge_layers
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Level, Owner
from fuelclient.store import clusters, plugins
from fuelclient.store.database import Connection


@dataclass(frozen=True, slots=True)
class Orphan:
    """One record in one environment: what the merge says of it, and where it is written."""

    task: str
    message: str
    place: Place
    environment: str


def users(connection: Connection, owner: Owner) -> tuple[int, ...]:
    """The environments whose merges have graphs of this release or plugin below their own, by id."""
    if owner.level is Level.RELEASE:
        return tuple(cluster.id for cluster in clusters.of_release(connection, owner.id))
    plugin = plugins.find(connection, owner.id) if owner.level is Level.PLUGIN else None
    return plugin.clusters if plugin is not None else ()


def of(connection: Connection, cluster_ids: Iterable[int], graph_type: str = "") -> frozenset[Orphan]:
    """All orphans of these environments, in the graphs of one type or (with none) of all."""
    found: set[Orphan] = set()
    for cluster_id in dict.fromkeys(cluster_ids):
        members = environment.read(connection, cluster_id)
        for kind in environment.types(connection, members):
            if graph_type in ("", kind):
                found.update(_orphans(connection, members, kind))
    return frozenset(found)


def left(before: Collection[Orphan], after: Collection[Orphan]) -> tuple[Finding, ...]:
    """A warning (G021) for each record that became an orphan, with all environments in which it did."""
    grouped: dict[tuple[str, str], list[Orphan]] = {}
    for one in sorted(set(after) - set(before), key=lambda one: (one.task, one.message, one.environment)):
        grouped.setdefault((one.task, one.message), []).append(one)
    hint = "It is left out there. State its type, or let a layer below define it again."
    return tuple(
        Finding(Severity.WARNING, "G021", f"in {_named(some)}, {message} any more", some[0].place, task, hint)
        for (task, message), some in grouped.items()
    )


def _orphans(connection: Connection, members: Environment, graph_type: str) -> Iterator[Orphan]:
    above = environment.layers(connection, members, graph_type, (Level.PLUGIN, Level.CLUSTER))
    if not any(task.is_partial for layer in above for task in layer.tasks):
        return  # as nearly everywhere: the release's graph, which is the large one, need not be read
    where = f"{members.cluster.id} ({members.cluster.name})"
    for finding in merge_layers(environment.layers(connection, members, graph_type)).findings:
        if finding.code == "G020":
            yield Orphan(finding.task, finding.message, finding.place, where)


def _named(orphans: Iterable[Orphan]) -> str:
    names = list(dict.fromkeys(one.environment for one in orphans))
    return f"environment{'' if len(names) == 1 else 's'} {', '.join(names)}"
