"""Reach: the transports to all machines of a run, each opened once, when it is first used."""

from __future__ import annotations

import asyncio
import os
import pwd
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fuelclient.executors.base import Ssh, Target
from fuelclient.executors.dask_scheduler import DaskScheduler
from fuelclient.executors.local_transport import LocalTransport
from fuelclient.executors.transport import Transport
from fuelclient.model.node import ExecutorKind

if TYPE_CHECKING:
    from fuelclient.executors.dask_cluster import DaskCluster


@dataclass(frozen=True, slots=True)
class Ways:
    """What executors have to know of this installation.

    `spool` and `remote_spool` are the roots of the spools here and on nodes. `commands` are the configured handler
    commands by task type. `grace` are the seconds that a command has to end by itself. The SSH files are the user's
    own where they are empty. `dask` tells where the Dask scheduler is; it is asked when somebody needs it.
    """

    spool: str
    remote_spool: str = "/var/tmp/fuel2"  # noqa: S108 - survives a restart; the spool checks who owns it
    commands: Mapping[str, str] = field(default_factory=dict)
    grace: float = 5
    known_hosts: str = ""
    ssh_config: str = ""
    connect_timeout: float = 20
    dask: Callable[[], DaskScheduler] = DaskScheduler

    @property
    def ssh_agrees(self) -> bool:
        """Whether the ssh program reads the same files of the user as the library that we use.

        The program goes by the user database, the library by HOME; where they differ, rsync over ssh would be
        refused by nodes that all other tasks reach.
        """
        if self.known_hosts and self.ssh_config:
            return True
        try:
            home = pwd.getpwuid(os.geteuid()).pw_dir
        except KeyError:
            return False
        return os.path.realpath(home) == os.path.realpath(os.path.expanduser("~"))


class Reach:
    """The transports of a run."""

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self.local = LocalTransport()
        self._remote: dict[tuple[str, Ssh], Transport] = {}
        self._cluster: DaskCluster | None = None

    def transport(self, target: Target) -> Transport:
        """The way to a machine; nothing is opened yet.

        Raises `Unsupported` where SSH or Dask is needed and the library for it is not installed.
        """
        if target.kind is ExecutorKind.LOCAL or (target.kind is ExecutorKind.NOOP and not target.ip):
            return self.local
        if target.kind is ExecutorKind.DASK:
            return self._worker(target.worker)
        key = (target.ip, target.ssh)
        if key not in self._remote:
            from fuelclient.executors.ssh_transport import SshTransport

            self._remote[key] = SshTransport(target.ip, target.ssh, self.ways)
        return self._remote[key]

    def root(self, target: Target) -> str:
        """Where the spools of a machine are."""
        return os.path.realpath(self.ways.spool) if self.transport(target) is self.local else self.ways.remote_spool

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(transport.close() for transport in self._remote.values()))
        self._remote.clear()
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            await cluster.close()

    def _worker(self, name: str) -> Transport:
        """The way to a Dask worker; one connection to the scheduler serves all of them."""
        from fuelclient.executors.dask_cluster import DaskCluster
        from fuelclient.executors.dask_transport import DaskTransport

        if self._cluster is None:
            self._cluster = DaskCluster(self.ways.dask(), self.ways.connect_timeout)
        return DaskTransport(self._cluster, name)
