"""The connection to a Dask scheduler: which workers there are, and calls to one of them.

This is the only module of the client's side that knows the library distributed. Dask decides nothing here: each call
names its worker, depends on nothing, and is never repeated by Dask; what a call that got lost has done is found out
from the spool.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from fuelclient.errors import Unsupported, nearest
from fuelclient.executors.dask_scheduler import DaskScheduler
from fuelclient.executors.transport import ConnectionBroken, Unreachable

try:
    from distributed import Client, Security
except ImportError as error:  # pragma: no cover - the tests have it
    raise Unsupported(
        "Tasks are sent to Dask workers with the library distributed, which is not installed.",
        hint="Install it: pip install 'fuelclient[dask]'.",
    ) from error

T = TypeVar("T")

_EVERY = 1.0
"""Seconds between two looks whether a worker that is waited for still is there: Dask never tells of a worker that
went while a call was pinned to it, but keeps the call for its return."""

_MOST_NAMED = 8


class DaskCluster:
    """The workers of one scheduler, by their names.

    All methods raise `Unreachable` when a call cannot have begun, and `ConnectionBroken` when it may have.
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
        """The names of all workers that are there now."""
        await self._learn(await self._open())
        return frozenset(self._addresses)

    async def ask(self, worker: str, function: Callable[[Any], Awaitable[T]], argument: Any) -> T:
        """What a short function answers that runs in the event loop of a worker, whatever its threads do."""
        client, address = await self._at(worker)
        answers = await self._result(client, worker, address, client.run(function, argument, workers=[address]))
        found: T = answers[address]
        return found

    async def submit(self, worker: str, function: Callable[[Any], T], argument: Any, name: str) -> T:
        """What a function answers that is a task of Dask on one worker; `name` is what Dask's dashboard shows."""
        client, address = await self._at(worker)
        future = client.submit(
            function, argument, key=f"{name}-{uuid.uuid4().hex}",
            workers=[address], allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        try:
            found: T = await self._result(client, worker, address, _awaited(future))
        finally:
            future.release()
        return found

    async def close(self) -> None:
        """Let go of the scheduler; scripts that run go on."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(OSError, TimeoutError):
                await client.close()

    async def _open(self) -> Any:
        """The connection, opened when there is none or when it broke."""
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
                    f"The Dask scheduler {self._scheduler.url} cannot be reached: {_reason(error)}.",
                    hint="Does `dask scheduler` run there, with certificates of the same authority?",
                ) from error
            return self._client

    async def _listening(self) -> None:
        """Somebody listens there. Dask itself would go on trying until its time is over."""
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
        """The connection, and the address of a worker. A worker that was started again has another one."""
        client = await self._open()
        address = self._addresses.get(worker, "")
        if not address or not await self._is_there(client, address):
            asked = asyncio.get_running_loop().time()
            async with self._looking:  # all who ask at the same time share one answer that is younger than they
                if self._learned < asked:
                    await self._learn(client)
            address = self._addresses.get(worker, "")
        if not address:
            raise Unreachable(missing(worker, self._addresses, self._scheduler.url))
        return client, address

    async def _learn(self, client: Any) -> None:
        """The workers of now are known."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._timeout):
                identity = await client.scheduler.identity()
        except (OSError, TimeoutError) as error:
            raise Unreachable(f"The Dask scheduler {self._scheduler.url} does not answer: {_reason(error)}.") from error
        self._addresses = {str(told["name"]): address for address, told in identity["workers"].items()}
        self._looked = self._learned = began
        self._present = frozenset(identity["workers"])

    async def _is_there(self, client: Any, address: str) -> bool:
        """Whether the scheduler knew a worker a moment ago; all who ask at the same time share one look."""
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
        """What a call gave; `ConnectionBroken` as soon as its worker or the scheduler has gone."""
        doing = asyncio.ensure_future(call)
        try:
            while not (await asyncio.wait({doing}, timeout=_EVERY))[0]:
                if not await self._is_there(client, address):
                    raise ConnectionBroken(f"The Dask worker {worker} has gone while it was waited for.")
        finally:
            doing.cancel()
        if doing.cancelled():  # by Dask: a call that its scheduler lost ends like one that somebody here cancelled
            raise ConnectionBroken(f"The Dask scheduler lost a call to the worker {worker}.")
        error = doing.exception()
        if error is not None:
            raise self._broken(worker, error) from error
        return doing.result()

    def _broken(self, worker: str, error: BaseException) -> Unreachable | ConnectionBroken:
        """What an error of Dask means. Its text is not told: it could quote what was sent."""
        self._looked = float("-inf")
        if isinstance(error, ImportError | AttributeError) or isinstance(error.__cause__, ImportError | AttributeError):
            hint = "Install the same version of fuelclient there: pip install 'fuelclient[dask]'."
            message = f"The Dask worker {worker}, or its scheduler, does not know fuelclient."
            return Unreachable(message, final=True, hint=hint)
        return ConnectionBroken(f"The Dask worker {worker} could not be asked: {type(error).__name__}.")


async def _awaited(future: Any) -> Any:
    return await future


def missing(worker: str, known: Mapping[str, str] | frozenset[str], url: str) -> str:
    """What is said of a worker that is not there, and what to do."""
    names = sorted(known)
    close = nearest(worker, names)
    shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    there = f"Did you mean {close}?" if close else f"There are: {shown}." if names else "It has no workers at all."
    return (
        f"The Dask scheduler {url} has no worker named {worker}. {there} "
        f"Start `dask worker {url} --name {worker}`, or name another one in the node's attribute worker."
    )


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", "") or error or type(error).__name__).rstrip(".")
