"""Read the inputs of plans, from the environment or from an earlier run.

A child (the run of one graph) stores its nodes, its facts and the nodes whose past is ignored, so that the same plan is
made again after a crash, unless the graph was changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuelclient.engine.reading import environment
from fuelclient.engine.reading.computed_facts import computed_now, effective
from fuelclient.environment.checks import LARGEST_ID
from fuelclient.environment.layers import snapshot
from fuelclient.expressions.evaluation import Expressions
from fuelclient.facts.given import with_assumed
from fuelclient.graph.merge import merged_metadata
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer
from fuelclient.model.run import Run, RunRequest
from fuelclient.plan.inputs import Inputs, Memory, is_deployed_anew
from fuelclient.plan.select import fleet_for
from fuelclient.store import facts as stored
from fuelclient.store import history, runs
from fuelclient.store.database import Connection


def read(connection: Connection, request: RunRequest, graph_type: str = "", *, before: int = LARGEST_ID) -> Inputs:
    """Read the current inputs for plans of the graphs of a request and of `graph_type`, if given.

    The memory contains only runs with an id below `before`. Raise `NotFound` for an unknown environment or graph type.
    """
    target = environment.read(connection, request.cluster_id)
    forgotten = tuple(str(node.id) for node in target.nodes if is_deployed_anew(node))
    types = dict.fromkeys((*request.graph_types, *((graph_type,) if graph_type else ())))
    layers = {name: environment.layers(connection, target, name) for name in types}
    first = graph_type or next(iter(types), "")
    computed_facts = computed_now(connection, target, _participants(target, request, first, layers.get(first, ())))
    return Inputs(
        target,
        layers,
        with_assumed(effective(connection, target, computed_facts), request.assumed),
        _read_memory(connection, request, forgotten, before),
        findings=computed_facts.findings,
    )


def _participants(
    target: Environment, request: RunRequest, graph_type: str, layers: Sequence[Layer]
) -> tuple[int, ...]:
    """Return the ids of the nodes of a run, which can become primaries."""
    node_filter = merged_metadata(layers).get("node_filter")
    choose = Expressions(DeploymentFacts()).chosen
    fleet = fleet_for(snapshot(target, layers, graph_type, checked=False), request.node_ids, node_filter, choose)
    return tuple(node.uid for node in fleet.nodes if isinstance(node.uid, int))


def stored_with_current_graphs(connection: Connection, child: Run) -> Inputs:
    """Return the inputs that a child began with, but with the current graphs."""
    inputs = stored_without_graphs(connection, child)
    names = dict.fromkeys((*child.request.graph_types, child.graph_type))
    return replace(inputs, layers={name: environment.layers(connection, inputs.environment, name) for name in names})


def stored_without_graphs(connection: Connection, child: Run) -> Inputs:
    """Return the inputs that a child began with, without graphs, since these may have been changed or deleted."""
    target = environment.read(connection, child.cluster_id)
    return Inputs(
        replace(target, nodes=runs.nodes_of(connection, child.id)),
        {},
        stored.seen(connection, child.id),
        _read_memory(connection, child.request, runs.forgotten_of(connection, child.id), child.id),
    )


def _read_memory(connection: Connection, request: RunRequest, forgotten: Sequence[str], before: int) -> Memory:
    """Read the successes and facts of runs with an id below `before`, or nothing if the request forces all to run."""
    if request.force:
        return Memory(forgotten=tuple(forgotten))
    last = history.last_successes(connection, request.cluster_id, before)
    relevant_runs = {run_id for (_, uid), run_id in last.items() if uid not in forgotten}
    return Memory(
        {run_id: stored.seen(connection, run_id) for run_id in sorted(relevant_runs)},
        {instance: run_id for instance, run_id in last.items() if run_id in relevant_runs},
        tuple(forgotten),
    )
