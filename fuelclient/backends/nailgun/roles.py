"""Roles and tags of a master's releases and environments."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from typing import Any

from fuelclient.backends.inventory import OwnerRef
from fuelclient.backends.nailgun.environment import NOUNS, RESOURCES
from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level
from fuelclient.model.release import Role, Tag
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.description import role_document_to, tag_document_to
from fuelclient.serializers.role import role_from


class Roles:
    """Roles; see `base.Roles`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of_release(self, release_id: int) -> Mapping[str, Role]:
        return self._of(OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Role]:
        return self._of(OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, role: Role) -> Role:
        return role_from(self._session.post(_path(owner, "roles"), role_document_to(role), _about(owner)))

    def update(self, owner: OwnerRef, role: Role) -> Role:
        about = _about(owner, "role", role.name)
        return role_from(self._session.put(_path(owner, "roles", role.name), role_document_to(role), about))

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._session.delete(_path(owner, "roles", name), _about(owner, "role", name))

    def _of(self, owner: OwnerRef) -> dict[str, Role]:
        data = self._session.get(_path(owner, "roles"), _about(owner))
        return {role.name: role for role in map(role_from, objects(data, "role"))}


class Tags:
    """Tags; see `base.Tags`. Masters before Fuel 10 have none."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of_release(self, release_id: int) -> Mapping[str, Tag]:
        return self._of(OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Tag]:
        return self._of(OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, tag: Tag) -> Tag:
        return _tag_from(self._session.post(_path(owner, "tags"), tag_document_to(tag), _about(owner)))

    def update(self, owner: OwnerRef, tag: Tag) -> Tag:
        about = _about(owner, "tag", tag.name)
        return _tag_from(self._session.put(_path(owner, "tags", tag.name), tag_document_to(tag), about))

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._session.delete(_path(owner, "tags", name), _about(owner, "tag", name))

    def _of(self, owner: OwnerRef) -> dict[str, Tag]:
        data = self._session.get(_path(owner, "tags"), _about(owner))
        return {tag.name: tag for tag in map(_tag_from, objects(data, "tag"))}


def _tag_from(data: Any) -> Tag:
    answer = Answer(data, "tag")
    return Tag(answer.stated("name"), answer.mapping("meta"), answer.text("owner", "release"))


def _path(owner: OwnerRef, what: str, name: str = "") -> str:
    below = f"{urllib.parse.quote(name, safe='')}/" if name else ""
    return f"{RESOURCES[owner.level]}/{owner.id}/{what}/{below}"


def _about(owner: OwnerRef, noun: str = "", key: str = "") -> About:
    own = (NOUNS[owner.level], owner.id)
    return About(noun, key, own, InvalidDocument) if noun else About(*own, invalid=InvalidDocument)
