"""Collect findings: each once, a limited number of each code, in the order of files and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from fuelclient.model.finding import Finding, Place

MAX_PER_CODE = 200
"""The most findings with one code in one file that are listed. The others are only counted."""


class Findings:
    """The findings of all checks."""

    def __init__(self) -> None:
        self._findings: dict[Finding, None] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], Finding] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings, each once."""
        for finding in map(_on_one_line, findings):
            if finding in self._findings:
                continue
            key = (finding.code, finding.place.file)
            self._counts[key] += 1
            self._last[key] = finding
            if self._counts[key] <= MAX_PER_CODE:
                self._findings[finding] = None

    def add_unless_known(self, findings: Iterable[Finding]) -> None:
        """Add findings, but not a second one with the same code and place, nor an error where there is one already."""
        errors = {(finding.place.file, finding.place.line) for finding in self._findings if finding.is_error}
        known = {(finding.code, finding.place.file, finding.place.line) for finding in self._findings}
        for finding in findings:
            place = (finding.place.file, finding.place.line)
            if (finding.code, *place) not in known and not (finding.is_error and place in errors):
                self.add([finding])

    def sorted(self, manifest: str) -> tuple[Finding, ...]:
        """Return all findings: those of `manifest` first, then by file, line and code, then as they were added."""
        more = [
            replace(
                self._last[code, file],
                message=f"{count - MAX_PER_CODE} more findings {code} in this file are not listed",
                place=Place(file),
                task="",
                hint="Correct the listed ones first.",
            )
            for (code, file), count in self._counts.items()
            if count > MAX_PER_CODE
        ]
        return tuple(sorted([*self._findings, *more], key=lambda finding: _order(finding, manifest)))


def _on_one_line(finding: Finding) -> Finding:
    """Return the finding without line ends and control characters, which may come from names in a file."""
    if finding.message.isprintable() and finding.hint.isprintable() and finding.task.isprintable():
        return finding
    message, hint, task = map(_printable, (finding.message, finding.hint, finding.task))
    return replace(finding, message=message, hint=hint, task=task)


def _printable(text: str) -> str:
    """Return `text` on one line.

    >>> _printable("the role a\\n b\\x1b[1m lacks name")
    'the role a b?[1m lacks name'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


def _order(finding: Finding, manifest: str) -> tuple[bool, str, int, str]:
    return finding.place.file != manifest, finding.place.file, finding.place.line, finding.code
