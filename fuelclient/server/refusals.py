"""Refusals: which status and which words an error has as an answer.

The words are Nailgun's where it has any, because scripts match them; what our own error says stands beside them
under `error`, for clients that know it.
"""

from __future__ import annotations

from typing import Any

from fuelclient import errors
from fuelclient.errors import Conflict, FuelError, NotFound
from fuelclient.serializers.finding import error_to

_STATUSES: tuple[tuple[type[FuelError], int], ...] = (
    (errors.UsageError, 400),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.InvalidDocument, 400),
    (errors.StalePlan, 409),
    (errors.Unsupported, 501),
    (errors.Unauthorised, 502),
    (errors.Unavailable, 503),
)
_NOUNS = {
    "environment": "Cluster",
    "release": "Release",
    "plugin": "Plugin",
    "node": "Node",
    "role": "Role",
    "tag": "Tag",
    "sequence": "DeploymentSequence",
    "transaction": "Transaction",
    "graph": "DeploymentGraph",
}


class Refused(Exception):
    """An answer that is an error: a status, a message of Nailgun, and the error behind it where there is one."""

    def __init__(self, status: int, message: str, error: FuelError | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.error = status, message, error

    @property
    def body(self) -> dict[str, Any]:
        """What is sent."""
        if self.error is None:
            return {"message": self.message, "errors": []}
        return error_to(self.error, self.message)


def refused(error: FuelError) -> Refused:
    """The answer that an error of the backend is.

    >>> refused(NotFound("environment", 9)).message
    'Cluster not found'
    """
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 400)
    return Refused(status, _words(error), error)


def _words(error: FuelError) -> str:
    if isinstance(error, NotFound) and error.noun == "graph type":
        return f"Graph with type: {error.key} is not defined"
    if isinstance(error, NotFound) and error.noun in _NOUNS:
        return f"{_NOUNS[error.noun]} not found"
    return str(error)


def exists(graph_type: str) -> Refused:
    """The answer to the creation of a graph that is there."""
    message = f'Deployment graph with type "{graph_type}" already exist.'
    return Refused(409, message, Conflict(message, hint="Use PUT to replace its tasks."))
