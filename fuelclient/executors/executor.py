"""The executor, one class for all kinds: it carries out the steps of a job, each on its machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final

from fuelclient.errors import FuelError, Unsupported
from fuelclient.executors import handlers, registry
from fuelclient.executors.attempts import Attempts, Interrupted, outcome_of, retry_unreachable
from fuelclient.executors.handlers import sync
from fuelclient.executors.job import MASTER, Job, Log, Nothing, Outcome, Reboot, Recipe, Step, Sync, Target
from fuelclient.executors.machines import Connections, PluginScripts
from fuelclient.executors.noop import Noop, unchanged_outcome
from fuelclient.executors.spool import ENTER, READ, REMOVE, STOPPED, Spool, directory
from fuelclient.executors.transport import Completed, ConnectionBroken, Limits, Options, TransportError, limits_of
from fuelclient.model.diagnosis import Diagnosis
from fuelclient.model.status import InstanceStatus

_MACHINES_AT_A_TIME = 16
"""How many machines are examined at the same time."""

_BOOT_PAUSE_SECONDS = 2.0
_BOOT_ANSWER_SECONDS = 180.0

_BOOT_TIME: Final = "stat --printf=%Y /proc/1 2>/dev/null || echo 0"
"""Prints when the machine started, in seconds. Source: Astute `tasks/reboot.rb`."""

_REBOOT: Final = """\
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
command -v reboot > /dev/null || { echo "there is no reboot command" >&2; exit 127; }
if [ "$(hostname 2>/dev/null)" != bootstrap ] && [ -d /run/cloud-init ]; then waits=60; else waits=0; fi
setsid /bin/sh -c '
  while [ "$1" -gt 0 ] && [ ! -e /run/cloud-init/status.json ]; do set -- $(($1 - 1)); sleep 1; done
  sleep 1
  reboot
' fuel2-reboot "$waits" < /dev/null > /dev/null 2>&1 &
"""
"""Restarts the machine shortly after this script has ended.

