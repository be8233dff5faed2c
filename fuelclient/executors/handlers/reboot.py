"""reboot: the machine starts again, and is back when its boot time has changed."""

from __future__ import annotations

from typing import Final

from fuelclient.executors.base import Job
from fuelclient.executors.recipe import Reboot, Step


def steps(job: Job) -> tuple[Step, ...]:  # noqa: ARG001 - a handler takes a job
    return (Reboot(),)


BOOT_TIME: Final = "stat --printf=%Y /proc/1 2>/dev/null || echo 0"
"""Tells when the machine began, in seconds. Source: Astute `tasks/reboot.rb`."""

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
"""Restarts the machine as soon as the connection that asks for it has had its answer.

A machine that still is in its first configuration gets a minute to end that; a bootstrap image does not have to.
"""
