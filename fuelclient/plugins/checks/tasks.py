"""P010 to P014, P016 to P021, P050: what the package versions ask of tasks, and what they have given up.

Source: the lists in the specification "plugins-v5". "Version 2.0.0" is 2.0.0 or later everywhere, as Fuel reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.task import TaskType
from fuelclient.plugins.checks.subject import Record, Subject

_INTERNAL = frozenset({TaskType.GROUP.value, TaskType.STAGE.value, TaskType.SKIPPED.value})
"""Types that run nothing; the specification's rule names every record, Fuel's own leaves these out, and so do we."""
_CROSS = ("cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by")
_PLACING = ("roles", "role", "groups", "tags")


def is_modern(task: Record) -> bool:
    """Whether a task says that it is of version 2.0.0 or later."""
    found = re.match(r"[0-9]{1,9}", str(task.data.get("version", "")))
    return found is not None and int(found[0]) >= 2


def check(subject: Subject) -> Iterator[Finding]:
    """The findings about tasks and `tasks.yaml`, as far as the package version has rules for them."""
    if subject.metadata is None:
        return
    if subject.major >= 4:
        yield from _orchestrators(subject)
        yield from _legacy(subject)
    for task in subject.tasks():
        if subject.major == 4:
            yield from _version_4(task)
        elif subject.major >= 5:
            yield from _version_5(task)
        yield from _placement(task)


def _orchestrators(subject: Subject) -> Iterator[Finding]:
    tasks = [*subject.tasks(), *subject.records("release_tasks")]
    modern = [task for task in tasks if is_modern(task)]
    if not tasks:
        return
    if not modern:
        message = "no task has version 2.0.0, which is recommended for Fuel 9.0 and later"
        yield _finding(Severity.INFO, "P010", message, tasks[0].place(), "Add version: 2.0.0 to the tasks.")
        return
    first = modern[0]
    message = (
        f"{len(modern)} of {len(tasks)} tasks have version 2.0.0 or later: Fuel 9.0 runs them in the order of the task"
        " graph, Fuel 8.0 with its experimental orchestrator only"
    )
    hint = "On Fuel 8.0, enable task-based deployment in the settings of the environment."
    yield _finding(Severity.INFO, "P011", message, first.place("version"), hint)
    if subject.major == 4:
        message = "tasks of version 2.0.0 or later are what packages of version 5.0.0 are made for"
        place = Place(subject.files.manifest, subject.line("package_version"))
        yield _finding(Severity.WARNING, "P020", message, place, "Consider package_version: '5.0.0'.")


def _legacy(subject: Subject) -> Iterator[Finding]:
    for data in subject.of("tasks"):
        for document in data.documents:
            if not document.data:
                continue
            place, hint = Place(document.file, 1), "Move its tasks to deployment_tasks.yaml, and remove the file."
            if subject.major == 4:
                message = "tasks.yaml is deprecated, and packages of version 5.0.0 have none"
                yield _finding(Severity.WARNING, "P018", message, place, hint)
            else:
                message = "tasks.yaml holds tasks, and they are ignored in packages of version 5.0.0 and later"
                yield _finding(Severity.ERROR, "P014", message, place, hint)


def _version_4(task: Record) -> Iterator[Finding]:
    if is_modern(task):
        if "groups" in task.data:
            message = f"task {task.name} of version 2.0.0 or later has groups"
            yield _of(task, Severity.WARNING, "P019", message, ("groups",), "Name them in roles: instead.")
        return
    for key in _CROSS:
        if key in task.data:
            message = f"task {task.name} has {key}, which needs version 2.0.0"
            yield _of(task, Severity.ERROR, "P016", message, (key,), "Add version: 2.0.0 to it.")
    parameters = task.data.get("parameters")
    if _kind(task) != TaskType.GROUP and isinstance(parameters, dict) and "strategy" in parameters:
        message = f"task {task.name} has parameters.strategy, which needs version 2.0.0"
        place = Record(parameters, task.file, task.place("parameters").line, task.name).place("strategy")
        yield Finding(Severity.ERROR, "P017", message, place, task.name, "Add version: 2.0.0 to it.")


def _version_5(task: Record) -> Iterator[Finding]:
    kind = _kind(task)
    if kind and kind not in _INTERNAL and not is_modern(task):
        message = f"task {task.name} has to be of version 2.0.0 or later"
        yield _of(task, Severity.ERROR, "P012", message, ("version",), "Write version: 2.0.0.")
    if kind == TaskType.GROUP:
        message = f"task {task.name} is a group, which packages of version 5.0.0 have no more"
        hint = "Write its tasks: as tasks: of the role in node_roles.yaml, and remove it."
        yield _of(task, Severity.ERROR, "P013", message, ("type",), hint)
    if "groups" in task.data:
        message = f"task {task.name} has groups, which are deprecated"
        yield _of(task, Severity.WARNING, "P019", message, ("groups",), "Name them in roles: instead.")
    if "role" in task.data:
        message = f"task {task.name} has role, which is named roles in packages of version 5.0.0"
        yield _of(task, Severity.WARNING, "P021", message, ("role",), "Write roles: instead.")


def _placement(task: Record) -> Iterator[Finding]:
    """P050. A task without type overrides another one, which has a place already."""
    kind = _kind(task)
    if kind and kind != TaskType.STAGE and all(task.data.get(key) in (None, []) for key in _PLACING):
        message = f"task {task.name} names no roles, so it may run on no node"
        yield _of(task, Severity.WARNING, "P050", message, _PLACING, "Add roles: to it.")


def _kind(task: Record) -> Any:
    kind = task.data.get("type")
    return kind if isinstance(kind, str) else ""


def _of(task: Record, severity: Severity, code: str, message: str, keys: tuple[str, ...], hint: str) -> Finding:
    return Finding(severity, code, message, task.place(*keys), task.name, hint)


def _finding(severity: Severity, code: str, message: str, place: Place, hint: str) -> Finding:
    return Finding(severity, code, message, place, hint=hint)
