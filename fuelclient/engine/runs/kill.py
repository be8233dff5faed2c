"""Leftovers: commands of a run that live on when its runner is gone, and that somebody wants ended."""

from __future__ import annotations

import asyncio

from fuelclient.engine.runs import inputs as kept
from fuelclient.engine.runs.execution import jobs_for
from fuelclient.engine.runs.executors import Provider
from fuelclient.environment.plans import expressions
from fuelclient.errors import FuelError
from fuelclient.executors.base import Executor, Job
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.run import HistoryFilter, Run
from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import Task
from fuelclient.store import history, nodes, runs
from fuelclient.store.database import Database

_RUNNING = HistoryFilter(statuses=(InstanceStatus.RUNNING,))


def end(database: Database, parent: Run, provider: Provider) -> dict[str, str]:
    """The commands that a run has left behind have ended, each with its whole session; by instance (`task@node`) an
    empty text, or why that could not be done.

    What is not known is told and not raised: the run has to come to its end all the same.
    """
    jobs, ended = _jobs(database, parent)
    executor = provider(database.path, parent)

    async def every() -> list[str]:
        try:
            return await asyncio.gather(*(_end(executor, job) for job in jobs.values()))
        finally:
            await executor.close()

    ended.update(zip(jobs, asyncio.run(every()), strict=True))
    return ended


async def _end(executor: Executor, job: Job) -> str:
    try:
        await executor.kill(job)
    except (FuelError, ValueError) as error:
        return str(error)
    return ""


def _jobs(database: Database, parent: Run) -> tuple[dict[str, Job], dict[str, str]]:
    """The jobs of the instances that were running, and those that cannot be made any more, with the reason.

    The tasks are those that the run remembers: the graph may have changed since, which is why somebody stops a run
    in place of going on with it.
    """
    found: dict[str, Job] = {}
    lost: dict[str, str] = {}
    with database.read() as connection:
        for child in runs.children(connection, parent.id):
            definitions = runs.definitions_of(connection, child.id)
            rows = history.rows(connection, child.id, child.graph_type, _RUNNING, definitions) if definitions else []
            if not rows:
                continue
            inputs = kept.remembered(connection, child)
            present = nodes.of_cluster(connection, child.cluster_id)
            taking_part = history.nodes_of(connection, child.id)
            jobs = jobs_for(connection, database.path, child.id, child.request, inputs, present, taking_part)
            evaluation = expressions(inputs)
            for row in rows:
                task = MergedTask(Task(row.task, row.definition), Owner(Level.CLUSTER, child.cluster_id))
                try:
                    rendered = evaluation.rendered(task.task, row.node)
                    found[f"{row.task}@{row.node}"] = jobs.job(task, row.node, rendered, row.attempts)
                except (FuelError, KeyError) as error:
                    lost[f"{row.task}@{row.node}"] = str(error) if isinstance(error, FuelError) else "its node is gone"
    return found, lost
