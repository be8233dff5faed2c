"""The WSGI application: find the handler of a request, and turn errors into a status and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import BaseConverter, IntegerConverter, Map, Rule

from fuelclient import __version__
from fuelclient.backends import messages
from fuelclient.backends.base import Backend
from fuelclient.backends.http import MESSAGE_TYPE
from fuelclient.errors import FuelError
from fuelclient.files.limits import MAX_BYTES
from fuelclient.server import clusters, graphs, nodes, plugins, releases, roles, runs, sequences, serialized
from fuelclient.server import request_checks as checks
from fuelclient.server.access import Loopback, Policy
from fuelclient.server.errors import HttpError, http_error
from fuelclient.server.request_log import ENVIRON_CALL, ENVIRON_ID, LOG, logged
from fuelclient.server.routes import PREFIX, Call, Reply, Route, ThreadBackends, openapi_document, path_variables
from fuelclient.server.schemas import BOOLEAN, GRAPH_TYPE, LIST, MAPPING, NUMBER, STRING, opened
from fuelclient.settings import load

_HANDLER_MODULES = (
    clusters, releases, roles, nodes, plugins, graphs, runs, serialized, sequences,
)  # fmt: skip
_VERSION = {
    "api": "1.0", "openstack_version": "mitaka-9.0", "release": "9.0",
    "server": f"fuelclient {__version__}", "revision": messages.REVISION,
}  # fmt: skip
"""The answer of `version`: the server has the paths of Fuel 9. Clients read it first, without a token."""


class _Id(IntegerConverter):
    """An id in a path. A number with more than 10 digits makes the path unknown."""

    regex = "[0-9]{1,10}"


class _GraphType(BaseConverter):
    regex = GRAPH_TYPE


class _Name(BaseConverter):
    """The name of a role or tag in a path. It may contain slashes: the error is then about the name, not the path."""

    regex = "[^/](?:.*[^/])?"
    part_isolating = False


_RETRY_SECONDS = 5
_MESSAGES = "messages"
_READ_METHODS = ("GET", "HEAD")


def routes(*, auth_required: bool, auth: str = "none") -> list[Route]:
    """All routes, including the version and the OpenAPI document."""

    def version(_call: Call) -> Any:
        return {**_VERSION, "feature_groups": list(load().feature_groups), "auth_required": auth_required, "auth": auth}

    version_schema = opened(
        ("api", "auth_required", "feature_groups", "openstack_version", "release"),
        api=STRING, auth_required=BOOLEAN, feature_groups=LIST, openstack_version=STRING, release=STRING,
        server=STRING, revision=NUMBER, auth=STRING,
    )  # fmt: skip
    all_routes = [
        Route("GET", "version", version, "Show the version of the API", {200: version_schema}, is_open=True),
        *(route for module in _HANDLER_MODULES for route in module.ROUTES),
        Route("GET", "openapi.json", lambda _call: openapi_document(all_routes, auth_required=auth_required),
              "Show this document", {200: MAPPING}, is_open=True),
    ]  # fmt: skip
    return all_routes


def application(
    make_backend: Callable[[], Backend], *, auth: Policy | None = None, body_bytes: int = MAX_BYTES
) -> Flask:
    """Make the WSGI application. `make_backend` is called once in each thread that answers requests.

    Without `auth` every program of this machine may do everything. A body larger than `body_bytes` is refused with 413.
    No backend is made before the first request.
    """
    policy = auth or Loopback()
    backends = ThreadBackends(make_backend)
    app = Flask("fuelclient.server", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = body_bytes
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the default provider has it
    app.url_map = _paths()
    app.extensions["fuelclient"] = backends
    for route in routes(auth_required=policy.required, auth=policy.name):
        app.view_functions[route.name] = _view(route, policy, backends)
    app.view_functions[_MESSAGES] = _message_view(policy, backends)
    app.register_error_handler(Exception, _error_response)
    app.after_request(_with_time_to_wait)
    app.wsgi_app = logged(policy.wrap(app.wsgi_app))  # type: ignore[assignment,method-assign]  # as Flask documents
    return app


@cache
def _paths() -> Map:
    """The paths of all routes. All applications share them, because compiling them takes a tenth of a second.

    Each path has a rule with and one without a slash at its end. A single rule that covers both would report a wrong
    method on the other form as an unknown path.
    """
    rules = [
        Rule(_rule(route) + end, endpoint=route.name, methods=[route.method])
        for route in routes(auth_required=False) for end in ("", "/")
    ]  # fmt: skip
    rules.append(Rule(f"{PREFIX}/{_MESSAGES}/", endpoint=_MESSAGES, methods=["POST"]))
    return Map(rules, merge_slashes=False, converters={"id": _Id, "graph_type": _GraphType, "word": _Name})


def _rule(route: Route) -> str:
    """The path in Flask's syntax, with a converter for each variable."""
    path = route.path
    for name in path_variables(path):
        converter = {"graph_type": "graph_type", "name": "word", "level": "any(own, plugins, release)"}.get(name, "id")
        path = path.replace(f"{{{name}}}", f"<{converter}:{name}>")
    return f"{PREFIX}/{path}"


