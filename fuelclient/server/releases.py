"""Releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Document
from fuelclient.serializers.release import release_record_to, releases_from
from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import MAPPING, NAME, RELEASE, Schema, listed, opened


def every(call: Call) -> Any:
    return [release_record_to(one) for one in call.backend.releases.list()]


def one(call: Call) -> Any:
    return release_record_to(call.backend.releases.get(call.id("release_id")))


def create(call: Call) -> Any:
    """The release, or all releases of a list, are stored; an id that is taken is replaced by a free one."""
    made = [release_record_to(one) for one in call.backend.releases.create(releases_from(Document(call.body, "")))]
    return made if isinstance(call.body, list) else made[0]


def delete(call: Call) -> None:
    call.backend.releases.delete(call.id("release_id"))


def components(call: Call) -> Any:
    return [plain(one) for one in call.backend.releases.components(call.id("release_id"))]


def attributes(call: Call) -> Any:
    """The settings that a release brings, its package repositories among them."""
    found = call.backend.releases.get(call.id("release_id")).metadata.get("attributes_metadata")
    return plain(found) if isinstance(found, Mapping) else {}


def set_repositories(call: Call) -> Any:
    """The repositories of the body are those of the release; nothing else of its settings is changed."""
    repositories = call.body["editable"]["repo_setup"]["repos"]["value"]
    call.backend.releases.set_repositories(call.id("release_id"), repositories)
    return attributes(call)


_BODY: Schema = opened(("name", "version"), name=NAME, version=NAME)
_BODIES: Schema = {"anyOf": [_BODY, listed(_BODY, 1)]}
_ANSWERS: Schema = {"anyOf": [RELEASE, listed(RELEASE)]}
_ONE = "releases/{release_id}"
_REPOS = opened(("value",), value=listed(MAPPING))
_REPOSITORIES = opened(("editable",), editable=opened(("repo_setup",), repo_setup=opened(("repos",), repos=_REPOS)))

ROUTES = (
    Route("GET", "releases", every, "All releases", {200: listed(RELEASE)}),
    Route("POST", "releases", create, "Create a release, or all of a list", {201: _ANSWERS}, body=_BODIES),
    Route("GET", _ONE, one, "One release", {200: RELEASE}),
    Route("DELETE", _ONE, delete, "Delete a release with its graphs", {204: None}),
    Route("GET", f"{_ONE}/components", components, "The components of a release", {200: {"type": "array"}}),
    Route("GET", f"{_ONE}/attributes_metadata", attributes, "The settings that a release brings", {200: MAPPING}),
    Route("PUT", f"{_ONE}/attributes_metadata", set_repositories, "Set the package repositories of a release",
          {200: MAPPING}, body=_REPOSITORIES),
)  # fmt: skip
