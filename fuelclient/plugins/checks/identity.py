"""P060: ids that a package gives twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fuelclient.model.finding import Finding, Severity
from fuelclient.plugins.checks.subject import Record, Subject, records_of
from fuelclient.plugins.constraints import KEYS


def check(subject: Subject) -> Iterator[Finding]:
    """An error for every task, volume and component whose id another one of the same part has.

    Records of one id may say for which versions they are meant, each differently: one of them is chosen then (the
    specification "plugins-v5").
    """
    for data in subject.of("deployment_tasks", "release_tasks"):
        yield from _repeated("task", "id", records_of(data))
    for data in subject.of("volumes"):
        yield from _repeated("volume", "id", records_of(data, "volumes"))
    for data in subject.of("components", "release_components"):
        yield from _repeated("component", "name", records_of(data))


def _repeated(noun: str, key: str, records: Iterable[Record]) -> Iterator[Finding]:
    seen: dict[tuple[str, ...], Record] = {}
    for record in records:
        name = record.data.get(key)
        if not isinstance(name, str):
            continue
        variant = (name, *(str(record.data.get(constraint)) for constraint in KEYS))
        first = seen.setdefault(variant, record)
        if first is not record:
            message = f"the {noun} {name} is defined twice, first at {first.place(key)}"
            task = name if noun == "task" else ""
            yield Finding(Severity.ERROR, "P060", message, record.place(key), task, "Rename or remove one of the two.")
