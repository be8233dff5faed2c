"""The ids and names with which a shell completes a value, from the engine file or from a master.

Importing the engine's facets takes longer than a person waits after pressing Tab. So the engine file has queries of its
own for this (`store.names`); a master is read through its facets, with short time limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.settings import Settings

Row = tuple[str, str, str]
"""An id, a name, and a description, such as a status or version. The id or the name is empty if there is none."""

MASTER_SECONDS = 2.0

_BUSY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Scope:
    """The options of a command line that restrict a value: an environment (None: any), a run, graph types."""

    cluster: int | None = None
    run: int | None = None
    graph_types: tuple[str, ...] = ()


def names(settings: Settings, noun: str, scope: Scope) -> Sequence[Row]:
    """The values that a command line can have for a noun; none for an unknown noun.

    Raise `FuelError` if they cannot be read.
    """
    if (master := settings.master) is not None:
        from fuelclient.backends.connected import connected

        impatient = replace(master, timeout=MASTER_SECONDS, total_timeout=MASTER_SECONDS, retries=0)
        with closing(connected(impatient)) as backend:
            return _of_backend(backend, noun, scope)
    from fuelclient.store import names as stored
    from fuelclient.store.database import Database

    with closing(Database(settings.engine, busy_seconds=_BUSY_SECONDS)) as database, database.read() as connection:
        return stored.of(connection, noun, scope.cluster, scope.run, scope.graph_types)


def _of_backend(backend: Backend, noun: str, scope: Scope) -> Sequence[Row]:
    cluster = scope.cluster
    queries: Mapping[str, Callable[[], Sequence[Row]]] = {
        "environment": lambda: [(str(env.id), env.name, env.status) for env in backend.clusters.list()],
        "release": lambda: [(str(release.id), release.name, release.version) for release in backend.releases.list()],
        "plugin": lambda: [(str(plugin.id), plugin.name, plugin.version) for plugin in backend.plugins.list()],
        "sequence": lambda: [(str(sequence.id), sequence.name, "") for sequence in backend.sequences.list()],
        "node": lambda: [(str(node.id), node.name, node.status) for node in backend.nodes.list(cluster)],
        "run": lambda: [
            (str(run.id), "", f"{run.word}, {run.graph_type or run.name}")
            for run in reversed(backend.runs.list(cluster_id=cluster))
        ],
        "type": lambda: _names_only(graph.type for graph in backend.graphs.list(cluster)),
        "task": lambda: _names_only(
            task
            for graph in backend.graphs.list(cluster)
            if graph.type in scope.graph_types or not scope.graph_types
            for task in graph.task_ids
        ),
    }
    return queries[noun]() if noun in queries else ()


def _names_only(names: Iterable[str]) -> list[Row]:
    return [("", name, "") for name in sorted(set(names))]
