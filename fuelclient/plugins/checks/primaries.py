"""P066: tasks that leave out the primary node of a role that the package defines.

The primary node of a role carries `primary-ROLE` instead of the role. A task with `roles: [ROLE]` therefore runs on
every node but the primary: on none, if only one node has the role.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.graph.match import Names
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.task import TaskType
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plan.place import EVERY, named
from fuelclient.plugins.parts import Record
from fuelclient.plugins.reading import Reading
from fuelclient.serializers.values import key_text

_PLACING = ("roles", "role", "groups")


def check(package: Reading) -> Iterator[Finding]:
    """Yield a warning for every task for a role with a primary that does not run on its primary node.

    Nothing is reported about a role if another task is for its primary alone: then its author separates the two.
    """
    tasks = list(package.tasks())
    for role in _with_primary(package):
        primary = PRIMARY + role
        reaching = {id(task) for task in tasks if _means(task, primary)}
        if any(id(task) in reaching and not _means(task, role) for task in tasks):
            continue
        listed = _listed_by_role(package, role) | {
            name for task in tasks if id(task) in reaching and _is_group(task) for name in _words(task, "tasks")
        }
        for task in tasks:
            if id(task) not in reaching and role in _placing_words(task) and task.name not in listed:
                message = f"task {task.name} is for the role {role}, but not for its primary node, which has {primary}"
                hint = f"Write roles: [{primary}, {role}]."
                yield Finding(Severity.WARNING, "P066", message, task.place(*_PLACING), task.name, hint)


def _with_primary(package: Reading) -> Iterator[str]:
    """Yield the package's roles that have a primary node, unless other tags than their names find their nodes."""
    for name, role, *_ in package.roles():
        nested = role.get("metadata") if isinstance(role, Mapping) else None
        stated = {**(nested if isinstance(nested, Mapping) else {}), **(role if isinstance(role, Mapping) else {})}
        if stated.get("has_primary") is True and stated.get("tags") is None:
            yield key_text(name)


def _listed_by_role(package: Reading, role: str) -> set[str]:
    """Return the tasks that the role itself lists. They run on its primary too, since package version 5."""
    if package.major < 5:
        return set()
    return {
        name
        for stated, value, *_ in package.roles()
        if key_text(stated) == role and isinstance(value, Mapping)
        for name in _strings(value.get("tasks"))
    }


def _means(task: Record, word: str) -> bool:
    """Return whether a task is for nodes with `word`, by name, by a pattern, or because it is for all."""
    words = _placing_words(task)
    return words == [EVERY] or any(named(stated, Names([word])) for stated in words)


def _placing_words(task: Record) -> list[str]:
    return [word for key in _PLACING for word in _words(task, key)]


def _words(task: Record, key: str) -> list[str]:
    return _strings(task.data.get(key))


def _strings(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [word for word in listed if isinstance(word, str)]


def _is_group(task: Record) -> bool:
    return task.data.get("type") == TaskType.GROUP.value