def _view(route: Route, policy: Policy, backends: ThreadBackends) -> Callable[..., Response]:
    def view(**path: Any) -> Response:
        policy.check(request.environ, is_open=route.is_open, reads=request.method in _READ_METHODS)
        try:
            query = checks.query(route, request.args)
            body = checks.body(route, request.get_data(cache=False))
            call = Call(backends, path, query, body, request.headers.get("Accept", ""))
            if route.is_kept:
                made = backends.kept(request.full_path, lambda: _text(route.handler(call)))
                return _json(made, route.status)
            result = route.handler(call)
        except FuelError as error:
            raise http_error(error) from error
        if isinstance(result, Reply):
            return Response(result.data, mimetype=result.mimetype)
        if route.answers[route.status] is None:
            return Response(b"", route.status)
        return _json(_text(result), route.status)

    view.__name__ = route.name
    return view


def _message_view(policy: Policy, backends: ThreadBackends) -> Callable[[], Response]:
    """Make the view for the messages that fuelclient itself sends; see `backends.messages`."""

    def view() -> Response:
        policy.check(request.environ, is_open=False, reads=True)
        try:
            call = messages.decode_call(request.get_data(cache=False))
            request.environ[ENVIRON_CALL] = f"{call.facet}.{call.method}"
            if not call.reads:
                policy.check(request.environ, is_open=False, reads=False)
            return Response(messages.encode(call.on(backends.backend)), mimetype=MESSAGE_TYPE)
        except FuelError as error:
            return Response(messages.encode_error(error), http_error(error).status, mimetype=MESSAGE_TYPE)

    return view


def _with_time_to_wait(response: Response) -> Response:
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = str(_RETRY_SECONDS)
    return response


def _text(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False).encode("ascii")


def _json(text: bytes, status: int) -> Response:
    return Response(text, status, mimetype="application/json")


def _error_response(error: Exception) -> Response:
    """Answer any error with JSON or plain text. The traceback of an unexpected error goes to the log."""
    allowed: Iterable[str] = ()
    if isinstance(error, HttpError):
        refusal = error
    elif isinstance(error, NotFound):
        refusal = HttpError(404, f"The path {request.path} does not exist", plain=True)
    elif isinstance(error, MethodNotAllowed):
        message = f"The path {request.path} does not support the method {request.method}"
        refusal, allowed = HttpError(405, message, plain=True), sorted(error.valid_methods or ())
    elif isinstance(error, HTTPException):
        refusal = HttpError(error.code or 500, error.description or error.name)
    else:
        request_id = request.environ.get(ENVIRON_ID, "")
        LOG.error("%s failed", request_id, exc_info=error)
        refusal = HttpError(500, f"The server failed unexpectedly: see its log for the request {request_id}.")
    if not refusal.plain:
        return _json(_text(refusal.body), refusal.status)
    headers = {"Allow": ", ".join(allowed)} if allowed else {}
    return Response(refusal.message, refusal.status, headers, mimetype="text/plain")
