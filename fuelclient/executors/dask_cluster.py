"""The connection to a Dask scheduler, and the transport and the spool that use it for one worker.

This is the only module of the client's side that knows the library distributed. Dask decides nothing here: each call
names its worker, depends on nothing, and is never repeated by Dask. The spool shows what a lost call has done.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fuelclient.errors import Unsupported, nearest
from fuelclient.executors import dask_worker
from fuelclient.executors.dask import DaskScheduler
from fuelclient.executors.dask_worker import Failure, Launch, Piece, Place, Script
from fuelclient.executors.recipe import Recipe
from fuelclient.executors.spool import Seen, Spool
from fuelclient.executors.transport import Completed, ConnectionBroken, Unreachable, reason_of

try:
    from distributed import Client, Security
except ImportError as error:  # pragma: no cover - the tests have it
    raise Unsupported(
        "Tasks are sent to Dask workers with the library distributed, which is not installed.",
        hint="Install it: pip install 'fuelclient[dask]'.",
    ) from error

T = TypeVar("T")

_EVERY = 1.0
"""How often, in seconds, to look whether a worker is still there. Dask does not report when the worker of a call goes:
it keeps the call until the worker is back."""

_MOST_NAMED = 8

_PIECE = 1 << 20
"""Bytes of a file that go in one message."""


class DaskCluster:
    """The workers of one scheduler, by their names.

    All methods raise `Unreachable` if a call cannot have begun, and `ConnectionBroken` if it may have.
    """

    def __init__(self, scheduler: DaskScheduler, timeout: float) -> None:
        self._scheduler, self._timeout = scheduler, timeout
        self._client: Any = None
        self._lock = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._addresses: Mapping[str, str] = {}
        self._present: frozenset[str] = frozenset()
        self._looked = self._learned = float("-inf")

    async def names(self) -> frozenset[str]:
        """Return the names of all workers that are there now."""
        await self._learn(await self._open())
        return frozenset(self._addresses)

    async def ask(self, worker: str, function: Callable[[Any], Awaitable[T]], argument: Any) -> T:
        """Run a short function in the event loop of a worker, whatever its threads do, and return its result."""
        client, address = await self._at(worker)
        answers = await self._result(client, worker, address, client.run(function, argument, workers=[address]))
        answer: T = answers[address]
        return answer

    async def submit(self, worker: str, function: Callable[[Any], T], argument: Any, name: str) -> T:
        """Run a function as a task of Dask on one worker, and return its result; Dask's dashboard shows `name`."""
        client, address = await self._at(worker)
        future = client.submit(
            function, argument, key=f"{name}-{uuid.uuid4().hex}",
            workers=[address], allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        try:
            result: T = await self._result(client, worker, address, _awaited(future))
        finally:
            future.release()
        return result

    async def close(self) -> None:
        """Close the connection to the scheduler; scripts that run go on."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(OSError, TimeoutError):
                await client.close()

    async def _open(self) -> Any:
        """Return the connection to the scheduler; open it if it is missing or broken."""
        async with self._lock:
            if self._client is not None and self._client.status == "running":
                return self._client
            await self.close()
            self._addresses, self._present = {}, frozenset()
            refusal = self._scheduler.refusal()
            if refusal:
                raise Unreachable(f"{refusal[0].upper()}{refusal[1:]}", final=True)
            try:
                async with asyncio.timeout(self._timeout):
                    await self._listening()
                    self._client = await self._connected()
            except (OSError, TimeoutError, ValueError) as error:
                raise Unreachable(
                    f"The Dask scheduler {self._scheduler.url} cannot be reached: {reason_of(error)}.",
                    hint="Does `dask scheduler` run there, with certificates of the same authority?",
                ) from error
            return self._client

    async def _listening(self) -> None:
        """Raise `OSError` if nothing listens there. Dask itself would go on trying until its time is over."""
        _, host, port = self._scheduler.endpoint
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _connected(self) -> Any:
        scheduler, options = self._scheduler, {}
        if scheduler.endpoint[0] == "tls":
            options["security"] = Security(
                tls_ca_file=scheduler.ca_file, tls_client_cert=scheduler.cert, tls_client_key=scheduler.key,
                require_encryption=True,
            )  # type: ignore[no-untyped-call]  # fmt: skip
        client: Any = Client(
            scheduler.url, asynchronous=True, set_as_default=False, name="fuel2", timeout=self._timeout, **options
        )  # type: ignore[no-untyped-call]
        try:
            await client
        except BaseException:
            with suppress(OSError, TimeoutError):
                await client.close()
            raise
        return client

    async def _at(self, worker: str) -> tuple[Any, str]:
        """Return the connection and the address of a worker, which has another one after a restart."""
        client = await self._open()
        address = self._addresses.get(worker, "")
        if not address or not await self._is_there(client, address):
            asked = asyncio.get_running_loop().time()
            async with self._looking:  # calls at the same time share one answer that is newer than they are
                if self._learned < asked:
                    await self._learn(client)
            address = self._addresses.get(worker, "")
        if not address:
            raise Unreachable(missing(worker, self._addresses, self._scheduler.url))
        return client, address

    async def _learn(self, client: Any) -> None:
        """Ask the scheduler for its workers."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._timeout):
                identity = await client.scheduler.identity()
        except (OSError, TimeoutError) as error:
            raise Unreachable(
                f"The Dask scheduler {self._scheduler.url} does not answer: {reason_of(error)}."
            ) from error
        self._addresses = {str(worker["name"]): address for address, worker in identity["workers"].items()}
        self._looked = self._learned = began
        self._present = frozenset(identity["workers"])

    async def _is_there(self, client: Any, address: str) -> bool:
        """Return whether the scheduler knew a worker a moment ago; calls at the same time share one look."""
        clock = asyncio.get_running_loop().time
        async with self._looking:
            if clock() - self._looked >= _EVERY:
                try:
                    async with asyncio.timeout(self._timeout):
                        self._present = frozenset(await client.scheduler.ncores())
                except (OSError, TimeoutError):
                    self._present = frozenset()
                self._looked = clock()
            return address in self._present

    async def _result(self, client: Any, worker: str, address: str, call: Awaitable[T]) -> T:
        """Return the result of a call. Raise `ConnectionBroken` as soon as its worker or the scheduler has gone."""
        doing = asyncio.ensure_future(call)
        try:
            while not (await asyncio.wait({doing}, timeout=_EVERY))[0]:
                if not await self._is_there(client, address):
                    raise ConnectionBroken(f"The Dask worker {worker} disappeared before it answered.")
        finally:
            doing.cancel()
        if doing.cancelled():  # by Dask, which does so with a call that its scheduler lost
            raise ConnectionBroken(f"The Dask scheduler lost a call to the worker {worker}.")
        error = doing.exception()
        if error is not None:
            raise self._broken(worker, error) from error
        return doing.result()

    def _broken(self, worker: str, error: BaseException) -> Unreachable | ConnectionBroken:
        """Return what an error of Dask means. Its text is left out, because it could quote what was sent."""
        self._looked = float("-inf")
        if isinstance(error, ImportError | AttributeError) or isinstance(error.__cause__, ImportError | AttributeError):
            hint = "Install the same version of fuelclient there: pip install 'fuelclient[dask]'."
            message = f"The Dask worker {worker}, or its scheduler, does not know fuelclient."
            return Unreachable(message, final=True, hint=hint)
        return ConnectionBroken(f"The Dask worker {worker} could not be asked: {type(error).__name__}.")


@dataclass(frozen=True, slots=True)
class DaskTransport:
    """The transport to the machine of a Dask worker. Scripts run in the event loop of the worker, so that they never
    wait for one of its threads; all of them are short, and they go on if their call is cancelled."""

    cluster: DaskCluster
    worker: str

    @property
    def place(self) -> str:
        return f"the Dask worker {self.worker}"

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        return await self.cluster.ask(self.worker, dask_worker.call, Script(script, tuple(arguments), stdin))

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
        wrong = await self.cluster.ask(self.worker, dask_worker.put, Piece(path, content, first))
        if wrong:
            raise Unreachable(f"{path} cannot be written on {self.place}: {wrong}.", final=True)

    async def close(self) -> None:
        """All workers share the connection, which their connector closes."""


class DaskSpool(Spool):
    """The spool of one job on the machine of a worker: a `LocalSpool` there. A command is started and waited for by
    a task of Dask, which its dashboard shows under the names of run, node and task."""

    def __init__(self, transport: DaskTransport, root: str, directory: str) -> None:
        super().__init__(transport, root, directory)
        self._cluster, self._worker = transport.cluster, transport.worker
        self._there = Place(root, directory)
        self._name = "fuel2-" + "-".join(directory.split("/")[-3:])

    async def launch(self, recipe: Recipe, label: str, used: float) -> Seen:
        """As `spool.Spool`, by a task of Dask."""
        wanted = Launch(self._there, label, recipe.script, used)
        result = await self._cluster.submit(self._worker, dask_worker.launch, wanted, self._name)
        if isinstance(result, Failure):
            raise Unreachable(f"On {self.transport.place}: {result.message}", final=result.final)
        return result

    async def look(self) -> Seen:
        """As `spool.Spool`, asked of the worker."""
        return await self._cluster.ask(self._worker, dask_worker.look, self._there)


async def _awaited(future: Any) -> Any:
    return await future


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
