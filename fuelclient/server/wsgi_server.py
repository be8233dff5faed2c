"""Serve the application on a socket with waitress until a signal ends it."""

from __future__ import annotations

import json
import select
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]  # it has no types
from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]
from waitress.server import create_server  # type: ignore[import-untyped]
from waitress.task import ErrorTask  # type: ignore[import-untyped]

from fuelclient.errors import Unavailable
from fuelclient.files.limits import MAX_BYTES
from fuelclient.server.request_log import LOG

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LAST_SECONDS = 1
"""How long a thread may take from its last response to its end."""

_SLACK = 2**20
"""How many more bytes of a body waitress accepts than the application, whose message about its limit is better."""

_TOO_LARGE = 413
_SPARE = 50
"""How many more connections are accepted while responses are made for all others: one can then be closed."""

Admits = Callable[[Mapping[str, str]], bool]

_PIECE = 2**16
"""How many bytes are discarded at once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What requests may cost the server.

    A body has at most `body_bytes` (`fuelclient.files` limits its nesting and its values, as of every document). A
    connection is closed if it is silent for `idle_seconds`, or if its request is not complete within
    `request_seconds`: otherwise a few slow clients would keep out all others. The server works at `threads` requests
    in parallel, holds at most `connections` (for one more, it closes the one that has sent no complete request for the
    longest time, of the client that has most), and gives open requests `end_seconds` when it ends. If it refuses a
    request before reading it, it discards up to `discarded_bytes` for at most `linger_seconds`, so that the client can
    read the response.
    """

    body_bytes: int = MAX_BYTES
    header_bytes: int = 64 * 2**10
    idle_seconds: int = 60
    request_seconds: int = 120
    threads: int = 8
    connections: int = 200
    end_seconds: int = 10
    discarded_bytes: int = 8 * MAX_BYTES
    linger_seconds: int = 10


