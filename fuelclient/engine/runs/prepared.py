"""A run as its starter has decided it, and how the runner gets that: through a pipe, so that nothing secret is on disk.

A runner whose starter was killed first, or stalls, prepares the run by itself; so does the runner of a resumed run.
"""

from __future__ import annotations

import os
import pickle
import select
import struct
from dataclasses import dataclass

from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan

_STALLED = 5.0
"""Seconds after which either side gives up on the other one."""

_PIECE = 1 << 16
_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The plan of a run's first graph, and what it was planned from."""

    inputs: Inputs
    plan: Plan


def packed(prepared: Prepared) -> bytes:
    """Return what goes through the pipe: the length of the rest, which shows whether all of it has arrived. It is empty
    for what is too large or too deep; the run is stored by then, and its runner can prepare it."""
    try:
        data = pickle.dumps(prepared, protocol=pickle.HIGHEST_PROTOCOL)
    except (MemoryError, RecursionError):
        return b""
    return _LENGTH.pack(len(data)) + data


def unpacked(data: bytes) -> Prepared | None:
    """Return what `packed` was given, or None if some of it is missing. The data are of a process of the same user."""
    if len(data) < _LENGTH.size or _LENGTH.unpack_from(data)[0] != len(data) - _LENGTH.size:
        return None
    prepared = pickle.loads(data[_LENGTH.size :])  # noqa: S301 (only our own starter has the other end of the pipe)
    return prepared if isinstance(prepared, Prepared) else None


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
    """Return what comes through a pipe, and close it."""
    waiting, pieces = select.poll(), list[bytes]()
    waiting.register(descriptor, select.POLLIN)
    try:
        while waiting.poll(_STALLED * 1000) and (piece := os.read(descriptor, _PIECE)):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces)
