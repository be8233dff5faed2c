"""P005, P015: the versions of Fuel that a package says it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.subject import Subject
from fuelclient.serializers.values import items_of

_FORM = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?")
_FLOORS = {1: (6, 0), 2: (6, 1), 3: (7, 0), 4: (8, 0), 5: (8, 0), 6: (8, 0)}
"""The oldest Fuel of each package version. Version 5 runs on 8.0 only with the experimental orchestrator (the
specification "plugins-v5"; Fuel Plugin Builder wants 9.0)."""
_FULLY = (9, 0)
_WITH_RELEASES = (9, 1)


def check(subject: Subject) -> Iterator[Finding]:
    """The findings about `fuel_version`; what is no text there is the schema's business."""
    stated = (subject.metadata or {}).get("fuel_version")
    if not isinstance(stated, list):
        return
    line = subject.line("fuel_version")
    for value, at in items_of(stated, line):
        if isinstance(value, str):
            yield from _entry(subject, value, Place(subject.files.manifest, at))


def _entry(subject: Subject, value: str, place: Place) -> Iterator[Finding]:
    found = _FORM.fullmatch(value)
    if not found:
        message = f"{value[:80]!r} in fuel_version is no version of Fuel"
        yield Finding(Severity.ERROR, "P005", message, place, hint="Write numbers with a dot: '9.0'.")
        return
    version, floor = (int(found[1]), int(found[2])), _FLOORS[subject.major]
    package = f"packages of version {subject.major}.0.0"
    if version < floor:
        message = f"{package} need Fuel {floor[0]}.{floor[1]} or later, and fuel_version has {value}"
        hint = f"Remove {value} from fuel_version, or use an older package_version."
        yield Finding(Severity.ERROR, "P005", message, place, hint=hint)
    elif subject.major >= 5 and version < _FULLY:
        message = f"on Fuel {value} {package} need the experimental task-based orchestrator; 7.0 and older have none"
        hint = f"Enable it there, or remove {value} from fuel_version."
        yield Finding(Severity.WARNING, "P015", message, place, hint=hint)
    elif subject.definitions and version < _WITH_RELEASES:
        message = f"releases as plugins need Fuel 9.1 or later, and fuel_version has {value}"
        yield Finding(Severity.WARNING, "P015", message, place, hint=f"Remove {value} from fuel_version.")
