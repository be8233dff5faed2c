"""One task over another: replacement, overlay, and who set what."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.model.graph import Layer, MergedTask, Origin, Owner, Setting
from fuelclient.model.task import Task, TaskType


def standing(task: Task, layer: Layer) -> MergedTask:
    """A whole definition on its own, with the defaults that its owner adds to its own records.

    A plugin's task with parameters runs in the plugin's directory unless it says otherwise; a group named after
    one of the plugin's roles has that role's fault tolerance (Nailgun's plugin adapters do the same).
    """
    added: dict[str, Any] = {}
    parameters = task.attributes.get("parameters")
    if layer.cwd and parameters and isinstance(parameters, Mapping) and "cwd" not in parameters:
        added["parameters"] = {**parameters, "cwd": layer.cwd}
    tolerance = layer.fault_tolerance.get(task.id)
    if task.type == TaskType.GROUP and tolerance is not None and "fault_tolerance" not in task.attributes:
        added["fault_tolerance"] = tolerance
    if not added:
        return MergedTask(task, layer.owner)
    settings = {key: Setting(Origin(layer.owner)) for key in added if key != "parameters"}
    if "parameters" in added:
        settings["parameters.cwd"] = Setting(Origin(layer.owner))
    return MergedTask(
        dataclasses.replace(task, attributes={**task.attributes, **added}), layer.owner, settings=settings
    )


def replaced(below: Sequence[MergedTask], task: MergedTask) -> MergedTask:
    """`task` in the place of `below`: its own attributes only, and a note of what each of them replaced and of
    what is gone."""
    settings: dict[str, Setting] = dict(task.settings)
    paths = dict.fromkeys((*task.task.attributes, *(path for one in below for path in _recorded(one))))
    for path in paths:
        was = tuple(pair for one in below for pair in _history(one, path))
        if _at(task.task.attributes, path)[0]:
            settings[path] = Setting(task.origin(path), was)
        else:
            settings[path] = Setting(
                _dropped_by(below, path) or Origin(task.owner, task.task.source.place()), was, True
            )
    return MergedTask(task.task, task.owner, _overrides(below), settings)


def _recorded(task: MergedTask) -> Iterator[str]:
    yield from task.task.attributes
    yield from task.settings


def _dropped_by(below: Sequence[MergedTask], path: str) -> Origin | None:
    """Who dropped a value already, so that no layer above can; None while a task below still has it."""
    if any(_at(one.task.attributes, path)[0] for one in below):
        return None
    return next((one.settings[path].origin for one in below if path in one.settings), None)


def overlaid(below: MergedTask, record: Task, owner: Owner) -> MergedTask:
    """`below` with the attributes that `record` states: mappings merge, lists and scalars replace."""
    attributes = dict(below.task.attributes)
    settings = {path: Setting(below.origin(path)) for path in _paths(attributes)}
    settings.update(below.settings)
    changed: dict[str, None] = {}
    for name, value in record.attributes.items():
        for path in _changes(name, attributes.get(name), value):
            inside = [one for one in settings if one.startswith(f"{path}.") and one not in attributes]
            changed.update(dict.fromkeys((path, *inside)))
        attributes[name] = _merged(attributes.get(name), value)
    for path in changed:
        origin = Origin(owner, record.source.place(path))
        if _at(attributes, path)[0]:
            settings[path] = Setting(origin, _history(below, path))
        else:
            settings[path] = Setting(_dropped_by([below], path) or origin, _history(below, path), True)
    task = Task(below.id, attributes, record.source, below.task.legacy)
    return MergedTask(task, owner, _overrides([below]), settings)


def _overrides(below: Sequence[MergedTask]) -> tuple[Owner, ...]:
    """The owners that a task overrides, the nearest first."""
    return tuple(dict.fromkeys((*(one.owner for one in below), *(own for one in below for own in one.overrides))))


def _history(task: MergedTask, path: str) -> tuple[tuple[Any, Origin], ...]:
    """The values that `path` had, with their origins, the nearest first."""
    setting = task.settings.get(path)
    older = setting.replaced if setting else ()
    if setting and setting.dropped:
        return older
    found, value = _at(task.task.attributes, path)
    return ((value, task.origin(path)), *older) if found else older


def _at(attributes: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    """Whether there is a value at a dotted path, and which; keys may hold dots of their own."""
    if path in attributes:
        return True, attributes[path]
    for end in (index for index, letter in enumerate(path) if letter == "."):
        below = attributes.get(path[:end])
        if isinstance(below, Mapping):
            found, value = _at(below, path[end + 1 :])
            if found:
                return True, value
    return False, None


def _paths(attributes: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The path of every attribute, and of every key below those that merge."""
    for key, value in attributes.items():
        yield f"{prefix}{key}"
        if _is_mergeable(value):
            yield from _paths(value, f"{prefix}{key}.")


def _is_mergeable(value: Any) -> bool:
    return isinstance(value, Mapping) and "yaql_exp" not in value


def _merged(old: Any, new: Any) -> Any:
    if not (_is_mergeable(old) and _is_mergeable(new)):
        return new
    merged = dict(old)
    for key, value in new.items():
        merged[key] = _merged(merged[key], value) if key in merged else value
    return merged


def _changes(path: str, old: Any, new: Any) -> Iterator[str]:
    """The paths that an overlay sets."""
    if _is_mergeable(old) and _is_mergeable(new):
        for key, value in new.items():
            yield from _changes(f"{path}.{key}", old.get(key), value)
    else:
        yield path
