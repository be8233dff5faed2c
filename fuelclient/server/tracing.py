"""Requests in the log: each has an id, which the answer carries in a header."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any

LOG = logging.getLogger("fuelclient.server")
REQUEST_ID = "X-Openstack-Request-Id"
ENVIRON_ID = "fuelclient.request_id"

Start = Callable[..., Any]
Wsgi = Callable[[dict[str, Any], Start], Iterable[bytes]]


def traced(app: Wsgi) -> Wsgi:
    """`app`, with an id to each request, in its answer and in one line of the log: what was asked, the status, how
    long it took. Queries and bodies are no part of the line: they may hold what is secret."""

    def trace(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        request_id = environ[ENVIRON_ID] = f"req-{uuid.uuid4()}"
        began = time.monotonic()

        def started(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            said = [one for one in headers if one[0].lower() != REQUEST_ID.lower()]
            taken = (time.monotonic() - began) * 1000
            LOG.info(
                "%s %s %s %s %.0f ms", request_id, environ.get("REQUEST_METHOD", ""), _path(environ), status[:3], taken
            )
            return start(status, [*said, (REQUEST_ID, request_id)], *rest)

        return app(environ, started)

    return trace


def _path(environ: dict[str, Any]) -> str:
    """The path, in which nothing looks like another line of the log."""
    return str(environ.get("PATH_INFO", "")).encode("unicode_escape").decode("ascii")[:300]
