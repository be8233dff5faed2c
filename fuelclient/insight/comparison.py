"""Compare two graphs, each merged and placed: tasks, attributes, elements of lists, order of instances, new findings.

`insight.differences` decides which attributes differ, as in every comparison of graphs. Orders are compared by their
transitive closures and not by their edges: an edge can disappear without changing the order, if a longer path implies
it. An ordering is a pair of task instances of which one cannot begin before the other has ended. Orderings are kept as
bitsets, one for each instance, in slices of bounded memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.graph.dag import order
from fuelclient.insight.blame import override_findings
from fuelclient.insight.differences import differences
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergedTask, Origin
from fuelclient.model.run import NodeKey
from fuelclient.plan.expand import Expansion
from fuelclient.plan.study import Study

_MAX_BITS = 1 << 29
"""The maximum number of bits in all sets of a slice together: 64 MB per graph."""

Instance = tuple[str, NodeKey]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tasks whose order differs: `before` came first. `instances` counts the pairs of their instances."""

    before: str
    after: str
    instances: int


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """The effect of a change on the order of the task instances that both graphs have.

    Edges are between tasks, orderings between instances. Lost ones exist only in the first graph, gained ones only in
    the second. `lost` and `gained` are the pairs that imply all others: no shared instance lies between the two.
    """

    instances: int
    edges_removed: tuple[tuple[str, str], ...]
    edges_added: tuple[tuple[str, str], ...]
    orderings_before: int
    orderings_after: int
    orderings_lost: int
    orderings_gained: int
    lost: tuple[Pair, ...]
    gained: tuple[Pair, ...]


