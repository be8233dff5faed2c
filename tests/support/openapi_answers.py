"""Check every answer of a test's server against the OpenAPI document."""

from __future__ import annotations

import flask
from jsonschema import Draft202012Validator

from fuelclient.server.app import routes
from fuelclient.server.routes import Route
from fuelclient.server.schemas import ERROR, Schema

ROUTES = {route.name: route for route in routes(auth_required=False)}
"""Routes by the name of their Flask endpoint, without a trailing slash."""


def documented(app: flask.Flask) -> flask.Flask:
    """Return the same application, which now fails the test when an answer violates the document.

    Requests generated from the document rarely succeed, because their values seldom fit together. Those of tests do.
    """
    app.after_request(_checked)
    app.config["PROPAGATE_EXCEPTIONS"] = True
    return app


def _checked(response: flask.Response) -> flask.Response:
    if flask.request.url_rule is not None:
        endpoint = flask.request.url_rule.endpoint.rstrip("/")
        said = violation(ROUTES[endpoint], response) if endpoint in ROUTES else ""
        assert not said, said
    return response


def violation(route: Route, response: flask.Response) -> str:
    """Return how an answer violates the document, or an empty text."""
    status, where = response.status_code, f"{route.name} answers {response.status}"
    if status not in route.answers:
        if status < 400:
            return f"{where}, which is not in the document"
        return "" if response.mimetype == "text/plain" else _first(where, ERROR, response)
    schema = route.answers[status]
    if schema is None:
        return f"{where} with a body" if response.get_data() else ""
    if response.mimetype not in route.mimetypes:
        return f"{where} with {response.mimetype}"
    return _first(where, schema, response) if "json" in response.mimetype else ""


def _first(where: str, schema: Schema, response: flask.Response) -> str:
    found = next(Draft202012Validator(schema).iter_errors(response.get_json()), None)
    return f"{where}: {found.json_path}: {found.message}" if found else ""
