"""Roles and tags of a master's releases and environments."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from fuelclient.backends.http.errors import About
from fuelclient.backends.http.session import Session
from fuelclient.backends.nailgun.environment import NOUNS, RESOURCES
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.release import Role, Tag
from fuelclient.serializers.answer import objects
from fuelclient.serializers.role import role_document_to, role_from, tag_document_to, tag_from

Value = TypeVar("Value", Role, Tag)


class _Descriptions(Generic[Value]):
    """The roles or tags of a master; see `base.Descriptions`.

    `read` makes a value from an answer, or raises `InvalidDocument`; `write` makes the body of a request.
    """

    def __init__(
        self, session: Session, noun: str, read: Callable[[Any], Value], write: Callable[[Value], Any]
    ) -> None:
        self._session = session
        self._noun = noun
        self._read: Callable[[Any], Value] = read
        self._write: Callable[[Value], Any] = write

    def of_release(self, release_id: int) -> Mapping[str, Value]:
        return self._of(OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Value]:
        return self._of(OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, value: Value, /) -> Value:
        return self._read(self._session.post(self._path(owner), self._write(value), _about(owner)))

    def update(self, owner: OwnerRef, value: Value, /) -> Value:
        about = _about(owner, self._noun, value.name)
        return self._read(self._session.put(self._path(owner, value.name), self._write(value), about))

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._session.delete(self._path(owner, name), _about(owner, self._noun, name))

    def _of(self, owner: OwnerRef) -> dict[str, Value]:
        data = self._session.get(self._path(owner), _about(owner))
        return {value.name: value for value in map(self._read, objects(data, self._noun))}

    def _path(self, owner: OwnerRef, name: str = "") -> str:
        below = f"{urllib.parse.quote(name, safe='')}/" if name else ""
        return f"{RESOURCES[owner.level]}/{owner.id}/{self._noun}s/{below}"


class Roles(_Descriptions[Role]):
    """Roles; see `base.Roles`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "role", role_from, role_document_to)


class Tags(_Descriptions[Tag]):
    """Tags; see `base.Tags`. Masters before Fuel 10 have none."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "tag", tag_from, tag_document_to)


def _about(owner: OwnerRef, noun: str = "", key: str = "") -> About:
    own = (NOUNS[owner.level], owner.id)
    return About(noun, key, own, InvalidDocument) if noun else About(*own, invalid=InvalidDocument)
