"""Run tasks on the machines of Dask workers.

The worker of a node is named by its attribute `worker`; without one, it has the name of the node. Several nodes may
name the same worker, that of their site: their tasks run on its machine then. A worker is started with `dask worker
tls://SCHEDULER:8786 --name node-5 ...`; it needs the package fuelclient.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Hashable, Sequence
from functools import cached_property

from fuelclient.errors import FuelError
from fuelclient.executors.connector import Connector
from fuelclient.executors.dask_cluster import DaskCluster, DaskScheduler, DaskTransport, missing, worker_names
from fuelclient.executors.job import Target
from fuelclient.executors.transport import Options, Transport
from fuelclient.model.node import Node


class DaskConnector(Connector):
    """Tasks run on the machines of Dask workers.

    They have the same spool there as everywhere: nothing that is promised of a command depends on Dask, and a worker
    that dies takes no command with it. A worker that has gone is looked for until the task's time is over.
    """

    no_reboot = (
        "the machine of a Dask worker is never restarted, since it may serve more nodes than this one; configure "
        "a handler command for reboot, or reach the node over SSH"
    )

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._shared: DaskCluster | None = None

    @classmethod
    def place(cls, node: Node) -> Hashable:
        return str(node.attributes.get("worker") or node.name)

    def refusal(self, target: Target) -> str:
        """While plans are made, outside of an event loop, the scheduler is asked once which workers there are.

        Within a run no node is refused for a worker that is missing: it may be back when it is needed.
        """
        if importlib.util.find_spec("distributed") is None:
            return "Dask needs the library distributed; install it: pip install 'fuelclient[dask]'"
        return self._scheduler.refusal() or self._missing(str(target.place))

    def transport(self, target: Target) -> Transport:
        return DaskTransport(self._cluster(), str(target.place))

    async def close(self) -> None:
        cluster, self._shared = self._shared, None
        if cluster is not None:
            await cluster.close()

    @cached_property
    def _scheduler(self) -> DaskScheduler:
        return DaskScheduler.of(self.options.settings())

    def _cluster(self) -> DaskCluster:
        """Connect to the scheduler once for all workers."""
        if self._shared is None:
            self._shared = DaskCluster(self._scheduler, self.options.connect_timeout)
        return self._shared

    @cached_property
    def _workers(self) -> tuple[Sequence[str], str]:
        """The names of all workers, or why they are not known."""
        try:
            return asyncio.run(worker_names(self._scheduler, self.options.connect_timeout)), ""
        except FuelError as error:
            return (), str(error)

    def _missing(self, worker: str) -> str:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            names, unreachable = self._workers
            if not unreachable and worker not in names:
                return missing(worker, names, self._scheduler.url)
            return unreachable
        return ""
