"""Run tasks on the machines of Dask workers: the kind of executor, the connection to a scheduler, and the transport.

The worker of a node is named by its attribute `worker`; without one, it has the name of the node. Several nodes may
name the same worker, that of their site: their tasks run on its machine then. A worker is started with `dask worker
tls://SCHEDULER:8786 --name node-5 ...`; it needs the package fuelclient.

Dask decides nothing here: each call names its worker, depends on nothing, and is never repeated by Dask. The spool
shows what a lost call has done.

The library distributed unpickles what a scheduler sends, and so what any worker sent to it, which can run anything
here. So only the part of Dask's protocol that needs no pickle is used on this side: a message is a document of
MessagePack, and what a worker returned is a text.
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

from fuelclient.errors import FuelError, Unsupported, nearest
from fuelclient.executors import dask_worker
from fuelclient.executors.connector import Connector
from fuelclient.executors.dask_worker import HELD, Piece, Script
from fuelclient.executors.job import Target
from fuelclient.executors.transport import Completed, ConnectionBroken, Held, Transport, Unreachable, reason_of
from fuelclient.model.node import Node
from fuelclient.settings import Settings

T = TypeVar("T")

_EVERY = 1.0
"""How often, in seconds, to look whether a worker is still there."""

_STRANGERS = ("ModuleNotFoundError", "ImportError", "AttributeError")
"""What a worker raises that has another version of fuelclient, or none."""

_SAME = "Install the same version of fuelclient there: pip install 'fuelclient[dask]'."

_MOST_NAMED = 8

_PIECE = 1 << 20
"""Bytes of a file that go in one message."""

_PORT = 8786
"""The port on which Dask schedulers listen by default."""

_HINT = "Set DASK_SCHEDULER to tls://HOST:PORT, and DASK_TLS_CA_FILE, DASK_TLS_CERT and DASK_TLS_KEY."


@dataclass(frozen=True, slots=True)
class DaskScheduler:
    """A scheduler: `tls://host:port` with paths of PEM files, or, on this machine, `tcp://host:port`.

    `ca_file` has who may sign for the cluster, `cert` and `key` are what this client shows. Without TLS the scheduler
    is used only if `insecure` allows it.
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
        """Protocol, host and port. Raise `ValueError` if the address is none."""
        parts = urllib.parse.urlsplit(self.address if "://" in self.address else f"tcp://{self.address}")
        if not parts.hostname:
            raise ValueError(f"{self.address!r} has no host")
        return parts.scheme, parts.hostname, parts.port or _PORT

    @property
    def url(self) -> str:
        """The address with protocol and port. Raise `ValueError` if it is none.

        >>> DaskScheduler("localhost").url, DaskScheduler("tls://[fe80::1]:1").url
        ('tcp://localhost:8786', 'tls://[fe80::1]:1')
        """
        protocol, host, port = self.endpoint
        return f"{protocol}://{f'[{host}]' if ':' in host else host}:{port}"

    def refusal(self) -> str:
        """Give the reason against using this scheduler, and what to do about it; empty if it may be used.

        A worker executes what it is sent: without TLS on both sides, everyone who can connect to the scheduler
        controls all its nodes. So without TLS the connection must not leave this machine, whose users share it then.

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
            return f"the Dask scheduler {self.address} would be reached by {protocol}; only tls and tcp are. {_HINT}"
        if protocol == "tls":
            return self._unreadable()
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

    def _unreadable(self) -> str:
        files = (("DASK_TLS_CA_FILE", self.ca_file), ("DASK_TLS_CERT", self.cert), ("DASK_TLS_KEY", self.key))
        missing = [name for name, path in files if not path]
        if missing:
            return f"TLS to the Dask scheduler {self.address} needs {' and '.join(missing)}. {_HINT}"
        unread = [f"{name} ({path})" for name, path in files if not os.access(path, os.R_OK) or os.path.isdir(path)]
        return f"{' and '.join(unread)} cannot be read. Correct the setting, or its permissions." if unread else ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_MOST_BYTES = 64 << 20
"""The bytes of the longest answer that is read."""

_NUMBER = struct.calcsize("Q")
_SELF = {"compression": None, "python": tuple(sys.version_info)[:3], "pickle-protocol": 4}


class _Marker(msgspec.Struct):
    """What a message has in place of a result: the number of the frame with the result's header."""

    header: Annotated[int, msgspec.Meta(ge=1)] = msgspec.field(name="__Serialized__")


class _Header(msgspec.Struct, rename="kebab"):
    """How a result is written. Only plain MessagePack is asked for and read: all other serializers of Dask contain
    pickles."""

    num_sub_frames: Annotated[int, msgspec.Meta(ge=0)]
    serializer: Literal["msgpack"]
    compression: list[None] | None = None


class WrongAnswer(Exception):
    """An answer that is not the data that was asked for."""


class Failed(Exception):
    """The scheduler could not ask a worker, or the function failed there. The text names what was raised."""


