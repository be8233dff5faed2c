"""Log every request with an id, which is also a header of the response."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any

LOG = logging.getLogger("fuelclient.server")
REQUEST_ID = "X-Openstack-Request-Id"
ENVIRON_ID = "fuelclient.request_id"
ENVIRON_CALL = "fuelclient.call"
"""The method that a message calls, such as `nodes.list`. The path does not show it: all messages have the same path."""

Start = Callable[..., Any]
Wsgi = Callable[[dict[str, Any], Start], Iterable[bytes]]


def logged(app: Wsgi) -> Wsgi:
    """Wrap `app`: give each request an id, and log one line with it.

    The line has the id, method, path, status and duration, and the method that a message calls. It has neither query
    nor body, because they may hold secrets.
    """

    def handle(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        request_id = environ[ENVIRON_ID] = f"req-{uuid.uuid4()}"
        began = time.monotonic()
        # escaped: a path with a line break could forge a line of the log
        path = str(environ.get("PATH_INFO", "")).encode("unicode_escape").decode("ascii")[:300]

        def log_and_start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            other_headers = [(name, value) for name, value in headers if name.lower() != REQUEST_ID.lower()]
            elapsed = (time.monotonic() - began) * 1000
            method, call = environ.get("REQUEST_METHOD", ""), environ.get(ENVIRON_CALL, "")
            LOG.info("%s %s %s %s %.0f ms", request_id, method, f"{path} {call}" if call else path, status[:3], elapsed)
            return start(status, [*other_headers, (REQUEST_ID, request_id)], *rest)

        return app(environ, log_and_start)

    return handle
