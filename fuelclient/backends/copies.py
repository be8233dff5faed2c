"""Copies of environments, read from any backend; the facet `Copies` stores them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fuelclient.backends.base import Backend
from fuelclient.backends.earlier_runs import SUCCEEDED, ended_runs
from fuelclient.environment.differences import EnvironmentCopy, PastRun, graph_key
from fuelclient.errors import NotFound
from fuelclient.facts.given import by_node
from fuelclient.model.graph import DEFAULT_TYPE, GraphSummary
from fuelclient.model.run import RunRequest
from fuelclient.plan.inputs import Inputs
from fuelclient.support import supports


def all_inputs(backend: Backend, cluster_id: int) -> Inputs:
    """An environment with its graphs of all types, its effective facts and its memory.

    Raise `NotFound` if it does not exist.
    """
    return _inputs(backend, cluster_id, backend.graphs.list(cluster_id))


def _inputs(backend: Backend, cluster_id: int, summaries: Iterable[GraphSummary]) -> Inputs:
    types = sorted({graph.type for graph in summaries})
    return backend.runs.inputs(RunRequest(cluster_id, tuple(types) or (DEFAULT_TYPE,)))


def copy_of(backend: Backend, cluster_id: int) -> EnvironmentCopy:
    """Read everything of an environment that can be copied. Raise `NotFound` if it does not exist.

    A Fuel master needs several requests; a change between two of them may be seen by the later one only.
    """
    summaries = backend.graphs.list(cluster_id)
    inputs = _inputs(backend, cluster_id, summaries)
    return EnvironmentCopy(
        inputs,
        backend.networks.configuration(cluster_id),
        {graph_key(graph.owner, graph.type): graph.name for graph in summaries if graph.name},
        tuple(_past(backend, inputs)),
        has_parts=not supports(backend.runs.act),
        uploaded=by_node(backend.facts.get(cluster_id)),
    )


def _past(backend: Backend, inputs: Inputs) -> Iterator[PastRun]:
    """Yield the runs that plans of the environment use, and the last run, in the order of their ids.

    A run whose facts were not kept is left out, because nothing could be compared with it.
    """
    memory = inputs.memory
    ended = ended_runs(backend, inputs.environment.cluster.id)
    remembered = memory.facts if memory else {}
    for run in ended:
        if run.id in remembered or run == ended[-1]:
            try:
                facts = remembered.get(run.id) or backend.runs.deployment_info(run.id)
            except NotFound:
                continue
            yield PastRun(replace(run, children=()), facts, tuple(backend.runs.history(run.id, SUCCEEDED)))
