"""Describe the paths of the server as `Route` values, and requests as the `Call` that their handlers get.

URLs, checks of requests and the OpenAPI 3.1 document are derived from routes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient import __version__
from fuelclient.backends.base import Backend
from fuelclient.serializers.values import plain
from fuelclient.server.schemas import ERROR, GRAPH_TYPE, NUMBER, STRING, TEXT, Schema

PREFIX = "/api/v1"


class QueryType(StrEnum):
    """How the text of a query parameter is read. `numbers` and `words` are lists separated by commas; a `repeated`
    parameter occurs once for each value."""

    NUMBER = "number"
    FLAG = "flag"
    WORD = "word"
    NUMBERS = "numbers"
    WORDS = "words"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Query:
    """A query parameter. If its text is empty, it counts as absent.

    `words`, if any, are the only words that it accepts. `complaint` is Nailgun's text before the list of them in the
    error for any other word.
    """

    name: str
    type: QueryType
    summary: str = ""
    words: tuple[str, ...] = ()
    required: bool = False
    complaint: str = "could be only"

    @property
    def schema(self) -> Schema:
        """The schema of the text. `required` and `words` matter for lists only: no other parameter has them."""
        item = "|".join(self.words) or "[1-9][0-9]{0,17}"
        if self.type is QueryType.NUMBERS:
            return {"type": "string", "pattern": f"^({item}(,{item})*){'' if self.required else '?'}$"}
        if self.words:
            return {"type": "string", "pattern": f"^(({item})(,({item}))*)?$"}
        return _QUERY_SCHEMAS.get(self.type, TEXT)


_QUERY_SCHEMAS: Mapping[QueryType, Schema] = {
    QueryType.NUMBER: {"anyOf": [NUMBER, {"enum": [""]}]},
    QueryType.FLAG: {"enum": ["0", "1", "t", "f", "true", "false", ""]},
    QueryType.REPEATED: {"type": "array", "items": TEXT},
}


_KEPT, _KEPT_BYTES = 4, 2 * 2**20
"""How many answers each thread keeps, and the size of the largest: with eight threads they take 64 MB at most."""


class ThreadBackends:
    """One backend for each thread, because SQLite connections and HTTP sessions belong to the thread that opened them.

    When a thread ends, its backend is dropped.
    """

    def __init__(self, make: Callable[[], Backend]) -> None:
        self._make = make
        self._local = threading.local()
        self._lock = threading.RLock()

    @property
    def backend(self) -> Backend:
        backend: Backend | None = getattr(self._local, "backend", None)
        if backend is None:
            backend = self._local.backend = self._make()
        return backend

    @contextmanager
    def exclusive(self) -> Iterator[Backend]:
        """Yield the backend and hold the server's only lock, for a handler that reads, decides and then writes."""
        with self._lock:
            yield self.backend

    def kept(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return what `make` returned to this thread for `key` before, unless a graph may have changed since.

        The state is asked for first: an answer that is made while others write is at most newer than its state.
        """
        state = self.backend.graphs_state()
        before, answers = getattr(self._local, "kept", (None, dict[Hashable, bytes]()))
        if state is None or before != state or (len(answers) >= _KEPT and key not in answers):
            answers = {}
        self._local.kept = state, answers
        made = answers.get(key)
        if made is None:
            made = make()
            if len(made) <= _KEPT_BYTES:
                answers[key] = made
        return made

    def close(self) -> None:
        backend: Backend | None = getattr(self._local, "backend", None)
        if backend is not None:
            self._local.backend = None
            backend.close()


@dataclass(frozen=True, slots=True)
class Call:
    """A valid request: the variables of its path, its query, body and `Accept` header, and the backends of the server.

    `query` has only the parameters that the client sent.
    """

    backends: ThreadBackends
    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    accept: str = ""

    @property
    def backend(self) -> Backend:
        return self.backends.backend

    @property
    def cluster_id(self) -> int:
        return self.id("cluster_id")

    def id(self, name: str) -> int:
        return int(self.path[name])

    def flag(self, name: str) -> bool:
        return bool(self.query.get(name, False))


def caller(
    method: Callable[[Backend], Callable[..., Any]], write: Callable[[Any], Any] = plain
) -> Callable[[Call], Any]:
    """Make a handler that calls a method of the backend with the variables of the path, and the body, if any."""

    def handler(call: Call) -> Any:
        body = () if call.body is None else (call.body,)
        return write(method(call.backend)(*call.path.values(), *body))

    return handler


@dataclass(frozen=True, slots=True)
class Reply:
    """A response whose body is not JSON."""

    data: str
    mimetype: str


@dataclass(frozen=True, slots=True)
class Route:
    """An HTTP method of a path below `PREFIX`. In requests, the path may end with a slash.

    `answers` maps each success status to the schema of its body (None: no body); the first one is the usual one. `body`
    is the schema of the request's body, None if it has none. Errors are `schemas.ERROR` with any status. An open route
    needs no token. The answer of a kept route rests on nothing but its URL and the engine file, and is sent again until
    that changes.
    """

    method: str
    path: str
    handler: Callable[[Call], Any]
    summary: str
    answers: Mapping[int, Schema | None]
    query: tuple[Query, ...] = ()
    body: Schema | None = None
    body_required: bool = True
    mimetypes: tuple[str, ...] = ("application/json",)
    is_open: bool = False
    is_kept: bool = False

    @property
    def name(self) -> str:
        """The name of the endpoint, such as `get clusters/{cluster_id}`."""
        return f"{self.method.lower()} {self.path}"

    @property
    def status(self) -> int:
        return next(iter(self.answers))


PATH_SCHEMAS: Mapping[str, Schema] = {
    "graph_type": {"type": "string", "pattern": f"^{GRAPH_TYPE}$"},
    "name": {"type": "string", "minLength": 1},
    "level": {"enum": ["own", "plugins", "release"]},
}
"""The schemas of the path variables that are not ids."""


def path_variables(path: str) -> list[str]:
    """List the names of the variables in a path.

    >>> path_variables("clusters/{cluster_id}/deployment_graphs/{graph_type}")
    ['cluster_id', 'graph_type']
    """
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


_DESCRIPTION = "Nailgun's v1 paths over an engine of fuelclient. Every path works with and without a slash at its end."
_ERROR_CONTENTS = {"application/json": {"schema": ERROR}, "text/plain": {"schema": STRING}}


def openapi_document(routes: Iterable[Route], *, auth_required: bool) -> dict[str, Any]:
    """Describe the routes in OpenAPI 3.1. Errors may have any status, and all have the same schema."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        entry = paths.setdefault(f"{PREFIX}/{route.path}/", {})
        if variables := path_variables(route.path):
            entry["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": PATH_SCHEMAS.get(name, NUMBER)}
                for name in variables
            ]
        entry[route.method.lower()] = _operation(route, auth_required)
    token = {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "fuelclient", "version": __version__, "description": _DESCRIPTION},
        "paths": dict(sorted(paths.items())),
        "components": {
            "responses": {"Error": {"description": "An error", "content": _ERROR_CONTENTS}},
            **({"securitySchemes": token} if auth_required else {}),
        },
    }


def _operation(route: Route, auth_required: bool) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name.replace(" ", "_").replace("/", "_").replace("{", "").replace("}", ""),
        "tags": [route.path.partition("/")[0]],
        "responses": {
            **{str(status): _response(route, schema) for status, schema in route.answers.items()},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if route.query:
        operation["parameters"] = list(map(_query, route.query))
    if route.body is not None:
        content = {"application/json": {"schema": route.body}}
        operation["requestBody"] = {"required": route.body_required, "content": content}
    if auth_required and not route.is_open:
        operation["security"] = [{"token": []}]
    return operation


def _response(route: Route, schema: Any) -> dict[str, Any]:
    if schema is None:
        return {"description": "Done"}
    contents = {mimetype: {"schema": schema if "json" in mimetype else STRING} for mimetype in route.mimetypes}
    return {"description": route.summary, "content": contents}


def _query(query: Query) -> dict[str, Any]:
    return {
        "name": query.name,
        "in": "query",
        "required": query.required,
        "schema": query.schema,
        **({"description": query.summary} if query.summary else {}),
        **({"style": "form", "explode": True} if query.type is QueryType.REPEATED else {}),
    }