class _ErrorTask(ErrorTask):  # type: ignore[misc]  # its base has no types
    """The refusals of waitress itself (invalid HTTP, headers beyond the limit), in JSON like every other error."""

    def execute(self) -> None:
        error = self.request.error
        reason = (
            error.body if error.code != _TOO_LARGE else f"a body has {self.channel.limits.body_bytes} bytes at most"
        )
        body = json.dumps({"message": f"{error.reason}: {reason}", "errors": []}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.content_length = len(body)
        self.channel.lingers = True
        self.set_close_on_finish()
        self.write(body)


class _Parser(HTTPRequestParser):  # type: ignore[misc]  # its base has no types
    """Refuse numbers with too many digits for Python, on which waitress would close the connection without a word.

    The body of a request that the channel does not admit is not read: the application refuses the request as it is.
    """

    body_rcv: Any
    content_length: int
    chunked: bool

    def __init__(self, adj: Any, channel: _Channel) -> None:
        super().__init__(adj)
        self._channel = channel

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError:
            raise ParsingError("Content-Length is invalid") from None
        if (self.chunked or self.content_length) and not self._channel.admits(
            {f"HTTP_{name}": value for name, value in self.headers.items()}
        ):
            self.body_rcv, self.content_length, self.chunked, self.expect_continue = None, 0, False, False
            self.headers.update(CONTENT_LENGTH="0", CONNECTION="close")
            self._channel.lingers = True


class _Channel(HTTPChannel):  # type: ignore[misc]  # its base has no types
    """A connection. Waitress closes only silent ones; this class also closes those whose request arrives too slowly.

    A connection that `lingers` got its response before its request was read. Once the response is sent, what still
    arrives is discarded for a while. Closing at once would make the system send a reset, and the client would lose the
    response.
    """

    error_task_class = _ErrorTask
    lingers = False

    def __init__(self, *arguments: Any, limits: Limits, admits: Admits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limits, self.admits = limits, admits
        self.parser_class = partial(_Parser, channel=self)
        self._began = time.monotonic()
        self._closes: float | None = None
        self._discarded = 0

    def received(self, data: bytes) -> Any:
        """Do what waitress does, and close the connection if the same request has been arriving for too long."""
        before, result = self.request, super().received(data)
        if self.request is not before:
            self._began = time.monotonic()
        elif before and not self.requests and time.monotonic() - self._began > self.limits.request_seconds:
            self.will_close = True
        return result

    def readable(self) -> bool:
        return self._closes is not None or bool(super().readable())

    def writable(self) -> bool:
        return bool(super().writable()) if self._closes is None else time.monotonic() > self._closes

    def handle_read(self) -> None:
        if self._closes is None:
            super().handle_read()
            return
        data = self.recv(_PIECE)  # closes the connection if the client has left
        self._discarded += len(data)
        if self.connected and (not data or self._discarded > self.limits.discarded_bytes):
            self.handle_close()

    def abandon(self) -> None:
        self.lingers = False
        self.handle_close()

    def handle_close(self) -> None:
        if self.lingers and self._closes is None and self.connected:
            self._closes = time.monotonic() + self.limits.linger_seconds
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
            return
        super().handle_close()


def _accepted(server: Any, *arguments: Any, limits: Limits, admits: Admits, **options: Any) -> _Channel:
    """Make the channel of a new connection. At the limit, close another one that no response is being made for.

    So half-open connections block no other client: who sends a request at once is answered before being the oldest.
    """
    open_ones = list(server.active_channels.values())
    if len(open_ones) >= limits.connections:
        waiting = [channel for channel in open_ones if not channel.requests and not channel.will_close]
        by_client = Counter(channel.addr[0] for channel in waiting)
        if waiting:
            # of equal ones, `max` takes the first, which is the oldest
            max(waiting, key=lambda one: (by_client[one.addr[0]], not one.total_outbufs_len)).abandon()
    return _Channel(server, *arguments, limits=limits, admits=admits, **options)


class Server:
    """An application on a socket. With port 0 the system chooses one, which `port` then has.

    `admits` decides from the headers of a request, under their names in WSGI, whether its body is read at all.
    """

    def __init__(
        self, app: Any, host: str, port: int, limits: Limits | None = None, admits: Admits = lambda _: True
    ) -> None:
        """Raise `Unavailable` if the address cannot be used."""
        limits = limits or Limits()
        listening = _listening(host, port)
        self._server = create_server(
            app, sockets=[listening], ident=None, threads=limits.threads, connection_limit=limits.connections + _SPARE,
            channel_timeout=limits.idle_seconds, cleanup_interval=max(1, limits.idle_seconds // 4),
            max_request_body_size=limits.body_bytes + _SLACK, max_request_header_size=limits.header_bytes,
            clear_untrusted_proxy_headers=True,
        )  # fmt: skip
        self._server.channel_class = partial(_accepted, limits=limits, admits=admits)
        self._end_seconds = limits.end_seconds
        address, self.port = listening.getsockname()[:2]
        self.host: str = address if host == "localhost" else host  # a name may lead clients elsewhere

    @property
    def url(self) -> str:
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until SIGTERM or Ctrl-C, then finish open requests within `Limits.end_seconds`.

        A second signal ends the server at once. `ready` is called as soon as signals are handled. Call this in the
        main thread of a process.
        """
        try:
            with _signals_noted(self._server.pull_trigger) as given:
                ready()
                while not given:
                    self._turn()
                self._drain(given)
        finally:
            self.close()

    def close(self) -> None:
        """Close the socket, and wait only for what threads do after their last response."""
        self._server.socket.close()
        dispatcher = self._server.task_dispatcher
        dispatcher.shutdown(timeout=_LAST_SECONDS)
        if not dispatcher.threads:  # a busy thread would use the trigger, whose number may be another file's by then
            self._server.close()

    def _turn(self, most: float = 1.0) -> None:
        """Serve all sockets that are ready, after waiting for one at most `most` seconds."""
        self._server.asyncore.loop(timeout=most, map=self._server._map, count=1)

    def _drain(self, given: Sequence[int]) -> None:
        """Accept no new connections, and finish open requests unless this takes too long or a second signal comes.

        Waitress alone would end its loop at the signal and lose the responses that are finished afterwards.
        """
        server = self._server
        for _ in range(server.adj.connection_limit):  # clients that connected before the signal
            if not select.select([server.socket], [], [], 0)[0]:
                break
            server.handle_accept()
        server.del_channel()
        server.socket.close()
        until = time.monotonic() + self._end_seconds
        self._turn(0)
        while (busy := self._busy()) and len(given) < 2 and time.monotonic() < until:
            self._turn(0.1)
        if busy:
            LOG.warning("%s left without a response.", "1 request is" if busy == 1 else f"{busy} requests are")

    def _busy(self) -> int:
        """Count connections that wait for a response or are sending a request, and close the others."""
        busy = 0
        for channel in list(self._server.active_channels.values()):
            # in this order, because a thread hands over its output before it removes its request
            arriving = channel.request is not None and not channel.lingers
            if channel.requests or arriving or channel.total_outbufs_len:
                busy += 1
            else:
                channel.handle_close()
        return busy


def _listening(host: str, port: int) -> socket.socket:
    """Listen before waitress does, which would leave its socket open if listening failed."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unavailable(
            f"The server cannot listen on {host} port {port}: {reason}.", hint="Choose another --port."
        ) from error


@contextmanager
def _signals_noted(wake: Callable[[], None]) -> Iterator[list[int]]:
    """Collect SIGTERM and SIGINT in the list that this yields, and call `wake` for each.

    An exception instead could interrupt anything, even a response that is half sent.
    """
    given: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        given.append(number)
        wake()

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield given
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
