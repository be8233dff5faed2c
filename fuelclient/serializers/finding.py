"""Findings as records, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.answer import Answer


def finding_to(finding: Finding) -> dict[str, Any]:
    """The record of a finding; reading it again gives the same finding."""
    return {
        "severity": str(finding.severity),
        "code": finding.code,
        "message": finding.message,
        "file": finding.place.file,
        "line": finding.place.line,
        "layer": finding.place.layer,
        "task": finding.task,
        "hint": finding.hint,
    }


def finding_from(data: Any) -> Finding:
    """The finding that a record states; `InvalidDocument` for anything else."""
    answer = Answer(data, "finding")
    severity = answer.text("severity", Severity.ERROR)
    if severity not in set(Severity):
        raise InvalidDocument(f"{severity!r} is no severity of a finding.", hint=f"Known: {', '.join(Severity)}.")
    return Finding(
        Severity(severity),
        answer.text("code"),
        answer.stated("message"),
        Place(answer.text("file"), answer.number("line"), answer.text("layer")),
        answer.text("task"),
        answer.text("hint"),
    )


def findings_from(data: Iterable[Any]) -> tuple[Finding, ...]:
    """The findings of a list of records."""
    return tuple(finding_from(one) for one in data)
