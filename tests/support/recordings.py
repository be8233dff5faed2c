"""Answers of a real Fuel master, recorded: a transport that replays them, and the command lines of the original client.

The README of the recordings says what each line has. A test replays one step of the story, or several:

    replay = Replay("runs: after the end")            # or Replay(438, 482), or Replay("one step", "a later one")
    runs = replay.backend().runs.list()               # the Nailgun backend over this replay
    assert replay.asked == ["GET version", "GET transactions/"]

A request takes the first line of its method and path that has not been used, and the last one again and again. If it
has a body, the line must have the same JSON, where `{}` is also no body at all. A read whose path the window does not
have is answered with the last line before it, or else the first one after it, that succeeded. The flag
`include_summary` only adds to an answer, and `fetch_related` changes nothing for one owner, so that a line with another
one is as good. Anything else raises `NotRecorded`. Requests without the token of the recordings are 401, as on the
master.
"""

from __future__ import annotations

import gzip
import io
import json
import operator
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import requests
import urllib3
from corpus import corpus
from faulty_master import Request, serving
from requests.adapters import HTTPAdapter

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.settings.master import Credentials, Master

TOKEN = "TOKEN"  # noqa: S105 (the word that stands for all tokens in the recordings)
HOST = "http://MASTER"
"""The address of the master in the recorded messages."""

_API = "/api/v1/"
_VERSION = 6
"""The line with the version that a user with a token gets."""

_DEFAULT_TYPE = ("graph_type", "default")
"""What a master assumes if a query does not say it."""

_OPTIONAL = frozenset(("fetch_related", "include_summary", "transaction_types"))
"""Left out of a request that was recorded only without them; masters before 9.0.1 ignore the last one."""

Key = tuple[str, str, frozenset[tuple[str, str]], bool]


class NotRecorded(AssertionError):
    """The master was never asked this, or not with this body."""


@dataclass(frozen=True, slots=True)
class Line:
    """One recorded request and its answer. A body that is None is an empty one, or null: see `response_kind`."""

    n: int
    step: str
    command: str
    method: str
    path: str
    request_headers: Mapping[str, str]
    request_kind: str
    request_body: Any
    status: int
    response_headers: Sequence[tuple[str, str]]
    response_kind: str
    response_body: Any

    @property
    def body(self) -> bytes:
        """The body of the answer as it was sent, but for spaces and the order of keys."""
        if self.response_kind == "empty":
            return b""
        text = self.response_body if self.response_kind == "text" else json.dumps(self.response_body)
        return str(text).encode()


@dataclass(frozen=True, slots=True)
class Command:
    """One command line of the original client: what it printed, and what it wrote, by name (None: too long to have)."""

    command: str
    exit: int
    stdout: str
    stderr: str
    requests: tuple[int, ...]
    """The first and the last line; the first is greater if there are none."""
    files: Mapping[str, str | None]

    def replay(self) -> Replay:
        """Return a replay of what this command asked."""
        return Replay(self.requests[0], max(self.requests))


@cache
def lines() -> tuple[Line, ...]:
    """Return all recorded requests in their order; skip the test if there are none."""
    root = corpus("oracles", "nailgun-http")
    texts = (path.read_text(encoding="utf-8") for path in root.glob("[0-9]*.jsonl"))
    records = [json.loads(record) for text in texts for record in text.splitlines()]
    by_number = {record["n"]: record for record in records}

    def body(value: Any) -> Any:
        if isinstance(value, dict) and "$same_as_line" in value:
            return body(by_number[value["$same_as_line"]][value["$which"]])
        if isinstance(value, dict) and "$body_file" in value:
            return json.loads(gzip.decompress((root / value["$body_file"]).read_bytes()))
        return value

    return tuple(
        Line(
            number, record["step"], record.get("command", ""), record["method"], record["path"],
            dict(record["request_headers"]), record["request_kind"], body(record["request_body"]), record["status"],
            [(name, value) for name, value in record["response_headers"]], record["response_kind"],
            body(record["response_body"]),
        )
        for number, record in sorted(by_number.items())
    )  # fmt: skip


def line(number: int) -> Line:
    """Return the recorded request with this number."""
    return lines()[number - 1]


@cache
def commands() -> Mapping[str, Command]:
    """Return the command lines of the original client by their text; of equal ones the last."""
    text = corpus("oracles", "nailgun-http", "commands.jsonl").read_text(encoding="utf-8")
    return {
        record["command"]: Command(
            record["command"], record["exit"], record["stdout"], record["stderr"], tuple(record["requests"]),
            {written["name"]: written.get("text") for written in record["files"]},
        )
        for record in map(json.loads, text.splitlines())
    }  # fmt: skip


