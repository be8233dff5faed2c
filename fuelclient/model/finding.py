"""Findings: what a check has to say, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is: only errors keep a document from being used."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file and line when it came from a file, else the layer that holds it."""

    file: str = ""
    line: int = 0
    layer: str = ""

    def __str__(self) -> str:
        if self.file:
            return f"{self.file}:{self.line}" if self.line else self.file
        return self.layer


NO_PLACE = Place()


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check.

    `code` is stable and documented (`G...` graphs, `P...` plugin packages); `task` is the id of the
    task it is about, or empty; `hint` says what to do.
    """

    severity: Severity
    code: str
    message: str
    place: Place = NO_PLACE
    task: str = ""
    hint: str = ""

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        """One line, in the form editors jump to: `file:line: severity: message [code] hint`."""
        where = f"{self.place}: " if str(self.place) else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{where}{self.severity}: {self.message} [{self.code}]{hint}"


def errors_in(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that keep a document from being used, in their order."""
    return [finding for finding in findings if finding.is_error]
