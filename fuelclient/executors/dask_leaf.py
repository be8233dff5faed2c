"""What runs on a Dask worker: the local executor's own spool and transport, on the worker's machine.

Nothing here raises for what goes wrong with a command: a worker writes the arguments of calls that raise to its log.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from distributed import secede

from fuelclient.executors.local_spool import LocalSpool
from fuelclient.executors.local_transport import LocalTransport
from fuelclient.executors.recipe import Recipe
from fuelclient.executors.spool import Seen
from fuelclient.executors.transport import Answer, Unreachable

FAILED = 126
"""The exit code of a script that could not be started, as in a shell."""


@dataclass(frozen=True, slots=True)
class Script:
    """A POSIX shell script with its arguments; what is secret in it is on `stdin`, which is never shown."""

    text: str = field(repr=False)
    arguments: tuple[str, ...] = field(default=(), repr=False)
    stdin: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """A spool on the machine of the worker: the root of all, and its directory."""

    root: str
    directory: str

    @property
    def spool(self) -> LocalSpool:
        return LocalSpool(LocalTransport(), self.root, self.directory)


@dataclass(frozen=True, slots=True)
class Launch:
    """A try that is to be made in a spool: its label, its script, and the seconds that were used before it."""

    place: Place
    label: str
    script: str = field(repr=False)
    used: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing could be started, and whether it ever will be."""

    message: str
    final: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a file; the first one begins the file anew."""

    path: str
    content: bytes = field(repr=False)
    first: bool = True


def launched(launch: Launch) -> Seen | Failure:
    """Start a try unless it began before, and wait for it.

    The call leaves the worker's pool of threads before that, so that a worker serves any number of nodes at the same
    time: waiting for a process costs nothing, and the order of tasks is the business of our scheduler alone.
    """
    secede()  # type: ignore[no-untyped-call]  # distributed has no types there
    try:
        return asyncio.run(launch.place.spool.launch(Recipe(launch.script), launch.label, launch.used))
    except Unreachable as error:
        return Failure(error.message, error.final)


async def looked(place: Place) -> Seen:
    """What there is in a spool now."""
    return await place.spool.look()


async def told(script: Script) -> Answer:
    """Run a short script in the worker's event loop, beside whatever its threads do."""
    try:
        return await LocalTransport().call(script.text, script.arguments, script.stdin)
    except Unreachable as error:
        return Answer(FAILED, b"", str(error).encode())


async def put(piece: Piece) -> str:
    """Write a piece of a file that only its owner may read; what went wrong, or an empty string."""
    return await asyncio.to_thread(_put, piece)


def _put(piece: Piece) -> str:
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if piece.first else os.O_APPEND)
    try:
        with os.fdopen(os.open(piece.path, flags, 0o600), "wb") as file:
            file.write(piece.content)
    except OSError as error:
        return error.strerror or str(error)
    return ""
