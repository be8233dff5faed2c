"""The workers of a Dask scheduler, and the transport that uses one of them.

Dask decides nothing here: each call names its worker, depends on nothing, and is never repeated by Dask. The spool
shows what a lost call has done.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fuelclient.errors import nearest
from fuelclient.executors import dask_worker
from fuelclient.executors.dask import DaskScheduler
from fuelclient.executors.dask_line import DaskLine, Failed, WrongAnswer
from fuelclient.executors.dask_worker import HELD, Piece, Script
from fuelclient.executors.transport import Completed, ConnectionBroken, Held, Unreachable, reason_of

T = TypeVar("T")

_EVERY = 1.0
"""How often, in seconds, to look whether a worker is still there."""

_STRANGERS = ("ModuleNotFoundError", "ImportError", "AttributeError")
"""What a worker raises that has another version of fuelclient, or none."""

_SAME = "Install the same version of fuelclient there: pip install 'fuelclient[dask]'."

_MOST_NAMED = 8

_PIECE = 1 << 20
"""Bytes of a file that go in one message."""


class DaskCluster:
    """The workers of one scheduler, by their names.

    All methods raise `Unreachable` if a call cannot have begun, and `ConnectionBroken` if it may have.
    """

    def __init__(self, scheduler: DaskScheduler, timeout: float) -> None:
        self._scheduler, self._timeout = scheduler, timeout
        self._free: list[DaskLine] = []
        self._looking = asyncio.Lock()
        self._addresses: Mapping[str, str] = {}
        self._present: frozenset[str] = frozenset()
        self._looked = self._learned = float("-inf")

    async def names(self) -> frozenset[str]:
        """Return the names of all workers that are there now."""
        await self._learn()
        return frozenset(self._addresses)

    async def ask(self, worker: str, function: Callable[[Any], Awaitable[str]], argument: Any) -> Any:
        """Run a function in the event loop of a worker, whatever its threads do, and return the JSON document that it
        returns."""
        address = await self._at(worker)
        pickles = pickle.dumps(function), pickle.dumps((argument,))
        line = await self._line()
        return await self._result(worker, address, self._used(line, line.run(address, *pickles)))

    async def close(self) -> None:
        """Close the connections to the scheduler; scripts that run go on."""
        while self._free:
            self._free.pop().close()

    async def _line(self) -> DaskLine:
        """Return a connection that no other question uses now."""
        if self._free:
            return self._free.pop()
        refusal = self._scheduler.refusal()
        if refusal:
            raise Unreachable(f"{refusal[0].upper()}{refusal[1:]}", final=True)
        try:
            async with asyncio.timeout(self._timeout):
                return await DaskLine.to(self._scheduler)
        except (OSError, TimeoutError, WrongAnswer) as error:
            reason = "no Dask scheduler answers there" if isinstance(error, WrongAnswer) else reason_of(error)
            raise Unreachable(
                f"The Dask scheduler {self._scheduler.url} cannot be reached: {reason}.",
                hint="Does `dask scheduler` run there, with certificates of the same authority?",
            ) from error

    async def _used(self, line: DaskLine, asked: Awaitable[T]) -> T:
        """Return an answer, and keep its connection for further questions unless anything went wrong."""
        try:
            answer = await asked
        except BaseException:
            line.close()
            raise
        self._free.append(line)
        return answer

    async def _asked(self, op: str) -> Mapping[str, Any]:
        """Return what the scheduler says about itself."""
        while True:
            is_kept = bool(self._free)
            line = await self._line()
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._used(line, line.ask(op))
            except (OSError, TimeoutError, Failed, WrongAnswer) as error:
                if is_kept:  # the scheduler may have been restarted since
                    continue
                raise Unreachable(
                    f"The Dask scheduler {self._scheduler.url} does not answer: {reason_of(error)}."
                ) from error

    async def _at(self, worker: str) -> str:
        """Return the address of a worker, which has another one after a restart."""
        address = self._addresses.get(worker, "")
        if not address or not await self._is_there(address):
            asked = asyncio.get_running_loop().time()
            async with self._looking:  # calls at the same time share one answer that is newer than they are
                if self._learned < asked:
                    await self._learn()
            address = self._addresses.get(worker, "")
        if not address:
            raise Unreachable(missing(worker, self._addresses, self._scheduler.url))
        return address

    async def _learn(self) -> None:
        """Ask the scheduler for its workers."""
        began = asyncio.get_running_loop().time()
        workers = (await self._asked("identity")).get("workers")
        if not isinstance(workers, Mapping) or not all(isinstance(worker, Mapping) for worker in workers.values()):
            raise Unreachable(f"The Dask scheduler {self._scheduler.url} does not say which workers it has.")
        self._addresses = {str(worker.get("name")): address for address, worker in workers.items()}
        self._looked = self._learned = began
        self._present = frozenset(workers)

    async def _is_there(self, address: str) -> bool:
        """Return whether the scheduler knew a worker a moment ago; calls at the same time share one look."""
        clock = asyncio.get_running_loop().time
        async with self._looking:
            if clock() - self._looked >= _EVERY:
                try:
                    self._present = frozenset(await self._asked("ncores"))
                except Unreachable:
                    self._present = frozenset()
                self._looked = clock()
            return address in self._present

    async def _result(self, worker: str, address: str, call: Awaitable[T]) -> T:
        """Return the result of a call. Raise `ConnectionBroken` as soon as its worker or the scheduler has gone."""
        doing = asyncio.ensure_future(call)
        try:
            while not (await asyncio.wait({doing}, timeout=_EVERY))[0]:
                if not await self._is_there(address):
                    raise ConnectionBroken(f"The Dask worker {worker} disappeared before it answered.")
        finally:
            doing.cancel()
        try:
            return doing.result()
        except WrongAnswer as error:
            raise wrong(worker) from error
        except (OSError, Failed) as error:
            raise self._broken(worker, error) from error

    def _broken(self, worker: str, error: OSError | Failed) -> Unreachable | ConnectionBroken:
        """Return what an error means. Its text is left out, because it could quote what was sent."""
        self._looked = float("-inf")
        if isinstance(error, Failed) and any(name in str(error) for name in _STRANGERS):
            message = f"The Dask worker {worker} does not know this version of fuelclient."
            return Unreachable(message, final=True, hint=_SAME)
        return ConnectionBroken(f"The Dask worker {worker} could not be asked: {type(error).__name__}.")


@dataclass(frozen=True, slots=True)
class DaskTransport:
    """The transport to the machine of a Dask worker. Scripts run in the event loop of the worker, so that they never
    wait for one of its threads, and they go on if their call is cancelled."""

    cluster: DaskCluster
    worker: str

    @property
    def place(self) -> str:
        return f"the Dask worker {self.worker}"

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        answer = await self.cluster.ask(self.worker, dask_worker.call, Script(script, tuple(arguments), stdin))
        try:
            code, out, err = answer
            if code == HELD:
                raise Held
            return Completed(int(code), out.encode("latin-1"), err.encode("latin-1"))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise wrong(self.worker) from error

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
        reason = await self.cluster.ask(self.worker, dask_worker.put, Piece(path, content, first))
        if reason:
            raise Unreachable(f"{path} cannot be written on {self.place}: {reason}.", final=True)

    async def close(self) -> None:
        """All workers share the connections, which their connector closes."""


def wrong(worker: str) -> Unreachable:
    """Return the error about an answer that is not used, because it is not the data that was asked for."""
    message = f"The Dask worker {worker} answers with something else than the JSON that was asked for; it is not read."
    return Unreachable(message, final=True, hint=_SAME)


def missing(worker: str, known: Mapping[str, str] | frozenset[str], url: str) -> str:
    """Return the message for a worker that is not there, with what to do."""
    names = sorted(known)
    close = nearest(worker, names)
    shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    there = f"Did you mean {close}?" if close else f"Its workers: {shown}." if names else "It has no workers."
    return (
        f"The Dask scheduler {url} has no worker named {worker}. {there} "
        f"Start `dask worker {url} --name {worker}`, or name another one in the node's attribute worker."
    )
