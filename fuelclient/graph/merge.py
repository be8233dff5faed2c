"""Merge the layers of one graph type to one graph, and record where each attribute was set.

Tasks merge by id: the cluster's over the plugins' over the release's. A record with a type is a whole definition and
replaces what lies below it; a record without one overrides the attributes it has. The order is the release's, with
overrides in place, then what plugins add by (name, version), then what the cluster adds, so that a merge reads like a
diff. If two plugins define the same id, both definitions stay, as variants. Plugins that only override attributes of
a task apply one after another, over every definition of it.

Source: the specification "custom-graph-execution", section Nailgun; Nailgun 9 and later replace likewise.
Nailgun returns the layers in reversed order, which has no meaning.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.model.finding import Finding, Severity, errors_in, finding_at
from fuelclient.model.graph import METADATA, Layer, Level, MergedGraph, MergedTask, MergePolicy, Origin, Owner, Setting
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Source, Task, TaskType

_MISSING = object()


def merge_layers(
    layers: Sequence[Layer], policy: MergePolicy = MergePolicy.REPLACE, *, keep_partial: bool = False
) -> MergedGraph:
    """Merge `layers`, given in any order.

    Errors become findings: a partial record that overrides nothing is left out (G020), and if one layer defines an id
    twice, the first definition is kept (G005). With `keep_partial`, partial records that override nothing are kept:
    use it where only some layers of an environment are merged.

    >>> low = Layer(Owner(Level.RELEASE, 1), (Task("a", {"type": "puppet"}), Task("b", {"type": "shell"})))
    >>> high = Layer(Owner(Level.CLUSTER, 1), (Task("c", {"type": "sync"}), Task("a", {"type": "reboot"})))
    >>> [(task.id, task.task.type, task.owner.label) for task in merge_layers([high, low]).tasks]
    [('a', 'reboot', 'cluster'), ('b', 'shell', 'release'), ('c', 'sync', 'cluster')]
    """
    slots: dict[str, _Slot] = {}
    ordered = sorted(layers, key=lambda layer: layer.owner.order)
    findings = list(chain.from_iterable(duplicates(layer.tasks) for layer in ordered))
    records = [(layer, task) for layer in ordered for task in _without_duplicates(layer.tasks)]
    if policy is MergePolicy.REPLACE and not keep_partial:
        # Plugins' definitions come before plugins' overrides, whatever the names of the plugins.
        plugins = [index for index, (layer, _) in enumerate(records) if layer.owner.level is Level.PLUGIN]
        if plugins:  # they are next to each other, because layers are ordered by level
            first, end = plugins[0], plugins[-1] + 1
            records[first:end] = sorted(records[first:end], key=lambda record: record[1].is_partial)
    for layer, task in records:
        slot = slots.get(task.id) or slots.setdefault(task.id, _Slot())
        if not slot.add(task, layer, policy, keep_partial):
            problem = f"task {task.id} has no type, and no layer below {layer.owner.label} defines it"
            findings.append(finding_at(Severity.ERROR, "G020", task, "", problem, "State its type, or correct its id."))
    tasks = tuple(task for slot in slots.values() for task in slot.tasks())
    return MergedGraph(tasks, merged_metadata(layers), tuple(findings))


def merged_metadata(layers: Iterable[Layer]) -> dict[str, Any]:
    """The metadata of the graph that `merge_layers` makes of layers in any order."""
    metadata: dict[str, Any] = {}
    for layer in sorted(layers, key=lambda layer: layer.owner.order):
        given = {key: layer.metadata[key] for key in METADATA if key in layer.metadata}
        metadata = _merged(metadata, given)  # an empty mapping clears nothing
    return metadata


def merge_snapshot(snapshot: Snapshot) -> MergedGraph:
    """Merge the graph of a snapshot. Raise `InvalidGraph` if it cannot be merged."""
    merged = merge_layers(snapshot.layers)
    require_merged(snapshot, merged)
    return merged


def require_merged(snapshot: Snapshot, merged: MergedGraph) -> None:
    if errors_in(merged.findings):
        raise InvalidGraph(
            f"The {snapshot.graph_type} graph of environment {snapshot.cluster.id} cannot be merged.",
            findings=merged.findings,
        )


def duplicates(tasks: Sequence[Task]) -> Iterator[Finding]:
    """Yield a finding (G005) for each task of a document or layer that has the id of an earlier task."""
    seen: dict[str, Source] = {}
    for task in tasks if len({task.id for task in tasks}) < len(tasks) else ():
        if task.id in seen:
            first = seen[task.id]
            where = f", first at {first.place()}" if first.file else ""
            hint = "Remove one of the two definitions, or give one of them another id."
            yield finding_at(Severity.ERROR, "G005", task, "", f"task {task.id} is defined twice{where}", hint)
        seen.setdefault(task.id, task.source)


def _without_duplicates(tasks: Iterable[Task]) -> Collection[Task]:
    first: dict[str, Task] = {}
    for task in tasks:
        first.setdefault(task.id, task)
    return first.values()


class _Slot:
    """The tasks of one id in a merge: the release's, the plugins' variants of it, and those that the cluster sets."""

    __slots__ = ("base", "by_cluster", "variants")

    def __init__(self) -> None:
        self.base: MergedTask | None = None
        self.variants: list[MergedTask] = []
        self.by_cluster: list[MergedTask] = []

    def tasks(self) -> list[MergedTask]:
        return self.by_cluster or self.variants or ([self.base] if self.base else [])

    def add(self, task: Task, layer: Layer, policy: MergePolicy, keep_partial: bool) -> bool:
        """Add `task`. Return False if it is partial, overrides nothing, and must not be kept."""
        level = layer.owner.level
        partial = task.is_partial or policy is MergePolicy.OVERLAY
        below = self.tasks()
        if level is Level.PLUGIN and not partial:  # a plugin's definition never replaces another plugin's
            below = [self.base] if self.base else []
        if not below:
            if task.is_partial and not keep_partial:
                return False
            made = [_standalone(task, layer)]
        elif partial:
            if level is Level.PLUGIN:
                self.variants = []
            made = [_overlaid(base, task, layer.owner) for base in below]
        else:
            made = [_replaced(below, _standalone(task, layer))]
        if level is Level.RELEASE:
            self.base = made[0]
        elif level is Level.PLUGIN:
            self.variants.extend(made)
        else:
            self.by_cluster = made
        return True


def _standalone(task: Task, layer: Layer) -> MergedTask:
    """A whole definition with the defaults that its owner adds to its own records.

    A plugin's task with parameters runs in the plugin's directory unless it has its own, and a group named after one
    of the plugin's roles has that role's fault tolerance. Nailgun's plugin adapters do the same.
    """
    added: dict[str, Any] = {}
    settings: dict[str, Setting] = {}
    parameters = task.attributes.get("parameters")
    if layer.cwd and parameters and isinstance(parameters, Mapping) and "cwd" not in parameters:
        added["parameters"] = {**parameters, "cwd": layer.cwd}
        settings["parameters.cwd"] = Setting(Origin(layer.owner))
    tolerance = layer.fault_tolerance.get(task.id)
    if task.type == TaskType.GROUP and tolerance is not None and "fault_tolerance" not in task.attributes:
        added["fault_tolerance"] = tolerance
        settings["fault_tolerance"] = Setting(Origin(layer.owner))
    if added:
        task = dataclasses.replace(task, attributes={**task.attributes, **added})
    return MergedTask(task, layer.owner, settings=settings)


def _replaced(below: Sequence[MergedTask], task: MergedTask) -> MergedTask:
    """Put `task` in place of `below`, and record which attributes it replaces and which it drops."""
    settings: dict[str, Setting] = dict(task.settings)
    recorded = (path for base in below for path in (*base.task.attributes, *base.settings))
    for path in dict.fromkeys((*task.task.attributes, *recorded)):
        history = tuple(pair for base in below for pair in _history(base, path))
        if _value_at(task.task.attributes, path) is not _MISSING:
            settings[path] = Setting(task.origin(path), history)
        else:
            origin = _dropped_by(below, path) or Origin(task.owner, task.task.source.place())
            settings[path] = Setting(origin, history, dropped=True)
    return MergedTask(task.task, task.owner, _overrides(below), settings)


def _overlaid(below: MergedTask, record: Task, owner: Owner) -> MergedTask:
    """Put the attributes of `record` over `below`: mappings merge, lists and scalars replace."""
    attributes = dict(below.task.attributes)
    settings = {path: Setting(below.origin(path)) for path in _paths(attributes)}
    settings.update(below.settings)
    changed: dict[str, None] = {}
    for name, value in record.attributes.items():
        for path in _changed_paths(name, attributes.get(name), value):
            nested = [other for other in settings if other.startswith(f"{path}.") and other not in attributes]
            changed.update(dict.fromkeys((path, *nested)))
        attributes[name] = _merged(attributes.get(name), value)
    for path in changed:
        origin = Origin(owner, record.source.place(path))
        if _value_at(attributes, path) is not _MISSING:
            settings[path] = Setting(origin, _history(below, path))
        else:
            settings[path] = Setting(_dropped_by([below], path) or origin, _history(below, path), dropped=True)
    task = Task(below.id, attributes, record.source, below.task.legacy, record.joins)
    return MergedTask(task, owner, _overrides([below]), settings)


def _dropped_by(below: Sequence[MergedTask], path: str) -> Origin | None:
    """The layer that dropped an attribute earlier; None if one of the tasks below still has it."""
    if any(_value_at(task.task.attributes, path) is not _MISSING for task in below):
        return None
    return next((task.settings[path].origin for task in below if path in task.settings), None)


def _overrides(below: Sequence[MergedTask]) -> tuple[Owner, ...]:
    """The owners that a task overrides, nearest first."""
    return tuple(dict.fromkeys((*(task.owner for task in below), *(own for task in below for own in task.overrides))))


def _history(task: MergedTask, path: str) -> tuple[tuple[Any, Origin], ...]:
    """The values that `path` had, with their origins, nearest first."""
    setting = task.settings.get(path)
    older = setting.replaced if setting else ()
    if setting and setting.dropped:
        return older
    value = _value_at(task.task.attributes, path)
    return older if value is _MISSING else ((value, task.origin(path)), *older)


def _value_at(attributes: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, or `_MISSING`. Keys may contain dots themselves, so every split is tried."""
    if path in attributes:
        return attributes[path]
    for end in (index for index, character in enumerate(path) if character == "."):
        nested = attributes.get(path[:end])
        if isinstance(nested, Mapping) and (value := _value_at(nested, path[end + 1 :])) is not _MISSING:
            return value
    return _MISSING


def _paths(attributes: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every attribute, and of every key in mappings that merge."""
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


def _changed_paths(path: str, old: Any, new: Any) -> Iterator[str]:
    if _is_mergeable(old) and _is_mergeable(new):
        for key, value in new.items():
            yield from _changed_paths(f"{path}.{key}", old.get(key), value)
    else:
        yield path
