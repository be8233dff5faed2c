"""The executors of one execution, and where their spools are.

Spools are named after the execution's uuid: ids begin anew in another engine file, and what an old spool says must
never be taken for a result of today.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from fuelclient.executors.base import Executor, Job
from fuelclient.executors.local import LocalExecutor
from fuelclient.executors.noop import NoopExecutor
from fuelclient.executors.reach import Reach, Ways
from fuelclient.executors.ssh import SshExecutor
from fuelclient.model.node import ExecutorKind
from fuelclient.model.transaction import Transaction


class Executors:
    """What runs jobs of one execution, by the kind of their targets."""

    def __init__(self, ways: Ways) -> None:
        self._reach = Reach(ways)
        self._by_kind: dict[ExecutorKind, Executor] = {
            ExecutorKind.LOCAL: LocalExecutor(ways, self._reach),
            ExecutorKind.SSH: SshExecutor(ways, self._reach),
            ExecutorKind.NOOP: NoopExecutor(ways, self._reach),
        }

    def of(self, job: Job) -> Executor:
        """What runs a job."""
        return self._by_kind[job.target.kind]

    def check(self, job: Job) -> str:
        """Why a job can never run, or an empty string."""
        return self.of(job).check(job)

    def read(self, job: Job, stream: str) -> str:
        """What a job's commands wrote to `out` or `err`. For callers outside of an event loop."""

        async def whole() -> bytes:
            try:
                return await self.of(job).read(job, stream)
            finally:
                await self.close()

        return asyncio.run(whole()).decode("utf-8", "replace")

    async def close(self) -> None:
        """Let go of all connections."""
        await self._reach.close()


Provider = Callable[[str, Transaction], Executors]
"""Makes the executors of a parent transaction of an engine file."""


def executors_for(engine: str, parent: Transaction, commands: Mapping[str, str] | None = None) -> Executors:
    """The executors of an execution; `commands` are handler commands by task type."""
    remote = f"/var/tmp/fuel2-{parent.uuid}"  # noqa: S108 - it survives a restart; the spool checks who owns it
    return Executors(Ways(spool=str(spool_path(engine, parent)), remote_spool=remote, commands=commands or {}))


def runs_path(engine: str) -> Path:
    """Where executions keep their files: beside the engine file."""
    return Path(f"{os.path.realpath(engine)}.runs")


def spool_path(engine: str, parent: Transaction) -> Path:
    """Where the commands of an execution leave their results on this machine."""
    return runs_path(engine) / parent.uuid
