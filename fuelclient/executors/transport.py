"""Transports: how scripts and files get to a machine, and what can be wrong with the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fuelclient.errors import Unavailable


class Unreachable(Unavailable):
    """A machine cannot be reached. `final` says that trying again is no use: a host key or a key is wrong."""

    def __init__(self, message: str, *, final: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.final = final


class ConnectionBroken(Unavailable):
    """The way to a machine broke while something was on it; what was started there may go on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a script gave back."""

    rc: int
    out: bytes
    err: bytes

    @property
    def error(self) -> str:
        """The last line of its error output, or its exit code."""
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.rc}"


class Transport(Protocol):
    """A way to one machine. All methods raise `Unreachable` and `ConnectionBroken`."""

    @property
    def place(self) -> str:
        """The machine, as messages call it."""

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Answer:
        """Run a POSIX shell script of ours to its end.

        The script and its arguments are seen by everybody on that machine: what is secret goes through `stdin`.
        Cancelling the call ends the script, but not what it has put into a session of its own.
        """

    async def put(self, path: str, content: bytes | Path) -> None:
        """Write a file that only its owner may read, into a directory that exists."""

    async def close(self) -> None:
        """Let go of the machine."""
