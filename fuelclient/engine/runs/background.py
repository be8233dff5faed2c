"""Start runners and sweeps as processes that outlive the terminal, and send a runner the plan of its starter.

The plan is sent through a pipe, so that no secrets are written to disk. A runner prepares the run itself if its starter
was killed or stalls, or if the run is resumed.
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

from fuelclient.executors.local import task_environment
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan
from fuelclient.settings import CUSTOM_SETTINGS, handed_on

_PACKAGE = Path(__file__).resolve().parents[3]
"""The directory that this package is imported from."""


def launch(module: str, arguments: Sequence[str], log: Path, read_from: int | None = None) -> None:
    """Start a module as a process in its own session, with `log` as its output and the open descriptor `read_from`.

    The process is not a child of this one, which may end first, or run for years without leaving a zombie. Its
    environment contains no passwords for masters. Raise `OSError` or `CalledProcessError` if it cannot be started.
    """
    paths = [str(_PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {"PYTHONPATH": os.pathsep.join(paths)}
    if settings := os.environ.get(CUSTOM_SETTINGS, "").strip():
        variables[CUSTOM_SETTINGS] = os.path.abspath(os.path.expanduser(settings))  # its working directory is /
    log.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        subprocess.run(  # noqa: S603 - our own interpreter, our own module
            ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, "-m", module, *arguments],
            check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=descriptor, stderr=descriptor,
            start_new_session=True, env={**task_environment(), **variables, **handed_on()},
            pass_fds=() if read_from is None else (read_from,),
        )  # fmt: skip
    finally:
        os.close(descriptor)


def forget_package() -> None:
    """Remove the path that `launch` added to `PYTHONPATH`, because tasks may use another Python."""
    first, _, rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == str(_PACKAGE):
        os.environ["PYTHONPATH"] = rest
        if not rest:
            del os.environ["PYTHONPATH"]


_STALL_SECONDS = 5.0
"""Seconds without progress after which the reader or the writer of the pipe gives up."""

_PIECE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Prepared:
    """The plan of a run's first graph, and its inputs."""

    inputs: Inputs
    plan: Plan


def packed(prepared: Prepared) -> bytes:
    """Pickle a plan for the pipe. Return nothing if it is too large or too deeply nested: the runner then prepares
    the run, which is stored already."""
    try:
        return pickle.dumps(prepared, protocol=pickle.HIGHEST_PROTOCOL)
    except (MemoryError, RecursionError):
        return b""


def unpacked(data: bytes) -> Prepared | None:
    """Reverse `packed`; return None if the data are incomplete. They come from a process of the same user."""
    try:
        prepared: Prepared = pickle.loads(data)  # noqa: S301 (only our own starter has the other end of the pipe)
    except (EOFError, pickle.UnpicklingError):
        return None
    return prepared


def hand_over(descriptor: int, data: bytes) -> None:
    """Write data to a pipe and close it. Give up if the reader closes it, or reads nothing for `_STALL_SECONDS`."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT)
    os.set_blocking(descriptor, False)
    remaining = memoryview(data)
    try:
        while remaining and waiting.poll(_STALL_SECONDS * 1000):
            remaining = remaining[os.write(descriptor, remaining[:_PIECE_BYTES]) :]
    except BrokenPipeError:
        return  # the runner has died, or does not need the plan
    finally:
        os.close(descriptor)


def received(descriptor: int) -> bytes:
    """Read a pipe to its end, and close it."""
    waiting, pieces = select.poll(), list[bytes]()
    waiting.register(descriptor, select.POLLIN)
    try:
        while waiting.poll(_STALL_SECONDS * 1000) and (piece := os.read(descriptor, _PIECE_BYTES)):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces)
