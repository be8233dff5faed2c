"""Compare two graphs, each merged and placed: tasks, attributes, elements of lists, order of instances, new findings.

`insight.differences` decides which attributes differ, as in every comparison of graphs. Orders are compared by their
transitive closures and not by their edges: an edge can disappear without changing the order, if a longer path implies
it. An ordering is a pair of task instances of which one cannot begin before the other has ended. Orderings are kept as
bitsets, one for each instance, in slices of bounded memory.
"""

from __future__ import annotations

import functools
import itertools
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

_FEW_BITS = 32
"""Up to this many bits of a set are found one by one; each takes a third as long as to write the set as a text."""

Instance = tuple[str, NodeKey]
_Orderings = dict[int, tuple[int, ...]]


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
    both = _Both(old, new, shared)
    slice_width = max(most_bits // max(old.size, new.size, 1), 64)
    width = slice_width if len(shared) <= slice_width else max(most_bits // both.most, 64)
    for low in range(0, len(shared), width):
        both.compare(low, low + width)
    edges, others = _task_edges(before), _task_edges(after)
    removed, added = (tuple(edge for edge in one if edge not in two) for one, two in ((edges, others), (others, edges)))
    lost, gained = (_pairs(found, shared, slice_width) for found in (both.lost, both.gained))
    was, now, fewer, more = both.totals
    return OrderEffect(len(shared), removed, added, was, now, fewer, more, lost, gained)


class _Side:
    """One of the two graphs. `names` are its instances by vertex number."""

    def __init__(self, expansion: Expansion) -> None:
        self.successors, self.predecessors = expansion.successors, expansion.predecessors
        result = order(self.successors, expansion.size)
        if result.stuck:
            raise InvalidGraph("A graph with a cycle has no order that could be compared.")
        self.size = len(self.successors)
        self.topological = result.topological
        uids = [node.uid for node in expansion.fleet.nodes]
        placed = zip(expansion.tasks, expansion.placement.nodes, strict=True)
        self.names: list[Instance] = [(task.id, uids[node]) for task, nodes in placed for node in nodes]
        self.vertex_of = {name: vertex for vertex, name in enumerate(self.names)}


class _Both:
    """The vertices of both graphs, numbered like those of the first, followed by those of the second.

    `compare` adds up how many orderings the first and the second graph have, and how many are lost and gained
    (`totals`). It collects which are lost and gained: by the number of a shared instance, the numbers of those directly
    before it.
    """

    def __init__(self, old: _Side, new: _Side, shared: Sequence[Instance]) -> None:
        self.totals = [0, 0, 0, 0]
        self.lost: _Orderings = {}
        self.gained: _Orderings = {}
        moved = [[vertex + old.size for vertex in own] for own in (*new.predecessors, new.topological)]
        self._before = [*old.predecessors, *moved[:-1]]
        self._number = [-1] * len(self._before)
        self._twin = list(range(len(self._before)))
        for number, name in enumerate(shared):
            vertex, twin = old.vertex_of[name], new.vertex_of[name] + old.size
            self._number[vertex] = self._number[twin] = number
            self._twin[twin] = vertex
        self._steps = self._together() or [*old.topological, *moved[-1]]
        unshared = [[other for other in own if self._number[other] < 0] for own in self._before]
        # what is nearest to each of those in chains, which are not shared and follow others that are not
        self._in_chain = {vertex: 0 for vertex, own in enumerate(unshared) if own and self._number[vertex] < 0}
        last = [0] * len(self._before)  # the step that uses a set for the last time
        for step, vertex in enumerate(self._steps):
            twin = self._twin[vertex]
            for used in (vertex, twin, *self._before[vertex], *unshared[twin]):
                last[used] = step
        self._free: list[list[int]] = [[] for _ in self._steps]
        for vertex, step in enumerate(last):
            self._free[step].append(vertex)
        self._behind = functools.lru_cache(maxsize=64)(self._nearest)
        self._bits_of = functools.lru_cache(maxsize=64)(lambda mask: tuple(_bits(mask)))

    def _together(self) -> list[int]:
        """All vertices, each after those before it, with those of a shared instance next to each other. What follows a
        vertex comes soon after it, so that few sets are in use at any time. Empty if some instances have the opposite
        order in the second graph."""
        union: list[list[int]] = [[] for _ in self._before]
        waiting, second = [0] * len(self._before), dict[int, list[int]]()
        for vertex, before in enumerate(self._before):
            twin = self._twin[vertex]
            waiting[twin] += len(before)
            for other in before:
                union[self._twin[other]].append(twin)
            if twin != vertex:
                second[twin] = [vertex]
        ready = [vertex for vertex, count in enumerate(waiting) if not count and self._twin[vertex] == vertex][::-1]
        steps = []
        while ready:
            vertex = ready.pop()
            steps += [vertex, *second.get(vertex, ())]
            for after in union[vertex]:
                waiting[after] -= 1
                if not waiting[after]:
                    ready.append(after)
        return steps if len(steps) == len(union) else []

    @property
    def most(self) -> int:
        """How many sets are in use at the same time, at most."""
        sets = 1 + max(itertools.accumulate(1 - len(free) for free in self._free), default=0)
        return sets * 2 if self._in_chain else sets

    def compare(self, low: int, high: int) -> None:
        """Compare the sets of instances before each instance, of which those numbered from `low` to `high` count."""
        sets = [0] * len(self._before)
        for vertex, free in zip(self._steps, self._free, strict=True):
            number, twin, found = self._number[vertex], self._twin[vertex], 0
            for before in self._before[vertex]:
                found |= sets[before]
            if low <= number < high:
                found |= 1 << (number - low)
            elif vertex in self._in_chain:
                self._in_chain[vertex] = self._nearest(vertex, low, high)
            if twin != vertex:
                found = self._compared(vertex, sets[twin], found, low, high)
            sets[vertex] = found
            for used in free:
                sets[used] = 0
                if used in self._in_chain:
                    self._in_chain[used] = 0

    def _compared(self, vertex: int, was: int, now: int, low: int, high: int) -> int:
        """Compare the sets of an instance in both graphs, and return the second one. They have the instance itself."""
        own = self._number[vertex] - low
        itself = was >> own & 1 if own >= 0 else 0
        count = was.bit_count() - itself
        self.totals[0] += count
        if was == now:
            self.totals[1] += count
            return was
        self.totals[1] += now.bit_count() - itself
        both = ((self.lost, self._twin[vertex], was & ~now), (self.gained, vertex, now & ~was))
        for total, (found, side, only) in enumerate(both, start=2):
            self.totals[total] += only.bit_count()
            hits = only and only & self._nearest(side, low, high)
            if hits:
                found[own + low] = (*found.get(own + low, ()), *(low + bit for bit in self._bits_of(hits)))
        return now

    def _nearest(self, vertex: int, low: int, high: int) -> int:
        """The set of the shared instances before a vertex with no other one in between."""
        found = 0
        for before in self._before[vertex]:
            number = self._number[before]
            if low <= number < high:
                found |= 1 << (number - low)
            elif number < 0:
                known = self._in_chain.get(before)
                found |= self._behind(before, low, high) if known is None else known
        return found


def _task_edges(expansion: Expansion) -> dict[tuple[str, str], None]:
    tasks = expansion.tasks
    return {
        (tasks[before].id, tasks[index].id): None
        for index, preceding in enumerate(expansion.preceding_tasks())
        for before in sorted(preceding)
        if tasks[before].id != tasks[index].id
    }


def _pairs(found: _Orderings, shared: Sequence[Instance], width: int) -> tuple[Pair, ...]:
    """Count the orderings by their tasks, those of the first `width` shared instances first, and so on."""
    alike = Counter(
        (numbers[0] // width, shared[number][0], tuple(numbers))
        for number in sorted(found)
        for numbers in _split(found[number], width)
    )
    pairs = Counter[tuple[str, str]]()
    for (_, after, numbers), times in sorted(alike.items(), key=lambda item: item[0][0]):
        for number in numbers:
            pairs[shared[number][0], after] += times
    return tuple(Pair(before, after, instances) for (before, after), instances in pairs.items())


def _split(numbers: Sequence[int], width: int) -> Iterator[list[int]]:
    return (list(some) for _, some in itertools.groupby(numbers, lambda number: number // width))


def _bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set.

    >>> list(_bits(0b1011))
    [0, 1, 3]
    """
    if mask.bit_count() > _FEW_BITS:
        yield from (match.start() for match in re.finditer("1", f"{mask:b}"[::-1]))
        return
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


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
