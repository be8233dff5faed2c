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
_THREAD_END_SECONDS = 1
"""How many seconds the threads may take to end after their last response."""

_EXTRA_BYTES = 2**20
"""How many more bytes of a body waitress accepts than the application, which has the better error message."""

_TOO_LARGE = 413
_SPARE = 50
"""How many more connections waitress accepts than `Limits.connections`, for when none of those can be closed."""

Admits = Callable[[Mapping[str, str]], bool]

_DISCARD_BYTES = 2**16
"""How many bytes are read at once to be discarded."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the resources that requests may use.

    A body has at most `body_bytes` (`fuelclient.files` limits its nesting and its values, as in every document). A
    connection is closed if it is silent for `idle_seconds`, or if its request is not complete within
    `request_seconds`: otherwise a few slow clients could block all others. The server answers `threads` requests in
    parallel and holds at most `connections`. For a further connection it closes one without a complete request: the
    oldest one of the client that has most of them. When the server ends, open requests have `end_seconds` to finish. If
    the server refuses a request before reading it, it discards up to `discarded_bytes` for at most `linger_seconds`, so
    that the client can read the response.
    """

    body_bytes: int = MAX_BYTES
    header_bytes: int = 64 * 2**10
    idle_seconds: int = 60
    request_seconds: int = 120
    threads: int = 8
    connections: int = 200
    end_seconds: int = 3
    discarded_bytes: int = 8 * MAX_BYTES
    linger_seconds: int = 10


class _ErrorTask(ErrorTask):  # type: ignore[misc]  # its base has no types
    """An error response of waitress itself (invalid HTTP, headers beyond the limit), as JSON like every other error."""

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
    """Refuse numbers with too many digits for Python; waitress would close the connection without a response.

    If the channel does not admit a request, its body is not read. The application gets the request without the body,
    and refuses it.
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

    `lingers` is set if the response is made before the request has been read. After the response, arriving data are
    discarded for a while: closing at once would make the system send a reset, and the client would lose the response.
    """

    error_task_class = _ErrorTask
    lingers = False

    def __init__(self, *arguments: Any, limits: Limits, admits: Admits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limits, self.admits = limits, admits
        self.parser_class = partial(_Parser, channel=self)
        self._request_began = time.monotonic()
        self._closes_at: float | None = None
        self._discarded = 0

    def received(self, data: bytes) -> Any:
        """Extend waitress: close the connection if the same request has been arriving for too long."""
        before, result = self.request, super().received(data)
        if self.request is not before:
            self._request_began = time.monotonic()
        elif before and not self.requests and time.monotonic() - self._request_began > self.limits.request_seconds:
            self.will_close = True
        return result

    def readable(self) -> bool:
        return self._closes_at is not None or bool(super().readable())

    def writable(self) -> bool:
        return bool(super().writable()) if self._closes_at is None else time.monotonic() > self._closes_at

    def handle_read(self) -> None:
        if self._closes_at is None:
            super().handle_read()
            return
        data = self.recv(_DISCARD_BYTES)  # closes the connection if the client has left
        self._discarded += len(data)
        if self.connected and (not data or self._discarded > self.limits.discarded_bytes):
            self.handle_close()

    def abandon(self) -> None:
        self.lingers = False
        self.handle_close()

    def handle_close(self) -> None:
        if self.lingers and self._closes_at is None and self.connected:
            self._closes_at = time.monotonic() + self.limits.linger_seconds
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
            return
        super().handle_close()


def _accept(server: Any, *arguments: Any, limits: Limits, admits: Admits, **options: Any) -> _Channel:
    """Make the channel of a new connection. At the limit, close a connection that has no complete request.

    Half-open connections therefore block no other client: a client that sends its request at once is answered before
    its connection becomes the oldest.
    """
    channels = list(server.active_channels.values())
    if len(channels) >= limits.connections:
        waiting = [channel for channel in channels if not channel.requests and not channel.will_close]
        by_client = Counter(channel.addr[0] for channel in waiting)
        if waiting:
            # `max` returns the first of several equal channels, which is the oldest
            max(waiting, key=lambda each: (by_client[each.addr[0]], not each.total_outbufs_len)).abandon()
    return _Channel(server, *arguments, limits=limits, admits=admits, **options)


class Server:
    """An application on a socket. If `port` is 0, the system chooses a port; the attribute `port` has its number.

    `admits` gets the headers of a request, under their WSGI names, and decides whether the body is read.
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
            max_request_body_size=limits.body_bytes + _EXTRA_BYTES, max_request_header_size=limits.header_bytes,
            clear_untrusted_proxy_headers=True,
        )  # fmt: skip
        self._server.channel_class = partial(_accept, limits=limits, admits=admits)
        self._end_seconds = limits.end_seconds
        address, self.port = listening.getsockname()[:2]
        self.host: str = address if host == "localhost" else host  # clients may resolve the name to another address

    @property
    def url(self) -> str:
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until SIGTERM or Ctrl-C, then finish open requests within `Limits.end_seconds`.

        A second signal ends the server at once. `ready` is called as soon as signals are handled. Call this in the
        main thread of a process.
        """
        try:
            with _collect_signals(self._server.pull_trigger) as signals:
                ready()
                while not signals:
                    self._turn()
                self._drain(signals)
        finally:
            self.close()

    def close(self) -> None:
        """Close the socket, and wait at most a second for threads to end."""
        self._server.socket.close()
        dispatcher = self._server.task_dispatcher
        dispatcher.shutdown(timeout=_THREAD_END_SECONDS)
        if not dispatcher.threads:  # a busy thread would write to the trigger, whose descriptor may have been reused
            self._server.close()

    def _turn(self, max_seconds: float = 1.0) -> None:
        """Wait at most `max_seconds` until a socket is ready, and serve all sockets that are ready."""
        self._server.asyncore.loop(timeout=max_seconds, map=self._server._map, count=1)

    def _drain(self, signals: Sequence[int]) -> None:
        """Accept no new connections, and finish open requests unless this takes too long or a second signal arrives.

        Waitress by itself would end its loop at the signal and lose responses that are finished afterwards.
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
        while (busy := self._close_idle()) and len(signals) < 2 and time.monotonic() < until:
            self._turn(0.1)
        if busy:
            LOG.warning("%s left without a response.", "1 request is" if busy == 1 else f"{busy} requests are")

    def _close_idle(self) -> int:
        """Count the connections with an unanswered or incomplete request, and close all others."""
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
    """Open the listening socket. Waitress would leave it open if listening failed."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (while")[0]  # Python adds the address
        raise Unavailable(
            f"The server cannot listen on {host} port {port}: {reason}.", hint="Choose another --port."
        ) from error


@contextmanager
def _collect_signals(wake: Callable[[], None]) -> Iterator[list[int]]:
    """Yield a list to which each SIGTERM and SIGINT is added; call `wake` for each.

    Raising an exception instead could interrupt anything, even a half-sent response.
    """
    signals: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        wake()

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
