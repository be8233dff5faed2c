"""Findings as records, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.answer import Answer


def finding_to(finding: Finding) -> dict[str, Any]:
    return {
        "severity": str(finding.severity),
        "code": finding.code,
        "message": finding.message,
        "file": finding.place.file,
        "line": finding.place.line,
        "layer": finding.place.layer,
        "task": finding.task,
        "hint": finding.hint,
        **({} if finding.place.path is None else {"path": list(finding.place.path)}),
    }


def finding_from(data: Any) -> Finding:
    """Raise `InvalidDocument` for anything but a record of `finding_to`."""
    answer = Answer(data, "finding")
    path = tuple(answer.items("path")) if "path" in answer.data else None
    severity = answer.one_of("severity", Severity, Severity.ERROR)
    return answer.into(Finding, "message", severity=severity, place=answer.into(Place, path=path))


def findings_from(data: Iterable[Any]) -> tuple[Finding, ...]:
    return tuple(map(finding_from, data))
