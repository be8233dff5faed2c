"""Sessions of the library `requests`, with the proxies and certificates of the settings. Whatever the server does, each
request ends in time, with an answer of limited size or an error.

A master may be silent for minutes while it works. A deadline that shuts the connection and a limit on the body also
stop a server that sends a byte now and then, or never stops.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter

from fuelclient import __version__
from fuelclient.errors import NotFound
from fuelclient.settings.master import Master

LOG = logging.getLogger(__name__)
_CHUNK_BYTES = 2**16
_LOG_SECONDS = 10.0
"""Seconds between two log lines while waiting for an answer."""


class BodyTooLarge(requests.exceptions.RequestException):
    """An answer is larger than any answer of a master."""


class TotalTimeout(requests.exceptions.Timeout):
    """An answer was not complete within the time for the whole request."""


class _Deadline:
    """Shut the socket of one request when its time is over; until then, log the wait at intervals."""

    def __init__(self, url: str, seconds: float) -> None:
        self.expired = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._url, self._seconds, self._ended = url, seconds, threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def watch(self, connected: socket.socket) -> None:
        with self._lock:
            self._socket = connected
            if self.expired:
                _shut(connected)

    def stop(self) -> None:
        self._ended.set()
        with self._lock:
            self._socket = None

    def _run(self) -> None:
        began = time.monotonic()
        seconds_left = self._seconds
        while not self._ended.wait(min(_LOG_SECONDS, seconds_left)):
            passed = time.monotonic() - began
            if (seconds_left := self._seconds - passed) <= 0:
                with self._lock:
                    self.expired = True
                    if self._socket is not None:
                        _shut(self._socket)
                return
            LOG.info(
                "%s has not answered for %.0f s; FUEL_HTTP_TOTAL_TIMEOUT is %.0f.", self._url, passed, self._seconds
            )


def _shut(connected: socket.socket) -> None:
    """Shut a socket, which wakes up its reader.

    The method of the plain socket is called: that of TLS would drop state that the reader still uses.
    """
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


class BoundedAdapter(HTTPAdapter):
    """An adapter whose answers are complete when `send` returns, within `total` seconds and `body_limit` bytes."""

    def __init__(self, total: float, body_limit: int) -> None:
        self._total = total
        self._body_limit = body_limit
        self._current = threading.local()
        self._pools = _pools(self._watch)
        super().__init__(max_retries=0)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: Any) -> urllib3.ProxyManager:
        manager: urllib3.ProxyManager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        deadline = _Deadline(request.url or "", self._total)
        self._current.deadline = deadline
        try:
            response = super().send(request, *arguments, **options)
            response.raw = io.BytesIO(self._body(response))
            if deadline.expired:  # a connection that was shut within the headers looks like their end
                raise TotalTimeout("the answer was cut", request=request)
        except (requests.exceptions.RequestException, OSError, ValueError) as error:
            if deadline.expired:
                raise TotalTimeout(f"no whole answer in {self._total:g} seconds", request=request) from error
            raise
        finally:
            deadline.stop()
        return response

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        with contextlib.closing(response.raw):
            for chunk in _chunks(response):
                body += chunk
                if len(body) > self._body_limit:
                    raise BodyTooLarge(f"the answer is larger than {self._body_limit} bytes", request=response.request)
        return bytes(body)

    def _watch(self, connected: socket.socket | None) -> None:
        deadline: _Deadline | None = getattr(self._current, "deadline", None)
        if deadline is not None and connected is not None:
            deadline.watch(connected)


def _chunks(response: requests.Response) -> Iterator[bytes]:
    try:
        yield from response.raw.stream(_CHUNK_BYTES, decode_content=True)
    except urllib3.exceptions.ProtocolError as error:  # half a body, or a connection that broke within it
        raise requests.exceptions.ChunkedEncodingError(error, request=response.request) from error
    except urllib3.exceptions.DecodeError as error:
        raise requests.exceptions.ContentDecodingError(error, request=response.request) from error
    except urllib3.exceptions.ReadTimeoutError as error:
        raise requests.exceptions.ReadTimeout(error, request=response.request) from error
    except urllib3.exceptions.HTTPError as error:
        raise requests.exceptions.ConnectionError(error, request=response.request) from error


def _pools(watch: Callable[[socket.socket | None], None]) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    """Make pools whose connections report the socket that they use, even a reused one, to `watch`."""

    class Plain(urllib3.connection.HTTPConnection):
        def _new_conn(self) -> socket.socket:
            connected = super()._new_conn()
            watch(connected)
            return connected

        def putrequest(self, *arguments: Any, **options: Any) -> None:
            watch(self.sock)
            super().putrequest(*arguments, **options)

    class Tls(Plain, urllib3.connection.HTTPSConnection):  # in this order, so that Plain's methods come first
        pass

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Tls

    return {"http": PlainPool, "https": TlsPool}


class _Session(requests.Session):
    """A session without redirects: even with `allow_redirects=False`, `requests` would parse their target and fail if
    it is not a URL."""

    def get_redirect_target(self, resp: requests.Response) -> None: ...


def http_session(master: Master, adapter: BaseAdapter | None = None) -> requests.Session:
    """A session with time limits, which reads no passwords from ~/.netrc."""
    session = _Session()
    session.auth = lambda request: request  # or `requests` would send a password of ~/.netrc along with our token
    session.headers["User-Agent"] = f"fuelclient/{__version__}"
    transport = adapter or BoundedAdapter(master.total_timeout, master.body_limit)
    session.mount("http://", transport)
    session.mount("https://", transport)
    if master.insecure:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # it was asked for
    return session


def verification(master: Master) -> bool | str:
    """The `verify` option of requests. Raise `NotFound` if the CA file does not exist."""
    if master.insecure or not master.ca_file:
        return not master.insecure
    if not os.path.exists(master.ca_file):
        raise NotFound("file", master.ca_file, hint="Correct --os-cacert or OS_CACERT.")
    return master.ca_file


def proxies_for(master: Master, url: str) -> dict[str, str]:
    """The proxies of the settings for a URL; empty ones for a host that NO_PROXY names.

    If the settings name none, requests uses those of the environment.
    """
    if not master.proxy:
        return {}
    used = "" if requests.utils.should_bypass_proxies(url, no_proxy=None) else master.proxy
    return {"http": used, "https": used}
