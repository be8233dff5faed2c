"""Questions to a Dask scheduler, and answers that are data: the part of Dask's protocol that needs no pickle.

The library distributed unpickles what a scheduler sends, and so what any worker sent to it, which can run anything
here. So nothing of it is used on this side: a message is a msgpack document, and what a worker returned is a text.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import ssl
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.errors import Unsupported
from fuelclient.executors.dask import DaskScheduler

try:
    msgpack: Any = importlib.import_module("msgpack")
except ImportError as error:  # pragma: no cover - the tests have it
    raise Unsupported(
        "Tasks are sent to Dask workers with the library distributed, which is not installed.",
        hint="Install it: pip install 'fuelclient[dask]'.",
    ) from error

MOST_BYTES = 64 << 20
"""The bytes of the longest answer that is read."""

_NUMBER = struct.calcsize("Q")
_SELF = {"compression": None, "python": tuple(sys.version_info)[:3], "pickle-protocol": 4}
_FAMILY = "msgpack"
"""The only way to write results that is asked for, and read. In all others of Dask there are pickles."""


class WrongAnswer(Exception):
    """An answer that is not the data that was asked for."""


class Failed(Exception):
    """The scheduler could not ask a worker, or the function failed there. The text names what was raised."""


class DaskLine:
    """A connection to a scheduler, which answers one question at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, scheduler: DaskScheduler) -> DaskLine:
        """Return a connection. Raise `OSError` if it fails, `WrongAnswer` if what answers is no Dask scheduler."""
        protocol, host, port = scheduler.endpoint
        line = cls(*await asyncio.open_connection(host, port, ssl=_tls(scheduler) if protocol == "tls" else None))
        try:
            await line._send(_SELF)
            await line._frames()
        except BaseException:
            line.close()
            raise
        return line

    async def ask(self, op: str, **more: Any) -> Mapping[str, Any]:
        """Return the scheduler's answer to a question about itself. Raise `OSError`, `Failed` and `WrongAnswer`."""
        return _answer(await self._asked({"op": op, **more}))

    async def run(self, worker: str, function: bytes, arguments: bytes) -> Any:
        """Return the JSON document that a function has returned on the worker at an address.

        Function and arguments are pickles, which the worker trusts. Raise `OSError`, `Failed` and `WrongAnswer`.
        """
        call = {"op": "run", "function": function, "args": arguments}
        frames = await self._asked({"op": "broadcast", "workers": [worker], "serializers": [_FAMILY], "msg": call})
        result = _answer(_answer(frames).get(worker)).get("result")
        try:
            return json.loads(_unpacked(b"".join(_pieces(frames, result))))
        except (ValueError, TypeError, RecursionError) as error:
            raise WrongAnswer from error

    def close(self) -> None:
        """Close the connection; what was asked goes on."""
        self._writer.transport.abort()

    async def _asked(self, question: Mapping[str, Any]) -> Sequence[bytes]:
        await self._send({**question, "reply": True})
        return await self._frames()

    async def _send(self, message: Mapping[str, Any]) -> None:
        frame = msgpack.packb(message)
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
        frames = []
        for length in lengths:
            frames.append(content[start : start + length])
            start += length
        return frames

    @staticmethod
    def _numbers(content: bytes) -> tuple[int, ...]:
        return struct.unpack(f"{len(content) // _NUMBER}Q", content[: len(content) // _NUMBER * _NUMBER])


def _tls(scheduler: DaskScheduler) -> ssl.SSLContext:
    """Return what both sides show to each other. The authority signs for this cluster alone, so names are not
    compared."""
    context = ssl.create_default_context(cafile=scheduler.ca_file)
    context.check_hostname = False
    context.load_cert_chain(scheduler.cert, scheduler.key)
    return context


def _checked(size: int) -> int:
    if size > MOST_BYTES:
        raise WrongAnswer
    return size


def _unpacked(content: bytes) -> Any:
    """Return a document of msgpack: texts, numbers, bytes, tuples and mappings. Raise `ValueError` and `TypeError`."""
    return msgpack.unpackb(content, use_list=False, strict_map_key=False)


def _answer(found: Any) -> Mapping[str, Any]:
    """Return an answer, or that of a message, if it is a mapping that reports no failure."""
    try:
        answer = _unpacked(found[0]) if isinstance(found, list) else found
    except (ValueError, TypeError) as error:
        raise WrongAnswer from error
    if not isinstance(answer, Mapping):
        raise WrongAnswer
    if answer.get("status") in ("error", "uncaught-error"):
        raise Failed(str(answer.get("exception_text")))
    return answer


def _pieces(frames: Sequence[bytes], marker: Any) -> Sequence[bytes]:
    """Return the frames to which a marker in a message refers, if they were written as was asked."""
    try:
        first = int(marker["__Serialized__"])
        header = _unpacked(frames[first])
        count = int(header["num-sub-frames"])
        is_plain = header["serializer"] == _FAMILY and not any(header.get("compression") or ())
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:  # int(infinity) overflows
        raise WrongAnswer from error
    if not is_plain or first < 1 or count < 0:
        raise WrongAnswer
    return frames[first + 1 : first + 1 + count]
