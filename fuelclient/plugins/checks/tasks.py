"""P010 to P014, P016 to P021, P050, P063: what the package versions demand of tasks, and what they no longer support.

Sources: the lists in the specification "plugins-v5", where "version 2.0.0" means 2.0.0 or later, as in Fuel; and the
specification "plugins-deployment-order" for the priorities that order the tasks of unrelated plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fuelclient.graph.stage import band_of, parse_stage
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.task import TaskType
from fuelclient.plugins.parts import Record
from fuelclient.plugins.reading import Reading

_INTERNAL = frozenset({TaskType.GROUP.value, TaskType.STAGE.value, TaskType.SKIPPED.value})
"""Types that run nothing. The specification's rule covers them too, but Fuel's validator and this one exclude them."""
_CROSS = ("cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by")
_PLACING = ("roles", "role", "groups", "tags")
_RANGES = "0-999 hardware, 2000-2999 disks, 4000-4999 network, 6000-6999 software, 8000-8999 monitoring"
_MOVE = "Move its tasks to deployment_tasks.yaml, and remove the file."


def check(package: Reading) -> Iterator[Finding]:
    """Yield findings about tasks and `tasks.yaml`, following the rules for the package version."""
    if package.major >= 4:
        yield from _orchestrators(package)
        yield from _legacy_file(package)
    placed = _placed_by_groups(package)
    for task in package.tasks():
        if package.major == 4:
            yield from _version_4(task)
        elif package.major >= 5:
            yield from _version_5(task)
        if task.name not in placed:
            yield from _placement(task)
    yield from priorities(package)


def priorities(package: Reading) -> Iterator[Finding]:
    """P063: a priority in a reserved range, or outside all ranges. Only stages of legacy tasks order anything."""
    if package.major < 2:
        return  # version 1 has no priorities, and they violate its schema
    types = ("deployment_tasks", "tasks") if package.major < 5 else ("deployment_tasks",)
    for task in package.records(*types):
        text = task.data.get("stage")
        if isinstance(text, str) and "/" in text and not _is_modern(task):
            stage = parse_stage(text)
            band = band_of(stage.priority)
            if stage.is_valid and (band is None or band == "reserved"):
                where = "in a reserved range" if band else "outside the ranges"
                message = f"the priority in {text[:80]} is {where} that plugins have agreed on"
                yield Finding(Severity.WARNING, "P063", message, task.place("stage"), hint=f"The ranges are {_RANGES}.")


def _orchestrators(package: Reading) -> Iterator[Finding]:
    tasks = [*package.tasks(), *package.records("release_tasks")]
    modern = [task for task in tasks if _is_modern(task)]
    if not modern:
        legacy = package.records("tasks") if package.major < 5 else ()
        first = next(iter((*tasks, *legacy)), None)
        if first is not None:
            message = "no task has version 2.0.0, which is recommended for Fuel 9.0 and later"
            hint = "Add version: 2.0.0 to the tasks." if tasks else "Write them as tasks in deployment_tasks.yaml."
            yield Finding(Severity.INFO, "P010", message, first.place(), hint=hint)
        return
    message = (
        f"{len(modern)} of {len(tasks)} tasks have version 2.0.0 or later: Fuel 9.0 runs them in the order of the task"
        " graph, Fuel 8.0 only with its experimental orchestrator"
    )
    hint = "On Fuel 8.0, enable task-based deployment in the settings of the environment."
    yield Finding(Severity.INFO, "P011", message, modern[0].place("version"), hint=hint)
    if package.major == 4:
        message = "tasks of version 2.0.0 or later should be in a package of version 5.0.0"
        place = package.place("package_version")
        yield Finding(Severity.WARNING, "P020", message, place, hint="Consider package_version: '5.0.0'.")


def _legacy_file(package: Reading) -> Iterator[Finding]:
    for data in package.of("tasks"):
        for document in data.documents:
            if not document.data:
                continue
            place = Place(document.file, 1)
            if package.major == 4:
                message = "tasks.yaml is deprecated, and packages of version 5.0.0 do not have it"
                yield Finding(Severity.WARNING, "P018", message, place, hint=_MOVE)
            else:
                message = "tasks.yaml contains tasks, but packages of version 5.0.0 and later ignore them"
                yield Finding(Severity.ERROR, "P014", message, place, hint=_MOVE)


def _version_4(task: Record) -> Iterator[Finding]:
    if _is_modern(task):
        if "groups" in task.data:
            message = f"task {task.name} of version 2.0.0 or later has groups"
            yield _finding(task, Severity.WARNING, "P019", message, "Use roles: instead.", "groups")
        return
    hint = "Add version: 2.0.0 to the task."
    for key in _CROSS:
        if key in task.data:
            message = f"task {task.name} has {key}, which needs version 2.0.0"
            yield _finding(task, Severity.ERROR, "P016", message, hint, key)
    parameters = task.data.get("parameters")
    if _type(task) != TaskType.GROUP and isinstance(parameters, dict) and "strategy" in parameters:
        message = f"task {task.name} has parameters.strategy, which needs version 2.0.0"
        place = Record(parameters, task.file, task.place("parameters").line, task.name).place("strategy")
        yield Finding(Severity.ERROR, "P017", message, place, task.name, hint)


def _version_5(task: Record) -> Iterator[Finding]:
    task_type = _type(task)
    if task_type and task_type not in _INTERNAL and not _is_modern(task):
        message = f"task {task.name} must have version 2.0.0 or later"
        yield _finding(task, Severity.ERROR, "P012", message, "Write version: 2.0.0.", "version")
    if task_type == TaskType.GROUP:
        message = f"task {task.name} is a group, which packages of version 5.0.0 no longer support"
        hint = "Remove it, and list its tasks under tasks: of the role in node_roles.yaml."
        yield _finding(task, Severity.ERROR, "P013", message, hint, "type")
    if "groups" in task.data:
        message = f"task {task.name} has groups, which are deprecated"
        yield _finding(task, Severity.WARNING, "P019", message, "Use roles: instead.", "groups")
    if "role" in task.data:
        message = f"task {task.name} has role, which is called roles in packages of version 5.0.0"
        yield _finding(task, Severity.WARNING, "P021", message, "Use roles: instead.", "role")


def _placed_by_groups(package: Reading) -> set[str]:
    """Return the tasks that a group of the package lists, or, since version 5, one of its roles."""
    listed = [task.data.get("tasks") for task in package.tasks() if _type(task) == TaskType.GROUP]
    if package.major >= 5:
        listed += [role.get("tasks") for _, role, *_ in package.roles() if isinstance(role, Mapping)]
    return {name for names in listed if isinstance(names, list) for name in names if isinstance(name, str)}


def _placement(task: Record) -> Iterator[Finding]:
    """P050. A task without a type overrides another one, which already has a place."""
    task_type = _type(task)
    if task_type and task_type != TaskType.STAGE and all(task.data.get(key) in (None, []) for key in _PLACING):
        message = f"task {task.name} has no roles, so it may not run on any node"
        yield _finding(task, Severity.WARNING, "P050", message, "Add roles: to the task.", *_PLACING)


def _is_modern(task: Record) -> bool:
    """Return whether a task states version 2.0.0 or later."""
    match = re.match(r"[0-9]{1,9}", str(task.data.get("version", "")))
    return match is not None and int(match[0]) >= 2


def _type(task: Record) -> str:
    task_type = task.data.get("type")
    return task_type if isinstance(task_type, str) else ""


def _finding(task: Record, severity: Severity, code: str, message: str, hint: str, *keys: str) -> Finding:
    return Finding(severity, code, message, task.place(*keys), task.name, hint)
