"""Read the inputs of plans, and keep them with runs.

A child keeps its nodes, its facts and whose past counts, so that the same plan is made again after a crash, unless the
graph was changed.
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
from fuelclient.graph.merge import merge_layers
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
    """Read the present inputs for plans of the graphs of a request, and of the one of `graph_type`.

    Only runs with an id below `before` are remembered. Raise `NotFound` for an unknown environment or graph type.
    """
    target = environment.read(connection, request.cluster_id)
    forgotten = tuple(str(node.id) for node in target.nodes if is_deployed_anew(node))
    types = dict.fromkeys((*request.graph_types, *((graph_type,) if graph_type else ())))
    layers = {name: environment.layers(connection, target, name) for name in types}
    first = graph_type or next(iter(types), "")
    made = computed_now(connection, target, _participants(target, request, first, layers.get(first, ())))
    return Inputs(
        target,
        layers,
        with_assumed(effective(connection, target, made), request.assumed),
        _memory(connection, request, forgotten, before),
        findings=made.findings,
    )


def _participants(
    target: Environment, request: RunRequest, graph_type: str, layers: Sequence[Layer]
) -> tuple[int, ...]:
    """The nodes of a run, from which its primaries come."""
    node_filter = merge_layers(layers).metadata.get("node_filter")
    choose = Expressions(DeploymentFacts()).chosen
    fleet = fleet_for(snapshot(target, layers, graph_type, checked=False), request.node_ids, node_filter, choose)
    return tuple(node.uid for node in fleet.nodes if isinstance(node.uid, int))


def recorded(connection: Connection, child: Run) -> Inputs:
    """The inputs of a child when it began, with its graph as it is now."""
    kept = remembered(connection, child)
    names = dict.fromkeys((*child.request.graph_types, child.graph_type))
    return replace(kept, layers={name: environment.layers(connection, kept.environment, name) for name in names})


def remembered(connection: Connection, child: Run) -> Inputs:
    """The inputs of a child when it began, without its graph, which may have been changed or deleted since."""
    target = environment.read(connection, child.cluster_id)
    return Inputs(
        replace(target, nodes=runs.nodes_of(connection, child.id)),
        {},
        stored.seen(connection, child.id),
        _memory(connection, child.request, runs.forgotten_of(connection, child.id), child.id),
    )


def _memory(connection: Connection, request: RunRequest, forgotten: Sequence[str], before: int) -> Memory:
    """Successes and facts of runs with an id below `before`; none if the request forces everything to run again."""
    if request.force:
        return Memory(forgotten=tuple(forgotten))
    last = history.last_successes(connection, request.cluster_id, before)
    counting = {run_id for (_, uid), run_id in last.items() if uid not in forgotten}
    return Memory(
        {run_id: stored.seen(connection, run_id) for run_id in sorted(counting)},
        {instance: run_id for instance, run_id in last.items() if run_id in counting},
        tuple(forgotten),
    )
