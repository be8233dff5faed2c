"""reboot: restart a machine, and wait until a changed boot time shows that it is back."""

from __future__ import annotations

import asyncio
from typing import Final

from fuelclient.executors.attempts import Interrupted, patiently
from fuelclient.executors.job import Job, Log, Outcome, Target
from fuelclient.executors.machines import Connections
from fuelclient.executors.outcomes import failure, interrupted
from fuelclient.executors.spool import ENTER, READ, directory
from fuelclient.executors.transport import Completed, ConnectionBroken, Limits, Unreachable
from fuelclient.model.status import InstanceStatus

_EVERY = 2.0
_SOON = 180.0

BOOT_TIME: Final = "stat --printf=%Y /proc/1 2>/dev/null || echo 0"
"""Prints when the machine started, in seconds. Source: Astute `tasks/reboot.rb`."""

REBOOT: Final = """\
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
command -v reboot > /dev/null || { echo "there is no reboot command" >&2; exit 127; }
if [ "$(hostname 2>/dev/null)" != bootstrap ] && [ -d /run/cloud-init ]; then waits=60; else waits=0; fi
setsid /bin/sh -c '
  while [ "$1" -gt 0 ] && [ ! -e /run/cloud-init/status.json ]; do set -- $(($1 - 1)); sleep 1; done
  sleep 1
  reboot
' fuel2-reboot "$waits" < /dev/null > /dev/null 2>&1 &
"""
"""Restarts the machine as soon as this script has been answered.

A machine that is still in its first configuration gets a minute to finish it; a bootstrap image needs none.
"""


class Rebooting:
    """One reboot of a job. The boot time from before it is kept in the spool of this machine, for a runner that takes
    over."""

    def __init__(self, connections: Connections, job: Job, limits: Limits, stop: asyncio.Event, say: Log) -> None:
        self._job, self._limits, self._stop, self._say = job, limits, stop, say
        self._node, self._here = connections.transport(job.target), connections.here
        self._root = connections.root(Target())
        self._directory = f"{self._root}/{directory(job)}"
        self._file = f"{self._directory}/boot.{job.attempt}"

    async def run(self, *, recovering: bool) -> Outcome:
        """Restart the machine, and wait until its boot time has changed.

        A recovery never restarts it a second time: it raises `Interrupted` if the restart that was asked for does not
        come.
        """
        before = _number(await self._here.call(READ, (self._file, "0", "64"))) if recovering else 0
        if before:
            if await self._changed(before, min(self._limits.timeout, _SOON)):
                return self._ready()
            raise Interrupted(self._job.label)
        before = await patiently(self._boot_time, min(self._limits.timeout, _SOON), self._stop)
        if not before:
            return failure(self._job, f"the boot time of {self._node.place} cannot be read")
        script = f'{ENTER}echo "$4" > "$3.new" && mv -f -- "$3.new" "$3"'
        await self._here.call(script, (self._directory, self._root, self._file, str(before)))
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
        return _number(await self._node.call(BOOT_TIME))


def _number(answer: Completed) -> int:
    text = answer.out.decode("ascii", "replace").strip()
    return int(text) if text.isdecimal() else 0
