"""Plan, simulate and dry-run a request from the inputs of any backend; a Fuel master decides its dry runs itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fuelclient.backends.assumed_nodes import with_assumed_nodes
from fuelclient.backends.base import Backend
from fuelclient.environment.plans import plans
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.executors import registry
from fuelclient.facts.given import with_assumed
from fuelclient.model.finding import Finding
from fuelclient.model.run import Action, DryGraph, DryRun, PlannedGraph, Run, RunRequest, SimulatedGraph
from fuelclient.model.status import RunStatus
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan, checked, require_decided
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.environment.redeploy import Rerun
    from fuelclient.environment.saved_plans import SavedPlan

_PAUSE = 0.5
"""Seconds between two requests for the state of the master's dry run."""


def planned(backend: Backend, request: RunRequest, assume: str = "") -> tuple[PlannedGraph, ...]:
    """Plan all graphs of a request, on the environment's nodes or on those of `assume`.

    Raise the errors of `Runs.begin` for a request that cannot run, and those of `with_assumed_nodes`.
    """
    inputs, made_plans, assumption = _plans(backend, request, assume or None)
    return tuple(replace(plan, assumption=assumption) for plan in _shown(inputs, request, made_plans))


def _shown(inputs: Inputs, request: RunRequest, made_plans: Sequence[Plan]) -> list[PlannedGraph]:
    """The plans in the form that users see, without what the executors of nodes would skip."""
    from fuelclient.insight import forecast as views

    kinds = {node.id: request.executor or node.executor for node in inputs.environment.nodes}

    def skips(type_: str, uid: Any) -> bool:
        return registry.skips(kinds.get(uid, request.executor), type_)

    return [views.planned(plan, skips, after_earlier=index > 0) for index, plan in enumerate(made_plans)]


def simulated(
    backend: Backend, request: RunRequest, fail: Sequence[str] = (), assume: str = ""
) -> tuple[SimulatedGraph, ...]:
    """Compute how a request would run if the instances of `fail` (`task/node`) failed.

    It runs on the nodes of `assume`, or on those of the environment; if it has none, nodes are assumed. Durations are
    those of earlier runs. A graph that fails ends the run. Raise `NotFound` for an instance that no graph has, and the
    errors of `with_assumed_nodes`.
    """
    from fuelclient.insight import forecast as views

    inputs, made_plans, assumption = _plans(backend, request, assume)
    return tuple(replace(graph, assumption=assumption) for graph in views.simulated(made_plans, inputs.durations, fail))


def pictured(backend: Backend, request: RunRequest, fail: Sequence[str] = (), assume: str = "") -> str:
    """Draw the run that `simulated` computes for Graphviz: a digraph for each graph."""
    from fuelclient.insight import forecast as views

    inputs, made_plans, _ = _plans(backend, request, assume)
    return views.pictured(made_plans, inputs.durations, fail)


def redeployed(backend: Backend, request: RunRequest) -> tuple[tuple[str, tuple[Rerun, ...]], ...]:
    """The instances of each graph of a request that would run now, with the reasons."""
    from fuelclient.environment.redeploy import reruns

    inputs, made_plans, _ = _plans(backend, request, None)
    return tuple((plan.graph_type, reruns(inputs, plan)) for plan in made_plans)


def saved(backend: Backend, request: RunRequest) -> tuple[SavedPlan, tuple[Finding, ...]]:
    """The current plan of a request in the form of a file, and its findings. Raise `InvalidGraph` if it depends on
    unknown facts."""
    from fuelclient.environment.saved_plans import saved_plan

    inputs, made_plans, _ = _plans(backend, request, None)
    for plan in made_plans:
        require_decided(plan)
    shown = _shown(inputs, request, made_plans)
    return saved_plan(inputs, request, shown), tuple(finding for plan in made_plans for finding in plan.findings)


def _plans(backend: Backend, request: RunRequest, assume: str | None) -> tuple[Inputs, tuple[Plan, ...], str]:
    """The inputs and plans of a request, and a sentence about assumed nodes. If `assume` is None, none are assumed."""
    effective_request = checked(request, registry.runs_nothing)
    inputs, assumption = backend.runs.inputs(effective_request), ""
    if assume is not None:
        inputs, effective_request, assumption = with_assumed_nodes(backend, inputs, effective_request, assume)
    inputs = replace(inputs, facts=with_assumed(inputs.facts, effective_request.assumed))
    dry_request = replace(effective_request, dry_run=True)  # so that a node without an address is not an error
    made = plans(inputs, dry_request, backend.runs.checker(effective_request, inputs))
    return inputs, tuple(map(partial(_naming_run, backend, request.cluster_id), made)), assumption


def _naming_run(backend: Backend, cluster_id: int, made: Plan) -> Plan:
    """A plan whose finding that it has no node (G066) also names the run that may have the nodes."""
    if made.node_ids or "G066" not in {finding.code for finding in made.findings}:
        return made
    for run in backend.runs.list(cluster_id=cluster_id, statuses=(RunStatus.RUNNING,)):
        hint = f"Run {run.id} is going on and may have them: `fuel2 task watch {run.id}` waits for it."
        found = (replace(each, hint=f"{hint} {each.hint}") if each.code == "G066" else each for each in made.findings)
        return replace(made, findings=tuple(found))
    return made


def dry_run(
    backend: Backend,
    request: RunRequest,
    *,
    action: Action | None = None,
    timeout: float | None = None,
    begun: Callable[[Run], None] = lambda run: None,  # noqa: ARG005 (what a caller's function is given)
    assume: str = "",
) -> DryRun:
    """Compute what a request, or the master's own `action` on its nodes, would run.

    A Fuel master decides itself, and keeps its decision as a run: `begun` is called with that run before the wait for
    its end, which takes at most `timeout` seconds. With `assume`, the plan is computed here. Raise the errors
    of `Runs.begin` for a request that cannot run.
    """
    if assume or not supports(backend.runs.act):
        return DryRun(tuple(DryGraph(plan.graph_type, plan) for plan in planned(backend, request, assume)))
    started = backend.runs.begin(request) if action is None else backend.runs.act(action, request)
    begun(started)
    run = _wait_for(backend, started.id, timeout)
    if not run.is_final:
        return DryRun(run=run)
    parts = [part for part in run.children if part.graph_type]
    return DryRun(
        tuple(_graph(backend, part, request, after_earlier=index > 0) for index, part in enumerate(parts)), run
    )


def _wait_for(backend: Backend, run_id: int, timeout: float | None) -> Run:
    """Wait until the run has ended, or for `timeout` seconds, and return its last state."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while not (run := backend.runs.get(run_id)).is_final:
        if deadline is not None and time.monotonic() >= deadline:
            break
        time.sleep(_PAUSE)
    return run


def _graph(backend: Backend, part: Run, request: RunRequest, *, after_earlier: bool) -> DryGraph:
    """A graph of an ended dry run on a master, with the plan that is computed here."""
    decided = backend.runs.decided(part, request)
    try:
        (plan,) = planned(backend, replace(request, graph_types=(part.graph_type,)))
    except (InvalidDocument, NotFound) as error:
        findings = tuple(finding for finding in getattr(error, "findings", ()) if isinstance(finding, Finding))
        return DryGraph(part.graph_type, None, decided, str(error), findings)
    return DryGraph(part.graph_type, replace(plan, after_earlier=after_earlier), decided)
