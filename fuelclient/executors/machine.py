"""Executors that really do things: a job's steps, one after another, on the machines where they belong."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from fuelclient.errors import Unsupported
from fuelclient.executors import handlers
from fuelclient.executors.attempts import Attempts, Interrupted, Tried, patiently
from fuelclient.executors.base import MASTER, Job, Log, Outcome, Target
from fuelclient.executors.handlers import sync
from fuelclient.executors.limits import Limits, limits_of
from fuelclient.executors.local_spool import LocalSpool
from fuelclient.executors.local_transport import LocalTransport
from fuelclient.executors.narration import failure, interrupted, quiet, scrubbing, skipped, told
from fuelclient.executors.noop import NoopExecutor
from fuelclient.executors.prepare import Scripts
from fuelclient.executors.reach import Reach, Ways
from fuelclient.executors.rebooting import Rebooting
from fuelclient.executors.recipe import Nothing, Reboot, Recipe, Step, Sync
from fuelclient.executors.spool import STOPPED, Spool, directory
from fuelclient.executors.transport import ConnectionBroken, Unreachable
from fuelclient.model.status import InstanceStatus

_HAS_RSYNC = 'command -v rsync > /dev/null && { [ -z "$1" ] || command -v ssh > /dev/null; }'


class MachineExecutor(ABC):
    """Runs jobs on their targets; what belongs to the master runs on this machine.

    One executor serves a whole run. It may be used for many jobs at the same time, from one event loop.
    """

    def __init__(self, ways: Ways, reach: Reach | None = None) -> None:
        self._ways = ways
        self._reach = reach or Reach(ways)
        self._scripts = Scripts(self._reach)
        self._noop = NoopExecutor(ways, self._reach)
        self._stops: dict[tuple[int, str, str], asyncio.Event] = {}
        self._rsync: dict[Target, bool] = {}

    def check(self, job: Job) -> str:
        """Why `job` can never run here, or an empty string."""
        return handlers.check(job, self._ways.commands) or self._refused(job)

    @abstractmethod
    def _refused(self, job: Job) -> str:
        """What this kind of executor refuses on top."""

    async def run(self, job: Job, log: Log) -> Outcome:
        """Run `job` to its end, its retries included. A failure is an outcome."""
        if job.noop:
            return await self._noop.run(job, log)
        outcome = await self._guarded(job, scrubbing(job, log), recovering=False)
        assert outcome is not None  # noqa: S101 - only a recovery can find that nobody knows
        return outcome

    async def recover(self, job: Job) -> Outcome | None:
        """What became of `job`: its result, waited for where it still runs, retried where tries are left, begun where
        it never was. None when a command began and nobody can know how it ended."""
        if job.noop:
            return await self._noop.run(job, quiet)
        return await self._guarded(job, quiet, recovering=True)

    async def kill(self, job: Job) -> None:
        """End what runs for the job: SIGTERM to its whole session, SIGKILL after the grace period.

        Returns when the signal to end was given; the job's `run` or `recover` returns when it is over. Where nobody
        here runs the job, because its runner died, it returns when all is over, and a try that somebody may just be
        starting never begins.
        """
        await self._noop.kill(job)
        stop = self._stops.get(job.key)
        if stop is not None:
            stop.set()
            return
        for spool in await self._spools(job):
            seen = await spool.look()
            tries = [label for label in seen.claimed if label.startswith(f"{job.attempt}.")]
            for label in seen.claimed - seen.ended.keys() or {f"{job.attempt}.{len(tries) + 1}"}:
                await spool.kill(label, STOPPED, self._ways.grace)

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        """A part of what the job's commands wrote to `out` or `err`, all machines after another."""
        spools = await self._spools(job)
        if len(spools) == 1:
            return await spools[0].read(stream, offset, limit)
        found = b""
        for spool in spools:
            found += await spool.read(stream, 0, offset + limit - len(found))
        return found[offset : offset + limit]

    async def prepare(self, target: Target, directories: tuple[tuple[str, str], ...]) -> list[str]:
        """The plugin scripts are on the target; gives the directories that had to be sent (see `Scripts`)."""
        return await self._scripts.prepare(target, directories)

    async def close(self) -> None:
        """Close all connections; commands that run go on."""
        await self._reach.close()

    async def _guarded(self, job: Job, say: Log, *, recovering: bool) -> Outcome | None:
        """The outcome of all steps, with everything that can go wrong on the way told in it."""
        refusal = self.check(job)
        if refusal:
            return failure(job, refusal)
        limits = limits_of(job.type, job.parameters)
        stop = self._stops.setdefault(job.key, asyncio.Event())
        try:
            outcome = skipped(job)
            for step in handlers.steps_of(job, self._ways.commands):
                outcome = await self._step(job, step, limits, stop, say, recovering=recovering)
                if outcome.status is InstanceStatus.ERROR:
                    break
        except Interrupted:
            return None
        except (Unreachable, ConnectionBroken, Unsupported) as error:
            return interrupted(job, str(error)) if stop.is_set() else failure(job, str(error))
        finally:
            self._stops.pop(job.key, None)
        return outcome

    async def _step(
        self, job: Job, step: Step, limits: Limits, stop: asyncio.Event, say: Log, *, recovering: bool
    ) -> Outcome:
        if isinstance(step, Nothing):
            return skipped(job, step.reason)
        if isinstance(step, Reboot):
            rebooting = Rebooting(self._reach, job, limits, stop, say)
            return await rebooting.run(recovering=recovering)
        if isinstance(step, Sync):
            wanted = step
            step = await patiently(lambda: self._recipe(job, wanted), limits.timeout, stop)
        tried = await self._tried(job, step, limits, stop, say, recovering=recovering)
        return told(job, tried, limits)

    async def _tried(
        self, job: Job, recipe: Recipe, limits: Limits, stop: asyncio.Event, say: Log, *, recovering: bool
    ) -> Tried:
        attempts = Attempts(
            self._spool(job, recipe), recipe, limits,
            go=job.attempt, stop=stop, grace=self._ways.grace, say=say, before=self._before(job, recipe, say),
        )  # fmt: skip
        return await attempts.run(recovering=recovering)

    def _before(self, job: Job, recipe: Recipe, say: Log) -> Callable[[], Awaitable[None]]:
        async def prepared() -> None:
            for place in await self.prepare(self._target(job, recipe), job.target.scripts):
                say(f"plugin scripts sent to {place}")

        return prepared

    def _target(self, job: Job, recipe: Recipe) -> Target:
        if recipe.where == MASTER:
            return Target()
        return job.peers[recipe.where] if recipe.where else job.target

    def _spool(self, job: Job, recipe: Recipe) -> Spool:
        target = self._target(job, recipe)
        root = self._reach.root(target)
        suffix = f"@{recipe.where}" if recipe.where not in ("", MASTER) else ""
        transport, path = self._reach.transport(target), directory(job, root, suffix)
        if isinstance(transport, LocalTransport):
            return LocalSpool(transport, root, path)
        return Spool(transport, root, path)

    async def _spools(self, job: Job) -> list[Spool]:
        """All places where commands of a job run."""
        steps = [
            await self._recipe(job, step) if isinstance(step, Sync) else step
            for step in handlers.steps_of(job, self._ways.commands)
        ]
        return [self._spool(job, step) for step in steps if isinstance(step, Recipe)]

    async def _recipe(self, job: Job, step: Sync) -> Recipe:
        """The best way to sync that both machines have."""
        local = self._reach.transport(job.target) is self._reach.local
        if sync.is_remote(step.src):
            return sync.on_target(step)
        if job.target not in self._rsync:
            machines = [self._reach.local] if local else [self._reach.local, self._reach.transport(job.target)]
            asked = [await machine.call(_HAS_RSYNC, ("" if local else "ssh",)) for machine in machines]
            self._rsync[job.target] = all(answer.rc == 0 for answer in asked)
        if not self._rsync[job.target] or not (local or self._ways.ssh_agrees):
            return sync.as_archive(step)
        return sync.on_target(step) if local else sync.over_ssh(step, job.target, self._ssh_options())

    def _ssh_options(self) -> tuple[str, ...]:
        options: list[str] = []
        if self._ways.ssh_config:
            options += ["-F", self._ways.ssh_config]
        if self._ways.known_hosts:
            options += ["-o", f"UserKnownHostsFile={self._ways.known_hosts}"]
        return tuple(options)
