"""The executor for nodes with a Dask worker; what belongs to the master runs on this machine.

The worker of a node is the one that its attribute `worker` names, else the one that is named like the node. Several
nodes may name the same worker, that of their site: their tasks run on its machine then. A worker is started with
`dask worker tls://SCHEDULER:8786 --name node-5 ...`; it and the scheduler need the package fuelclient.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator

from fuelclient.errors import FuelError
from fuelclient.executors import handlers
from fuelclient.executors.base import MASTER, Job
from fuelclient.executors.handlers import sync
from fuelclient.executors.machine import MachineExecutor
from fuelclient.executors.reach import Reach, Ways
from fuelclient.executors.recipe import Nothing, Reboot, Recipe, Sync
from fuelclient.executors.spool import Spool, directory
from fuelclient.model.node import ExecutorKind


class DaskExecutor(MachineExecutor):
    """Runs the commands of jobs on the machines of Dask workers, each started by one task of Dask.

    It knows the same spool as all the others, there: nothing of what is promised of a command depends on Dask, and a
    worker that dies takes no command with it. Who is waited for then is looked for until the task's time is over.
    """

    def __init__(self, ways: Ways, reach: Reach | None = None) -> None:
        super().__init__(ways, reach)
        self._workers: frozenset[str] | None = None
        self._unreachable = ""

    def _refused(self, job: Job) -> str:
        """Outside of an event loop, where plans are made, the scheduler is asked once which workers there are.

        Within a run nobody is refused for that: a worker may be back when it is the turn of its task.
        """
        if job.target.kind is not ExecutorKind.DASK:
            return ""
        wanted = sorted(set(self._wanted(job)))
        if not wanted:
            return ""
        if importlib.util.find_spec("distributed") is None:
            return f"Task {job.label} cannot run on Dask without distributed: pip install 'fuelclient[dask]'."
        why = self._never(job) or self._ways.dask().refusal() or self._missing(wanted)
        return f"Task {job.label} cannot run on Dask: {why.rstrip('.')}." if why else ""

    def _wanted(self, job: Job) -> Iterator[str]:
        """The workers that a job needs."""
        for step in handlers.steps_of(job, self._ways.commands):
            if isinstance(step, Nothing) or (isinstance(step, Recipe) and step.where == MASTER):
                continue
            target = self._target(job, step) if isinstance(step, Recipe) else job.target
            if target.kind is ExecutorKind.DASK:
                yield target.worker

    def _never(self, job: Job) -> str:
        if any(isinstance(step, Reboot) for step in handlers.steps_of(job, self._ways.commands)):
            return (
                "the machine of a worker is never restarted, since it may serve more nodes than this one. Configure "
                "a handler command for reboot, or reach the node over SSH"
            )
        return ""

    def _missing(self, wanted: list[str]) -> str:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            return ""
        from fuelclient.executors.dask_cluster import missing

        if self._workers is None:
            try:
                self._workers = asyncio.run(self._named())
            except FuelError as error:
                self._workers, self._unreachable = frozenset(), str(error)
        if self._unreachable:
            return self._unreachable
        absent = [worker for worker in wanted if worker not in self._workers]
        return missing(absent[0], self._workers, self._ways.dask().url) if absent else ""

    async def _named(self) -> frozenset[str]:
        """The names of the workers, through a connection that is closed again: event loops do not share them."""
        from fuelclient.executors.dask_cluster import DaskCluster

        cluster = DaskCluster(self._ways.dask(), self._ways.connect_timeout)
        try:
            return await cluster.names()
        finally:
            await cluster.close()

    def _spool(self, job: Job, recipe: Recipe) -> Spool:
        target = self._target(job, recipe)
        if target.kind is not ExecutorKind.DASK:
            return super()._spool(job, recipe)
        from fuelclient.executors.dask_transport import DaskSpool, DaskTransport

        transport, root = self._reach.transport(target), self._reach.root(target)
        assert isinstance(transport, DaskTransport)  # noqa: S101 - that is what there is for such a target
        suffix = f"@{recipe.where}" if recipe.where else ""
        return DaskSpool(transport, root, directory(job, root, suffix))

    async def _recipe(self, job: Job, step: Sync) -> Recipe:
        """What this machine has goes to a worker as an archive: there may be no other way to it than Dask."""
        if job.target.kind is ExecutorKind.DASK and not sync.is_remote(step.src):
            return sync.as_archive(step)
        return await super()._recipe(job, step)
