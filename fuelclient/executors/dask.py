"""Run tasks on the machines of Dask workers: the kind of executor, the connection to a scheduler, and the transport.

The attribute `worker` of a node names its worker; by default, that is the name of the node. Several nodes may have the
same worker, such as that of their site: their tasks then run on its machine. A worker is started with `dask worker
tls://SCHEDULER:8786 --name node-5 ...`, and needs the package fuelclient.

Dask schedules nothing here: each call names its worker, has no dependencies, and is never repeated by Dask. The spool
shows what a lost call has done.

The library `distributed` unpickles data from a scheduler, which may come from any worker and could execute anything
here. So this side only uses the part of Dask's protocol that needs no pickle: messages are MessagePack documents, and
the results of workers are texts.
"""

from __future__ import annotations

import asyncio
import importlib.util
import io
import ipaddress
import os
import pickle
import ssl
import struct
import sys
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from fuelclient.errors import FuelError, Unsupported, did_you_mean
from fuelclient.executors import dask_worker
from fuelclient.executors.connector import Connector
from fuelclient.executors.dask_worker import EXPIRED, Piece, Script
from fuelclient.executors.job import Target
from fuelclient.executors.transport import CallExpired, Completed, ConnectionBroken, Transport, Unreachable, reason_of
from fuelclient.installed import extra_line
from fuelclient.model.node import Node
from fuelclient.settings import Settings

T = TypeVar("T")

_CHECK_SECONDS = 1.0
"""Seconds between two checks whether a worker is still there."""

_VERSION_ERRORS = ("ModuleNotFoundError", "ImportError", "AttributeError")
"""The exceptions of a worker that has another version of fuelclient, or none."""

_SAME_HINT = "Install this version of fuelclient there, from the same wheel or clone, and the package distributed."

_MAX_NAMED = 8

_PIECE_BYTES = 1 << 20
"""How many bytes of a file are sent in one message."""

_DEFAULT_PORT = 8786
"""The port on which Dask schedulers listen by default."""

_HINT = "Set DASK_SCHEDULER to tls://HOST:PORT, and DASK_TLS_CA_FILE, DASK_TLS_CERT and DASK_TLS_KEY."


@dataclass(frozen=True, slots=True)
class DaskScheduler:
    """A scheduler: `tls://host:port` with paths of PEM files, or `tcp://host:port` on this machine.

    `ca_file` has the certificate authority of the cluster, `cert` and `key` identify this client. A scheduler without
    TLS is used only if `insecure` is set.
    """

    address: str = ""
    ca_file: str = ""
    cert: str = ""
    key: str = ""
    insecure: bool = False

    @classmethod
    def of(cls, settings: Settings) -> DaskScheduler:
        files = (settings.dask_tls_ca_file, settings.dask_tls_cert, settings.dask_tls_key)
        return cls(settings.dask_scheduler, *files, settings.dask_insecure)

    @property
    def endpoint(self) -> tuple[str, str, int]:
        """Return protocol, host and port. Raise `ValueError` if the address is invalid."""
        parts = urllib.parse.urlsplit(self.address if "://" in self.address else f"tcp://{self.address}")
        if not parts.hostname:
            raise ValueError(f"{self.address!r} has no host")
        return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORT

    @property
    def url(self) -> str:
        """Return the address with protocol and port. Raise `ValueError` if it is invalid.

        >>> DaskScheduler("localhost").url, DaskScheduler("tls://[fe80::1]:1").url
        ('tcp://localhost:8786', 'tls://[fe80::1]:1')
        """
        protocol, host, port = self.endpoint
        return f"{protocol}://{f'[{host}]' if ':' in host else host}:{port}"

    def refusal(self) -> str:
        """Return the reason why this scheduler must not be used, with a hint, or an empty string.

        A worker executes everything that it receives: without TLS on both sides, everyone who can connect to the
        scheduler controls all its nodes. So without TLS, the scheduler must be on this machine.

        >>> DaskScheduler("tcp://127.0.0.1:8786", insecure=True).refusal()
        ''
        """
        if not self.address:
            return f"no Dask scheduler is configured. {_HINT}"
        try:
            protocol, host, _ = self.endpoint
        except ValueError as error:
            return f"{self.address!r} is not the address of a Dask scheduler ({error}). {_HINT}"
        if protocol not in ("tcp", "tls"):
            return f"the Dask scheduler {self.address} has the protocol {protocol}, neither tls nor tcp. {_HINT}"
        if protocol == "tls":
            return self._tls_refusal()
        if not _is_loopback(host):
            return (
                f"the Dask scheduler {self.address} is not on this machine and has no TLS: everyone who can reach it "
                f"could run anything on all nodes. {_HINT}"
            )
        if not self.insecure:
            return (
                f"the Dask scheduler {self.address} has no TLS: every user of this machine could run anything on its "
                f"workers. {_HINT} If you trust all users of this machine, set DASK_INSECURE: true."
            )
        return ""

    def _tls_refusal(self) -> str:
        files = (("DASK_TLS_CA_FILE", self.ca_file), ("DASK_TLS_CERT", self.cert), ("DASK_TLS_KEY", self.key))
        if missing := [name for name, path in files if not path]:
            return f"TLS to the Dask scheduler {self.address} needs {' and '.join(missing)}. {_HINT}"
        unread = [f"{name} ({path})" for name, path in files if not os.access(path, os.R_OK) or os.path.isdir(path)]
        return f"{' and '.join(unread)} cannot be read. Correct the setting or the permissions." if unread else ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_MAX_ANSWER_BYTES = 64 << 20
