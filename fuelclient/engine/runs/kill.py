"""End the commands of a run that are still running although its runner is gone."""

from __future__ import annotations

import asyncio

from fuelclient.engine.runs import inputs as run_inputs
from fuelclient.engine.runs.executors import Provider
from fuelclient.engine.runs.history import remembered_task
from fuelclient.engine.runs.jobs import jobs_of
from fuelclient.environment.plans import evaluation_of
from fuelclient.errors import FuelError
from fuelclient.executors.job import Executor, Job
from fuelclient.model.run import HistoryFilter, Run
from fuelclient.model.status import InstanceStatus
from fuelclient.store import history, runs
from fuelclient.store.database import Database

_RUNNING = HistoryFilter(statuses=(InstanceStatus.RUNNING,))


def end(database: Database, parent: Run, provider: Provider) -> dict[str, str]:
    """End the commands that a run has left behind, each with its whole session.

    Return, by instance (`task@node`), why its command could not be ended, or an empty string. Nothing is raised for
    them, since the run has to end all the same.
    """
    jobs, ended = _jobs(database, parent)
    executor = provider(database.path, parent)

    async def end_all() -> list[str]:
        try:
            return await asyncio.gather(*(_end(executor, job) for job in jobs.values()))
        finally:
            await executor.close()

    ended.update(zip(jobs, asyncio.run(end_all()), strict=True))
    return ended


async def _end(executor: Executor, job: Job) -> str:
    try:
        await executor.kill(job)
    except (FuelError, ValueError) as error:
        return str(error)
    return ""


def _jobs(database: Database, parent: Run) -> tuple[dict[str, Job], dict[str, str]]:
    """Return the jobs of the instances that were running, and why the others have no job any more."""
    jobs: dict[str, Job] = {}
    failures: dict[str, str] = {}
    with database.read() as connection:
        for child in runs.children(connection, parent.id):
            definitions = runs.definitions_of(connection, child.id)
            rows = history.rows(connection, child.id, child.graph_type, _RUNNING, definitions) if definitions else []
            if not rows:
                continue
            inputs = run_inputs.remembered(connection, child)
            child_jobs = jobs_of(connection, database.path, child, inputs)
            evaluation = evaluation_of(inputs)
            for row in rows:
                task, instance = remembered_task(row, child), f"{row.task}@{row.node}"
                try:
                    rendered = evaluation.rendered(task.task, row.node)
                    jobs[instance] = child_jobs.job(task, row.node, rendered, row.attempts)
                except (FuelError, KeyError) as error:
                    failures[instance] = str(error) if isinstance(error, FuelError) else "its node is gone"
    return jobs, failures
