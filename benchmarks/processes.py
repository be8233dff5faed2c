"""Commands as whole processes: median wall and processor time, and peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command takes: seconds of wall clock and of processor, and megabytes at the peak."""

    wall: float
    cpu: float
    memory: float


def measure(commands: Mapping[str, Sequence[str]], environ: Mapping[str, str], runs: int) -> dict[str, Cost]:
    """Median costs of `commands`, run in turns so that noise hits all of them alike.

    Their modules are compiled, as pip compiles those that it installs: the first turn, which does not count, writes
    the byte code, whatever `environ` says of that.

    Raises `RuntimeError` when one of them fails: a failing command is fast and means nothing.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    environ = {name: value for name, value in environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(runs + 1):
        for name, command in commands.items():
            cost = _once(command, environ)
            if turn:  # the first turn fills caches
                costs[name].append(cost)
    return {
        name: Cost(
            statistics.median(cost.wall for cost in result),
            statistics.median(cost.cpu for cost in result),
            max(cost.memory for cost in result),
        )
        for name, result in costs.items()
    }


def _once(command: Sequence[str], environ: Mapping[str, str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(command, env=dict(environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with exit code {process.returncode}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
