"""Whether nodes are ready for tasks: before a run begins, and when somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from fuelclient.engine.runs.jobs import target_of
from fuelclient.errors import FuelError, NotReady
from fuelclient.executors import registry
from fuelclient.executors.examination import AREA, programs_of
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Target
from fuelclient.model.diagnosis import Diagnosis, Health, alike
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.model.task import TaskType
from fuelclient.plan.plan import COMMANDED, Plan

_ELSEWHERE = frozenset({TaskType.MASTER_SHELL, TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP, *COMMANDED})
"""The types of tasks that run nothing on their node."""

Programs = Mapping[int, Collection[str]]
"""The programs that tasks call, by the id of their node."""


def programs(plans: Iterable[Plan]) -> Programs:
    """Return what the tasks of some plans call on each node where one runs."""
    found: dict[int, set[str]] = {}
    for plan in plans:
        for vertex, rendered in plan.rendered.items():
            task, node = plan.at(vertex)
            if isinstance(node, int) and task.task.type not in _ELSEWHERE:
                found.setdefault(node, set()).update(programs_of(task.task.type, rendered["parameters"]))
    return found


def examined(request: RunRequest, present: Iterable[Node]) -> Sequence[tuple[Node, Target]]:
    """Return those nodes that are examined before a run, as their kind of executor wants, and how they are reached."""
    reached = ((node, target_of(node, request.executor)) for node in present)
    return [(node, target) for node, target in reached if registry.known(target.kind).examined]


def require_ready(executor: MachineExecutor, reached: Iterable[tuple[Node, Target]], plans: Iterable[Plan]) -> None:
    """Raise `NotReady` if one of these nodes takes part in a plan and is not ready."""
    called = programs(plans)
    found = diagnosed(executor, [(node, target) for node, target in reached if node.id in called], called)
    errors = {node_id: [one for one in all_ if one.health is Health.ERROR] for node_id, all_ in found.items()}
    failed = [node_id for node_id, reasons in errors.items() if reasons]
    if not failed:
        return
    findings = [
        Finding(Severity.ERROR, "N002", f"{one.name}: {one.message}", hint=one.mend)
        for one in alike(reason for reasons in errors.values() for reason in reasons)
    ]
    nodes = f"node {failed[0]} is" if len(failed) == 1 else f"{len(failed)} nodes are"
    raise NotReady(
        f"The run does not start, and nothing is stored: {nodes} not ready.",
        findings=findings,
        hint="Correct that first. --no-check skips this check, but tasks there may then fail.",
    )


def diagnosed(
    executor: MachineExecutor, reached: Sequence[tuple[Node, Target]], called: Programs
) -> Mapping[int, Sequence[Diagnosis]]:
    """Return what is wrong with each node, by its id. Nodes that are one machine are examined once."""
    machines: dict[Target, set[str]] = {}
    for node, target in reached:
        machines.setdefault(target, set()).update(called.get(node.id, ()))
    found = asyncio.run(executor.examine(machines)) if machines else {}
    return {
        node.id: [replace(one, area=AREA, name=f"{node.id} ({node.name})") for one in found[target]]
        for node, target in reached
    }


def check(executor: MachineExecutor, known: Sequence[Node], called: Programs) -> Sequence[Diagnosis]:
    """Return how nodes are, whatever kind of executor they have; what is true of several is said once."""
    reached = [(node, target_of(node)) for node in known]
    found = diagnosed(executor, reached, called)
    wrong = [one for node in known for one in found[node.id]]
    well = [
        Diagnosis(AREA, f"{node.id} ({node.name})", Health.OK, _ready(target))
        for node, target in reached
        if all(one.health is not Health.ERROR for one in found[node.id])
    ]
    return [*alike(wrong), *alike(well)]


def unplanned(cluster_id: int, graph_type: str, error: FuelError) -> Diagnosis:
    """Return that the programs which tasks call are not known."""
    name = f"environment {cluster_id}"
    message = f"which programs the tasks of its graph {graph_type} call is not known: {error.message}"
    return Diagnosis("graphs", name, Health.WARNING, message, error.hint or f"fuel2 graph validate --env {cluster_id}")


def _ready(target: Target) -> str:
    if registry.known(target.kind).runs:
        return f"tasks run there by {target.kind}"
    return f"no task runs there: its executor is {target.kind}"
