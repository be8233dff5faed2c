"""HTTP servers on this machine that answer as a test tells them, to play masters that misbehave."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answering = Callable[["Request"], None]


@dataclass(frozen=True)
class Asked:
    """A request that arrived."""

    method: str
    path: str
    token: str
    body: Any = None


class Request(BaseHTTPRequestHandler):
    """One connection, with several ways to answer."""

    protocol_version = "HTTP/1.1"
    server: Server

    def json(self, data: Any, status: int = 200, **headers: str) -> None:
        self.text(json.dumps(data), status, "application/json", **headers)

    def text(self, text: str, status: int = 200, kind: str = "text/html", **headers: str) -> None:
        """Send a whole answer; underscores in header names become dashes."""
        body = text.encode()
        self.send_response(status)
        stated = {"Content-Type": kind, "Content-Length": str(len(body))}
        stated.update((name.replace("_", "-"), value) for name, value in headers.items())
        for name, value in stated.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        """Send bytes unchanged and close the connection."""
        self.wfile.write(data)
        self.wfile.flush()
        self.close_connection = True

    def until_stopped(self) -> Iterator[None]:
        """Yield every tenth of a second until the test is over."""
        while not self.server.stopping.wait(0.1):
            yield

    def respond(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length)
        body = json.loads(data) if data else None
        self.server.asked.append(Asked(self.command, self.path, self.headers.get("X-Auth-Token") or "", body))
        try:
            self.server.answer(self)
        except OSError:  # the client has left, which is what most tests are about
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815 (names of the standard library)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""


class Server(ThreadingHTTPServer):
    """A server on a free port of this machine."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Answering) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.answer = answer
        self.asked: list[Asked] = []
        self.stopping = threading.Event()
        self.scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up."""


@contextmanager
def serving(answer: Answering, tls: Path | None = None) -> Iterator[Server]:
    """Run a server until the block ends; with the directory `tls` it speaks TLS, using the certificate there."""
    server = Server(answer)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.scheme = "https"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def certificate(directory: Path) -> Path:
    """Write a self-signed certificate for 127.0.0.1 and its key to `directory`."""
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", str(directory / "key.pem"), "-out", str(directory / "cert.pem"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return directory


def closed_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def in_turn(*answers: Answering) -> Answering:
    """Give the first answer to the first request and so on; the last answer repeats."""
    left = list(answers)

    def answer(request: Request) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(request)

    return answer


def version(request: Request) -> None:
    """Answer that no token is needed."""
    request.json({"api": "1.0", "auth_required": False, "release": "9.0"})


def after_version(answer: Answering) -> Answering:
    """Answer that no token is needed, and everything else with `answer`."""

    def answered(request: Request) -> None:
        (version if request.path == "/api/v1/version" else answer)(request)

    return answered
