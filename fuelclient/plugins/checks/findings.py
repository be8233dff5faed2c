"""Collecting findings: each once, no flood of one kind, in the order of files and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from fuelclient.model.finding import Finding, Place

MAX_OF_A_KIND = 200
"""Findings of one code in one file that are told; what is behind them is only counted."""


class Findings:
    """What the checks have found."""

    def __init__(self) -> None:
        self._found: dict[Finding, None] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], Finding] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Take note of `findings`."""
        for finding in map(_in_one_line, findings):
            if finding in self._found:
                continue
            kind = (finding.code, finding.place.file)
            self._counts[kind] += 1
            self._last[kind] = finding
            if self._counts[kind] <= MAX_OF_A_KIND:
                self._found[finding] = None

    def add_unless_told(self, findings: Iterable[Finding]) -> None:
        """Take note of what nothing of its code was found for in its place, and of errors only where there is none."""
        told = {(one.place.file, one.place.line) for one in self._found if one.is_error}
        known = {(one.code, one.place.file, one.place.line) for one in self._found}
        for one in findings:
            place = (one.place.file, one.place.line)
            if (one.code, *place) not in known and not (one.is_error and place in told):
                self.add([one])

    def sorted(self, manifest: str) -> tuple[Finding, ...]:
        """All findings, those of `manifest` first, then by file, line and code; equal ones as they were found."""
        more = [
            replace(
                self._last[kind],
                message=f"{count - MAX_OF_A_KIND} more findings {kind[0]} in this file are not told",
                place=Place(kind[1]),
                task="",
                hint="Correct those that are told first.",
            )
            for kind, count in self._counts.items()
            if count > MAX_OF_A_KIND
        ]
        return tuple(sorted([*self._found, *more], key=lambda one: _order(one, manifest)))


def _in_one_line(finding: Finding) -> Finding:
    """The finding without line ends and other signs that names in a file may bring along."""
    if finding.message.isprintable() and finding.hint.isprintable() and finding.task.isprintable():
        return finding
    message, hint, task = map(_printable, (finding.message, finding.hint, finding.task))
    return replace(finding, message=message, hint=hint, task=task)


def _printable(text: str) -> str:
    """`text` on one line.

    >>> _printable("the role a\\n b\\x1b[1m lacks name")
    'the role a b?[1m lacks name'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


def _order(finding: Finding, manifest: str) -> tuple[bool, str, int, str]:
    return finding.place.file != manifest, finding.place.file, finding.place.line, finding.code
