"""Compare two graphs, each merged and placed: tasks, attributes, elements of lists, order of instances, new findings.

Which attributes differ is decided by `insight.differences`, as in every comparison of graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.insight.differences import differences
from fuelclient.insight.order_effect import OrderEffect, order_effect
from fuelclient.insight.override_findings import override_findings
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergedTask, Origin
from fuelclient.plan.study import Study

DEFINITIONS = "definitions"
"""The path of a change in the number of the definitions of one task: plugins may define variants."""


class Change(StrEnum):
    """What happened to a task."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """An attribute that differs; inside a mapping, `parameters.timeout`. None means that it is not stated.

    Of two lists, `added` and `removed` are the elements that only one of them has, and `reordered` says that they have
    the same elements. `was` and `now` say who set the two values.
    """

    path: str
    before: Any
    after: Any
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    reordered: bool = False
    was: Origin | None = None
    now: Origin | None = None


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A task that differs, as it is in each of the graphs that have it."""

    task: str
    change: Change
    before: MergedTask | None
    after: MergedTask | None
    values: tuple[ValueChange, ...] = ()


def task_changes(before: Sequence[MergedTask], after: Sequence[MergedTask]) -> tuple[TaskChange, ...]:
    """Return the tasks that differ: in the order of the first graph, then those that only the second one has.

    The order of the tasks does not count, nor do empty attributes.
    """
    old, new = _first_by_id(before), _first_by_id(after)
    values: dict[str, list[ValueChange]] = {}
    for difference in differences([task.task for task in before], [task.task for task in after]):
        path, name = difference.attribute or DEFINITIONS, difference.task
        was, now = (tasks[name].origin(path) if name in tasks else None for tasks in (old, new))
        values.setdefault(name, []).append(value_change(path, difference.ours, difference.theirs, was, now))
    return tuple(
        TaskChange(name, Change.CHANGED, old[name], new[name], tuple(found))
        if name in old and name in new
        else TaskChange(name, Change.REMOVED if name in old else Change.ADDED, old.get(name), new.get(name))
        for name, found in values.items()
    )


def value_change(
    path: str, before: Any, after: Any, was: Origin | None = None, now: Origin | None = None
) -> ValueChange:
    """Return the change of a value, of lists element by element.

    >>> value_change("requires", ["a", "b"], ["b", "c"]).removed, value_change("requires", ["a"], ["a", "b"]).added
    (('a',), ('b',))
    >>> value_change("requires", ["a", "b"], ["b", "a"]).reordered
    True
    """
    if not (isinstance(before, list) and isinstance(after, list)):
        return ValueChange(path, before, after, was=was, now=now)
    added, removed = _only(after, before), _only(before, after)
    return ValueChange(path, before, after, added, removed, not (added or removed), was, now)


def metadata_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ValueChange, ...]:
    """Return the metadata of a graph that differ."""
    return tuple(
        value_change(key, before.get(key), after.get(key))
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key)
    )


def _first_by_id(tasks: Iterable[MergedTask]) -> dict[str, MergedTask]:
    return {task.id: task for task in reversed(list(tasks))}


def _only(these: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
    """Return the elements that one list has more often than the other, in its order."""
    left = list(others)
    only = []
    for element in these:
        if element in left:
            left.remove(element)
        else:
            only.append(element)
    return tuple(only)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two graphs.

    `order` is None if one of the two has no order, and `problem` says why. `findings` are those about the second graph
    that the first one does not have; the places do not count.
    """

    tasks: tuple[TaskChange, ...]
    metadata: tuple[ValueChange, ...]
    order: OrderEffect | None
    problem: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def is_different(self) -> bool:
        """Whether anything differs."""
        order = self.order
        return bool(self.tasks or self.metadata or self.problem or (order and (order.lost or order.gained)))


def compare(before: Study, after: Study, *, masked: Callable[[MergedTask], MergedTask] | None = None) -> Comparison:
    """Return what the second graph changes. `masked` hides the secrets of a task where one side does not know them."""
    order, problem = None, ""
    try:
        order = order_effect(before.expansion, after.expansion)
    except InvalidGraph as error:
        problem = error.message
    known = {_subject(finding) for finding in _findings(before)}
    new = dict.fromkeys(finding for finding in _findings(after) if _subject(finding) not in known)
    tasks = [side.merged.tasks if masked is None else tuple(map(masked, side.merged.tasks)) for side in (before, after)]
    return Comparison(
        task_changes(*tasks),
        metadata_changes(before.merged.metadata, after.merged.metadata),
        order, problem, tuple(new),
    )  # fmt: skip


def _findings(study: Study) -> Iterator[Finding]:
    yield from study.findings
    yield from override_findings(study.merged)


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.task, finding.message
