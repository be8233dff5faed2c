"""Routes: what the server answers, as values. URLs, checks of requests and the OpenAPI document come from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fuelclient.server.schemas import GRAPH_TYPE, LARGEST, TEXT, Schema

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.server.connections import Connections

PREFIX = "/api/v1"


class Kind(StrEnum):
    """What the text of a query parameter means. `numbers` and `words` are separated by commas, `repeated` is given
    once for each value."""

    NUMBER = "number"
    TRUTH = "truth"
    WORD = "word"
    NUMBERS = "numbers"
    WORDS = "words"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Query:
    """A query parameter. One that is absent or empty says nothing, unless it is `required`. `words` are all that a
    word can be."""

    name: str
    kind: Kind
    summary: str = ""
    words: tuple[str, ...] = ()
    least: int = 1
    required: bool = False

    @property
    def schema(self) -> Schema:
        """The schema of its text."""
        if self.kind is Kind.NUMBER:
            return {"type": "integer", "minimum": self.least, "maximum": LARGEST}
        if self.kind is Kind.TRUTH:
            return {"enum": ["0", "1", "t", "f", "true", "false"]}
        if self.kind is Kind.NUMBERS:
            return {
                "type": "string",
                "pattern": "^([1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*)" + ("$" if self.required else "?$"),
            }
        if self.kind is Kind.REPEATED:
            return {"type": "array", "items": TEXT}
        if not self.words:
            return TEXT
        if self.kind is Kind.WORD:
            return {"enum": list(self.words)}
        choice = "|".join(self.words)
        return {"type": "string", "pattern": f"^(({choice})(,({choice}))*)?$"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what the path, the query and the body say, checked, and the backend to ask.

    `only` has the query parameters that were given. `headers` are those that change an answer.
    """

    connections: Connections
    path: Mapping[str, Any] = field(default_factory=dict)
    only: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def backend(self) -> Backend:
        """The backend of this thread."""
        return self.connections.backend

    def id(self, name: str) -> int:
        """An id of the path."""
        return int(self.path[name])

    def truth(self, name: str) -> bool:
        """A query parameter that is off unless it is given."""
        return bool(self.only.get(name, False))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is not simply the first status of its route with a JSON body; `data` is None for no body."""

    data: Any = None
    status: int = 200
    mimetype: str = "application/json"


@dataclass(frozen=True, slots=True)
class Route:
    """A method of a path below `PREFIX`, which answers with and without a slash at its end.

    `answers` are the good statuses with their schemas (None: no body), the first one is the usual one. `body` is the
    schema of the request, None where none is read. Errors are `schemas.ERROR` with any status. One that `is_open`
    needs no token.
    """

    method: str
    path: str
    handler: Callable[[Call], Any]
    summary: str
    answers: Mapping[int, Schema | None]
    query: tuple[Query, ...] = ()
    body: Schema | None = None
    body_required: bool = True
    mimetypes: tuple[str, ...] = ("application/json",)
    is_open: bool = False

    @property
    def name(self) -> str:
        """What tells it from all others: `get clusters/{cluster_id}`."""
        return f"{self.method.lower()} {self.path}"

    @property
    def status(self) -> int:
        return next(iter(self.answers))


TYPES: Mapping[str, Schema] = {
    "graph_type": {"type": "string", "pattern": f"^{GRAPH_TYPE}$"},
    "name": {"type": "string", "minLength": 1},
    "level": {"enum": ["own", "plugins", "release"]},
}
"""The schemas of the parts of paths that are no ids."""


def parts(path: str) -> list[str]:
    """The names of the parts of a path that vary.

    >>> parts("clusters/{cluster_id}/deployment_graphs/{graph_type}")
    ['cluster_id', 'graph_type']
    """
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]
