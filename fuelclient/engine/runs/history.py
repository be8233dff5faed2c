"""Read what a run left behind: its history, the output of its instances, and the end of its runner's log."""

from __future__ import annotations

from fuelclient import redact
from fuelclient.engine.runs.executors import output_of
from fuelclient.engine.runs.jobs import Jobs
from fuelclient.environment.plans import evaluation_of
from fuelclient.executors.job import Executor
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.run import NOWHERE, HistoryFilter, HistoryRow, Logs, Run
from fuelclient.model.status import InstanceStatus, Reason, RunStatus
from fuelclient.model.task import Task, TaskType
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan
from fuelclient.plan.work import InstanceKind
from fuelclient.store import graphs, history, runs
from fuelclient.store.database import Connection


def dry_run_message(plan: Plan) -> str:
    """Return the result of a dry run in a sentence."""
    running = sum(kind is InstanceKind.REAL for kind in plan.work.kinds)
    what = "1 task instance" if running == 1 else f"{running} task instances"
    return f"Dry run: {what} would run, {plan.work.size - running} would be skipped. Nothing was run."


def rows(connection: Connection, child: Run, filters: HistoryFilter) -> list[HistoryRow]:
    """Return the rows of a child, then its tasks that no node has, whose node is `NOWHERE`.

    Source: Nailgun `DeploymentHistoryCollection`.
    """
    definitions = runs.definitions_of(connection, child.id)
    stored = history.rows(connection, child.id, child.graph_type, filters, definitions)
    placed, skipped = history.placed(connection, child.id), InstanceStatus.SKIPPED
    for task, definition in definitions.items():
        task_type = str(definition.get("type") or "")
        row = HistoryRow(child.id, child.graph_type, task, NOWHERE, skipped, task_type, definition=definition)
        if task not in placed and task_type != TaskType.GROUP and filters.passes(row):
            stored.append(row)
    return stored


def undecided(connection: Connection, child: Run) -> list[str]:
    """Return the instances of a child that were interrupted, and whose result is not known."""
    if child.status is not RunStatus.RUNNING:
        return []
    return [*history.running_names(connection, child.id, Reason.INTERRUPTED).values()]


def remembered_task(row: HistoryRow, child: Run) -> MergedTask:
    """Return the task of a row as the run remembers it: the graph may have changed since.

    Its passwords are masked, which is no harm here: where its commands ran does not depend on them.
    """
    return MergedTask(Task(row.task, row.definition), Owner(Level.CLUSTER, child.cluster_id))


def stated_secrets(connection: Connection, task: str) -> frozenset[str]:
    """Return the secrets that a task states as they are, in graphs as they are now: what a run remembers is masked."""
    return redact.secrets_of(graphs.parameters_of(connection, task))


def logs(
    row: HistoryRow, inputs: Inputs, child: Run, jobs: Jobs, executor: Executor, stated: frozenset[str] = frozenset()
) -> Logs:
    """Return what a task instance printed, read from where it ran, without the secrets of the facts, those that its
    task has `stated`, and the values of secret names. The file there still has them."""
    task = remembered_task(row, child)
    job = jobs.job(task, row.node, evaluation_of(inputs).rendered(task.task, row.node), row.attempts)
    secrets = (job.known_secrets() | stated) - {redact.MASK}
    is_running = row.status is InstanceStatus.RUNNING

    def shown(stream: str) -> str:
        left_out, text = output_of(executor, job, stream)
        head = f"[The first {left_out} bytes are left out.]\n" if left_out else ""
        return head + redact.masked_part(text, secrets, head=left_out > 0, tail=is_running)

    return Logs(row.task, row.node, shown("out"), shown("err"), row.return_code)
