"""The OpenAPI 3.1 document of the routes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fuelclient import __version__
from fuelclient.server.routes import PREFIX, TYPES, Kind, Query, Route, parts
from fuelclient.server.schemas import ERROR, NUMBER

_DESCRIPTION = (
    "Nailgun's v1 paths over an engine of fuelclient. Every path answers with and without a slash at its end."
)
_ERROR = {"$ref": "#/components/responses/Error"}


def document(routes: Iterable[Route], *, auth_required: bool) -> dict[str, Any]:
    """What the server answers, in OpenAPI 3.1. Errors may have any status, and one shape."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = f"{PREFIX}/{route.path}/"
        entry = paths.setdefault(path, {})
        if parts(route.path):
            entry["parameters"] = [_part(name) for name in parts(route.path)]
        entry[route.method.lower()] = _operation(route, auth_required)
    schemes = {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}} if auth_required else {}
    return {
        "openapi": "3.1.0",
        "info": {"title": "fuelclient", "version": __version__, "description": _DESCRIPTION},
        "paths": dict(sorted(paths.items())),
        "components": {
            "responses": {"Error": {"description": "An error", "content": _content(("application/json",), ERROR)}},
            **({"securitySchemes": schemes} if schemes else {}),
        },
    }


def _operation(route: Route, auth_required: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name.replace(" ", "_").replace("/", "_").replace("{", "").replace("}", ""),
        "tags": [route.path.partition("/")[0]],
        "responses": {str(status): _answer(route, schema) for status, schema in route.answers.items()},
    }
    found["responses"]["default"] = _ERROR
    if route.query:
        found["parameters"] = [_query(one) for one in route.query]
    if route.body is not None:
        found["requestBody"] = {
            "required": route.body_required, "content": _content(("application/json",), route.body)
        }  # fmt: skip
    if auth_required and not route.is_open:
        found["security"] = [{"token": []}]
    return found


def _answer(route: Route, schema: Any) -> dict[str, Any]:
    if schema is None:
        return {"description": "Done"}
    contents: dict[str, Any] = {}
    for mimetype in route.mimetypes:
        contents |= _content((mimetype,), schema if "json" in mimetype else {"type": "string"})
    return {"description": route.summary, "content": contents}


def _content(mimetypes: Iterable[str], schema: Any) -> dict[str, Any]:
    return {mimetype: {"schema": schema} for mimetype in mimetypes}


def _part(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": TYPES.get(name, NUMBER)}


def _query(one: Query) -> dict[str, Any]:
    found: dict[str, Any] = {"name": one.name, "in": "query", "required": one.required, "schema": one.schema}
    if one.summary:
        found["description"] = one.summary
    if one.kind is Kind.REPEATED:
        found |= {"style": "form", "explode": True}
    return found
