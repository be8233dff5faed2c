"""The merge: layers of one graph type to one graph, with the provenance of every attribute.

Tasks merge by id, the cluster's over the plugins' over the release's. A record that states its type is a whole
definition and replaces what lies below it; one without a type overrides the attributes it states.
The order is the release's, overrides in place, then what plugins add by (name, version), then what the cluster
adds: a merge reads like a diff. Two plugins that define one id both stay, as variants; plugins that only
override attributes of one task do so one after another, over whatever definitions there are.

Source: the specification "custom-graph-execution", section Nailgun; replacement is what Nailgun 9 and later do.
Nailgun returns the layers in reversed order, which has no meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.graph.overlay import overlaid, replaced, standing
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import METADATA, Layer, Level, MergedGraph, MergedTask, MergePolicy, Owner
from fuelclient.model.task import Task


def merge_layers(
    layers: Sequence[Layer], policy: MergePolicy = MergePolicy.REPLACE, *, keep_partial: bool = False
) -> MergedGraph:
    """The graph that `layers`, in any order, make together.

    Nothing is raised: a partial record with nothing below it is left out and reported as an error (G020), an id
    that one layer states twice keeps its first definition (G005). With `keep_partial` such a record stays as it
    was stated: that is right where only some layers of an environment are looked at.

    >>> low = Layer(Owner(Level.RELEASE, 1), (Task("a", {"type": "puppet"}), Task("b", {"type": "shell"})))
    >>> high = Layer(Owner(Level.CLUSTER, 1), (Task("c", {"type": "sync"}), Task("a", {"type": "reboot"})))
    >>> [(task.id, task.task.type, task.owner.label) for task in merge_layers([high, low]).tasks]
    [('a', 'reboot', 'cluster'), ('b', 'shell', 'release'), ('c', 'sync', 'cluster')]
    """
    slots: dict[str, _Slot] = {}
    findings: list[Finding] = []
    metadata: dict[str, Any] = {}
    ordered = sorted(layers, key=lambda layer: layer.owner.order)
    for layer, task in _records(ordered, policy, keep_partial, findings):
        slot = slots.setdefault(task.id, _Slot())
        if not slot.add(task, layer, policy, keep_partial):
            findings.append(_nothing_below(task, layer.owner))
    for layer in ordered:
        _update(metadata, {key: layer.metadata[key] for key in METADATA if key in layer.metadata})
    tasks = tuple(task for slot in slots.values() for task in slot.tasks())
    return MergedGraph(tasks, metadata, tuple(findings))


class _Slot:
    """One id while layers are merged: the release's definition, the plugins' variants over it, and the
    cluster's word on them."""

    __slots__ = ("base", "over", "variants")

    def __init__(self) -> None:
        self.base: MergedTask | None = None
        self.variants: list[MergedTask] = []
        self.over: list[MergedTask] = []

    def tasks(self) -> list[MergedTask]:
        return self.over or self.variants or ([self.base] if self.base else [])

    def add(self, task: Task, layer: Layer, policy: MergePolicy, keep_partial: bool) -> bool:
        """Take `task` in; False when it is partial, nothing lies below it, and it may not stay so."""
        partial = task.is_partial or policy is MergePolicy.OVERLAY
        below = self._below(layer.owner.level, partial)
        if not below:
            if task.is_partial and not keep_partial:
                return False
            self._put([standing(task, layer)], layer.owner.level)
        elif partial:
            self.variants = [] if layer.owner.level is Level.PLUGIN else self.variants
            self._put([overlaid(one, task, layer.owner) for one in below], layer.owner.level)
        else:
            self._put([replaced(below, standing(task, layer))], layer.owner.level)
        return True

    def _below(self, level: Level, partial: bool) -> list[MergedTask]:
        """What a record changes: a plugin's definition only the release's, everything else all that is there."""
        if level is not Level.PLUGIN or partial:
            return self.tasks()
        return [self.base] if self.base else []

    def _put(self, tasks: list[MergedTask], level: Level) -> None:
        if level is Level.RELEASE:
            self.base = tasks[0]
        elif level is Level.PLUGIN:
            self.variants.extend(tasks)
        else:
            self.over = tasks


def _records(
    layers: Sequence[Layer], policy: MergePolicy, keep_partial: bool, findings: list[Finding]
) -> Iterator[tuple[Layer, Task]]:
    """Every record in the order in which it counts: of plugins, all definitions come before what overrides them,
    so that the order of the plugins' names decides nothing there."""
    plugins = [
        (layer, task) for layer in layers if layer.owner.level is Level.PLUGIN for task in _once(layer, findings)
    ]
    if policy is MergePolicy.REPLACE and not keep_partial:
        plugins.sort(key=lambda record: record[1].is_partial)
    told = False
    for layer in layers:
        if layer.owner.level is not Level.PLUGIN:
            yield from ((layer, task) for task in _once(layer, findings))
        elif not told:
            yield from plugins
            told = True


def _once(layer: Layer, findings: list[Finding]) -> list[Task]:
    seen: dict[str, Task] = {}
    for task in layer.tasks:
        if task.id in seen:
            findings.append(duplicate(task, seen[task.id]))
        else:
            seen[task.id] = task
    return list(seen.values())


def duplicate(task: Task, first: Task) -> Finding:
    """The finding for an id that one document or layer defines twice."""
    where = f", first at {first.source.place()}" if first.source.file else ""
    return Finding(
        Severity.ERROR, "G005", f"task {task.id} is defined twice{where}", task.source.place(), task.id,
        "Keep one of the two definitions, or give one another id.",
    )  # fmt: skip


def _nothing_below(task: Task, owner: Owner) -> Finding:
    return Finding(
        Severity.ERROR, "G020", f"task {task.id} has no type, and no layer below {owner.label} defines it",
        task.source.place(), task.id, "State its type, or correct its id.",
    )  # fmt: skip


def _update(target: dict[str, Any], source: Mapping[str, Any]) -> None:
    """Merge mappings deeply; everything else is replaced. An empty mapping therefore clears nothing."""
    for key, value in source.items():
        if isinstance(value, Mapping):
            below = target.get(key)
            copy = dict(below) if isinstance(below, Mapping) else {}
            _update(copy, value)
            target[key] = copy
        else:
            target[key] = value