def order_effect(before: Expansion, after: Expansion, most_bits: int = _MAX_BITS) -> OrderEffect:
    """Compare the orders of two graphs. Raise `InvalidGraph` if one has a cycle. `most_bits` only bounds the memory."""
    old, new = _Side(before), _Side(after)
    # in topological order, so that the sets of the first ones are short
    ordered = [old.names[vertex] for vertex in old.topological if vertex < len(old.names)]
    shared = [name for name in ordered if name in new.vertex_of]
    number = {name: bit for bit, name in enumerate(shared)}
    for side in (old, new):
        side.bits[: len(side.names)] = [number.get(name, -1) for name in side.names]
    width = max(most_bits // max(old.size, new.size, 1), 64)
    totals, lost, gained = [0, 0, 0, 0], Counter[tuple[str, int, int]](), Counter[tuple[str, int, int]]()
    for low in range(0, len(shared), width):
        (all_old, near_old), (all_new, near_new) = old.slice(low, low + width), new.slice(low, low + width)
        for name in shared:
            was, is_now = all_old[old.vertex_of[name]], all_new[new.vertex_of[name]]
            totals[0] += was.bit_count()
            totals[1] += is_now.bit_count()
            if was == is_now:
                continue
            totals[2] += (was & ~is_now).bit_count()
            totals[3] += (is_now & ~was).bit_count()
            lost[name[0], low, near_old[old.vertex_of[name]] & ~is_now] += 1
            gained[name[0], low, near_new[new.vertex_of[name]] & ~was] += 1
    edges, others = _task_edges(before), _task_edges(after)
    removed, added = (tuple(edge for edge in one if edge not in two) for one, two in ((edges, others), (others, edges)))
    return OrderEffect(
        len(shared), removed, added, totals[0], totals[1], totals[2], totals[3],
        _pairs(lost, shared), _pairs(gained, shared),
    )  # fmt: skip


class _Side:
    """One of the two graphs. `names` are its instances by vertex number, `bits` the bit of each vertex in the sets: -1
    for barriers and for instances that the other graph lacks."""

    def __init__(self, expansion: Expansion) -> None:
        successors = expansion.successors
        result = order(successors, expansion.size)
        if result.stuck:
            raise InvalidGraph("A graph with a cycle has no order that could be compared.")
        self.size = len(successors)
        self.topological = result.topological
        self._predecessors = expansion.predecessors
        self.names: list[Instance] = [
            (expansion.task(vertex).id, expansion.uid(vertex)) for vertex in range(expansion.size)
        ]
        self.vertex_of = {name: vertex for vertex, name in enumerate(self.names)}
        self.bits = [-1] * self.size

    def slice(self, low: int, high: int) -> tuple[list[int], list[int]]:
        """For every vertex, the set of vertices before it, and its subset with no shared vertex in between.

        Only the shared vertices from `low` to `high` are in the sets.
        """
        closure, near = [0] * self.size, [0] * self.size
        for vertex in self.topological:
            everything = nearest = 0
            for before in self._predecessors[vertex]:
                bit = self.bits[before]
                everything |= closure[before]
                if bit < 0:
                    nearest |= near[before]
                elif low <= bit < high:
                    own = 1 << (bit - low)
                    everything |= own
                    nearest |= own
            closure[vertex], near[vertex] = everything, nearest
        return closure, near


def _task_edges(expansion: Expansion) -> dict[tuple[str, str], None]:
    tasks = expansion.tasks
    return {
        (tasks[before].id, tasks[index].id): None
        for index, preceding in enumerate(expansion.preceding_tasks())
        for before in sorted(preceding)
        if tasks[before].id != tasks[index].id
    }


def _pairs(counted: Counter[tuple[str, int, int]], shared: Sequence[Instance]) -> tuple[Pair, ...]:
    pairs = Counter[tuple[str, str]]()
    for (after, low, bits), times in counted.items():
        for number in _bits(bits):
            pairs[shared[low + number][0], after] += times
    return tuple(Pair(before, after, instances) for (before, after), instances in pairs.items())


def _bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set.

    >>> list(_bits(0b1011))
    [0, 1, 3]
    """
    return (match.start() for match in re.finditer("1", f"{mask:b}"[::-1]))


DEFINITIONS = "definitions"
"""The `attribute` of a change in the number of definitions of a task: plugins may define variants."""


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """An attribute that differs; inside a mapping, `parameters.timeout`. None means that it is missing.

    If both are lists, elements that only one has are added or removed; `reordered` lists have the same elements.
    """

    attribute: str
    before: Any
    after: Any
    elements_added: tuple[Any, ...] = ()
    elements_removed: tuple[Any, ...] = ()
    reordered: bool = False
    set_before: Origin | None = None
    set_after: Origin | None = None


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A task that differs, with its origin in each of the graphs that have it."""

    task: str
    change: Change
    before: Origin | None
    after: Origin | None
    attributes: tuple[ValueChange, ...] = ()


def task_changes(before: Sequence[MergedTask], after: Sequence[MergedTask]) -> tuple[TaskChange, ...]:
    """The tasks that differ: in the order of the first graph, then those that only the second one has.

    The order of the tasks and empty attributes are ignored.
    """
    old, new = ({task.id: task for task in reversed(tasks)} for tasks in (before, after))
    values: dict[str, list[ValueChange]] = {}
    for difference in differences([task.task for task in before], [task.task for task in after]):
        path, name = difference.attribute or DEFINITIONS, difference.task
        was, now = (tasks[name].origin(path) if name in tasks else None for tasks in (old, new))
        values.setdefault(name, []).append(value_change(path, difference.ours, difference.theirs, was, now))
    changes = []
    for name, changed in values.items():
        was, now = (tasks[name].origin() if name in tasks else None for tasks in (old, new))
        change = Change.CHANGED if was and now else Change.REMOVED if was else Change.ADDED
        changes.append(TaskChange(name, change, was, now, tuple(changed) if was and now else ()))
    return tuple(changes)


def value_change(
    path: str, before: Any, after: Any, was: Origin | None = None, now: Origin | None = None
) -> ValueChange:
    """Compare two values, lists element by element.

    >>> value_change("requires", ["a", "b"], ["b", "c"]).elements_removed
    ('a',)
    >>> value_change("requires", ["a", "b"], ["b", "a"]).reordered
    True
    """
    if not (isinstance(before, list) and isinstance(after, list)):
        return ValueChange(path, before, after, set_before=was, set_after=now)
    added, removed = _only(after, before), _only(before, after)
    return ValueChange(path, before, after, added, removed, not (added or removed), was, now)


def _only(elements: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
    """The elements that the first list has more often than the second, in its order."""
    unmatched = list(others)
    only = []
    for element in elements:
        if element in unmatched:
            unmatched.remove(element)
        else:
            only.append(element)
    return tuple(only)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two graphs.

    `order` is None if one of the two has no order, and `problem` has the reason. `findings` are those
    that only the second graph has; their places are not compared.
    """

    tasks: tuple[TaskChange, ...]
    metadata: tuple[ValueChange, ...]
    order: OrderEffect | None
    problem: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_different(self) -> bool:
        order = self.order
        return bool(self.tasks or self.metadata or self.problem or (order and (order.lost or order.gained)))


def compare(before: Study, after: Study, *, masked: Callable[[MergedTask], MergedTask] | None = None) -> Comparison:
    """Compare two studies. `masked` hides the secrets of a task; give it if a side was read without secrets."""
    order, problem = None, None
    try:
        order = order_effect(before.expansion, after.expansion)
    except InvalidGraph as error:
        problem = error.message
    old = {_subject(finding) for finding in _findings(before)}
    new = dict.fromkeys(finding for finding in _findings(after) if _subject(finding) not in old)
    tasks = [side.merged.tasks if masked is None else tuple(map(masked, side.merged.tasks)) for side in (before, after)]
    was, now = before.merged.metadata, after.merged.metadata
    metadata = tuple(
        value_change(key, was.get(key), now.get(key))
        for key in dict.fromkeys((*was, *now))
        if was.get(key) != now.get(key)
    )
    return Comparison(task_changes(*tasks), metadata, order, problem, tuple(new))


def _findings(study: Study) -> Iterator[Finding]:
    yield from study.findings
    yield from override_findings(study.merged)


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.task, finding.message
