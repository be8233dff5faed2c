"""Whether the process of a runner still lives, and who this process is.

A process number alone says nothing after a restart of the machine, or when it was given to another process; the boot
and the time when the process began say it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fuelclient.model.run import Run
from fuelclient.store.runners import Runner

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STARTING = timedelta(seconds=30)
"""How long a runner may take from its start to its first word."""

ALIVE, GONE = "alive", "gone"
"""Whether a process works at a transaction."""

NOT_STARTED = 0
"""In the place of a process number: somebody has just started the process."""


def now() -> str:
    """The time as the store keeps it: UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def boot_id() -> str:
    """What tells this run of the machine from all others; empty where the system has nothing like that."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def start_time(pid: int) -> str:
    """When a process began, in ticks since the boot; empty when there is no such process, or only what its parent
    has not collected."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in ("Z", "X") else fields[18]


def this_process(run: Run, *, pid: int | None = None) -> Runner:
    """This process as the runner of a transaction; with `pid` `NOT_STARTED`, one that is being started."""
    number = os.getpid() if pid is None else pid
    began = start_time(number) if number != NOT_STARTED else ""
    return Runner(run.cluster_id, run.id, number, boot_id(), began, now())


def is_alive(runner: Runner) -> bool:
    """Whether the process of a runner still lives, or may still come up."""
    if runner.boot_id != boot_id():
        return False
    if runner.pid == NOT_STARTED:
        passed = datetime.fromisoformat(now()) - datetime.fromisoformat(runner.heartbeat)
        return abs(passed) < _STARTING  # a clock that was set back must not keep it alive for years
    return start_time(runner.pid) == runner.start_time != ""