class SchedulerConnection:
    """A connection to a scheduler, which answers one question at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, scheduler: DaskScheduler) -> SchedulerConnection:
        """Connect. Raise `OSError` if that fails, `WrongAnswer` if what answers is no Dask scheduler."""
        if importlib.util.find_spec("distributed") is None:  # workers need it, and this side is installed with them
            raise Unsupported(
                "Tasks are sent to Dask workers with the library distributed, which is not installed.",
                hint="Install it: pip install 'fuelclient[dask]'.",
            )
        protocol, host, port = scheduler.endpoint
        line = cls(*await asyncio.open_connection(host, port, ssl=_tls(scheduler) if protocol == "tls" else None))
        try:
            await line._send(_SELF)
            await line._frames()
        except BaseException:
            line.close()
            raise
        return line

    async def identity(self) -> Mapping[str, Any]:
        """Ask the scheduler about itself and its workers. Raise `OSError`, `Failed` and `WrongAnswer`."""
        with _reading():
            return _succeeded(msgspec.msgpack.decode((await self._asked({"op": "identity"}))[0]))

    async def run(self, worker: str, function: bytes, arguments: bytes, type: type[T]) -> T:
        """Call a function on the worker at an address, and read the JSON document that it returns.

        Function and arguments are pickles, which the worker trusts. Raise `OSError`, `Failed` and `WrongAnswer`.
        """
        call = {"op": "run", "function": function, "args": arguments}
        question = {"op": "broadcast", "workers": [worker], "serializers": ["msgpack"], "msg": call}
        with _reading():
            frames = await self._asked(question)
            answer = _succeeded(_succeeded(msgspec.msgpack.decode(frames[0])).get(worker))
            first = msgspec.convert(answer.get("result"), _Marker).header
            count = msgspec.msgpack.decode(frames[first], type=_Header).num_sub_frames
            text = msgspec.msgpack.decode(b"".join(frames[first + 1 : first + 1 + count]), type=str)
            return msgspec.json.decode(text, type=type)

    def close(self) -> None:
        """Close the connection; what was asked goes on."""
        self._writer.transport.abort()

    async def _asked(self, question: Mapping[str, Any]) -> Sequence[bytes]:
        await self._send({**question, "reply": True})
        return await self._frames()

    async def _send(self, message: Mapping[str, Any]) -> None:
        frame = msgspec.msgpack.encode(message)
        content = struct.pack("QQ", 1, len(frame)) + frame
        self._writer.write(struct.pack("Q", len(content)) + content)
        await self._writer.drain()

    async def _frames(self) -> Sequence[bytes]:
        """Return the parts of a message: a document, and what it refers to by number. The first ones come with their
        lengths; large ones may follow."""
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
    """Require certificates on both sides. Their authority signs for this cluster alone, so names are not compared."""
    context = ssl.create_default_context(cafile=scheduler.ca_file)
    context.check_hostname = False
    context.load_cert_chain(scheduler.cert, scheduler.key)
    return context


def _checked(size: int) -> int:
    if size > _MOST_BYTES:
        raise WrongAnswer
    return size


@contextmanager
def _reading() -> Iterator[None]:
    """Translate what decoders raise for other data than was asked for."""
    try:
        yield
    except (ValueError, RecursionError, IndexError) as error:
        raise WrongAnswer from error


def _succeeded(reply: Any) -> dict[str, Any]:
    """Check that a reply is a mapping. Raise `Failed` if it reports a failure."""
    answer = msgspec.convert(reply, dict[str, Any])
    if answer.get("status") in ("error", "uncaught-error"):
        raise Failed(str(answer.get("exception_text")))
    return answer


class DaskCluster:
    """The workers of one scheduler, by their names.

    All methods raise `Unreachable` if a call cannot have begun, and `ConnectionBroken` if it may have.
    """

    def __init__(self, scheduler: DaskScheduler, timeout: float) -> None:
        self._scheduler, self._timeout = scheduler, timeout
        self._free: list[SchedulerConnection] = []
        self._looking = asyncio.Lock()
        self._addresses: Mapping[str, str] = {}
        self._looked = float("-inf")

    async def names(self) -> frozenset[str]:
        await self._look(asyncio.get_running_loop().time())
        return frozenset(self._addresses)

    async def ask(self, worker: str, function: Callable[[Any], Awaitable[str]], argument: Any, type: type[T]) -> T:
        """Run a function in the event loop of a worker, even while its threads are busy, and read the JSON document
        that it returns.

        Raise `ConnectionBroken` as soon as the worker or the scheduler has gone. Errors do not contain the text of
        what was raised there, which could quote the secrets that were sent.
        """
        address = await self._at(worker)
        pickles = pickle.dumps(function), pickle.dumps((argument,))
        try:
            async with self._line() as line:
                call = asyncio.ensure_future(line.run(address, *pickles, type))
                try:
                    while not (await asyncio.wait({call}, timeout=_EVERY))[0]:
                        with suppress(Unreachable):
                            await self._look(asyncio.get_running_loop().time() - _EVERY)
                        if address not in self._addresses.values():
                            raise ConnectionBroken(f"The Dask worker {worker} disappeared before it answered.")
                finally:
                    call.cancel()
                return call.result()
        except WrongAnswer as error:
            what = "something else than the JSON that was asked for; it is not read"
            raise Unreachable(f"The Dask worker {worker} answers with {what}.", final=True, hint=_SAME) from error
        except (OSError, Failed) as error:
            self._looked = float("-inf")
            if isinstance(error, Failed) and any(name in str(error) for name in _STRANGERS):
                message = f"The Dask worker {worker} does not know this version of fuelclient."
                raise Unreachable(message, final=True, hint=_SAME) from error
            message = f"The Dask worker {worker} could not be asked: {error.__class__.__name__}."
            raise ConnectionBroken(message) from error

    async def close(self) -> None:
        """Close the connections to the scheduler; scripts that run go on."""
        while self._free:
            self._free.pop().close()

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[SchedulerConnection]:
        """Provide a connection, and keep it for further calls unless anything goes wrong."""
        line = self._free.pop() if self._free else await self._connected()
        try:
            yield line
        except BaseException:
            line.close()
            raise
        self._free.append(line)

    async def _connected(self) -> SchedulerConnection:
        refusal = self._scheduler.refusal()
        if refusal:
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

    async def _at(self, worker: str) -> str:
        """Look up the address of a worker, which changes when it is restarted."""
        now = asyncio.get_running_loop().time()
        for since in (now - _EVERY, now):
            await self._look(since)
            if worker in self._addresses:
                return self._addresses[worker]
        raise Unreachable(missing(worker, self._addresses, self._scheduler.url))

    async def _look(self, since: float) -> None:
        """Ask the scheduler for its workers unless that was done after `since`; concurrent calls share one answer."""
        clock = asyncio.get_running_loop().time
        async with self._looking:
            if self._looked >= since:
                return
            began = clock()
            try:
                self._addresses, self._looked = await self._workers(), began
            except Unreachable:
                self._addresses, self._looked = {}, clock()
                raise

    async def _workers(self) -> Mapping[str, str]:
        """Ask the scheduler for the addresses of its workers, by their names."""
        is_kept = bool(self._free)
        try:
            async with self._line() as line, asyncio.timeout(self._timeout):
                workers = (await line.identity()).get("workers")
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
    """List the workers by name, over a connection of its own, because event loops cannot share one."""
    cluster = DaskCluster(scheduler, timeout)
    try:
        return sorted(await cluster.names())
    finally:
        await cluster.close()


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
        sent = Script(script, tuple(arguments), stdin)
        code, *texts = await self.cluster.ask(self.worker, dask_worker.call, sent, tuple[int, str, str])
        if code == HELD:
            raise Held
        return Completed(code, *(text.encode("latin-1", "replace") for text in texts))

    async def put(self, path: str, content: bytes | Path) -> None:
        try:
            with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
                piece = Piece(path, file.read(_PIECE))
                while piece.first or piece.content:
                    reason = await self.cluster.ask(self.worker, dask_worker.put, piece, str)
                    if reason:
                        raise Unreachable(f"{path} cannot be written on {self.place}: {reason}.", final=True)
                    piece = Piece(path, file.read(_PIECE), first=False)
        except OSError as error:
            where = error.filename or (content if isinstance(content, Path) else path)
            raise Unreachable(f"{where} cannot be sent to {self.place}: {error.strerror}.", final=True) from error

    async def close(self) -> None:
        """All workers share the connections, which their connector closes."""


def missing(worker: str, workers: Collection[str], url: str) -> str:
    """The message about a worker that is missing, with the nearest name among `workers` and what to do."""
    names = sorted(workers)
    close = nearest(worker, names)
    shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    hint = f"Did you mean {close}?" if close else f"Its workers: {shown}." if names else "It has no workers."
    return (
        f"The Dask scheduler {url} has no worker named {worker}. {hint} "
        f"Start `dask worker {url} --name {worker}`, or name another one in the node's attribute worker."
    )


class DaskConnector(Connector):
    """Tasks run on the machines of Dask workers, in the same spools as everywhere: a worker that dies takes no command
    with it. A worker that has gone is looked for until the task's time is over."""

    no_reboot = (
        "the machine of a Dask worker is never restarted, since it may serve more nodes than this one; configure "
        "a handler command for reboot, or reach the node over SSH"
    )

    @classmethod
    def place(cls, node: Node) -> Hashable:
        return str(node.attributes.get("worker") or node.name)

    def refusal(self, target: Target) -> str:
        """While plans are made, outside of an event loop, the scheduler is asked once which workers there are.

        Within a run no node is refused for a worker that is missing: it may be back when it is needed.
        """
        if importlib.util.find_spec("distributed") is None:
            return "Dask needs the library distributed; install it: pip install 'fuelclient[dask]'"
        refusal = self._scheduler.refusal()
        if refusal:
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
        if "_cluster" in vars(self):  # some machine was reached
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
        """The names of all workers, or the error when they were asked for."""
        try:
            return asyncio.run(worker_names(self._scheduler, self.options.connect_timeout)), ""
        except FuelError as error:
            return (), str(error)
