"""Roles and tags of a master's releases and environments."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

from fuelclient.backends.http.errors import About
from fuelclient.backends.nailgun.environment import NOUNS
from fuelclient.backends.nailgun.facet import Facet, Resource, resource
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.release import Role, Tag
from fuelclient.serializers.answer import objects
from fuelclient.serializers.role import role_document_to, role_from, tag_document_to, tag_from

Value = TypeVar("Value", Role, Tag)


class _Descriptions(Facet, Generic[Value]):
    """The roles or tags of a master; see `base.Descriptions`.

    `read` makes a value from an answer, or raises `InvalidDocument`; `write` makes the body of a request.
    """

    read: Callable[[Any], Value]
    write: Callable[[Value], Any]

    def of_release(self, release_id: int) -> Mapping[str, Value]:
        return self._of(OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Value]:
        return self._of(OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, value: Value, /) -> Value:
        return self.read(self._all(owner).post(self.write(value)))

    def update(self, owner: OwnerRef, value: Value, /) -> Value:
        return self.read(self._one(owner, value.name).put(self.write(value)))

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._one(owner, name).delete()

    def _of(self, owner: OwnerRef) -> dict[str, Value]:
        return {value.name: value for value in map(self.read, objects(self._all(owner).get(), self.noun))}

    def _all(self, owner: OwnerRef) -> Resource:
        return resource(self._session, NOUNS[owner.level], owner.id, f"{self.noun}s/", invalid=InvalidDocument)

    def _one(self, owner: OwnerRef, name: str) -> Resource:
        everything = self._all(owner)
        about = About(self.noun, name, (NOUNS[owner.level], owner.id), InvalidDocument)
        return replace(everything, path=f"{everything.path}{urllib.parse.quote(name, safe='')}/", about=about)


class Roles(_Descriptions[Role]):
    """Roles; see `base.Roles`."""

    noun, read, write = "role", staticmethod(role_from), staticmethod(role_document_to)


class Tags(_Descriptions[Tag]):
    """Tags; see `base.Tags`. Masters before Fuel 10 have none."""

    noun, read, write = "tag", staticmethod(tag_from), staticmethod(tag_document_to)
