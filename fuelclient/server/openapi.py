"""The OpenAPI 3.1 document of the routes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fuelclient import __version__
from fuelclient.server.routes import PATH_SCHEMAS, PREFIX, Query, QueryType, Route, path_variables
from fuelclient.server.schemas import ERROR, NUMBER

_DESCRIPTION = "Nailgun's v1 paths over an engine of fuelclient. Every path works with and without a slash at its end."
_ERROR_CONTENTS = {"application/json": {"schema": ERROR}, "text/plain": {"schema": {"type": "string"}}}
_ERROR = {"$ref": "#/components/responses/Error"}


def document(routes: Iterable[Route], *, auth_required: bool) -> dict[str, Any]:
    """Return what the server answers, in OpenAPI 3.1. Errors may have any status, and have one shape."""
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
        "responses": {str(status): _response(route, schema) for status, schema in route.answers.items()},
    }
    operation["responses"]["default"] = _ERROR
    if route.query:
        operation["parameters"] = [_query(parameter) for parameter in route.query]
    if route.body is not None:
        operation["requestBody"] = {
            "required": route.body_required, "content": {"application/json": {"schema": route.body}},
        }  # fmt: skip
    if auth_required and not route.is_open:
        operation["security"] = [{"token": []}]
    return operation


def _response(route: Route, schema: Any) -> dict[str, Any]:
    if schema is None:
        return {"description": "Done"}
    contents = {
        mimetype: {"schema": schema if "json" in mimetype else {"type": "string"}} for mimetype in route.mimetypes
    }
    return {"description": route.summary, "content": contents}


def _query(query: Query) -> dict[str, Any]:
    parameter: dict[str, Any] = {
        "name": query.name, "in": "query", "required": query.required, "schema": query.schema,
    }  # fmt: skip
    if query.summary:
        parameter["description"] = query.summary
    if query.type is QueryType.REPEATED:
        parameter |= {"style": "form", "explode": True}
    return parameter
