"""The routes for the roles and tags of releases and environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from fuelclient.backends.base import Backend
from fuelclient.backends.inventory import Descriptions
from fuelclient.errors import Conflict, FuelError, InvalidDocument, NotFound, UsageError
from fuelclient.model.document import Document
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.release import Release, Role, Tag
from fuelclient.serializers.release import DESCRIBED, SIZES, role_from_document, role_to, tag_from_document, tag_to
from fuelclient.server.errors import HttpError, refusing
from fuelclient.server.graphs import owner_of
from fuelclient.server.routes import Call, Route
from fuelclient.server.schemas import MAPPING, NAME, ROLE, TAG, Schema, listed, opened

Value = TypeVar("Value", Role, Tag)

_INHERITED = ("release", "plugin ")
"""How `owner` of a role or tag begins if an environment has it from its release or a plugin."""


@dataclass(frozen=True, slots=True)
class _Handlers(Generic[Value]):
    """The handlers of roles or of tags: `facet` is their part of a backend, `read` and `write` convert their JSON."""

    noun: str
    facet: Callable[[Backend], Descriptions[Value]]
    read: Callable[[Document, str], Value]
    write: Callable[[Value], Any]

    def list_all(self, call: Call) -> Any:
        return [self.write(value) for value in self._existing(call).values()]

    def show(self, call: Call) -> Any:
        existing, name = self._existing(call), call.path["name"]
        with self._missing(call):
            if name not in existing:
                raise NotFound(self.noun, name, known=sorted(existing))
            return self.write(existing[name])

    def create(self, call: Call) -> Any:
        name = call.body["name"]
        text = f"{self.noun.capitalize()} with name {name} already exists for {self._owner(call)}"
        with refusing(Conflict, 409, text, when=name in self._existing(call)):
            return self.write(self.facet(call.backend).create(owner_of(call), self._read_body(call)))

    def update(self, call: Call) -> Any:
        if call.body["name"] != call.path["name"]:
            raise UsageError(
                f"The body describes {call.body['name']}, and the path names {call.path['name']}.",
                hint=f"Use the same name in both: a {self.noun} cannot be renamed.",
            )
        with self._missing(call):
            return self.write(self.facet(call.backend).update(owner_of(call), self._read_body(call)))

    def delete(self, call: Call) -> None:
        with self._missing(call), call.backends.exclusive() as backend:
            self.remove(backend, owner_of(call), call.path["name"])

    def remove(self, backend: Backend, owner: OwnerRef, name: str) -> None:
        self.facet(backend).delete(owner, name)

    def _read_body(self, call: Call) -> Value:
        """Read the body with the same checks and findings as a file of roles or tags."""
        body = {key: call.body[key] for key in DESCRIBED if key in call.body}
        return self.read(Document(body, ""), call.body["name"])

    def _missing(self, call: Call) -> AbstractContextManager[None]:
        text = f"{self.noun.capitalize()} '{call.path['name']}' is not found for the {self._owner(call)}"
        return refusing(NotFound, 404, text, noun=self.noun)

    @staticmethod
    def _owner(call: Call) -> str:
        owner = owner_of(call)
        return f"{owner.level} {owner.id}"

    def _existing(self, call: Call) -> Mapping[str, Value]:
        facet = self.facet(call.backend)
        if "release_id" in call.path:
            return facet.of_release(call.id("release_id"))
        return facet.of_cluster(call.cluster_id)

    def routes(self, owner: str, schema: Schema, body: Schema) -> tuple[Route, ...]:
        noun = self.noun
        path = f"{owner}/{noun}s"
        return (
            Route("GET", path, self.list_all, f"List {noun}s", {200: listed(schema)}),
            Route("POST", path, self.create, f"Create a {noun}", {201: schema}, body=body),
            Route("GET", f"{path}/{{name}}", self.show, f"Show a {noun}", {200: schema}),
            Route("PUT", f"{path}/{{name}}", self.update, f"Replace a {noun}", {200: schema}, body=body),
            Route("DELETE", f"{path}/{{name}}", self.delete, f"Delete a {noun}", {204: None}),
        )


class _Roles(_Handlers[Role]):
    """Roles need checks beyond the schema. As in Nailgun, they come after the check whether the role exists."""

    def create(self, call: Call) -> Any:
        """Raise `HttpError` (400) for a role without tags if its release describes tags, as Nailgun has done since Fuel
        9.2."""
        if not self._owns(call, call.body["name"]):
            _require_volumes(call)
            if "tags" not in call.body["meta"] and self._release_of(call).metadata.get("tags_metadata"):
                name = call.body["name"]
                text = f"Role {name} cannot be created: its meta has no tags, and its release describes tags."
                hint = "Name in meta.tags those that the role carries: they decide where tasks run."
                raise HttpError(400, InvalidDocument(text, hint=hint))
        return super().create(call)

    def update(self, call: Call) -> Any:
        if self._owns(call, call.path["name"]):
            _require_volumes(call)
        return super().update(call)

    def _owns(self, call: Call, name: str) -> bool:
        role = self._existing(call).get(name)
        return role is not None and ("release_id" in call.path or not role.owner.startswith(_INHERITED))

    @staticmethod
    def _release_of(call: Call) -> Release:
        clusters, releases = call.backend.clusters, call.backend.releases
        if "release_id" in call.path:
            return releases.get(call.id("release_id"))
        return releases.get(clusters.get(call.cluster_id).release_id)

    def _read_body(self, call: Call) -> Role:
        """Raise `HttpError` (400) if a tag of the role does not exist, as Nailgun does."""
        role, existing = super()._read_body(call), set(_TAGS._existing(call))
        if unknown := [tag for tag in role.metadata.get("tags") or () if tag not in existing]:
            text = f"Role {role.name} cannot be created or updated: tags {', '.join(map(str, unknown))} do not exist."
            raise HttpError(400, NotFound("tag", unknown[0], known=sorted(existing)), text)
        return role


class _Tags(_Handlers[Tag]):
    def remove(self, backend: Backend, owner: OwnerRef, name: str) -> None:
        """Remove a tag. As in Nailgun, first remove it from the owner's own roles."""
        roles, changed = backend.roles, []
        list_roles = roles.of_cluster if owner.level is Level.CLUSTER else roles.of_release
        try:
            backend.tags.delete(owner, name)
        except Conflict:
            if owner.level is Level.CLUSTER and backend.tags.of_cluster(owner.id)[name].owner.startswith(_INHERITED):
                raise
            try:
                for role in list_roles(owner.id).values():
                    if name in (tags := role.metadata.get("tags") or ()):
                        rest = [tag for tag in tags if tag != name]
                        roles.update(owner, replace(role, metadata={**role.metadata, "tags": rest}))
                        changed.append(role)
                backend.tags.delete(owner, name)
            except FuelError:
                for role in changed:
                    roles.update(owner, role)
                raise


def _require_volumes(call: Call) -> None:
    if "volumes_roles_mapping" not in call.body:
        text = "'volumes_roles_mapping' is a required property"
        raise HttpError(400, InvalidDocument(text, hint="A role that takes no volumes has an empty list."))


_ROLES = _Roles("role", lambda backend: backend.roles, role_from_document, role_to)
_TAGS = _Tags("tag", lambda backend: backend.tags, tag_from_document, tag_to)
_VOLUME = opened(("id",), id=NAME, allocate_size={"enum": [*SIZES]})
_ROLE = opened(("name", "meta"), name=NAME, meta=MAPPING, volumes_roles_mapping=listed(_VOLUME), tags=listed(NAME))

ROUTES = tuple(
    route
    for owner in ("releases/{release_id}", "clusters/{cluster_id}")
    for route in (*_ROLES.routes(owner, ROLE, _ROLE), *_TAGS.routes(owner, TAG, TAG))
)
