"""The executors of one execution, made as the settings say."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

from fuelclient import settings
from fuelclient.engine.runs.paths import spool_on_nodes, spool_path
from fuelclient.errors import InvalidDocument, nearest
from fuelclient.executors.base import Executor, Job, Target
from fuelclient.executors.dask import DaskExecutor
from fuelclient.executors.dask_scheduler import DaskScheduler
from fuelclient.executors.handlers import CONFIGURED
from fuelclient.executors.local import LocalExecutor
from fuelclient.executors.noop import NoopExecutor
from fuelclient.executors.reach import Reach, Ways
from fuelclient.executors.spool import removed
from fuelclient.executors.ssh import SshExecutor
from fuelclient.model.node import ExecutorKind
from fuelclient.model.run import Run

_COMMANDS = "HANDLER_COMMANDS"

_PIECE, _PIECES, _MOST_PIECES = 4 << 20, 4, 4096
"""Bytes of an output that are read at a time, the pieces of its end that are kept, and the most that are read."""


class Executors:
    """What runs jobs of one execution, by the kind of their targets."""

    def __init__(self, ways: Ways) -> None:
        self._reach = Reach(ways)
        self._by_kind: dict[ExecutorKind, Executor] = {
            ExecutorKind.LOCAL: LocalExecutor(ways, self._reach),
            ExecutorKind.SSH: SshExecutor(ways, self._reach),
            ExecutorKind.NOOP: NoopExecutor(ways, self._reach),
            ExecutorKind.DASK: DaskExecutor(ways, self._reach),
        }

    def of(self, job: Job) -> Executor:
        """What runs a job."""
        return self._by_kind[job.target.kind]

    def check(self, job: Job) -> str:
        """Why a job can never run, or an empty string."""
        return self.of(job).check(job)

    def read(self, job: Job, stream: str) -> str:
        """What a job's commands wrote to `out` or `err`; of a very long output the end, which tells of failures, below
        a line that says so. For callers outside of an event loop."""
        end = deque[bytes](maxlen=_PIECES)

        async def whole() -> int:
            size = 0
            try:
                for _ in range(_MOST_PIECES):  # a command that is running may write faster than anybody reads
                    end.append(await self.of(job).read(job, stream, size, _PIECE))
                    size += len(end[-1])
                    if len(end[-1]) < _PIECE:
                        break
            finally:
                await self.close()
            return size

        left_out = asyncio.run(whole()) - sum(map(len, end))
        told = f"[The first {left_out} bytes are left out.]\n" if left_out else ""
        return told + b"".join(end).decode("utf-8", "replace")

    async def forget(self, target: Target, root: str) -> str:
        """Why the spools below `root` are still on a machine, in some words; empty when they are not.

        They stay where a command of theirs still runs. Raises what transports raise.
        """
        return await removed(self._reach.transport(target), root)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._reach.close()


Provider = Callable[[str, Run], Executors]
"""Makes the executors of a parent transaction of an engine file."""


def executors_for(engine: str, parent: Run, commands: Mapping[str, str] | None = None) -> Executors:
    """The executors of an execution; `commands` are handler commands by task type, those of the settings by default."""
    remote, spool = spool_on_nodes(parent), str(spool_path(engine, parent))
    found = handler_commands() if commands is None else commands
    return Executors(Ways(spool=spool, remote_spool=remote, commands=found, dask=dask_scheduler))


def handler_commands() -> Mapping[str, str]:
    """The handler commands that the settings name, by task type.

    Raises `InvalidDocument` for a task type that no command can be configured for, or an empty command.
    """
    found = settings.load()
    origin = found[_COMMANDS].origin
    for kind, command in found.handler_commands.items():
        if kind not in CONFIGURED:
            close = nearest(kind, CONFIGURED)
            message = f"{origin}: {_COMMANDS} has a command for {kind!r}, which is no task type that takes one"
            raise InvalidDocument(
                f"{message}{f', the nearest is {close}' if close else ''}.",
                hint=f"Use {', '.join(sorted(CONFIGURED))}.",
            )
        if not command.strip():
            raise InvalidDocument(f"{origin}: the command for {kind} is empty.", hint="Write a command of bash.")
    return found.handler_commands


def dask_scheduler() -> DaskScheduler:
    """The Dask scheduler that the settings name, and the certificates for it."""
    found = settings.load()
    return DaskScheduler(found.dask_scheduler, found.dask_tls_ca_file, found.dask_tls_cert, found.dask_tls_key)
