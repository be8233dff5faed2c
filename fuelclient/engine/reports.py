"""What transactions and plans look like to those who ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuelclient.engine import planning
from fuelclient.engine.executors import Executors
from fuelclient.engine.jobs import Jobs
from fuelclient.engine.planning import Inputs
from fuelclient.errors import NotFound
from fuelclient.expressions.facts import uid_of
from fuelclient.model.status import InstanceStatus, Reason, TransactionStatus
from fuelclient.model.task import TaskType
from fuelclient.model.transaction import (
    HistoryFilter,
    HistoryRow,
    Logs,
    PlannedGraph,
    PlannedInstance,
    SimulatedGraph,
    SimulatedInstance,
    Transaction,
)
from fuelclient.plan.plan import Plan, merged_for
from fuelclient.plan.simulate import Simulation, simulate
from fuelclient.plan.work import Kind
from fuelclient.store import history, transactions
from fuelclient.store.database import Connection

NOWHERE = "-"
"""The node of a task that is placed nowhere, in a history."""

ASSUMED_SECONDS = 1.0
"""How long a task instance takes in a simulation when it never succeeded before."""


def planned(made: Plan, *, after_earlier: bool = False) -> PlannedGraph:
    """A plan for people, in execution order."""
    work, order = made.work, made.order
    found = []
    for vertex in sorted(range(work.size), key=lambda one: (order.generation[one], one)):
        task, uid = made.at(vertex)
        runs = work.kinds[vertex] is Kind.REAL
        found.append(
            PlannedInstance(
                task=task.id,
                node=uid,
                type=task.task.type,
                layer=task.owner.label,
                generation=order.generation[vertex],
                runs=runs,
                reason="" if runs else str(work.passed_because(vertex)),
                detail=made.details.get(vertex, ""),
            )
        )
    return PlannedGraph(
        made.graph_type, tuple(found), made.findings, made.node_ids, made.digest, order.generations, after_earlier
    )


def dry_run_message(made: Plan) -> str:
    """What a dry run found, in one sentence."""
    running = sum(kind is Kind.REAL for kind in made.work.kinds)
    what = "1 task instance" if running == 1 else f"{running} task instances"
    return f"Dry run: {what} would run, {made.work.size - running} would be skipped. Nothing was run."


def rows(connection: Connection, child: Transaction, filters: HistoryFilter) -> list[HistoryRow]:
    """The rows of a child, and after them its tasks that are placed nowhere.

    These stand for no node: a filter of nodes leaves them out. Source: Nailgun `DeploymentHistoryCollection`.
    """
    definitions = transactions.definitions_of(connection, child.id)
    found = history.rows(connection, child.id, child.graph_type, filters, definitions)
    skipped = InstanceStatus.SKIPPED
    if filters.nodes or (filters.statuses and skipped not in filters.statuses):
        return found
    placed = history.placed(connection, child.id)
    for task, definition in definitions.items():
        wanted = not filters.tasks or task in filters.tasks
        if wanted and task not in placed and definition.get("type") != TaskType.GROUP:
            kind = str(definition.get("type") or "")
            found.append(HistoryRow(child.id, child.graph_type, task, NOWHERE, skipped, kind, definition=definition))
    return found


def undecided(connection: Connection, child: Transaction) -> list[str]:
    """The instances of a child of which nobody knows how they ended."""
    if child.status is not TransactionStatus.RUNNING:
        return []
    return history.running(connection, child.id, Reason.INTERRUPTED)


def simulated(
    plans: Sequence[Plan], known: Mapping[tuple[str, str], float], fail: Sequence[str]
) -> tuple[SimulatedGraph, ...]:
    """Runs of graphs one after another, that were only computed; none follows one that fails."""
    named: list[set[int]] = [set() for _ in plans]
    for text in fail:
        problem: NotFound | None = None
        for made, failing in zip(plans, named, strict=True):
            try:
                failing.add(planning.task_instance(made, text))
            except NotFound as error:
                problem = problem or error
        if problem is not None and not any(named):
            raise problem
    found = []
    for made, failing in zip(plans, named, strict=True):
        found.append(_simulated(made, known, failing))
        if found[-1].verdict != "ready":
            break
    return tuple(found)


def _simulated(made: Plan, known: Mapping[tuple[str, str], float], failing: set[int]) -> SimulatedGraph:
    work = made.work
    keys = [(made.at(vertex)[0].id, uid_of(made.uid(vertex))) for vertex in range(work.size)]
    durations = [known.get(key, ASSUMED_SECONDS) for key in keys]
    run = simulate(work, durations, failing)
    return SimulatedGraph(
        graph_type=made.graph_type,
        instances=_instances(made, run),
        verdict=str(run.result.verdict),
        message=run.result.message,
        makespan=run.makespan,
        critical=tuple(work.name(vertex) for vertex in run.critical),
        known=sum(key in known for key, kind in zip(keys, work.kinds, strict=True) if kind is Kind.REAL),
        assumed_seconds=ASSUMED_SECONDS,
        findings=made.findings,
    )


def _instances(made: Plan, run: Simulation) -> tuple[SimulatedInstance, ...]:
    start: dict[int, float] = {}
    end: dict[int, float] = {}
    for moment in run.moments:
        running = moment.change.status is InstanceStatus.RUNNING
        (start if running else end)[moment.change.vertex] = moment.at
    found = []
    for vertex, change in sorted(run.last().items()):
        task, uid = made.at(vertex)
        because = "" if change.because is None else made.work.name(change.because)
        ran = start.get(vertex)
        found.append(
            SimulatedInstance(
                task.id, uid, change.status, change.reason, because, ran, end.get(vertex) if ran is not None else None
            )
        )
    return tuple(found)


def logs(row: HistoryRow, inputs: Inputs, child: Transaction, jobs: Jobs, executors: Executors) -> Logs:
    """What a task instance printed, read from where it ran. `NotFound` when the graph has no such task any more."""
    merged = {task.id: task for task in merged_for(inputs.snapshot).tasks}
    task = merged.get(row.task)
    if task is None:
        raise NotFound("task", row.task, known=list(merged), hint=f"The {child.graph_type} graph has changed since.")
    rendered = planning.Expressions(inputs.facts, inputs.past).rendered(task.task, row.node)
    job = jobs.job(task, row.node, rendered, row.attempts)
    output, errors = (executors.read(job, stream) for stream in ("out", "err"))
    return Logs(row.task, row.node, output, errors, row.return_code)
