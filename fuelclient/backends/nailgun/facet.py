"""What the facets of a master have in common: each request is about one thing, at the path of that thing."""

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
"""The path of an environment's settings, below its own."""

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


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Resource:
    """A path of a master, and the subject of requests to it."""

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
    """The resource of a thing, or one below it; `invalid` is the error if the master calls a body invalid."""
    return Resource(session, f"{PATHS[noun]}/{key}/{below}", About(noun, key, invalid=invalid))


def by_id(read: Callable[[Any], Value], data: Any, noun: str) -> list[Value]:
    """Read the things that an answer lists, sorted by id."""
    return sorted(map(read, objects(data, noun)), key=attrgetter("id"))


def given(**fields: Any) -> dict[str, Any]:
    """Leave out the fields that are None."""
    return {name: value for name, value in fields.items() if value is not None}


class Master(Backend, Protocol):
    """The backend of a master, with the session that sends its requests."""

    session: Session


class Facet:
    """A facet of one master. The ids of most methods are those of `noun`, and `master` has the other facets."""

    noun: ClassVar[str] = "environment"
    invalid: ClassVar[type[InvalidDocument] | None] = None

    def __init__(self, master: Master) -> None:
        self._session, self._master = master.session, master

    def _at(self, key: object, below: str = "") -> Resource:
        return resource(self._session, self.noun, key, below, invalid=self.invalid)