A machine that is still in its first configuration gets a minute to finish it; a bootstrap image needs none.
"""


class MachineExecutor:
    """Runs jobs on their targets by any transport. Steps for the master usually run on this machine.

    One executor serves a whole run. It runs any number of jobs concurrently, in one event loop.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._connections = Connections(options)
        self._scripts = PluginScripts(self._connections)
        self._stops: dict[tuple[int, str, str], asyncio.Event] = {}

    def check(self, job: Job) -> str:
        """Return the reason why a job can never run (its type, parameters or a machine), or an empty string."""
        try:
            job = self._prepared(job)
            steps = self._steps(job)
            limits_of(job.type, job.parameters)
            reason = next(filter(None, (self._refusal(job, step) for step in steps)), "")
        except (ValueError, FuelError) as error:
            reason = str(error)
        return f"Task {job.label} cannot run: {reason.rstrip('.')}." if reason else ""

    def _refusal(self, job: Job, step: Step) -> str:
        if isinstance(step, Nothing):
            return ""
        target = self._target(job, step) if isinstance(step, Recipe) else job.target
        connector = self._connections.connector(target.kind)
        if isinstance(step, Reboot) and connector.no_reboot and not job.noop:
            return connector.no_reboot
        if connector.needs_address and not target.ip:
            return "the node has no address"
        return connector.refusal(target)

    async def examine(self, machines: Mapping[Target, Collection[str]]) -> Mapping[Target, Sequence[Diagnosis]]:
        """Find problems of machines with the programs that tasks call there, and close all connections."""
        limit = asyncio.Semaphore(_MACHINES_AT_A_TIME)

        async def examine_one(target: Target, programs: Collection[str]) -> Sequence[Diagnosis]:
            async with limit:
                return await self._connections.examine(target, programs)

        try:
            problems = await asyncio.gather(*(examine_one(target, programs) for target, programs in machines.items()))
        finally:
            await self.close()
        return dict(zip(machines, problems, strict=True))

    async def run(self, job: Job, log: Log) -> Outcome:
        outcome = await self._outcome(job, log, recovering=False)
        assert outcome is not None  # noqa: S101 - only a recovery can find that a result is lost
        return outcome

    async def recover(self, job: Job) -> Outcome | None:
        return await self._outcome(job, lambda _line: None, recovering=True)

    async def kill(self, job: Job) -> None:
        """Send SIGTERM to the whole session of the job, and SIGKILL after the grace period.

        If this process runs the job, return at once: its `run` or `recover` returns when the session has ended. If its
        runner died, wait for the end, and prevent a try that another process is just starting.
        """
        if (stop := self._stops.get(job.key)) is not None:
            stop.set()
            return
        for spool in await self._spools(job):
            seen = await spool.look()
            tries = [label for label in seen.claimed if label.startswith(f"{job.attempt}.")]
            for label in seen.claimed - seen.ended.keys() or {f"{job.attempt}.{len(tries) + 1}"}:
                await spool.kill(label, STOPPED, self._options.grace)

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        """Read a part of an output. If the job runs on several machines, their outputs are concatenated."""
        spools = await self._spools(job)
        if len(spools) == 1:
            return await spools[0].read(stream, offset, limit)
        output = b""
        for spool in spools:
            output += await spool.read(stream, 0, offset + limit - len(output))
        return output[offset : offset + limit]

    async def forget(self, target: Target, proposed: str) -> tuple[str, str]:
        """Remove the spools of a run from a machine; `proposed` is the root that the run proposed for them.

        Return their root, and the reason why they could not be removed, or an empty string. They are kept if one of
        their commands still runs, or if they belong to another user. Raise what transports raise.
        """
        root = self._connections.root(target, proposed)
        answer = await self._connections.transport(target).call(REMOVE, (root,))
        return root, answer.error if answer.rc else ""

    async def close(self) -> None:
        await self._connections.close()

    async def _outcome(self, job: Job, log: Log, *, recovering: bool) -> Outcome | None:
        """Carry out all steps, and turn errors into outcomes. Return None if a result is lost."""
        if refusal := self.check(job):
            return job.failed(refusal)
        job = self._prepared(job)
        if registry.runs_nothing(job.target.kind):
            return unchanged_outcome(job)
        limits, say = limits_of(job.type, job.parameters), job.masked(log)
        stop = self._stops.setdefault(job.key, asyncio.Event())
        try:
            if job.noop:
                return await Noop(self._connections).run(job, limits, stop, say)
            outcome = job.skipped()
            for step in self._steps(job):
                outcome = await self._step(job, step, limits, stop, say, recovering=recovering)
                if outcome.status is InstanceStatus.ERROR:
                    break
        except Interrupted:
            return None
        except (TransportError, Unsupported) as error:
            return job.interrupted(str(error)) if stop.is_set() else job.failed(str(error))
        finally:
            self._stops.pop(job.key, None)
        return outcome

    async def _step(
        self, job: Job, step: Step, limits: Limits, stop: asyncio.Event, say: Log, *, recovering: bool
    ) -> Outcome:
        if isinstance(step, Nothing):
            return job.skipped(step.reason)
        if isinstance(step, Reboot):
            return await _reboot(self._connections, job, limits, stop, say, recovering=recovering)
        recipe = await retry_unreachable(partial(self._recipe, job, step), limits.timeout, stop)

        async def prepare() -> None:
            for place in await self._scripts.send(self._target(job, recipe), job.target.scripts):
                say(f"plugin scripts sent to {place}")

        attempts = Attempts(
            self._spool(job, recipe), recipe, limits,
            attempt=job.attempt, stop=stop, grace=self._options.grace, say=say, before=prepare,
        )  # fmt: skip
        return outcome_of(job, await attempts.run(recovering=recovering), limits)

    def _prepared(self, job: Job) -> Job:
        return self._connections.connector(job.target.kind).prepared(job)

    def _steps(self, job: Job) -> tuple[Step, ...]:
        reason = self._connections.connector(job.target.kind).left_out(job.type)
        if reason:
            return (Nothing(reason),)
        steps = []
        for step in handlers.steps_of(job, self._options.commands):
            target = self._target(job, step) if isinstance(step, Recipe) else job.target
            if target is job.target or not registry.runs_nothing(target.kind):  # leave out nodes on which nothing runs
                steps.append(step)
        return tuple(steps)

    def _target(self, job: Job, recipe: Recipe) -> Target:
        if recipe.where == MASTER:
            return job.peers.get(MASTER, Target())
        return job.peers[recipe.where] if recipe.where else job.target

    def _spool(self, job: Job, recipe: Recipe) -> Spool:
        # other nodes on which the task runs may be the same machine, so each node has its own spool
        suffix = f"@{recipe.where}" if recipe.where not in ("", MASTER) else ""
        return self._connections.spool(self._target(job, recipe), directory(job, suffix))

    async def _spools(self, job: Job) -> list[Spool]:
        if registry.runs_nothing(job.target.kind) or job.noop:
            return []
        job = self._prepared(job)
        steps = [step for step in self._steps(job) if isinstance(step, Recipe | Sync)]
        return [self._spool(job, await self._recipe(job, step)) for step in steps]

    async def _recipe(self, job: Job, step: Recipe | Sync) -> Recipe:
        if isinstance(step, Recipe):
            return step
        if step.by_target:
            return sync.on_target(step)
        transport = self._connections.transport(job.target)
        return await self._connections.connector(job.target.kind).sync(step, job.target, transport)


