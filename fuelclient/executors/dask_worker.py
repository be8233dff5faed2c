"""What runs on a Dask worker: the spool and the transport of this machine, on the machine of the worker.

Whatever goes wrong with a command, nothing here raises: a worker logs the arguments of calls that raise, which may be
secret.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from distributed import secede

from fuelclient.executors.local import LocalSpool, LocalTransport
from fuelclient.executors.recipe import Recipe
from fuelclient.executors.spool import Seen
from fuelclient.executors.transport import Completed, Unreachable

FAILED = 126
"""The exit code of a script that could not be started, as in a shell."""


@dataclass(frozen=True, slots=True)
class Script:
    """What is sent to a Dask worker to run a short POSIX shell script. Secrets are in `stdin`, which is never shown."""

    text: str = field(repr=False)
    arguments: tuple[str, ...] = field(default=(), repr=False)
    stdin: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a spool is on the machine of a Dask worker: the root of all spools, and its directory."""

    root: str
    directory: str

    @property
    def spool(self) -> LocalSpool:
        return LocalSpool(LocalTransport(), self.root, self.directory)


@dataclass(frozen=True, slots=True)
class Launch:
    """What is sent to a Dask worker to start a try: the spool, the label of the try, its script, and the seconds that
    earlier tries used."""

    place: Place
    label: str
    script: str = field(repr=False)
    used: float


@dataclass(frozen=True, slots=True)
class Failure:
    """What a Dask worker returns if it could not start a try: why, and whether it ever will."""

    message: str
    final: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """What is sent to a Dask worker to write a piece of a file; the first piece replaces the file."""

    path: str
    content: bytes = field(repr=False)
    first: bool = True


def launch(wanted: Launch) -> Seen | Failure:
    """Start a try on this worker unless it began before, and wait for it.

    The call leaves the worker's pool of threads first, so that a worker serves any number of nodes at the same time:
    waiting for a process costs nothing, and only our schedule decides when a task runs.
    """
    secede()  # type: ignore[no-untyped-call]  # distributed has no types there
    try:
        return asyncio.run(wanted.place.spool.launch(Recipe(wanted.script), wanted.label, wanted.used))
    except Unreachable as error:
        return Failure(error.message, error.final)


async def look(place: Place) -> Seen:
    """Return what a spool on this worker says now."""
    return await place.spool.look()


async def call(script: Script) -> Completed:
    """Run a short script in the worker's event loop, whatever its threads do."""
    try:
        return await LocalTransport().call(script.text, script.arguments, script.stdin)
    except Unreachable as error:
        return Completed(FAILED, b"", str(error).encode())


async def put(piece: Piece) -> str:
    """Write a piece of a file that only its owner can read. Return what went wrong, or an empty string."""
    return await asyncio.to_thread(_put, piece)


def _put(piece: Piece) -> str:
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if piece.first else os.O_APPEND)
    try:
        with os.fdopen(os.open(piece.path, flags, 0o600), "wb") as file:
            file.write(piece.content)
    except OSError as error:
        return error.strerror or str(error)
    return ""
