"""The routes for releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.errors import Conflict
from fuelclient.model.document import Document
from fuelclient.serializers.release import release_record_to, release_to, releases_from
from fuelclient.serializers.values import plain
from fuelclient.server.errors import changed_fields, refusing, require_same
from fuelclient.server.routes import Call, Route, caller
from fuelclient.server.schemas import LIST, MAPPING, NAME, RELEASE, Schema, listed, one_or_several, opened, whole

_EXISTS = "Release with the same name and version already exists"
_FIXED = frozenset(("id", "is_deployable"))
"""Fields that the server sets."""


def show(call: Call) -> Any:
    return release_record_to(call.backend.releases.get(call.id("release_id")))


def create(call: Call) -> Any:
    """Create one release, or a list of releases. An id that is taken is replaced with a free one."""
    is_one = not isinstance(call.body, list)
    with refusing(Conflict, 409, _EXISTS, when=is_one):
        created = call.backend.releases.create(releases_from(Document(call.body, "")))
    records = [release_record_to(release) for release in created]
    return records[0] if is_one else records


def update(call: Call) -> Any:
    record = show(call)
    if not (changed := changed_fields(record, call.body)):
        return record
    require_same(record, call.body, *(changed.keys() - _FIXED))
    before = release_to(call.backend.releases.get(record["id"]))
    (updated,) = releases_from(Document({**before, **changed}, ""))
    name = (updated.name, updated.version)
    is_taken = any((each.name, each.version) == name and each.id != updated.id for each in call.backend.releases.list())
    with refusing(Conflict, 409, _EXISTS, when=is_taken):  # other conflicts keep their own message
        return release_record_to(call.backend.releases.update(updated))


def delete(call: Call) -> None:
    release_id = call.id("release_id")
    is_used = any(cluster.release_id == release_id for cluster in call.backend.clusters.list())
    with refusing(Conflict, 400, "Can't delete release with clusters assigned", when=is_used):
        call.backend.releases.delete(release_id)


def settings(call: Call) -> Any:
    """The settings of a release, including its package repositories."""
    attributes = call.backend.releases.get(call.id("release_id")).metadata.get("attributes_metadata")
    return plain(attributes) if isinstance(attributes, Mapping) else {}


def set_repositories(call: Call) -> Any:
    """Set the package repositories of a release; the other settings of the body are ignored."""
    call.backend.releases.set_repositories(call.id("release_id"), call.body["editable"]["repo_setup"]["repos"]["value"])
    return settings(call)


_STATE: Schema = {"enum": ["available", "unavailable", "manageonly", None]}
_PATH = "releases/{release_id}"
_REPOSITORIES = whole(editable=whole(repo_setup=whole(repos=whole(value=listed(MAPPING)))))

ROUTES = (
    Route("GET", "releases", lambda call: list(map(release_record_to, call.backend.releases.list())), "List releases",
          {200: listed(RELEASE)}),
    Route("POST", "releases", create, "Create a release, or all of a list", {201: one_or_several(RELEASE)},
          body=one_or_several(opened(("name", "version"), name=NAME, version=NAME, state=_STATE), 1)),
    Route("GET", _PATH, show, "Show a release", {200: RELEASE}),
    Route("PUT", _PATH, update, "Change the fields of a release", {200: RELEASE},
          body=opened(name=NAME, version=NAME, state=_STATE)),
    Route("DELETE", _PATH, delete, "Delete a release with its graphs", {204: None}),
    Route("GET", f"{_PATH}/components", caller(lambda backend: backend.releases.components),
          "List the components of a release", {200: LIST}),
    Route("GET", f"{_PATH}/attributes_metadata", settings, "Show the settings of a release", {200: MAPPING}),
    Route("PUT", f"{_PATH}/attributes_metadata", set_repositories, "Set the package repositories of a release",
          {200: MAPPING}, body=_REPOSITORIES),
)  # fmt: skip
