"""What transactions and plans look like to those who ask."""

from __future__ import annotations

from fuelclient.engine.runs.executors import output_of
from fuelclient.engine.runs.jobs import Jobs
from fuelclient.environment.plans import expressions
from fuelclient.executors.base import Executor
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.run import (
    HistoryFilter,
    HistoryRow,
    Logs,
    Run,
)
from fuelclient.model.status import InstanceStatus, Reason, RunStatus
from fuelclient.model.task import Task, TaskType
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan
from fuelclient.plan.work import Kind
from fuelclient.store import history, runs
from fuelclient.store.database import Connection

NOWHERE = "-"
"""The node of a task that is placed nowhere, in a history."""


def dry_run_message(made: Plan) -> str:
    """What a dry run found, in one sentence."""
    running = sum(kind is Kind.REAL for kind in made.work.kinds)
    what = "1 task instance" if running == 1 else f"{running} task instances"
    return f"Dry run: {what} would run, {made.work.size - running} would be skipped. Nothing was run."


def rows(connection: Connection, child: Run, filters: HistoryFilter) -> list[HistoryRow]:
    """The rows of a child, and after them its tasks that are placed nowhere.

    These stand for no node: a filter of nodes leaves them out. Source: Nailgun `DeploymentHistoryCollection`.
    """
    definitions = runs.definitions_of(connection, child.id)
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


def undecided(connection: Connection, child: Run) -> list[str]:
    """The instances of a child of which nobody knows how they ended."""
    if child.status is not RunStatus.RUNNING:
        return []
    return history.running(connection, child.id, Reason.INTERRUPTED)


def logs(row: HistoryRow, inputs: Inputs, child: Run, jobs: Jobs, executor: Executor) -> Logs:
    """What a task instance printed, read from where it ran.

    The task is the one that the run remembers: whoever reads logs may have mended the graph meanwhile. Its passwords
    are masked, but where its commands ran does not hang on them.
    """
    task = MergedTask(Task(row.task, row.definition), Owner(Level.CLUSTER, child.cluster_id))
    rendered = expressions(inputs).rendered(task.task, row.node)
    job = jobs.job(task, row.node, rendered, row.attempts)
    output, errors = (output_of(executor, job, stream) for stream in ("out", "err"))
    return Logs(row.task, row.node, output, errors, row.return_code)
