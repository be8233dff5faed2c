"""Check whether the process of a runner is still alive.

After a restart of the machine, a process number may belong to another process. So a runner is identified also by the
boot id, the start time of its process, and the PID namespace of its number.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fuelclient.model.run import Run
from fuelclient.store.runners import Runner

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_START_LIMIT = timedelta(seconds=30)
"""How long a runner may take to claim its run after it was started."""

_HEARTBEAT_LIMIT = timedelta(seconds=120)
"""How old the heartbeat of a runner in another PID namespace may be: it is late while other processes write."""

ALIVE, GONE = "alive", "gone"
"""The states of the runner of a run that has not ended."""

NOT_STARTED = 0
"""The process number of a runner that is being started."""


def now() -> str:
    """Return the time in the format of the store: UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def later(offset: timedelta) -> str:
    """Return the time `offset` after now (or before, if negative), in the format of `now`."""
    return (datetime.fromisoformat(now()) + offset).isoformat(timespec="microseconds")


def boot_id() -> str:
    """Return the id of this boot of the machine, or an empty string if the system has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def start_time(pid: int) -> str:
    """Return the start time of a process in ticks since the boot, or an empty string if it is dead or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in ("Z", "X") else fields[18]


def this_process(run: Run, *, pid: int | None = None) -> Runner:
    """Describe this process, or with `pid` another one or `NOT_STARTED`, as the runner of a run."""
    number = os.getpid() if pid is None else pid
    began = start_time(number) if number != NOT_STARTED else ""
    return Runner(run.cluster_id, run.id, number, f"{boot_id()} {_namespace()}", began, now())


def is_alive(runner: Runner) -> bool:
    """Whether the process of a runner is alive, or has just been started.

    The processes of another PID namespace, such as a container's, are invisible here. Such a runner counts as alive as
    long as its heartbeat is recent.
    """
    boot, _, namespace = runner.boot_id.partition(" ")
    if boot != boot_id():
        return False
    is_invisible = bool(namespace) and namespace != _namespace()
    if runner.pid == NOT_STARTED or is_invisible:
        age = datetime.fromisoformat(now()) - datetime.fromisoformat(runner.heartbeat)
        return abs(age) < (_HEARTBEAT_LIMIT if is_invisible else _START_LIMIT)  # abs: the clock may be set back
    return start_time(runner.pid) == runner.start_time != ""


def _namespace() -> str:
    """Return the PID namespace of this process, or an empty string if the system has none."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
