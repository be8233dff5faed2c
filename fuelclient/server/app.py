"""The application: from a request to one handler, and from an error to a status and JSON."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import BaseConverter

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError
from fuelclient.server import (
    attributes,
    clusters,
    environments,
    execution,
    facts,
    following,
    graphs,
    layers,
    nodes,
    plugins,
    reading,
    releases,
    roles,
    sequences,
    serialized,
    transactions,
)
from fuelclient.server.connections import Connections
from fuelclient.server.limits import DEFAULT, Limits
from fuelclient.server.loopback import Loopback
from fuelclient.server.openapi import document
from fuelclient.server.refusals import Refused, refused
from fuelclient.server.routes import PREFIX, Call, Reply, Route, parts
from fuelclient.server.schemas import GRAPH_TYPE, MAPPING
from fuelclient.server.tracing import ENVIRON_ID, Wsgi, traced
from fuelclient.server.version import version_route

LOG = logging.getLogger("fuelclient.server")
_NOUNS = (
    clusters, environments, attributes, facts, releases, roles, nodes, plugins, graphs, layers, execution, serialized,
    transactions, following, sequences,
)  # fmt: skip


class Policy(Protocol):
    """Who may do what. `required` says whether clients need a token."""

    @property
    def required(self) -> bool: ...

    def wrap(self, app: Wsgi) -> Wsgi: ...

    def check(self, environ: Any, *, is_open: bool) -> None: ...


class _Id(BaseConverter):
    """An id in a path: a whole number of a length that can be one."""

    regex = "[0-9]{1,10}"

    def to_python(self, value: str) -> int:
        return int(value)


class _Type(BaseConverter):
    """A graph type in a path; anything else is no path."""

    regex = GRAPH_TYPE


class _Name(BaseConverter):
    """A name in a path. It may have slashes, which no role or tag has: who asks for one is told of the role or tag."""

    regex = "[^/](?:.*[^/])?"
    part_isolating = False


def routes(*, auth_required: bool) -> list[Route]:
    """All routes, the OpenAPI document among them."""
    found: list[Route] = [version_route(auth_required)]
    for noun in _NOUNS:
        found += noun.ROUTES

    def openapi(_call: Call) -> Any:
        return document(found, auth_required=auth_required)

    found.append(Route("GET", "openapi.json", openapi, "This document", {200: MAPPING}, is_open=True))
    return found


def application(make_backend: Callable[[], Backend], *, auth: Policy | None = None, limits: Limits = DEFAULT) -> Flask:
    """The WSGI application over the backends that `make_backend` makes, one for each thread that asks.

    Without `auth` everything is allowed to every program of this machine. Nothing is opened before the first request.
    """
    policy = auth or Loopback()
    connections = Connections(make_backend)
    app = Flask("fuelclient.server", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = limits.body_bytes
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of the default provider, which this is
    app.url_map.merge_slashes = False
    app.url_map.converters.update(id=_Id, graph_type=_Type, word=_Name)
    app.extensions["fuelclient"] = connections
    for route in routes(auth_required=policy.required):
        view = _view(route, policy, connections)
        for end in ("", "/"):  # two rules: with one, a wrong method on the other form would be an unknown path
            app.add_url_rule(
                _rule(route) + end, f"{route.name}{end}", view, methods=[route.method], strict_slashes=True,
                provide_automatic_options=False,
            )  # fmt: skip
    app.register_error_handler(Exception, _failed)
    app.wsgi_app = traced(policy.wrap(app.wsgi_app))  # type: ignore[assignment,method-assign]  # Flask's way
    return app


def _rule(route: Route) -> str:
    """The path as Flask writes it; ids are whole numbers, whatever else they are is no path."""
    path = route.path
    for name in parts(route.path):
        kind = {"graph_type": "graph_type", "name": "word", "level": "any(own, plugins, release)"}.get(name, "id")
        path = path.replace(f"{{{name}}}", f"<{kind}:{name}>")
    return f"{PREFIX}/{path}"


def _view(route: Route, policy: Policy, connections: Connections) -> Callable[..., Response]:
    def view(**path: Any) -> Response:
        policy.check(request.environ, is_open=route.is_open)
        with _told_as_answers():
            only = reading.query(route, request.args)
            body = reading.body(route, request.get_data(cache=False)) if route.body is not None else None
            call = Call(connections, path, only, body, reading.headers(dict(_lower())))
            return _answer(route, route.handler(call))

    view.__name__ = route.name
    return view


def _lower() -> Iterator[tuple[str, str]]:
    for name, value in request.headers.items():
        yield name.lower(), value


def _answer(route: Route, found: Any) -> Response:
    if isinstance(found, Reply):
        return Response(found.data, found.status, mimetype=found.mimetype)
    if route.answers[route.status] is None:
        return Response(b"", route.status)
    return _json(found, route.status)


def _json(data: Any, status: int) -> Response:
    return Response(json.dumps(data, allow_nan=False), status, mimetype="application/json")


@contextmanager
def _told_as_answers() -> Iterator[None]:
    """Errors of the backend leave as `Refused`."""
    try:
        yield
    except FuelError as error:
        raise refused(error) from error


def _failed(error: Exception) -> Response:
    """Any error as JSON, without a traceback; that of a defect is in the log."""
    if isinstance(error, Refused):
        return _json(error.body, error.status)
    if isinstance(error, HTTPException):
        found = _json({"message": _words(error), "errors": []}, error.code or 500)
        if isinstance(error, MethodNotAllowed) and error.valid_methods:
            found.headers["Allow"] = ", ".join(sorted(error.valid_methods))
        return found
    request_id = request.environ.get(ENVIRON_ID, "")
    LOG.error("%s failed", request_id, exc_info=error)
    message = f"The server has a defect: its log says more about the request {request_id}."
    return _json({"message": message, "errors": []}, 500)


def _words(error: HTTPException) -> str:
    if isinstance(error, NotFound):
        return f"There is no path {request.path}"
    if isinstance(error, MethodNotAllowed):
        return f"The method {request.method} is not supported for this path"
    return error.description or error.name


__all__ = ["Policy", "application", "routes"]
