"""Rebooting: a machine is asked to start again, and waited for until it has."""

from __future__ import annotations

import asyncio

from fuelclient.executors.attempts import Interrupted, patiently
from fuelclient.executors.base import Job, Log, Outcome, Target
from fuelclient.executors.handlers.reboot import BOOT_TIME, REBOOT
from fuelclient.executors.limits import Limits
from fuelclient.executors.narration import failure, interrupted
from fuelclient.executors.reach import Reach
from fuelclient.executors.scripts import ENTER, READ
from fuelclient.executors.spool import directory
from fuelclient.executors.transport import ConnectionBroken, Unreachable
from fuelclient.model.status import InstanceStatus

_EVERY = 2.0
_SOON = 180.0


class Rebooting:
    """One reboot of a job. The boot time of before lies in the spool of this machine, for whoever takes over."""

    def __init__(self, reach: Reach, job: Job, limits: Limits, stop: asyncio.Event, say: Log) -> None:
        self._reach, self._job, self._limits, self._stop, self._say = reach, job, limits, stop, say
        self._node = reach.transport(job.target)
        self._root = reach.root(Target())
        self._directory = directory(job, self._root)
        self._file = f"{self._directory}/boot.{job.attempt}"

    async def run(self, *, recovering: bool) -> Outcome:
        """Ready when the boot time of the machine has changed.

        A recovery never asks for a second restart: when the one that was written down does not come, it raises
        `Interrupted`.
        """
        before = await self._written() if recovering else 0
        if before:
            if await self._changed(before, min(self._limits.timeout, _SOON)):
                return self._ready()
            raise Interrupted(self._job.label)
        before = await patiently(self._boot_time, min(self._limits.timeout, _SOON), self._stop)
        if not before:
            return failure(self._job, f"the boot time of {self._node.place} cannot be read")
        await self._write(before)
        try:
            answer = await self._node.call(REBOOT)
            if answer.rc:
                return failure(self._job, f"{self._node.place} cannot restart: {answer.error}", answer.rc)
        except ConnectionBroken:
            self._say("the connection broke at once")
        self._say("restarting")
        if await self._changed(before, self._limits.timeout):
            return self._ready()
        why = f"has not restarted within {self._limits.timeout:g} s"
        return interrupted(self._job) if self._stop.is_set() else failure(self._job, f"{self._node.place} {why}")

    def _ready(self) -> Outcome:
        return Outcome(InstanceStatus.READY, message="restarted")

    async def _changed(self, before: int, seconds: float) -> bool:
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while clock() < until and not self._stop.is_set():
            try:
                now = await self._boot_time()
                if now and now != before:
                    return True
            except (Unreachable, ConnectionBroken) as error:
                if isinstance(error, Unreachable) and error.final:
                    raise
            await asyncio.sleep(min(_EVERY, max(0.0, until - clock())))
        return False

    async def _boot_time(self) -> int:
        answer = await self._node.call(BOOT_TIME)
        text = answer.out.decode("ascii", "replace").strip()
        return int(text) if text.isdecimal() else 0

    async def _written(self) -> int:
        answer = await self._reach.local.call(READ, (self._file, "0", "64"))
        text = answer.out.decode("ascii", "replace").strip()
        return int(text) if text.isdecimal() else 0

    async def _write(self, before: int) -> None:
        script = f'{ENTER}echo "$4" > "$3.new" && mv -f -- "$3.new" "$3"'
        await self._reach.local.call(script, (self._directory, self._root, self._file, str(before)))
