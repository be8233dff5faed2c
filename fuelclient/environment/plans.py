"""Plan the graphs of a request from inputs that any backend fetched."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from fuelclient.environment.layers import snapshot
from fuelclient.expressions.evaluation import Expressions
from fuelclient.expressions.facts import NO_PAST, Facts, Past
from fuelclient.graph.merge import merge_snapshot
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.run import RunRequest
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Check, Plan, missing_handler
from fuelclient.plan.plan import plan as plan_of

_FIRST_RUN = Finding(
    Severity.INFO,
    "G035",
    "the master has no facts of an earlier run, so conditions that ask for changes are evaluated as in a first run",
    hint="When the graph runs, the master decides by its own history.",
)


def plan(inputs: Inputs, request: RunRequest, graph_type: str, check: Check = missing_handler) -> Plan:
    """Plan one graph of a request. Raise what `plan.plan.plan` raises."""
    others = [name for name in inputs.layers if name != graph_type]
    computed = plan_of(
        snapshot(inputs.environment, inputs.layers[graph_type], graph_type),
        request,
        evaluation_of(inputs),
        check=check,
        elsewhere={
            task.id
            for name in (others if request.task_names or request.subgraphs else ())
            for task in merge_snapshot(snapshot(inputs.environment, inputs.layers[name], name)).tasks
        },
    )
    has_conditions = any(task.task.condition is not None for task in computed.expansion.tasks) and not request.force
    lacks_history = inputs.memory is None and has_conditions
    return replace(computed, findings=(*computed.findings, *inputs.findings, *((_FIRST_RUN,) if lacks_history else ())))


def plans(inputs: Inputs, request: RunRequest, check: Check = missing_handler) -> tuple[Plan, ...]:
    """Plan all graphs of a request, each as if no other ran before it."""
    return tuple(plan(inputs, request, graph_type, check) for graph_type in request.graph_types)


def evaluation_of(inputs: Inputs) -> Expressions:
    """Make an evaluator of expressions with the current facts and those of earlier runs."""
    if (memory := inputs.memory) is None:
        return Expressions(inputs.facts, NO_PAST)
    facts: dict[Hashable, Facts] = {run_id: Facts(seen.common, seen.nodes) for run_id, seen in memory.facts.items()}
    return Expressions(inputs.facts, Past(facts, memory.last, frozenset(memory.forgotten)))
