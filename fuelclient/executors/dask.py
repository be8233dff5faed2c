"""Run tasks on the machines of Dask workers.

The worker of a node is named by its attribute `worker`; without one, it has the name of the node. Several nodes may
name the same worker, that of their site: their tasks run on its machine then. A worker is started with `dask worker
tls://SCHEDULER:8786 --name node-5 ...`; it needs the package fuelclient.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import urllib.parse
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fuelclient.errors import FuelError
from fuelclient.executors.connector import Connector
from fuelclient.executors.job import Target
from fuelclient.executors.transport import Options, Transport
from fuelclient.model.node import Node

if TYPE_CHECKING:
    from fuelclient.executors.dask_cluster import DaskCluster
    from fuelclient.settings import Settings

PORT = 8786
"""The port on which Dask schedulers listen by default."""

_HINT = "Set DASK_SCHEDULER to tls://HOST:PORT, and DASK_TLS_CA_FILE, DASK_TLS_CERT and DASK_TLS_KEY."


@dataclass(frozen=True, slots=True)
class DaskScheduler:
    """A scheduler: `tls://host:port` with paths of PEM files, or, on this machine, `tcp://host:port`.

    `ca_file` has who may sign for the cluster, `cert` and `key` are what this client shows. Without TLS the scheduler
    is used only if `insecure` allows it.
    """

    address: str = ""
    ca_file: str = ""
    cert: str = ""
    key: str = ""
    insecure: bool = False

    @classmethod
    def of(cls, settings: Settings) -> DaskScheduler:
        """Return the scheduler that the settings name, with the certificates for it."""
        files = (settings.dask_tls_ca_file, settings.dask_tls_cert, settings.dask_tls_key)
        return cls(settings.dask_scheduler, *files, settings.dask_insecure)

    @property
    def endpoint(self) -> tuple[str, str, int]:
        """Protocol, host and port. Raise `ValueError` if it is no address."""
        parts = urllib.parse.urlsplit(self.address if "://" in self.address else f"tcp://{self.address}")
        if not parts.hostname:
            raise ValueError(f"{self.address!r} has no host")
        return parts.scheme, parts.hostname, parts.port or PORT

    @property
    def url(self) -> str:
        """The address in full. Raise `ValueError` if it is no address.

        >>> DaskScheduler("localhost").url, DaskScheduler("tls://[fe80::1]:1").url
        ('tcp://localhost:8786', 'tls://[fe80::1]:1')
        """
        protocol, host, port = self.endpoint
        return f"{protocol}://{f'[{host}]' if ':' in host else host}:{port}"

    def refusal(self) -> str:
        """Return why this scheduler must not be used, and what to do; an empty string if it may be.

        A worker executes what it is sent: without TLS on both sides, everyone who can connect to the scheduler
        controls all its nodes. So without TLS the connection must not leave this machine, whose users share it then.

        >>> DaskScheduler("tcp://127.0.0.1:8786", insecure=True).refusal()
        ''
        """
        if not self.address:
            return f"no Dask scheduler is configured. {_HINT}"
        try:
            protocol, host, _ = self.endpoint
        except ValueError as error:
            return f"{self.address!r} is not the address of a Dask scheduler ({error}). {_HINT}"
        if protocol not in ("tcp", "tls"):
            return f"the Dask scheduler {self.address} would be reached by {protocol}; only tls and tcp are. {_HINT}"
        if protocol == "tls":
            return self._unreadable()
        if not _is_loopback(host):
            return (
                f"the Dask scheduler {self.address} is not on this machine and has no TLS: everyone who can reach it "
                f"could run anything on all nodes. {_HINT}"
            )
        if not self.insecure:
            return (
                f"the Dask scheduler {self.address} has no TLS: every user of this machine could run anything on its "
                f"workers. {_HINT} If you trust all users of this machine, set DASK_INSECURE: true."
            )
        return ""

    def _unreadable(self) -> str:
        files = (("DASK_TLS_CA_FILE", self.ca_file), ("DASK_TLS_CERT", self.cert), ("DASK_TLS_KEY", self.key))
        missing = [name for name, path in files if not path]
        if missing:
            return f"TLS to the Dask scheduler {self.address} needs {' and '.join(missing)}. {_HINT}"
        unread = [f"{name} ({path})" for name, path in files if not os.access(path, os.R_OK) or os.path.isdir(path)]
        return f"{' and '.join(unread)} cannot be read. Correct the setting, or its permissions." if unread else ""


def _is_loopback(host: str) -> bool:
    import ipaddress  # here, because nothing but Dask needs it

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
        from fuelclient.executors.dask_cluster import DaskTransport

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
        from fuelclient.executors.dask_cluster import DaskCluster

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
        from fuelclient.executors.dask_cluster import DaskCluster, missing

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
