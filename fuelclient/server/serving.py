"""The socket: waitress in front of the application, until a signal ends it."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, NoReturn

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]  # it has no types
from waitress.server import create_server  # type: ignore[import-untyped]
from waitress.task import ErrorTask  # type: ignore[import-untyped]

from fuelclient.errors import Unavailable
from fuelclient.server.limits import DEFAULT, Limits

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SLACK = 2**20
"""By how much more waitress takes of a body than the application, which tells of its limit in better words."""


class _ErrorTask(ErrorTask):  # type: ignore[misc]  # its base has no types
    """What waitress refuses itself (no HTTP, headers beyond the limit), told in JSON like every other error."""

    def execute(self) -> None:
        error = self.request.error
        body = json.dumps({"message": f"{error.reason}: {error.body}", "errors": []}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.content_length = len(body)
        self.set_close_on_finish()
        self.write(body)


class _Channel(HTTPChannel):  # type: ignore[misc]  # its base has no types
    """A connection. Waitress ends silent ones only; here a request that takes too long to arrive ends it as well."""

    error_task_class = _ErrorTask

    def __init__(self, *arguments: Any, request_seconds: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._request_seconds = request_seconds
        self._began = time.monotonic()

    def received(self, data: bytes) -> Any:
        """As waitress has it; the connection is about to close when the same request has been arriving too long."""
        before, found = self.request, super().received(data)
        if self.request is not before:
            self._began = time.monotonic()
        elif before and not self.requests and time.monotonic() - self._began > self._request_seconds:
            self.will_close = True
        return found


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
        self._server.channel_class = partial(_Channel, request_seconds=limits.request_seconds)
        self.host = host
        self.port = int(listening.getsockname()[1])

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Answer until SIGTERM or Ctrl-C; requests that are being worked at get some seconds to end.

        `ready` is called when signals are heard. This is for the main thread of a process.
        """
        try:
            with _ended_by_signals():
                ready()
                self._server.run()
        except SystemExit:
            pass  # the signal came before the first request was waited for
        finally:
            self.close()

    def close(self) -> None:
        """The socket is closed, and nothing is waited for any more."""
        self._server.close()
        self._server.task_dispatcher.shutdown()


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
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGINT end what runs in here by SystemExit, which waitress takes for the wish to stop."""

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(0)

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
