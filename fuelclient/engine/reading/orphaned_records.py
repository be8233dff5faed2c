"""Find records without type that a change to a lower layer leaves with nothing to override.

A merge leaves them out, and says so (G020). But a user who changes the graph of a release or a plugin may never look at
the environments above it, so the change itself reports what it does to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fuelclient.engine.reading import environment
from fuelclient.graph.merge import merge_layers
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Level, Owner
from fuelclient.store import plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters


@dataclass(frozen=True, slots=True)
class Orphan:
    """A record in an environment, with the message and the place of the merge's finding."""

    task: str
    message: str
    place: Place
    environment: str


def users(connection: Connection, owner: Owner) -> tuple[int, ...]:
    """Return the ids of the environments that have this release or plugin."""
    if owner.level is Level.RELEASE:
        return tuple(cluster.id for cluster in clusters.every(connection, release_id=owner.id))
    plugin = plugins.find(connection, owner.id) if owner.level is Level.PLUGIN else None
    return plugin.clusters if plugin is not None else ()


def watch(
    connection: Connection, cluster_ids: Iterable[int], graph_type: str = ""
) -> Callable[[], tuple[Finding, ...]]:
    """Return a function to call after a change: it returns a warning (G021) for each record that has been orphaned in
    these environments since, in graphs of one type, or of all types. A warning names all environments."""
    ids = tuple(cluster_ids)
    before = _of(connection, ids, graph_type)
    return lambda: _warnings(_of(connection, ids, graph_type) - before)


def _of(connection: Connection, cluster_ids: Iterable[int], graph_type: str) -> set[Orphan]:
    orphans: set[Orphan] = set()
    for cluster_id in dict.fromkeys(cluster_ids):
        target = environment.read(connection, cluster_id)
        for known_type in environment.types(connection, target):
            if graph_type in ("", known_type):
                orphans.update(_orphans(connection, target, known_type))
    return orphans


def _warnings(orphans: Iterable[Orphan]) -> tuple[Finding, ...]:
    grouped: dict[tuple[str, str], list[Orphan]] = {}
    for orphan in sorted(orphans, key=lambda orphan: (orphan.task, orphan.message, orphan.environment)):
        grouped.setdefault((orphan.task, orphan.message), []).append(orphan)
    hint = "It is left out there. State its type, or let a layer below define it again."
    return tuple(
        Finding(Severity.WARNING, "G021", f"in {_named(some)}, {message} any more", some[0].place, task, hint)
        for (task, message), some in grouped.items()
    )


def _orphans(connection: Connection, target: Environment, graph_type: str) -> Iterator[Orphan]:
    above = environment.layers(connection, target, graph_type, (Level.PLUGIN, Level.CLUSTER), strict=False)
    if not any(task.is_partial for layer in above for task in layer.tasks):
        return  # the usual case: the large graph of the release need not be read
    where = f"{target.cluster.id} ({target.cluster.name})"
    for finding in merge_layers(environment.layers(connection, target, graph_type, strict=False)).findings:
        if finding.code == "G020":
            yield Orphan(finding.task, finding.message, finding.place, where)


def _named(orphans: Iterable[Orphan]) -> str:
    names = list(dict.fromkeys(orphan.environment for orphan in orphans))
    return f"environment{'' if len(names) == 1 else 's'} {', '.join(names)}"
