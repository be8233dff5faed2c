"""Turn errors into HTTP responses: the status and the message of each error.

Messages are Nailgun's where Nailgun has such an error, because scripts match them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fuelclient import errors
from fuelclient.errors import Conflict, FuelError, InvalidDocument, NotFound
from fuelclient.model.finding import Finding
from fuelclient.serializers.finding import finding_to

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
_NAILGUN_NOUNS = {
    "environment": "Cluster",
    "release": "Release",
    "plugin": "Plugin",
    "node": "Node",
    "role": "Role",
    "tag": "Tag",
    "sequence": "DeploymentSequence",
    "run": "Transaction",
    "transaction": "Transaction",
    "graph": "DeploymentGraph",
}


class HttpError(Exception):
    """An error response: a status, our error or a sentence, and Nailgun's message if it differs.

    With `plain`, the body is the message as plain text, as in Nailgun.
    """

    def __init__(self, status: int, error: FuelError | str, message: str = "", *, plain: bool = False) -> None:
        self.status, self.error, self.plain = status, error, plain
        self.message = message or (error if isinstance(error, str) else error.message)
        super().__init__(self.message)

    @property
    def body(self) -> dict[str, Any]:
        findings = self.error.findings if isinstance(self.error, Conflict | InvalidDocument) else ()
        errors: list[Any] = [finding_to(one) for one in findings if isinstance(one, Finding)]
        if not errors and str(self.error) != self.message:
            errors = [str(self.error)]  # it has details that Nailgun's message lacks
        return {"message": self.message, "errors": errors}


@contextmanager
def refusing(
    error_type: type[FuelError], status: int, message: str, *, when: object = True, noun: str = "", plain: bool = False
) -> Iterator[None]:
    """Turn an error of the backend into `HttpError` with Nailgun's status and message if `when` is true.

    Otherwise the error passes unchanged. With `noun`, only a `NotFound` about that noun is turned.
    """
    try:
        yield
    except error_type as error:
        if not when or (noun and not (isinstance(error, NotFound) and error.noun == noun)):
            raise
        raise HttpError(status, error, message, plain=plain) from error


def http_error(error: FuelError) -> HttpError:
    """The response for an error of the backend.

    >>> http_error(NotFound("environment", 9)).message
    'Cluster not found'
    """
    status = next((status for error_type, status in _STATUSES if isinstance(error, error_type)), 400)
    message = str(error)
    if isinstance(error, NotFound) and error.noun == "graph type":
        message = f"Graph with type: {error.key} is not defined"
    elif isinstance(error, NotFound) and error.noun in _NAILGUN_NOUNS:
        message = f"{_NAILGUN_NOUNS[error.noun]} not found"
    elif isinstance(error, errors.InvalidDocument) and error.findings:
        first = str(getattr(min(error.findings, key=lambda one: not getattr(one, "is_error", False)), "message", ""))
        message = message if first in message else f"{message} The first one: {first.removesuffix('.')}."
    return HttpError(status, error, message)


def changed_fields(record: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body that the record has too, with a different value."""
    return {key: value for key, value in body.items() if key in record and value != record[key]}


def require_same(record: Mapping[str, Any], body: Mapping[str, Any], *changed: str) -> None:
    """Raise `UsageError` if fields of a body other than `changed` differ from the record.

    Clients may therefore send back what a GET returned. Fields that the record lacks are ignored, as in Nailgun.
    """
    if different := sorted(changed_fields(record, body).keys() - changed):
        raise errors.UsageError(
            f"This server cannot change {', '.join(different)} here.", hint="Leave out what should stay as it is."
        )