_RESTARTED = Outcome(InstanceStatus.READY, message="restarted")


async def _reboot(
    connections: Connections, job: Job, limits: Limits, stop: asyncio.Event, say: Log, *, recovering: bool
) -> Outcome:
    """Restart the machine of a job, and wait until its boot time has changed.

    The earlier boot time is stored in a spool on this machine, for a runner that takes over. A recovery never restarts
    the machine again: it raises `Interrupted` if the first restart does not happen.
    """

    async def boot_time() -> int:
        return _number(await node.call(_BOOT_TIME))

    node, here, root = connections.transport(job.target), connections.here, connections.root(Target())
    spool = f"{root}/{directory(job)}"
    file = f"{spool}/boot.{job.attempt}"
    before = _number(await here.call(READ, (file, "0", "64"))) if recovering else 0
    if before:
        if await _restarts(boot_time, before, min(limits.timeout, _BOOT_ANSWER_SECONDS), stop):
            return _RESTARTED
        raise Interrupted(job.label)
    before = await retry_unreachable(boot_time, min(limits.timeout, _BOOT_ANSWER_SECONDS), stop)
    if not before:
        return job.failed(f"the boot time of {node.place} cannot be read")
    script = f'{ENTER}echo "$4" > "$3.new" && mv -f -- "$3.new" "$3"'
    await here.call(script, (spool, root, file, str(before)))
    try:
        answer = await node.call(_REBOOT)
        if answer.rc:
            return job.failed(f"{node.place} cannot restart: {answer.error}", answer.rc)
    except ConnectionBroken:
        say("the connection broke at once")
    say("restarting")
    if await _restarts(boot_time, before, limits.timeout, stop):
        return _RESTARTED
    text = f"{node.place} has not restarted within {limits.timeout:g} s"
    return job.interrupted(STOPPED) if stop.is_set() else job.failed(text)


async def _restarts(boot_time: Callable[[], Awaitable[int]], before: int, seconds: float, stop: asyncio.Event) -> bool:
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    while clock() < deadline and not stop.is_set():
        try:
            if await boot_time() not in (0, before):
                return True
        except TransportError as error:
            if error.final:
                raise
        await asyncio.sleep(min(_BOOT_PAUSE_SECONDS, max(0.0, deadline - clock())))
    return False


def _number(answer: Completed) -> int:
    text = answer.out.decode("ascii", "replace").strip()
    return int(text) if text.isdecimal() else 0
