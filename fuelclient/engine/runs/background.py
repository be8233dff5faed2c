"""Start runners and sweeps as processes that outlive the terminal, and hand a runner the plan of its starter.

The plan goes through a pipe, so that nothing secret is on disk. A runner whose starter was killed first, or stalls,
prepares the run by itself; so does the runner of a resumed run.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuelclient.executors.local import environment
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan
from fuelclient.settings import CUSTOM_SETTINGS, handed_on

_PACKAGE = Path(__file__).resolve().parents[3]
"""The directory that this package is imported from."""


def launch(module: str, arguments: Sequence[str], log: Path, read_from: int | None = None) -> None:
    """Start a module in its own session; it writes to a log, and has the descriptor `read_from`. Raise `OSError` or
    `CalledProcessError` if that fails.

    It is no child of this process, which may end, or go on for years without having to collect it. Passwords for
    masters are kept out of its environment.
    """
    paths = [str(_PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths)}
    if settings := os.environ.get(CUSTOM_SETTINGS, "").strip():
        own[CUSTOM_SETTINGS] = os.path.abspath(os.path.expanduser(settings))  # the process works elsewhere
    log.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        subprocess.run(  # noqa: S603 - our own interpreter, our own module
            ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, "-m", module, *arguments],
            check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=descriptor, stderr=descriptor,
            start_new_session=True, env={**environment(), **own, **handed_on()},
            pass_fds=() if read_from is None else (read_from,),
        )  # fmt: skip
    finally:
        os.close(descriptor)


def forget_package() -> None:
    """Remove the path of our own package, which `launch` added, from `PYTHONPATH`: tasks may use another Python."""
    first, _, rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == str(_PACKAGE):
        os.environ["PYTHONPATH"] = rest
        if not rest:
            del os.environ["PYTHONPATH"]


_STALLED = 5.0
"""Seconds after which either side gives up on the other one."""

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Prepared:
    """The plan of a run's first graph, and its inputs."""

    inputs: Inputs
    plan: Plan


def packed(prepared: Prepared) -> bytes:
    """Pickle a plan for the pipe. Nothing is sent of one that is too large or too deep; the run is stored by then, and
    its runner can prepare it."""
    try:
        return pickle.dumps(prepared, protocol=pickle.HIGHEST_PROTOCOL)
    except (MemoryError, RecursionError):
        return b""


def unpacked(data: bytes) -> Prepared | None:
    """Reverse `packed`; None if the end of the data is missing. They are of a process of the same user."""
    try:
        prepared: Prepared = pickle.loads(data)  # noqa: S301 (only our own starter has the other end of the pipe)
    except (EOFError, pickle.UnpicklingError):
        return None
    return prepared


def hand_over(descriptor: int, data: bytes) -> None:
    """Write data to a pipe and close it. Give up if the reader has gone, or reads nothing for `_STALLED` seconds."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT)
    os.set_blocking(descriptor, False)
    left = memoryview(data)
    try:
        while left and waiting.poll(_STALLED * 1000):
            left = left[os.write(descriptor, left[:_PIECE]) :]
    except BrokenPipeError:
        return  # the runner has died, or needs nothing
    finally:
        os.close(descriptor)


def received(descriptor: int) -> bytes:
    """Read a pipe to its end, and close it."""
    waiting, pieces = select.poll(), list[bytes]()
    waiting.register(descriptor, select.POLLIN)
    try:
        while waiting.poll(_STALLED * 1000) and (piece := os.read(descriptor, _PIECE)):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces)
