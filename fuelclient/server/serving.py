"""The socket: waitress in front of the application, until a signal ends it."""

from __future__ import annotations

import json
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]  # it has no types
from waitress.server import create_server  # type: ignore[import-untyped]
from waitress.task import ErrorTask  # type: ignore[import-untyped]

from fuelclient.errors import Unavailable
from fuelclient.server.limits import DEFAULT, Limits
from fuelclient.server.tracing import LOG

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LAST_SECONDS = 1
"""What a thread may take between its last answer and its end."""

_SLACK = 2**20
"""By how much more waitress takes of a body than the application, which tells of its limit in better words."""


_TOO_LARGE = 413
_PIECE = 2**16
"""Bytes that are thrown away at once."""


class _ErrorTask(ErrorTask):  # type: ignore[misc]  # its base has no types
    """What waitress refuses itself (no HTTP, headers beyond the limit), told in JSON like every other error."""

    def execute(self) -> None:
        error = self.request.error
        told = error.body if error.code != _TOO_LARGE else f"a body has {self.channel.limits.body_bytes} bytes at most"
        body = json.dumps({"message": f"{error.reason}: {told}", "errors": []}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.content_length = len(body)
        self.channel.lingers = True
        self.set_close_on_finish()
        self.write(body)


class _Channel(HTTPChannel):  # type: ignore[misc]  # its base has no types
    """A connection. Waitress ends silent ones only; here a request that takes too long to arrive ends it as well.

    One that `lingers` has an answer before its request was read: when that is sent, what still arrives is thrown away
    for a while. Closed at once, the system would answer it with a reset, which takes the answer from the client.
    """

    error_task_class = _ErrorTask
    lingers = False

    def __init__(self, *arguments: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limits = limits
        self._began = time.monotonic()
        self._closes: float | None = None
        self._thrown = 0

    def received(self, data: bytes) -> Any:
        """As waitress has it; the connection is about to close when the same request has been arriving too long."""
        before, found = self.request, super().received(data)
        if self.request is not before:
            self._began = time.monotonic()
        elif before and not self.requests and time.monotonic() - self._began > self.limits.request_seconds:
            self.will_close = True
        return found

    def readable(self) -> bool:
        return self._closes is not None or bool(super().readable())

    def writable(self) -> bool:
        """While it lingers, only to be closed at the end of that."""
        return bool(super().writable()) if self._closes is None else time.monotonic() > self._closes

    def handle_read(self) -> None:
        if self._closes is None:
            super().handle_read()
            return
        data = self.recv(_PIECE)  # which closes the connection where the client has left
        self._thrown += len(data)
        if self.connected and (not data or self._thrown > self.limits.thrown_bytes):
            self.handle_close()

    def handle_close(self) -> None:
        """Closed, or lingering from now on; closed when it does already."""
        if self.lingers and self._closes is None and self.connected:
            self._closes = time.monotonic() + self.limits.linger_seconds
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
            return
        super().handle_close()


class Server:
    """An application on a socket. `port` is the one that was taken, where 0 was asked for."""

    def __init__(self, app: Any, host: str, port: int, limits: Limits = DEFAULT) -> None:
        """The socket listens. Raises `Unavailable` for an address that cannot be listened on."""
        listening = _listening(host, port)
        self._server = create_server(
            app, sockets=[listening], ident=None, threads=limits.threads, connection_limit=limits.connections,
            channel_timeout=limits.idle_seconds, cleanup_interval=max(1, limits.idle_seconds // 4),
            max_request_body_size=limits.body_bytes + _SLACK, max_request_header_size=limits.header_bytes,
            clear_untrusted_proxy_headers=True,
        )  # fmt: skip
        self._server.channel_class = partial(_Channel, limits=limits)
        self._end_seconds = limits.end_seconds
        self.host = host
        self.port = int(listening.getsockname()[1])

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Answer until SIGTERM or Ctrl-C; what was asked before it is answered still, within `Limits.end_seconds`.

        A second signal waits for nothing any more. `ready` is called when signals are heard. This is for the main
        thread of a process.
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
        """The socket is closed, and nothing is waited for but what a thread does after its last answer."""
        self._server.socket.close()
        dispatcher = self._server.task_dispatcher
        dispatcher.shutdown(timeout=_LAST_SECONDS)
        if not dispatcher.threads:  # one that still works would pull the trigger, whose number may be another file's
            self._server.close()

    def _turn(self, most: float = 1.0) -> None:
        """Whatever the sockets have ready is served; `most` seconds are waited for it."""
        self._server.asyncore.loop(timeout=most, map=self._server._map, count=1)

    def _drain(self, given: Sequence[int]) -> None:
        """Nobody else is let in; those who are have their answers, unless it takes too long or is asked for again.

        Waitress ends its loop at the signal, and with it the answers that are finished afterwards.
        """
        server = self._server
        for _ in range(server.adj.connection_limit):  # they were connected before the signal
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
            LOG.warning("%s left without an answer.", "1 request is" if busy == 1 else f"{busy} requests are")

    def _busy(self) -> int:
        """How many connections wait for an answer, or have not sent all they ask; the others are closed."""
        busy = 0
        for channel in list(self._server.active_channels.values()):
            # in this order: a thread hands its output over before it takes its request away
            arriving = channel.request is not None and not channel.lingers
            if channel.requests or arriving or channel.total_outbufs_len:
                busy += 1
            else:
                channel.handle_close()
        return busy


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens on an address of `host`: waitress would leave its own open when that fails."""
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
    """SIGTERM and SIGINT are only noted, in the list that this gives, and `wake` is called.

    As an exception a signal would come anywhere, also between the halves of an answer.
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
