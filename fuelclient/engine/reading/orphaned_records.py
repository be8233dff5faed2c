"""Find records without a type whose task a change to a lower layer has removed.

A merge leaves such records out and reports them (G020). But a user who changes the graph of a release or a plugin may
never look at the environments that use it, so the change itself reports them (G021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from fuelclient.engine.reading import environment
from fuelclient.graph.merge import merge_layers
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Level
from fuelclient.store.database import Connection


def watch(
    connection: Connection, cluster_ids: Iterable[int], graph_type: str = ""
) -> Callable[[], tuple[Finding, ...]]:
    """Make a function to call after a change. It returns a warning (G021) for each record that has been orphaned in
    graphs of `graph_type` (empty: all types) since then, with all environments where that happened."""
    ids = tuple(dict.fromkeys(cluster_ids))
    before = _orphans(connection, ids, graph_type)
    return lambda: _warnings(_orphans(connection, ids, graph_type) - before)


def _orphans(connection: Connection, cluster_ids: Iterable[int], graph_type: str) -> set[tuple[str, str, str, Place]]:
    """Collect the orphaned records (G020) as tuples of task, message, environment, and place of the finding."""
    orphans = set()
    for cluster_id in cluster_ids:
        target = environment.read(connection, cluster_id)
        where = f"{target.cluster.id} ({target.cluster.name})"
        for name in environment.types(connection, target):
            if graph_type in ("", name):
                findings = _findings(connection, target, name)
                orphans |= {(one.task, one.message, where, one.place) for one in findings if one.code == "G020"}
    return orphans


def _findings(connection: Connection, target: Environment, graph_type: str) -> Sequence[Finding]:
    upper_layers = environment.layers(connection, target, graph_type, (Level.PLUGIN, Level.CLUSTER), strict=False)
    if not any(task.is_partial for layer in upper_layers for task in layer.tasks):
        return ()  # the usual case: the large graph of the release need not be read
    return merge_layers(environment.layers(connection, target, graph_type, strict=False)).findings


def _warnings(orphans: Iterable[tuple[str, str, str, Place]]) -> tuple[Finding, ...]:
    grouped: dict[tuple[str, str], dict[str, Place]] = {}
    for task, message, where, place in sorted(orphans, key=itemgetter(0, 1, 2)):
        grouped.setdefault((task, message), {}).setdefault(where, place)
    hint = "It is left out there. State its type, or let a layer below define it again."
    warnings = []
    for (task, message), places in grouped.items():
        text = f"in environment{'' if len(places) == 1 else 's'} {', '.join(places)}, {message} any more"
        warnings.append(Finding(Severity.WARNING, "G021", text, next(iter(places.values())), task, hint))
    return tuple(warnings)
