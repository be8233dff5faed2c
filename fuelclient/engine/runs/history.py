"""Read the history of a run."""

from __future__ import annotations

from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.run import NOWHERE, HistoryFilter, HistoryRow, Run
from fuelclient.model.status import InstanceStatus, Reason, RunStatus
from fuelclient.model.task import Task, TaskType
from fuelclient.store import history, runs
from fuelclient.store.database import Connection


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
