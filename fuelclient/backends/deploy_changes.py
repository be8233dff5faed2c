"""Find the graphs that deploy or reset an environment, on any backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound, Unsupported
from fuelclient.model.graph import Level
from fuelclient.model.task import Task
from fuelclient.plan.deploy_changes import DEPLOY_CHANGES, Changes, changes


def merged_tasks(backend: Backend, cluster_id: int, graph_type: str, levels: Sequence[Level] = ()) -> list[Task]:
    """The merged tasks of an environment, from `levels` or from all levels; none for an unknown graph type.

    Raise `NotFound` for an unknown environment.
    """
    try:
        return [merged.task for merged in backend.graphs.layers(cluster_id, levels, graph_type).tasks]
    except NotFound as missing:
        if missing.noun != "graph type":
            raise
        return []


def graph_for(backend: Backend, cluster_id: int, types: Sequence[str], verb: str) -> str:
    """The first of `types` whose graph in an environment has tasks.

    Raise `Unsupported` if no type has such a graph. `verb` says in its message what one does: "which resets nodes".
    """
    backend.clusters.get(cluster_id)
    for graph_type in types:
        if merged_tasks(backend, cluster_id, graph_type):
            return graph_type
    raise Unsupported(
        f"Environment {cluster_id} has no graph of type {' or '.join(types)}, which {verb} nodes.",
        hint=f"Upload one: `fuel2 graph upload --env {cluster_id} --type {types[-1]} --file FILE`.",
    )


@contextmanager
def naming_sequence(changes: Changes) -> Iterator[None]:
    """Name the sequence in errors about a graph type that does not exist."""
    try:
        yield
    except NotFound as missing:
        if missing.noun != "graph type" or not changes.sequence:
            raise
        raise NotFound(
            missing.noun, missing.key,
            message=f"Graph type {missing.key} does not exist, and the sequence {changes.sequence} of the release asks "
            "for it.",
            hint=f"Upload the graph, or correct the sequence (`fuel2 sequence list`). {missing.hint}".strip(),
        ) from missing  # fmt: skip


def changes_of(backend: Backend, cluster_id: int) -> Changes:
    """The graphs that deploy an environment as it is now; see `plan.deploy_changes`."""
    sequences = backend.sequences.list(cluster_id=cluster_id)
    own_types = next((sequence.graph_types for sequence in sequences if sequence.name == DEPLOY_CHANGES), ())
    nodes = backend.nodes.list(cluster_id)
    return changes(nodes, lambda graph_type: bool(merged_tasks(backend, cluster_id, graph_type)), own_types)
