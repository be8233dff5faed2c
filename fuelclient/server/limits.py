"""Limits: what one request may cost the server."""

from __future__ import annotations

from dataclasses import dataclass

from fuelclient.files.limits import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may cost.

    `body_bytes` of a body, beyond which the answer is 413; how deeply a body may nest, and how many values it may
    hold, `fuelclient.files` says for every document. A connection that is silent for `idle_seconds` is closed, and so
    is one whose request is not there as a whole within `request_seconds`: else a few that drip would keep all others
    out. `threads` requests are worked at in parallel, `connections` are open at most. A server
    that is to end gives the requests that it has `end_seconds`. Of a request that is refused before it was read,
    `thrown_bytes` are read for nothing, for at most `linger_seconds`, so that its client can read the answer.
    """

    body_bytes: int = MAX_BYTES
    header_bytes: int = 64 * 2**10
    idle_seconds: int = 60
    request_seconds: int = 120
    threads: int = 8
    connections: int = 200
    end_seconds: int = 10
    thrown_bytes: int = 8 * MAX_BYTES
    linger_seconds: int = 10


DEFAULT = Limits()
