"""Findings about tasks, each at the place where its author wrote what is wrong."""

from __future__ import annotations

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.task import Task


def place_of(stated: Task | MergedTask, attribute: str = "") -> Place:
    """Return where an attribute was set: file and line if they are known, and always the layer of a merged task."""
    if isinstance(stated, Task):
        return stated.source.place(attribute)
    origin = stated.origin(attribute)
    return Place(origin.place.file, origin.place.line, origin.owner.label)


def finding_at(
    severity: Severity, code: str, stated: Task | MergedTask, attribute: str, message: str, hint: str = ""
) -> Finding:
    """Return a finding about an attribute of a task."""
    return Finding(severity, code, message, place_of(stated, attribute), stated.id, hint)


def task_finding(
    severity: Severity, code: str, stated: Task | MergedTask, attribute: str, problem: str, hint: str = ""
) -> Finding:
    """Return a finding about an attribute of a task, whose message begins with the task."""
    return finding_at(severity, code, stated, attribute, f"task {stated.id}: {problem}", hint)