@dataclass
class Replay:
    """The master from one step, or line, to the end of another, or of the same. It may be asked by several threads."""

    start: str | int
    end: str | int | None = None
    same: Callable[[Any, Any], bool] = operator.eq
    """Whether the body of a request, the first of the two, is the recorded one."""
    instead: Mapping[str, int] = field(default_factory=dict)
    """Lines that answer some requests, such as `GET clusters/`, whatever the window has."""
    asked: list[str] = field(default_factory=list)
    """The requests so far, such as `GET nodes/?cluster_id=1`."""

    def __post_init__(self) -> None:
        end = self.start if self.end is None else self.end
        first = next(line.n for line in lines() if self.start in (line.n, line.step))
        last = max(line.n for line in lines() if end in (line.n, line.step))
        self._window = range(first, last + 1)
        self._used: set[int] = set()
        self._lock = threading.Lock()

    def backend(self, **options: Any) -> Backend:
        """Return a Nailgun backend that asks this master, with a token."""
        return connected(Master(HOST, Credentials(token=TOKEN), retries=0, **options), adapter=Adapter(self))

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve this master on a port of this machine and yield its URL; what was not recorded is answered 501."""

        def answered(request: Request) -> None:
            try:
                body = request.server.asked[-1].body
                recorded = self.answer(request.command, request.path, dict(request.headers), body)
            except Exception as error:  # the test that asks has to see it
                request.text(f"{type(error).__name__}: {error}", 501, "text/plain")
                return
            request.send_response(recorded.status)
            for name, value in (*recorded.response_headers, ("Content-Length", str(len(recorded.body)))):
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(recorded.body)

        with serving(answered) as server:
            yield server.url

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Line:
        """Return the line whose answer a request gets; `path` has the query, `body` is the JSON or None."""
        with self._lock:
            self.asked.append(f"{method} {path.removeprefix(_API)}")
            if path.startswith(_API) and headers.get("X-Auth-Token") != TOKEN:
                return line(1)
            if path.rstrip("/") == f"{_API}version":
                return line(_VERSION)
            if self.asked[-1] in self.instead:
                return line(self.instead[self.asked[-1]])
            key = _key(method, path, headers)
            recorded = self._lines_of(key) or self._lines_of(_without_optional(key), _without_optional)
            fitting = [line for line in recorded if self._fits(body, line)]
            chosen = next((line for line in fitting if line.n not in self._used), fitting[-1] if fitting else None)
            chosen = chosen or (None if recorded or method != "GET" else self._elsewhere(key))
            if chosen is None:
                known = "; ".join(f"line {line.n}: {json.dumps(line.request_body)}" for line in recorded)
                said = f" with the body {json.dumps(body)}, but only {known}" if recorded else ""
                raise NotRecorded(f"{method} {path} is not recorded in {self._window}{said}")
            self._used.add(chosen.n)
            return chosen

    def _lines_of(self, key: Key, changed: Callable[[Key], Key] = lambda key: key) -> list[Line]:
        return [line(number) for number in self._window if changed(_key_of(line(number))) == key]

    def _fits(self, body: Any, line: Line) -> bool:
        """Whether a line has this body; an empty mapping is no body, because a master does not care."""
        return body is None or (body == {} and line.request_kind == "empty") or self.same(body, line.request_body)

    def _elsewhere(self, key: Key) -> Line | None:
        key = _without_optional(key)
        succeeded = [line for line in lines() if _without_optional(_key_of(line)) == key and line.status < 400]
        before = [line for line in succeeded if line.n < self._window.start]
        return before[-1] if before else succeeded[0] if succeeded else None


class Adapter(HTTPAdapter):
    """A transport of `requests` that asks a replay; the headers of its answers are merged as urllib3 merges them."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self._replay = replay

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        del arguments, options  # nothing is connected
        parts = urllib.parse.urlsplit(request.url or "")
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        body = None if not request.body else json.loads(request.body)
        recorded = self._replay.answer(str(request.method), path, request.headers, body)
        raw = urllib3.HTTPResponse(
            io.BytesIO(recorded.body), urllib3.HTTPHeaderDict(recorded.response_headers), recorded.status,
            preload_content=False,
        )  # fmt: skip
        return self.build_response(request, raw)


def _key(method: str, path: str, headers: Mapping[str, str]) -> Key:
    """Return what requests to the same thing have in common: the last slash does not matter."""
    parts = urllib.parse.urlsplit(path)
    query = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    stated = frozenset(pair for pair in query if pair != _DEFAULT_TYPE)
    is_csv = headers.get("Accept") == "text/csv"
    return method, parts.path.rstrip("/"), stated, is_csv


def _without_optional(key: Key) -> Key:
    method, path, query, is_csv = key
    return method, path, frozenset(pair for pair in query if pair[0] not in _OPTIONAL), is_csv


@cache
def _keys() -> Mapping[int, Key]:
    return {line.n: _key(line.method, line.path, line.request_headers) for line in lines()}


def _key_of(line: Line) -> Key:
    return _keys()[line.n]
