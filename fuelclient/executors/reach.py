"""Reach: the transports to all machines of a run, each opened once, when it is first used."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from fuelclient.executors.base import Ssh, Target
from fuelclient.executors.local_transport import LocalTransport
from fuelclient.executors.transport import Transport
from fuelclient.model.node import ExecutorKind


@dataclass(frozen=True, slots=True)
class Ways:
    """What executors have to know of this installation.

    `spool` and `remote_spool` are the roots of the spools here and on nodes. `commands` are the configured handler
    commands by task type. `grace` are the seconds that a command has to end by itself. The SSH files are the user's
    own where they are empty.
    """

    spool: str
    remote_spool: str = "/var/tmp/fuel2"  # noqa: S108 - survives a restart; the spool checks who owns it
    commands: Mapping[str, str] = field(default_factory=dict)
    grace: float = 5
    known_hosts: str = ""
    ssh_config: str = ""
    connect_timeout: float = 20


class Reach:
    """The transports of a run."""

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self.local = LocalTransport()
        self._remote: dict[tuple[str, Ssh], Transport] = {}

    def transport(self, target: Target) -> Transport:
        """The way to a machine; nothing is opened yet.

        Raises `Unsupported` where SSH is needed and the library for it is not installed.
        """
        if target.kind is ExecutorKind.LOCAL or (target.kind is ExecutorKind.NOOP and not target.ip):
            return self.local
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
