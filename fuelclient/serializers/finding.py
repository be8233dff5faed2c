"""Findings and errors as records and bodies of answers, and back.

Nailgun's clients read `message` of a body. Ours also read `error`, which has the data that the error carries, so that
both sides of a connection raise the same class of error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fuelclient import errors
from fuelclient.errors import Conflict, CycleDetected, FuelError, InvalidDocument, NotFound
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import plain


def finding_to(finding: Finding) -> dict[str, Any]:
    """Return the record of a finding, which `finding_from` reads."""
    path = {} if finding.place.path is None else {"path": list(finding.place.path)}
    return {
        "severity": str(finding.severity),
        "code": finding.code,
        "message": finding.message,
        "file": finding.place.file,
        "line": finding.place.line,
        "layer": finding.place.layer,
        "task": finding.task,
        "hint": finding.hint,
        **path,
    }


def finding_from(data: Any) -> Finding:
    """Return the finding of a record. Raise `InvalidDocument` for anything else."""
    answer = Answer(data, "finding")
    path = tuple(answer.items("path")) if "path" in answer.data else None
    return Finding(
        answer.one_of("severity", Severity, Severity.ERROR),
        answer.text("code"),
        answer.stated("message"),
        Place(answer.text("file"), answer.number("line"), answer.text("layer"), path),
        answer.text("task"),
        answer.text("hint"),
    )


def findings_from(data: Iterable[Any]) -> tuple[Finding, ...]:
    return tuple(map(finding_from, data))


_CLASSES: dict[str, type[FuelError]] = {
    error.__name__: error
    for error in (
        errors.UsageError, errors.Unavailable, errors.Unauthorised, errors.NotFound, errors.Conflict,
        errors.InvalidDocument, errors.InvalidGraph, errors.CycleDetected, errors.StalePlan, errors.Unsupported,
    )
}  # fmt: skip


def error_to(error: FuelError, message: str = "") -> dict[str, Any]:
    """Return an error as JSON: `message` (by default the error's own), its findings as `errors`,
    and everything else as `error`."""
    findings = error.findings if isinstance(error, Conflict | InvalidDocument) else ()
    record: dict[str, Any] = {"class": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, NotFound):
        record.update(noun=error.noun, key=plain(error.key), known=list(error.known))
    if isinstance(error, CycleDetected):
        record["cycle"] = list(map(str, error.cycle))
    return {
        "message": message or str(error),
        "errors": [finding_to(finding) for finding in findings if isinstance(finding, Finding)],
        "error": record,
    }


def error_from(data: Any) -> FuelError | None:
    """Return the error in a body; None if the body is not from a server of ours and has only a message."""
    if not isinstance(data, Mapping) or not isinstance(data.get("error"), Mapping):
        return None
    answer = Answer(data["error"], "error")
    cls = _CLASSES.get(str(answer.data.get("class")))
    if cls is None:
        return None
    message, hint = answer.text("message"), answer.text("hint")
    findings = findings_from(Answer(data, "error").items("errors"))
    if issubclass(cls, NotFound):
        return NotFound(answer.text("noun"), answer.data.get("key"), known=answer.texts("known"), hint=hint)
    if issubclass(cls, CycleDetected):
        return CycleDetected(message, cycle=answer.items("cycle"), findings=findings)
    if issubclass(cls, Conflict | InvalidDocument):
        return cls(message, findings=findings, hint=hint)
    return cls(message, hint=hint)
