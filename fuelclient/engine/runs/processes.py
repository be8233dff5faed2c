"""Whether the process of a runner still lives.

After a restart of the machine, a process number may belong to another process. So a runner is known by the boot and by
the time when its process began as well, and by the namespace that its number belongs to.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fuelclient.model.run import Run
from fuelclient.store.runners import Runner

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STARTING = timedelta(seconds=30)
"""How long a runner may take from its start until it claims its run."""

_SILENT = timedelta(seconds=120)
"""How long a runner whose process cannot be seen may be silent: it waits while others write."""

ALIVE, GONE = "alive", "gone"
"""Whether a process works on a run."""

NOT_STARTED = 0
"""The process number of a runner that is being started."""


def now() -> str:
    """The time as the store keeps it: UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def later(passing: timedelta) -> str:
    """The time after (or, if negative, before) now, in the format of `now`."""
    return (datetime.fromisoformat(now()) + passing).isoformat(timespec="microseconds")


def boot_id() -> str:
    """The id of this boot of the machine; empty if the system has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def start_time(pid: int) -> str:
    """The start of a process, in ticks since the boot; empty if it does not exist, or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in ("Z", "X") else fields[18]


def this_process(run: Run, *, pid: int | None = None) -> Runner:
    """This process as the runner of a run, or with `NOT_STARTED` one that is being started."""
    number = os.getpid() if pid is None else pid
    began = start_time(number) if number != NOT_STARTED else ""
    return Runner(run.cluster_id, run.id, number, f"{boot_id()} {_namespace()}", began, now())


def is_alive(runner: Runner) -> bool:
    """Whether the process of a runner lives, or was started a moment ago.

    A runner in another PID namespace, such as a container's, cannot be seen from here; it lives while its heart beats.
    """
    boot, _, namespace = runner.boot_id.partition(" ")
    if boot != boot_id():
        return False
    unseen = bool(namespace) and namespace != _namespace()
    if runner.pid == NOT_STARTED or unseen:
        passed = datetime.fromisoformat(now()) - datetime.fromisoformat(runner.heartbeat)
        return abs(passed) < (_SILENT if unseen else _STARTING)  # a clock set back must not keep it alive for years
    return start_time(runner.pid) == runner.start_time != ""


def _namespace() -> str:
    """The namespace of the process numbers that we see; empty if the system has none."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
