"""A kind of executor as another package has it: tasks run in a shell whose environment is empty but for a home.

`install` writes this module as a distribution of its own, whose entry point is all that the package has to know of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Hashable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from fuelclient.executors import registry
from fuelclient.executors.connector import Connector
from fuelclient.executors.job import Target
from fuelclient.executors.transport import Completed, Transport, Unreachable
from fuelclient.model.node import Node

KIND = "clean-shell"


class CleanShell(Connector):
    """Tasks run in the home that the node's attribute `home` names, with nothing else in their environment."""

    @classmethod
    def place(cls, node: Node) -> Hashable:
        return str(node.attributes.get("home") or "")

    def refusal(self, target: Target) -> str:
        return "" if target.place else "the node has no attribute home"

    def transport(self, target: Target) -> Transport:
        return _Home(Path(str(target.place)))

    def root(self, target: Target, proposed: str) -> str:
        return f"{target.place}/.spools/{os.path.basename(proposed)}"


class _Home:
    def __init__(self, home: Path) -> None:
        self.place, self._home = f"the home {home}", home

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        variables = (f"HOME={self._home}", f"PATH={os.environ['PATH']}")
        process = await asyncio.create_subprocess_exec(
            "env", "-i", *variables, "/bin/sh", "-c", script, "clean-shell", *arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, err = await process.communicate(stdin)
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        return Completed(process.returncode or 0, out, err)

    async def put(self, path: str, content: bytes | Path) -> None:
        try:
            Path(path).touch(0o600)
            Path(path).write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        except OSError as error:
            raise Unreachable(f"{error.filename} cannot be copied: {error.strerror}.", final=True) from error

    async def close(self) -> None:
        """Nothing is held."""


def install(directory: Path, patch: pytest.MonkeyPatch, module: str = "clean_shell", text: str = "") -> None:
    """Install the distribution below `directory`, for this process and those that it starts."""
    described = directory / f"{module}-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{KIND} = {module}:CleanShell\n")
    (directory / f"{module}.py").write_text(text or Path(__file__).read_text())
    patch.syspath_prepend(directory)
    before = os.environ.get("PYTHONPATH")
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(directory), before))))
    forget()


def forget() -> None:
    """What is installed is looked up anew."""
    registry.added.cache_clear()
    registry.connector.cache_clear()
