"""Roles and tags of releases and of environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.errors import NotFound, UsageError
from fuelclient.model.release import Role, Tag
from fuelclient.serializers.role import role_from, role_to, tag_from, tag_to
from fuelclient.server.graphs import owner_of
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import MAPPING, NAME, ROLE, TAG, listed, opened


def roles(call: Call) -> Any:
    return [role_to(one) for one in _roles(call).values()]


def role(call: Call) -> Any:
    found, name = _roles(call), call.path["name"]
    if name not in found:
        raise NotFound("role", name, known=sorted(found))
    return role_to(found[name])


def create_role(call: Call) -> Any:
    return role_to(call.backend.roles.create(owner_of(call), role_from(call.body)))


def update_role(call: Call) -> Any:
    _require_name(call)
    return role_to(call.backend.roles.update(owner_of(call), role_from(call.body)))


def delete_role(call: Call) -> None:
    call.backend.roles.delete(owner_of(call), call.path["name"])


def tags(call: Call) -> Any:
    return [tag_to(one) for one in _tags(call).values()]


def tag(call: Call) -> Any:
    found, name = _tags(call), call.path["name"]
    if name not in found:
        raise NotFound("tag", name, known=sorted(found))
    return tag_to(found[name])


def create_tag(call: Call) -> Any:
    return tag_to(call.backend.tags.create(owner_of(call), tag_from(call.body)))


def update_tag(call: Call) -> Any:
    _require_name(call)
    return tag_to(call.backend.tags.update(owner_of(call), tag_from(call.body)))


def delete_tag(call: Call) -> None:
    call.backend.tags.delete(owner_of(call), call.path["name"])


def _roles(call: Call) -> Mapping[str, Role]:
    if "release_id" in call.path:
        return call.backend.roles.of_release(call.id("release_id"))
    return call.backend.roles.of_cluster(call.id("cluster_id"))


def _tags(call: Call) -> Mapping[str, Tag]:
    if "release_id" in call.path:
        return call.backend.tags.of_release(call.id("release_id"))
    return call.backend.tags.of_cluster(call.id("cluster_id"))


def _require_name(call: Call) -> None:
    """A description goes to what the path names."""
    if call.body["name"] != call.path["name"]:
        raise UsageError(
            f"The body describes {call.body['name']}, and the path names {call.path['name']}.",
            hint="Give both one name: nothing can be renamed.",
        )


_ROLE = opened(
    ("name", "meta"), name=NAME, meta=MAPPING, volumes_roles_mapping=listed(opened(("id",), id=NAME)), tags=listed(NAME)
)
_TAG = opened(("name", "meta"), name=NAME, meta=MAPPING)

ROUTES = tuple(
    route
    for owner in ("releases/{release_id}", "clusters/{cluster_id}")
    for route in (
        Route("GET", f"{owner}/roles", roles, "Roles", {200: listed(ROLE)}),
        Route("POST", f"{owner}/roles", create_role, "Create a role", {201: ROLE}, body=_ROLE),
        Route("GET", f"{owner}/roles/{{name}}", role, "One role", {200: ROLE}),
        Route("PUT", f"{owner}/roles/{{name}}", update_role, "Describe a role anew", {200: ROLE}, body=_ROLE),
        Route("DELETE", f"{owner}/roles/{{name}}", delete_role, "Delete a role", {204: None}),
        Route("GET", f"{owner}/tags", tags, "Tags", {200: listed(TAG)}),
        Route("POST", f"{owner}/tags", create_tag, "Create a tag", {201: TAG}, body=_TAG),
        Route("GET", f"{owner}/tags/{{name}}", tag, "One tag", {200: TAG}),
        Route("PUT", f"{owner}/tags/{{name}}", update_tag, "Describe a tag anew", {200: TAG}, body=_TAG),
        Route("DELETE", f"{owner}/tags/{{name}}", delete_tag, "Delete a tag", {204: None}),
    )
)