"""The maximum size of an answer in bytes."""

_NUMBER = struct.calcsize("Q")
_HANDSHAKE = {"compression": None, "python": tuple(sys.version_info)[:3], "pickle-protocol": 4}


class _Marker(msgspec.Struct):
    """Stands for a result in a message: the number of the frame with the header of the result."""

    header: Annotated[int, msgspec.Meta(ge=1)] = msgspec.field(name="__Serialized__")


class _Header(msgspec.Struct, rename="kebab"):
    """The format of a result. Only plain MessagePack is requested and read, because all other serializers of Dask
    contain pickles."""

    num_sub_frames: Annotated[int, msgspec.Meta(ge=0)]
    serializer: Literal["msgpack"]
    compression: list[None] | None = None


class WrongAnswer(Exception):
    """An answer does not have the requested form."""


class Failed(Exception):
    """The scheduler could not reach a worker, or the function failed there. The text names the exception."""


class SchedulerConnection:
    """A connection to a scheduler, which handles one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, scheduler: DaskScheduler) -> SchedulerConnection:
        """Connect. Raise `OSError` if that fails, `WrongAnswer` if the server is not a Dask scheduler."""
        if importlib.util.find_spec("distributed") is None:  # not used here, but workers need it
            raise Unsupported(
                "Tasks are sent to Dask workers with the Python package distributed, which is not installed.",
                hint=f"Install it: {extra_line('dask')}",
            )
        protocol, host, port = scheduler.endpoint
        connection = cls(*await asyncio.open_connection(host, port, ssl=_tls(scheduler) if protocol == "tls" else None))
        try:
            await connection._send(_HANDSHAKE)
            await connection._frames()
        except BaseException:
            connection.close()
            raise
        return connection

    async def identity(self) -> Mapping[str, Any]:
        """Request the description of the scheduler and its workers. Raise `OSError`, `Failed` and `WrongAnswer`."""
        with _decoding():
            return _require_success(msgspec.msgpack.decode((await self._request({"op": "identity"}))[0]))

    async def run(self, worker: str, function: bytes, arguments: bytes, type: type[T]) -> T:
        """Call a function on the worker at an address, and read the JSON document that it returns.

        Function and arguments are pickles, which the worker trusts. Raise `OSError`, `Failed` and `WrongAnswer`.
        """
        call = {"op": "run", "function": function, "args": arguments}
        request = {"op": "broadcast", "workers": [worker], "serializers": ["msgpack"], "msg": call}
        with _decoding():
            frames = await self._request(request)
            answer = _require_success(_require_success(msgspec.msgpack.decode(frames[0])).get(worker))
            first = msgspec.convert(answer.get("result"), _Marker).header
            count = msgspec.msgpack.decode(frames[first], type=_Header).num_sub_frames
            text = msgspec.msgpack.decode(b"".join(frames[first + 1 : first + 1 + count]), type=str)
            return msgspec.json.decode(text, type=type)

    def close(self) -> None:
        """Close the connection. Requested calls go on."""
        self._writer.transport.abort()

    async def _request(self, request: Mapping[str, Any]) -> Sequence[bytes]:
        await self._send({**request, "reply": True})
        return await self._frames()

    async def _send(self, message: Mapping[str, Any]) -> None:
        frame = msgspec.msgpack.encode(message)
        content = struct.pack("QQ", 1, len(frame)) + frame
        self._writer.write(struct.pack("Q", len(content)) + content)
        await self._writer.drain()

    async def _frames(self) -> Sequence[bytes]:
        """Read the frames of a message: a document, and frames that it names by number. Their lengths come first."""
        try:
            content = await self._reader.readexactly(_checked(*self._numbers(await self._reader.readexactly(_NUMBER))))
            (count,) = self._numbers(content[:_NUMBER])
            start = _NUMBER * (_checked(count) + 1)
            lengths = self._numbers(content[_NUMBER:start])
            if len(lengths) != count or not count:
                raise WrongAnswer
            content += await self._reader.readexactly(_checked(start + sum(lengths)) - len(content))
        except (EOFError, ValueError) as error:
            raise ConnectionResetError("the connection was closed") from error
        return [content[begin:end] for begin, end in pairwise(accumulate(lengths, initial=start))]

    @staticmethod
    def _numbers(content: bytes) -> tuple[int, ...]:
        return struct.unpack(f"{len(content) // _NUMBER}Q", content[: len(content) // _NUMBER * _NUMBER])


def _tls(scheduler: DaskScheduler) -> ssl.SSLContext:
    """Require certificates on both sides. Their authority only signs for this cluster, so names are not checked."""
    context = ssl.create_default_context(cafile=scheduler.ca_file)
    context.check_hostname = False
    context.load_cert_chain(scheduler.cert, scheduler.key)
    return context


def _checked(size: int) -> int:
    if size > _MAX_ANSWER_BYTES:
        raise WrongAnswer
    return size


@contextmanager
def _decoding() -> Iterator[None]:
    """Turn the errors of decoders into `WrongAnswer`."""
    try:
        yield
    except (ValueError, RecursionError, IndexError) as error:
        raise WrongAnswer from error


def _require_success(reply: Any) -> dict[str, Any]:
    """Return a reply that is a mapping. Raise `Failed` if it reports a failure."""
    answer = msgspec.convert(reply, dict[str, Any])
    if answer.get("status") in ("error", "uncaught-error"):
        raise Failed(str(answer.get("exception_text")))
    return answer


class DaskCluster:
    """The workers of one scheduler, by name.

    Methods raise `Unreachable` if a call has not begun, and `ConnectionBroken` if it may have begun.
    """

    def __init__(self, scheduler: DaskScheduler, timeout: float) -> None:
        self._scheduler, self._timeout = scheduler, timeout
        self._free: list[SchedulerConnection] = []
        self._refresh_lock = asyncio.Lock()
        self._addresses: Mapping[str, str] = {}
        self._refreshed = float("-inf")

    async def names(self) -> frozenset[str]:
        await self._refresh(asyncio.get_running_loop().time())
        return frozenset(self._addresses)

    async def ask(self, worker: str, function: Callable[[Any], Awaitable[str]], argument: Any, type: type[T]) -> T:
        """Run a function in the event loop of a worker, even while its threads are busy, and read the JSON document
        that it returns.

        Raise `ConnectionBroken` as soon as the worker or the scheduler is gone. Errors do not contain the message of an
        exception there, which could contain secrets.
        """
        address = await self._address_of(worker)
        pickles = pickle.dumps(function), pickle.dumps((argument,))
        try:
            async with self._connection() as connection:
                call = asyncio.ensure_future(connection.run(address, *pickles, type))
                try:
                    while not (await asyncio.wait({call}, timeout=_CHECK_SECONDS))[0]:
                        with suppress(Unreachable):
                            await self._refresh(asyncio.get_running_loop().time() - _CHECK_SECONDS)
                        if address not in self._addresses.values():
                            raise ConnectionBroken(f"The Dask worker {worker} disappeared before it answered.")
                finally:
                    call.cancel()
                return call.result()
        except WrongAnswer as error:
            what = "something other than the JSON that was asked for; the answer is ignored"
            raise Unreachable(f"The Dask worker {worker} answers with {what}.", final=True, hint=_SAME_HINT) from error
        except (OSError, Failed) as error:
            self._refreshed = float("-inf")
            if isinstance(error, Failed) and any(name in str(error) for name in _VERSION_ERRORS):
                message = f"The Dask worker {worker} does not know this version of fuelclient."
                raise Unreachable(message, final=True, hint=_SAME_HINT) from error
            message = f"The call to the Dask worker {worker} failed: {error.__class__.__name__}."
            raise ConnectionBroken(message) from error

    async def close(self) -> None:
        """Close the connections to the scheduler. Running scripts go on."""
        while self._free:
            self._free.pop().close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[SchedulerConnection]:
        """Provide a connection, and keep it for further calls unless an exception occurs."""
        connection = self._free.pop() if self._free else await self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._free.append(connection)

    async def _connect(self) -> SchedulerConnection:
        if refusal := self._scheduler.refusal():
            raise Unreachable(f"{refusal[0].upper()}{refusal[1:]}", final=True)
        try:
            async with asyncio.timeout(self._timeout):
                return await SchedulerConnection.to(self._scheduler)
        except (OSError, TimeoutError, WrongAnswer) as error:
            reason = "no Dask scheduler answers there" if isinstance(error, WrongAnswer) else reason_of(error)
            raise Unreachable(
                f"The Dask scheduler {self._scheduler.url} cannot be reached: {reason}.",
                hint="Does `dask scheduler` run there, with certificates of the same authority?",
            ) from error

    async def _address_of(self, worker: str) -> str:
        """Look up the address of a worker, which changes when it is restarted."""
        now = asyncio.get_running_loop().time()
        for since in (now - _CHECK_SECONDS, now):
            await self._refresh(since)
            if worker in self._addresses:
                return self._addresses[worker]
        raise Unreachable(missing(worker, self._addresses, self._scheduler.url))

    async def _refresh(self, since: float) -> None:
        """Update the addresses of workers, unless that was done after `since`. Concurrent calls share one request."""
        clock = asyncio.get_running_loop().time
        async with self._refresh_lock:
            if self._refreshed >= since:
                return
            began = clock()
            try:
                self._addresses, self._refreshed = await self._workers(), began
            except Unreachable:
                self._addresses, self._refreshed = {}, clock()
                raise

    async def _workers(self) -> Mapping[str, str]:
        """Request the addresses of the workers, by name."""
        is_kept = bool(self._free)
        try:
            async with self._connection() as connection, asyncio.timeout(self._timeout):
                workers = (await connection.identity()).get("workers")
        except (OSError, TimeoutError, Failed, WrongAnswer) as error:
            if is_kept:  # the scheduler may have been restarted since
                return await self._workers()
            raise Unreachable(
                f"The Dask scheduler {self._scheduler.url} does not answer: {reason_of(error)}."
            ) from error
        if not isinstance(workers, Mapping) or not all(isinstance(worker, Mapping) for worker in workers.values()):
            raise Unreachable(f"The Dask scheduler {self._scheduler.url} does not say which workers it has.")
        return {str(worker.get("name")): address for address, worker in workers.items()}


async def worker_names(scheduler: DaskScheduler, timeout: float) -> Sequence[str]:
    """List the names of workers over a separate connection, because event loops cannot share one."""
    cluster = DaskCluster(scheduler, timeout)
    try:
        return sorted(await cluster.names())
    finally:
        await cluster.close()


@dataclass(frozen=True, slots=True)
class DaskTransport:
    """The transport to the machine of a Dask worker. Scripts run in the event loop of the worker, so they do not wait
    for its threads, and go on if their call is cancelled."""

    cluster: DaskCluster
    worker: str

    @property
    def place(self) -> str:
        return f"the Dask worker {self.worker}"

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        sent = Script(script, tuple(arguments), stdin)
        code, *texts = await self.cluster.ask(self.worker, dask_worker.call, sent, tuple[int, str, str])
        if code == EXPIRED:
            raise CallExpired
        return Completed(code, *(text.encode("latin-1", "replace") for text in texts))

    async def put(self, path: str, content: bytes | Path) -> None:
        try:
            with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
                piece = Piece(path, file.read(_PIECE_BYTES))
                while piece.first or piece.content:
                    if reason := await self.cluster.ask(self.worker, dask_worker.put, piece, str):
                        raise Unreachable(f"{path} cannot be written on {self.place}: {reason}.", final=True)
                    piece = Piece(path, file.read(_PIECE_BYTES), first=False)
        except OSError as error:
            where = error.filename or (content if isinstance(content, Path) else path)
            raise Unreachable(f"{where} cannot be sent to {self.place}: {error.strerror}.", final=True) from error

    async def close(self) -> None:
        """Do nothing: all workers share connections, which the connector closes."""


def missing(worker: str, workers: Collection[str], url: str) -> str:
    """Return the message about a missing worker, with the nearest name among `workers` and a hint."""
    names = sorted(workers)
    shown = ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")
    hint = did_you_mean(worker, names, f"Its workers: {shown}." if names else "It has no workers.")
    return (
        f"The Dask scheduler {url} has no worker named {worker}. {hint} "
        f"Start `dask worker {url} --name {worker}`, or name another one in the node's attribute worker."
    )


class DaskConnector(Connector):
    """Runs tasks on the machines of Dask workers, in the usual spools: commands go on if a worker dies. A worker that
    is gone is looked for until the timeout of the task."""

    no_reboot = (
        "the machine of a Dask worker is never restarted, since it may serve more nodes than this one; configure "
        "a handler command for reboot, or reach the node over SSH"
    )

    @classmethod
    def place(cls, node: Node) -> Hashable:
        return str(node.attributes.get("worker") or node.name)

    def refusal(self, target: Target) -> str:
        """When a plan is made, outside of an event loop, request the names of workers once, and refuse missing ones.

        Within a run, no node is refused for a missing worker, which may be back when it is needed.
        """
        if importlib.util.find_spec("distributed") is None:
            return f"Dask needs the Python package distributed; install it: {extra_line('dask')}"
        if refusal := self._scheduler.refusal():
            return refusal
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            return ""
        names, unreachable = self._workers
        worker = str(target.place)
        return unreachable if unreachable or worker in names else missing(worker, names, self._scheduler.url)

    def transport(self, target: Target) -> Transport:
        return DaskTransport(self._cluster, str(target.place))

    async def close(self) -> None:
        if "_cluster" in vars(self):  # it was used
            await self._cluster.close()

    @cached_property
    def _scheduler(self) -> DaskScheduler:
        return DaskScheduler.of(self.options.settings())

    @cached_property
    def _cluster(self) -> DaskCluster:
        """The connections to the scheduler, which all workers share."""
        return DaskCluster(self._scheduler, self.options.connect_timeout)

    @cached_property
    def _workers(self) -> tuple[Sequence[str], str]:
        """The names of all workers, or the error of that request."""
        try:
            return asyncio.run(worker_names(self._scheduler, self.options.connect_timeout)), ""
        except FuelError as error:
            return (), str(error)
