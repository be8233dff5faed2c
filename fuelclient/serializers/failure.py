"""Errors as the bodies of answers, and back.

Nailgun's clients read `message`; ours read `error` as well, which has the data that the error carries, so that the
same class of error is raised on both sides of a connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient import errors
from fuelclient.errors import Conflict, CycleDetected, FuelError, InvalidDocument, NotFound
from fuelclient.model.finding import Finding
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.finding import finding_to, findings_from
from fuelclient.serializers.values import plain

_CLASSES: dict[str, type[FuelError]] = {
    kind.__name__: kind
    for kind in (
        errors.UsageError, errors.Unavailable, errors.Unauthorised, errors.NotFound, errors.Conflict,
        errors.InvalidDocument, errors.InvalidGraph, errors.CycleDetected, errors.StalePlan, errors.Unsupported,
    )
}  # fmt: skip


def failure_to(error: FuelError, message: str = "") -> dict[str, Any]:
    """The body of an answer that tells of an error: `message`, which defaults to the error's own, and `errors`, its
    findings as records; `error` has the rest."""
    found = error.findings if isinstance(error, Conflict | InvalidDocument) else ()
    told: dict[str, Any] = {"class": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, NotFound):
        told.update(noun=error.noun, key=plain(error.key), known=list(error.known))
    if isinstance(error, CycleDetected):
        told["cycle"] = [str(one) for one in error.cycle]
    return {
        "message": message or str(error),
        "errors": [finding_to(one) for one in found if isinstance(one, Finding)],
        "error": told,
    }


def failure_from(data: Any) -> FuelError | None:
    """The error that such a body tells of; None for a body of anybody else, which says nothing but its message."""
    if not isinstance(data, Mapping) or not isinstance(data.get("error"), Mapping):
        return None
    answer = Answer(data["error"], "error")
    kind = _CLASSES.get(str(answer.data.get("class")))
    if kind is None:
        return None
    message, hint = answer.text("message"), answer.text("hint")
    found = findings_from(Answer(data, "error").items("errors"))
    if issubclass(kind, NotFound):
        return NotFound(answer.text("noun"), answer.data.get("key"), known=answer.texts("known"), hint=hint)
    if issubclass(kind, CycleDetected):
        return CycleDetected(message, cycle=answer.items("cycle"), findings=found)
    if issubclass(kind, Conflict | InvalidDocument):
        return kind(message, findings=found, hint=hint)
    return kind(message, hint=hint)
