"""Findings: the results of checks, with their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fuelclient.errors import InvalidDocument, InvalidGraph


class Severity(StrEnum):
    """The severity of a finding. Only errors keep a document from being used."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Place:
    """A file and line, or the layer of something that does not come from a file.

    `path` has the keys and indexes that lead to it, for callers that have the lines of the document.
    """

    file: str = ""
    line: int = 0
    layer: str = ""
    path: tuple[str | int, ...] | None = None

    def __str__(self) -> str:
        if self.file:
            return f"{self.file}:{self.line}" if self.line else self.file
        return self.layer


NO_PLACE = Place()


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check.

    `code` is stable and documented (`G...` graphs, `N...` networks and nodes, `P...` plugin packages), `task` is the id
    of the task concerned or empty, and `hint` is what to do.
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
        """One line in a form that editors can jump to: `file:line: severity: message [code] hint`."""
        where = f"{self.place}: " if str(self.place) else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{where}{self.severity}: {self.message} [{self.code}]{hint}"


class _Subject(Protocol):
    """A `Task` or a `MergedTask`."""

    @property
    def id(self) -> str: ...
    def place(self, attribute: str) -> Place: ...


def finding_at(severity: Severity, code: str, task: _Subject, attribute: str, message: str, hint: str = "") -> Finding:
    """A finding about an attribute of a task, at the place where the attribute was set."""
    return Finding(severity, code, message, task.place(attribute), task.id, hint)


def task_finding(
    severity: Severity, code: str, task: _Subject, attribute: str, problem: str, hint: str = ""
) -> Finding:
    """The same as `finding_at`, but the message begins with the task."""
    return finding_at(severity, code, task, attribute, f"task {task.id}: {problem}", hint)


MOST_FINDINGS = 10_000
"""The most findings of one document; a file of 16 MB could have a million."""


def limited(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the first `MOST_FINDINGS` findings, and then an error if there are more: the rest is not computed."""
    for count, finding in enumerate(findings):
        if count >= MOST_FINDINGS:
            message = f"there are more than {MOST_FINDINGS} findings, and the rest was not checked"
            yield Finding(
                Severity.ERROR, "G018", message, finding.place, hint="Correct the first ones, and check again."
            )
            return
        yield finding


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first `most` names, and the number of the others.

    >>> listed(["node-1", "node-2", "node-3"], most=2)
    'node-1, node-2 and 1 more'
    """
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def errors_in(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_error]


def require_no_errors(findings: Sequence[Finding], subject: str, raised: type[InvalidDocument] = InvalidGraph) -> None:
    """Raise `raised` with all findings if one of them is an error. Its message is `subject` and the number of errors.

    >>> require_no_errors([Finding(Severity.ERROR, "G002", "no id")], "The graph is not stored")
    Traceback (most recent call last):
    fuelclient.errors.InvalidGraph: The graph is not stored: 1 error.
    """
    if count := len(errors_in(findings)):
        raise raised(f"{subject}: {'1 error' if count == 1 else f'{count} errors'}.", findings=findings)
