"""P086 to P088: the findings that the author of a package accepts in its `.fuel2-check.yaml`, each with a reason.

Builds leave the file out, like all hidden files, and an installation does not read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from fuelclient import files
from fuelclient.errors import FuelError, InvalidDocument
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.serializers.values import in_words, items_of, line_of

FILE = ".fuel2-check.yaml"
_KEYS = ("code", "task", "file", "reason")
_SHAPE = "Write accept: and below it records like - {code: P050, task: TASK, reason: WHY}; task and file are optional."
_CODE = re.compile(r"[GP][0-9]{3}")
_RELEASE_CODES = ("G03", "G04", "G05", "P07")
"""The prefixes of codes that are only found if a package is checked together with a release."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A record of the file: which findings it is about, why they are accepted, and where it is written."""

    code: str
    task: str
    file: str
    reason: str
    place: Place

    def matches(self, finding: Finding, directory: Path) -> bool:
        if finding.code != self.code or self.task not in ("", finding.task):
            return False
        return not self.file or Path(finding.place.file) == directory / self.file


def accept(
    findings: Iterable[Finding], directory: Path, *, unusable: frozenset[str], is_together: bool = False
) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """Return the findings that remain, with those about the file itself, and the accepted ones with their reasons.

    Errors with a code in `unusable` cannot be accepted. Unless the package was checked together with a release
    (`is_together`), entries for findings that need a release do not count as unused.
    """
    path = directory / FILE
    if not path.is_file():
        return list(findings), []
    items = list(_read(path, unusable))
    entries = [item for item in items if isinstance(item, _Entry)]
    remaining = [item for item in items if isinstance(item, Finding)]
    accepted: list[tuple[Finding, str]] = []
    used: set[_Entry] = set()
    for finding in findings:
        matching = [entry for entry in entries if entry.matches(finding, directory)]
        used.update(matching)
        if reason := next((entry.reason for entry in matching if entry.reason), ""):
            accepted.append((finding, reason))
        else:
            remaining.append(finding)
    for entry in entries:
        if entry not in used and (is_together or not entry.code.startswith(_RELEASE_CODES)):
            about = f" about {entry.task or entry.file}" if entry.task or entry.file else ""
            message = f"{entry.code}{about} is accepted here, but no longer found"
            remaining.append(Finding(Severity.WARNING, "P088", message, entry.place, entry.task, "Remove the record."))
    return remaining, accepted


def _read(path: Path, unusable: frozenset[str]) -> Iterator[_Entry | Finding]:
    place = Place(str(path), 1)
    try:
        data = files.load(path).data
    except FuelError as error:
        listed = cast("tuple[Finding, ...]", error.findings) if isinstance(error, InvalidDocument) else ()
        at = listed[0].place if listed else place
        message = f"{FILE} cannot be read: {listed[0].message if listed else error.message.rstrip('.')}"
        yield Finding(Severity.ERROR, "P086", message, at, hint=_SHAPE)
        return
    records = data.get("accept") if isinstance(data, Mapping) else None
    if not isinstance(records, list) or len(data) > 1:
        content = f"the keys {', '.join(map(str, data))}" if isinstance(data, Mapping) else in_words(data)
        message = f"{FILE} has {content}; it must have one key, accept, with a list"
        yield Finding(Severity.ERROR, "P086", message, place, hint=_SHAPE)
        return
    for record, line in items_of(records, line_of(data, "accept") or 1):
        yield from _entry(record, Place(str(path), getattr(record, "line", 0) or line), unusable)


def _entry(record: Any, place: Place, unusable: frozenset[str]) -> Iterator[_Entry | Finding]:
    problem = ""
    if not isinstance(record, Mapping):
        problem = f"a record is {in_words(record)}, not a mapping"
    elif unknown := [str(key) for key in record if key not in _KEYS]:
        problem = f"a record has the unknown key {unknown[0]}"
    elif wrong := [key for key in record if not isinstance(record[key], str)]:
        problem = f"{wrong[0]} is {in_words(record[wrong[0]])}, not a string"
    elif not _CODE.fullmatch(record.get("code", "")):
        problem = f"{record.get('code', '')!r} is not the code of a finding"
    elif record["code"] in unusable:
        problem = f"{record['code']} cannot be accepted, because a package with it cannot be installed"
    if problem:
        yield Finding(Severity.ERROR, "P086", problem, place, hint=_SHAPE)
        return
    task, file, reason = (record.get(key, "").strip() for key in _KEYS[1:])
    yield _Entry(record["code"], task, file, reason, place)
    if not reason:
        message = f"{record['code']} is not accepted, because the record gives no reason"
        yield Finding(Severity.WARNING, "P087", message, place, task, "Add reason: to the record.")
