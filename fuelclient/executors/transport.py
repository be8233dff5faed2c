"""Transports: they carry scripts and files to a machine, and say what is wrong when they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fuelclient.errors import Unavailable
from fuelclient.model.diagnosis import Shared


class Unreachable(Unavailable):
    """Nothing can begin on a machine. It is `final` if trying again is no use: a host key or a key is wrong.

    `problem` says the same without the name of the machine, and `shared` mends it on many machines at once.
    """

    def __init__(
        self, message: str, *, final: bool = False, hint: str = "", problem: str = "", shared: Shared | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.final, self.problem, self.shared = final, problem or message, shared


class ConnectionBroken(Unavailable):
    """The connection to a machine broke while it was used; what was started there may go on."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A script that ended: its exit code and its output."""

    rc: int
    out: bytes
    err: bytes

    @property
    def error(self) -> str:
        """The last line of its error output, or its exit code."""
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.rc}"


def reason_of(error: BaseException) -> str:
    """Return why a connection failed, in the words of its library or of the system."""
    reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return str(reason).rstrip(".")


class Transport(Protocol):
    """A connection to one machine. All methods raise `Unreachable` and `ConnectionBroken`."""

    @property
    def place(self) -> str:
        """The machine, as messages call it."""

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        """Run a POSIX shell script to its end, with `arguments` as its $1, $2 and so on.

        The process list of that machine shows the script and its arguments to everyone, so secrets go through `stdin`.
        Cancelling the call ends the script, but nothing that the script has put into a session of its own.
        """

    async def put(self, path: str, content: bytes | Path) -> None:
        """Write a file that only its owner can read, into a directory that exists."""

    async def close(self) -> None:
        """Close the connection."""
