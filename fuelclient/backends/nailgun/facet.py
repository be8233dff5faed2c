"""What the facets of a master have in common: each request is about one thing, at the path of that thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from fuelclient.backends.base import Backend
from fuelclient.backends.http.answers import About
from fuelclient.backends.http.session import Session
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level
from fuelclient.serializers.answer import objects

OSTF = "/ostf/"
"""The path of the service of health checks, beside Nailgun's."""

PATHS = {
    "environment": "clusters", "release": "releases", "plugin": "plugins", "node": "nodes", "run": "transactions",
    "sequence": "sequences", "network group": "networks", "OpenStack configuration": "openstack-config",
    "test run": f"{OSTF}testruns",
}  # fmt: skip
"""Where a master has the things of each noun."""


NOUNS = {Level.RELEASE: "release", Level.PLUGIN: "plugin", Level.CLUSTER: "environment"}
"""How messages name the owners of each level."""


class Numbered(Protocol):
    """A value with an id."""

    @property
    def id(self) -> int: ...


Value = TypeVar("Value", bound=Numbered)


@dataclass(frozen=True, slots=True)
class Resource:
    """A path of a master, and what requests to it are about."""

    session: Session
    path: str
    about: About

    def get(self, **query: Any) -> Any:
        return self.session.get(self.path, self.about, **query)

    def put(self, body: Any, **query: Any) -> Any:
        return self.session.put(self.path, body, self.about, **query)

    def post(self, body: Any) -> Any:
        return self.session.post(self.path, body, self.about)

    def patch(self, body: Any) -> Any:
        return self.session.patch(self.path, body, self.about)

    def delete(self, **query: Any) -> Any:
        return self.session.delete(self.path, self.about, **query)


def resource(
    session: Session, noun: str, key: object, below: str = "", *, invalid: type[InvalidDocument] | None = None
) -> Resource:
    """Return the resource of a thing, or one below it; `invalid` is the error if the master calls a body invalid."""
    return Resource(session, f"{PATHS[noun]}/{key}/{below}", About(noun, key, invalid=invalid))


def by_id(read: Callable[[Any], Value], data: Any, noun: str) -> list[Value]:
    """Return the things that an answer lists, by their ids."""
    return sorted(map(read, objects(data, noun)), key=lambda value: value.id)


class Facet:
    """A facet of one master. `noun` is what the ids of most methods are about, and `backend` has the other facets."""

    noun: ClassVar[str] = "environment"
    invalid: ClassVar[type[InvalidDocument] | None] = None

    def __init__(self, session: Session, backend: Backend) -> None:
        self._session, self._backend = session, backend

    def _at(self, key: object, below: str = "") -> Resource:
        return resource(self._session, self.noun, key, below, invalid=self.invalid)
