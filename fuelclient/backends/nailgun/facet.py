"""What the facets of a master have in common: each request addresses one resource by its path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partialmethod
from operator import attrgetter
from typing import Any, ClassVar, Protocol, TypeVar

from fuelclient.backends.base import Backend
from fuelclient.backends.http.answers import About
from fuelclient.backends.http.session import Session
from fuelclient.errors import InvalidDocument
from fuelclient.model.graph import Level
from fuelclient.serializers.answer import objects

ATTRIBUTES = "attributes"
"""The path of an environment's settings, relative to its own."""

OSTF = "/ostf/"
"""The path of the service for health checks, which is not part of Nailgun's API."""

PATHS = {
    "environment": "clusters", "release": "releases", "plugin": "plugins", "node": "nodes", "run": "transactions",
    "sequence": "sequences", "network group": "networks", "OpenStack configuration": "openstack-config",
    "test run": f"{OSTF}testruns",
}  # fmt: skip
"""The path of the resources of each noun."""


NOUNS = {Level.RELEASE: "release", Level.PLUGIN: "plugin", Level.CLUSTER: "environment"}
"""How messages name the owners of each level."""


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Resource:
    """A path on a master, and the subject of requests to it for error messages."""

    session: Session
    path: str
    about: About

    def _send(self, method: str, *body: Any, **query: Any) -> Any:
        return self.session.send(method, self.path, self.about, *body, **query)

    get = partialmethod(_send, "GET")
    post = partialmethod(_send, "POST")
    put = partialmethod(_send, "PUT")
    patch = partialmethod(_send, "PATCH")
    delete = partialmethod(_send, "DELETE")


def resource(
    session: Session, noun: str, key: object, below: str = "", *, invalid: type[InvalidDocument] | None = None
) -> Resource:
    """The resource of a noun with this key, or one below it. `invalid` is the error for a body that the master
    rejects."""
    return Resource(session, f"{PATHS[noun]}/{key}/{below}", About(noun, key, invalid=invalid))


def by_id(read: Callable[[Any], Value], data: Any, noun: str) -> list[Value]:
    """Read the items of a list in an answer, sorted by id."""
    return sorted(map(read, objects(data, noun)), key=attrgetter("id"))


def given(**fields: Any) -> dict[str, Any]:
    """Leave out the fields that are None."""
    return {name: value for name, value in fields.items() if value is not None}


class Master(Backend, Protocol):
    """The backend of a master, with the session that sends its requests."""

    session: Session


class Facet:
    """A facet of one master. Most methods take ids of a `noun`; `_master` has the other facets."""

    noun: ClassVar[str] = "environment"
    invalid: ClassVar[type[InvalidDocument] | None] = None

    def __init__(self, master: Master) -> None:
        self._session, self._master = master.session, master

    def _at(self, key: object, below: str = "") -> Resource:
        return resource(self._session, self.noun, key, below, invalid=self.invalid)
