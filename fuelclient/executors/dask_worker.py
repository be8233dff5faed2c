"""The functions that run on a Dask worker: they run short scripts, which start and watch the commands of tasks.

No function raises, whatever goes wrong with a script, because a worker logs the arguments of calls that raise, which
may be secret. All answers are JSON, because a client never unpickles data from a worker.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field

from fuelclient.executors.local import LocalTransport, write
from fuelclient.executors.transport import Unreachable

FAILED = 126
"""The exit code of a script that could not be started, as in a shell."""

EXPIRED = -1
"""The code instead of an exit code if the script has not ended within the time limit of its call."""


@dataclass(frozen=True, slots=True)
class Script:
    """A POSIX shell script for a Dask worker. Its call may take `seconds`. Secrets are in `stdin`, which is never
    shown."""

    text: str = field(repr=False)
    arguments: tuple[str, ...] = field(default=(), repr=False)
    stdin: bytes = field(default=b"", repr=False)
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a file for a Dask worker. The first piece replaces the file."""

    path: str
    content: bytes = field(repr=False)
    first: bool = True


async def call(script: Script) -> str:
    """Run a script in the worker's event loop, even while its threads are busy.

    Return its exit code and its two outputs, in which each byte is the character with that number. Processes that the
    script has started in a new session go on after the time limit.
    """
    try:
        async with asyncio.timeout(script.seconds):
            ended = await LocalTransport().call(script.text, script.arguments, script.stdin)
    except TimeoutError:
        return json.dumps((EXPIRED, "", ""))
    except Unreachable as error:
        return json.dumps((FAILED, "", str(error).encode().decode("latin-1")))
    return json.dumps((ended.rc, ended.out.decode("latin-1"), ended.err.decode("latin-1")), ensure_ascii=False)


async def put(piece: Piece) -> str:
    """Write a piece of a file that only its owner can read. Return the error, or an empty text."""
    return json.dumps(await asyncio.to_thread(_write_piece, piece))


def _write_piece(piece: Piece) -> str:
    try:
        write(piece.path, piece.content, os.O_TRUNC if piece.first else os.O_APPEND)
    except OSError as error:
        return error.strerror or str(error)
    return ""
