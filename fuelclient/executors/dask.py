"""Run tasks on the machines of Dask workers.

The worker of a node is named by its attribute `worker`; without one, it has the name of the node. Several nodes may
name the same worker, that of their site: their tasks run on its machine then. A worker is started with `dask worker
tls://SCHEDULER:8786 --name node-5 ...`; it needs the package fuelclient.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import cached_property

from fuelclient.errors import FuelError
from fuelclient.executors.connector import Connector
from fuelclient.executors.dask_cluster import DaskCluster, DaskScheduler, DaskTransport, missing, worker_names
from fuelclient.executors.job import Target
from fuelclient.executors.transport import Transport
from fuelclient.model.node import Node


class DaskConnector(Connector):
    """Tasks run on the machines of Dask workers, in the same spools as everywhere: a worker that dies takes no command
    with it. A worker that has gone is looked for until the task's time is over."""

    no_reboot = (
        "the machine of a Dask worker is never restarted, since it may serve more nodes than this one; configure "
        "a handler command for reboot, or reach the node over SSH"
    )

    @classmethod
    def place(cls, node: Node) -> Hashable:
        return str(node.attributes.get("worker") or node.name)

    def refusal(self, target: Target) -> str:
        """While plans are made, outside of an event loop, the scheduler is asked once which workers there are.

        Within a run no node is refused for a worker that is missing: it may be back when it is needed.
        """
        if importlib.util.find_spec("distributed") is None:
            return "Dask needs the library distributed; install it: pip install 'fuelclient[dask]'"
        refusal = self._scheduler.refusal()
        if refusal:
            return refusal
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            return ""
        names, unreachable = self._workers
        worker = str(target.place)
        return unreachable if unreachable or worker in names else missing(worker, names, self._scheduler.url)

    def transport(self, target: Target) -> Transport:
        return DaskTransport(self._cluster, str(target.place))

    async def close(self) -> None:
        if "_cluster" in vars(self):  # some machine was reached
            await self._cluster.close()

    @cached_property
    def _scheduler(self) -> DaskScheduler:
        return DaskScheduler.of(self.options.settings())

    @cached_property
    def _cluster(self) -> DaskCluster:
        """The connections to the scheduler, which all workers share."""
        return DaskCluster(self._scheduler, self.options.connect_timeout)

    @cached_property
    def _workers(self) -> tuple[Sequence[str], str]:
        """The names of all workers, or the error when they were asked for."""
        try:
            return asyncio.run(worker_names(self._scheduler, self.options.connect_timeout)), ""
        except FuelError as error:
            return (), str(error)
