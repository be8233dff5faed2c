"""What a deployment of an environment consists of, asked of any backend."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound, Unsupported
from fuelclient.plan.changes import DEPLOY_CHANGES, Changes, changes


def has_graph(backend: Backend, cluster_id: int, graph_type: str) -> bool:
    """Whether an environment has a graph of this type with tasks in it. `NotFound` for an unknown environment."""
    try:
        return bool(backend.graphs.layers(cluster_id, (), graph_type).tasks)
    except NotFound as missing:
        if missing.noun != "graph type":
            raise
        return False


def graph_for(backend: Backend, cluster_id: int, types: Sequence[str], verb: str) -> str:
    """The one of `types` that an environment has with tasks in it; `Unsupported` when it has none, in which `verb` says
    what such a graph does to nodes."""
    backend.clusters.get(cluster_id)
    found = next((one for one in types if has_graph(backend, cluster_id, one)), "")
    if not found:
        raise Unsupported(
            f"Environment {cluster_id} has no graph that {verb} nodes: none of the type {' or '.join(types)}.",
            hint=f"Upload one: `fuel2 graph upload --env {cluster_id} --type {types[-1]} --file FILE`.",
        )
    return found


def changes_of(backend: Backend, cluster_id: int) -> Changes:
    """The graphs that deploy an environment as it is now; see `plan.changes`."""
    found = [one for one in backend.sequences.list(cluster_id=cluster_id) if one.name == DEPLOY_CHANGES]
    stated = found[0].graph_types if found else ()
    return changes(backend.nodes.list(cluster_id), lambda kind: has_graph(backend, cluster_id, kind), stated)
