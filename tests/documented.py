"""Applications of tests whose every answer is held to the document of their routes."""

from __future__ import annotations

import flask
from jsonschema import Draft202012Validator

from fuelclient.server.app import routes
from fuelclient.server.routes import Route
from fuelclient.server.schemas import ERROR, Schema

ROUTES = {route.name: route for route in routes(auth_required=False)}
"""By the names that Flask's endpoints have without the slash at their ends."""


def documented(app: flask.Flask) -> flask.Flask:
    """The same application; an answer that the document does not allow fails the test that asked for it.

    Requests that are made from the document seldom succeed where one thing must fit another; those of tests do.
    """
    app.after_request(_checked)
    app.config["PROPAGATE_EXCEPTIONS"] = True
    return app


def _checked(response: flask.Response) -> flask.Response:
    if flask.request.url_rule is not None:
        said = violation(ROUTES[flask.request.url_rule.endpoint.rstrip("/")], response)
        assert not said, said
    return response


def violation(route: Route, response: flask.Response) -> str:
    """What of an answer is not as the document says, nothing when all is."""
    status, where = response.status_code, f"{route.name} answers {response.status}"
    if status not in route.answers:
        if status < 400:
            return f"{where}, which is not in the document"
        return _first(where, ERROR, response)
    schema = route.answers[status]
    if schema is None:
        return f"{where} with a body" if response.get_data() else ""
    if response.mimetype not in route.mimetypes:
        return f"{where} with {response.mimetype}"
    return _first(where, schema, response) if "json" in response.mimetype else ""


def _first(where: str, schema: Schema, response: flask.Response) -> str:
    found = next(Draft202012Validator(schema).iter_errors(response.get_json()), None)
    return f"{where}: {found.json_path}: {found.message}" if found else ""
