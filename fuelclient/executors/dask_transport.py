"""The transport to a Dask worker, and the spool there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuelclient.executors import dask_leaf
from fuelclient.executors.dask_cluster import DaskCluster
from fuelclient.executors.dask_leaf import Failure, Launch, Piece, Place, Script
from fuelclient.executors.recipe import Recipe
from fuelclient.executors.spool import Seen, Spool
from fuelclient.executors.transport import Answer, Unreachable

_PIECE = 1 << 20
"""Bytes of a file that go in one message."""


@dataclass(frozen=True, slots=True)
class DaskTransport:
    """The machine of a worker. Scripts run in the event loop of the worker: they look, end and prepare things, and
    must never wait for a thread of it. All of them end by themselves, and go on when their call is cancelled."""

    cluster: DaskCluster
    worker: str

    @property
    def place(self) -> str:
        return f"the Dask worker {self.worker}"

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Answer:
        return await self.cluster.ask(self.worker, dask_leaf.told, Script(script, tuple(arguments), stdin))

    async def put(self, path: str, content: bytes | Path) -> None:
        if isinstance(content, bytes):
            await self._put(path, content, first=True)
            return
        try:
            with content.open("rb") as file:
                first = True
                while (piece := file.read(_PIECE)) or first:
                    await self._put(path, piece, first=first)
                    first = False
        except OSError as error:
            where = error.filename or content
            raise Unreachable(f"{where} cannot be sent to {self.place}: {error.strerror}.", final=True) from error

    async def _put(self, path: str, content: bytes, *, first: bool) -> None:
        wrong = await self.cluster.ask(self.worker, dask_leaf.put, Piece(path, content, first))
        if wrong:
            raise Unreachable(f"{path} cannot be written on {self.place}: {wrong}.", final=True)

    async def close(self) -> None:
        """Nothing is held; the cluster is."""


class DaskSpool(Spool):
    """The spool of one job on the machine of a worker: a `LocalSpool` there. A command is started and waited for by
    a task of Dask, which its dashboard shows under the names of transaction, node and task."""

    def __init__(self, transport: DaskTransport, root: str, directory: str) -> None:
        super().__init__(transport, root, directory)
        self._cluster, self._worker = transport.cluster, transport.worker
        self._there = Place(root, directory)
        self._name = "fuel2-" + "-".join(directory.split("/")[-3:])

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        """Start the recipe's script as the try `label`, unless that began before, and wait for it."""
        wanted = Launch(self._there, label, recipe.script, used)
        found = await self._cluster.submit(self._worker, dask_leaf.launched, wanted, self._name)
        if isinstance(found, Failure):
            raise Unreachable(f"On {self.transport.place}: {found.message}", final=found.final)
        return found

    async def look(self) -> Seen:
        """What there is now."""
        return await self._cluster.ask(self._worker, dask_leaf.looked, self._there)
