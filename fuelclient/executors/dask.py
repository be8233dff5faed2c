"""Run tasks on the machines of Dask workers.

The worker of a node is named by its attribute `worker`; without one, it has the name of the node. Several nodes may
name the same worker, that of their site: their tasks run on its machine then. A worker is started with `dask worker
tls://SCHEDULER:8786 --name node-5 ...`; it needs the package fuelclient.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Hashable
from functools import cached_property

from fuelclient.errors import FuelError
from fuelclient.executors.connector import Connector
from fuelclient.executors.dask_cluster import DaskCluster, DaskScheduler, DaskTransport, missing
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
        self._workers: frozenset[str] | None = None
        self._unreachable = ""
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
        """Return the connection to the scheduler, which serves all workers."""
        if self._shared is None:
            self._shared = DaskCluster(self._scheduler, self.options.connect_timeout)
        return self._shared

    def _missing(self, worker: str) -> str:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            return ""

        async def names() -> frozenset[str]:
            # through a connection of its own, because event loops cannot share one
            cluster = DaskCluster(self._scheduler, self.options.connect_timeout)
            try:
                return await cluster.names()
            finally:
                await cluster.close()

        if self._workers is None:
            try:
                self._workers = asyncio.run(names())
            except FuelError as error:
                self._workers, self._unreachable = frozenset(), str(error)
        if self._unreachable or worker in self._workers:
            return self._unreachable
        return missing(worker, self._workers, self._scheduler.url)
