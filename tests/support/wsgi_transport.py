"""A transport for `requests` that calls a WSGI application in this process, without sockets."""

from __future__ import annotations

import io
import sys
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import requests
from requests.adapters import BaseAdapter

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class WsgiAdapter(BaseAdapter):
    """Sends every request to `app`, whatever host it names."""

    def __init__(self, app: Wsgi) -> None:
        super().__init__()
        self._app = app

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002 (requests fixes these parameters)
        timeout: Any = None,  # noqa: ARG002
        verify: bool | str = True,  # noqa: ARG002
        cert: Any = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> requests.Response:
        response = requests.Response()
        response.request = request
        response.url = request.url or ""

        def start(status: str, headers: list[tuple[str, str]], _error: Any = None) -> None:
            code, _, response.reason = status.partition(" ")
            response.status_code = int(code)
            response.headers.update(headers)

        answer = self._app(environ_of(request), start)
        try:
            response.raw = io.BytesIO(b"".join(answer))
        finally:
            getattr(answer, "close", lambda: None)()
        return response

    def close(self) -> None:
        """Do nothing: no connection is open."""


def environ_of(request: requests.PreparedRequest) -> dict[str, Any]:
    """The WSGI environment of a request (PEP 3333)."""
    parts = urllib.parse.urlsplit(request.url or "")
    body = request.body or b""
    data = body.encode() if isinstance(body, str) else bytes(body)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": urllib.parse.unquote(parts.path, "latin-1"),
        "QUERY_STRING": parts.query,
        "SERVER_NAME": parts.hostname,
        "SERVER_PORT": str(parts.port or 80),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(data)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": io.BytesIO(data),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    environ.pop("HTTP_CONTENT_LENGTH", None)
    return environ
