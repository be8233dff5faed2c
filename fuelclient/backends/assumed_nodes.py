"""Replace the nodes of an environment by assumed ones, for previews and simulations on any backend."""

from __future__ import annotations

from dataclasses import replace

from fuelclient.backends.base import Backend
from fuelclient.environment.layers import snapshot
from fuelclient.errors import FuelError, UsageError
from fuelclient.expressions.evaluation import Expressions
from fuelclient.facts.compute import computed
from fuelclient.facts.given import Given, effective_facts
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import NO_EXECUTOR, Node
from fuelclient.model.run import RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.fleet import fleet_candidates
from fuelclient.plan.inputs import Inputs, Memory


def with_assumed_nodes(
    backend: Backend, inputs: Inputs, request: RunRequest, assume: str
) -> tuple[Inputs, RunRequest, str]:
    """Replace the nodes of the inputs and the request by those that `assume` describes; return a sentence about them.

    Without `assume`, nodes are assumed if the environment has none; otherwise nothing changes, and the sentence is
    empty. Assumed nodes have no earlier runs and take part despite the filter of the graph. Raise `UsageError` for a
    request that names nodes, and the errors of `plan.fleet.assumed_nodes`.
    """
    if request.node_ids and (assume or not inputs.environment.nodes):
        if not assume:
            return inputs, request, ""  # planning refuses nodes that do not exist
        raise UsageError("--node and --assume cannot be combined.", hint="Leave one of them out.")
    graph_type = request.graph_types[0]
    nodes, assumption = fleet_candidates(snapshot(inputs.environment, inputs.layers[graph_type], graph_type), assume)
    if not nodes or not assumption:
        return inputs, request, ""
    # with another executor, planning would refuse nodes without an address
    environment, facts = on_assumed(
        backend, inputs.environment, [replace(node, executor=NO_EXECUTOR) for node in nodes]
    )
    assumed = Inputs(environment, inputs.layers, facts, Memory())
    return assumed, replace(request, node_ids=tuple(node.id for node in nodes)), assumption


def evaluation_on_assumed_nodes(backend: Backend, environment: Environment, known: Snapshot) -> Expressions | None:
    """The evaluation of expressions on the nodes that are assumed for a graph; None if there are no facts.

    The environment of the graph need not be stored.
    """
    nodes, _ = fleet_candidates(known, "")
    try:
        if environment.cluster.id:
            return Expressions(on_assumed(backend, environment, nodes)[1])
        return Expressions(computed(_with_nodes(environment, nodes), Given()).facts)
    except FuelError:
        return None


def on_assumed(backend: Backend, environment: Environment, nodes: list[Node]) -> tuple[Environment, DeploymentFacts]:
    """An environment with other nodes, and its facts: the computed ones, overridden by the uploads for all nodes."""
    other = _with_nodes(environment, nodes)
    uploaded = DeploymentFacts(backend.facts.get(environment.cluster.id).common)
    return other, effective_facts(computed(other, Given()).facts, uploaded)


def _with_nodes(environment: Environment, nodes: list[Node]) -> Environment:
    return replace(environment, nodes=tuple(nodes), disks={}, interfaces={}, nodes_are_assumed=True)
