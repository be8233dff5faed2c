"""The transport to this machine: processes of asyncio, and files."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fuelclient import redact
from fuelclient.executors.transport import Answer, Unreachable


def environment() -> dict[str, str]:
    """The environment for tasks on this machine: ours, without what the names say is a secret.

    A password for a master that lies in the operator's environment is no business of a task.
    """
    return {name: value for name, value in os.environ.items() if not redact.is_secret(name)}


class LocalTransport:
    """This machine."""

    place = "this machine"

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Answer:
        """Run a script in a session of its own; cancelling kills its process group."""
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", script, "fuel2", *arguments,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                start_new_session=True, env=environment(), cwd="/",
            )  # fmt: skip
        except OSError as error:
            raise Unreachable(f"No process can be started on this machine: {error.strerror}.") from error
        try:
            out, err = await process.communicate(stdin)
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        return Answer(process.returncode or 0, out, err)

    async def put(self, path: str, content: bytes | Path) -> None:
        try:
            await asyncio.to_thread(_put, path, content)
        except OSError as error:
            where = error.filename or path
            raise Unreachable(f"{where} cannot be copied to {path}: {error.strerror}.", final=True) from error

    async def close(self) -> None:
        """Nothing is held."""


def _put(path: str, content: bytes | Path) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as target:
        if isinstance(content, bytes):
            target.write(content)
        else:
            with content.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
