"""Dependencies on tasks that run on no node: a run ignores them, and the order that they imply is lost.

If no node has the roles of such a task, only the order of `cross_depends` is lost, since `requires` never had an effect
on nodes where the task could not run. If the task has no roles at all, as an override by `skipped` may leave it, all of
its order is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fuelclient.graph.dag import connected
from fuelclient.grouping import grouped
from fuelclient.model.finding import Finding, Severity, finding_at
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import OF_SUCCESSORS, Expansion, named_dependencies
from fuelclient.plan.order import Ordered, execution_order, first_generations
from fuelclient.plan.place import TaskNames, only_primary

_MAX_NAMES = 3
"""The most names that a message lists; others are only counted."""


@dataclass(frozen=True, slots=True)
class LostDependency:
    """A dependency that the task `by` (by index) has in `attribute`: `before` precedes `after`. `crosses` means that it
    holds for instances on different nodes."""

    before: int
    after: int
    by: int
    attribute: str
    crosses: bool


class Dropped:
    """The dependencies of an expansion from or to tasks that run on no node.

    `unmet` are those of tasks that run, one for each task without a node, if no task that the name or pattern matches
    runs.
    """

    def __init__(self, expansion: Expansion) -> None:
        self.expansion = expansion
        self._tasks, self._nodes = expansion.tasks, expansion.placement.nodes
        self._matching = TaskNames(enumerate(self._tasks))
        self._lost: dict[int, list[LostDependency]] = {}
        self.unmet: list[LostDependency] = []
        for index, task in enumerate(() if all(self._nodes) else self._tasks):
            nodes = self._nodes[index]
            for attribute, target, crosses in named_dependencies(task.task):
                others = self._matching[target]
                missing = [other for other in others if not self._nodes[other]] if nodes else others
                for other in missing:
                    before, after = (index, other) if attribute in OF_SUCCESSORS else (other, index)
                    dependency = LostDependency(before, after, index, attribute, crosses)
                    self._lost.setdefault(after, []).append(dependency)
                    if nodes and len(missing) == len(others):
                        self.unmet.append(dependency)

    def missing_before(self, index: int) -> list[int]:
        """The tasks without a node that a task would wait for, in merged order."""
        return sorted({each.before for each in self._lost.get(index, ()) if not self._nodes[each.before]})

    def names_before(self, index: int) -> tuple[str, ...]:
        """The ids of tasks without a node that a task itself names as its predecessors."""
        own = (each.before for each in self._lost.get(index, ()) if each.by == index and self._nodes[index])
        return tuple(dict.fromkeys(self._tasks[before].id for before in own if not self._nodes[before]))

    def naming_attribute(self, index: int, missing: Sequence[int]) -> str:
        """The attribute in which a task itself names one of `missing`; empty if only these name the task."""
        own = (dependency for dependency in self._lost.get(index, ()) if dependency.by == index)
        return next((dependency.attribute for dependency in own if dependency.before in missing), "")

    def awaited_through(self, index: int) -> dict[int, int]:
        """Map each running task for which a task would wait through tasks without a node to the last of these on the
        way."""
        found: dict[int, int] = {}
        stack = [
            (dependency.before, dependency.before, dependency.crosses)
            for dependency in self._lost.get(index, ())
            if self._leads_through(dependency.before, dependency)
        ]
        seen = set(stack)
        while stack:
            missing, last, crossed = stack.pop()
            for dependency in self._lost.get(missing, ()):
                if not self._is_order_lost(missing, dependency):
                    continue
                before, crosses = dependency.before, crossed or dependency.crosses
                if self._nodes[before]:
                    if crosses or set(self._nodes[before]) & set(self._nodes[index]):
                        found.setdefault(before, last)
                elif self._leads_through(before, dependency) and (before, last, crosses) not in seen:
                    seen.add((before, last, crosses))
                    stack.append((before, last, crosses))
        return found

    def _leads_through(self, missing: int, dependency: LostDependency) -> bool:
        """Whether the search may go on at `missing`, a task without a node. It ends at groups."""
        is_group = self._tasks[missing].task.type == TaskType.GROUP
        return not self._nodes[missing] and not is_group and self._is_order_lost(missing, dependency)

    def _is_order_lost(self, missing: int, dependency: LostDependency) -> bool:
        """Order on the same node through a task that has roles never had an effect."""
        return dependency.crosses or not self._tasks[missing].task.placement[1]

    def label(self, index: int) -> str:
        """The name of a task that runs nowhere, with the reason unless no node has its roles."""
        task = self._tasks[index]
        names = task.task.placement[1]
        why = ""
        if task.task.type == TaskType.GROUP:
            why = "a group"
        elif not names:
            is_skipped = task.task.type == TaskType.SKIPPED
            why = f"skipped by {task.owner.label}, without roles" if is_skipped else "without roles"
        elif only := only_primary(names, self.expansion.fleet.nodes):
            why = f"the only {only} is its primary"
        return f"{task.id} ({why})" if why else task.id


@dataclass(frozen=True, slots=True)
class _Loss:
    """The order that a task lost because `missing` run nowhere. `awaited` are tasks for which it no longer waits.
    `position`, counted from 1, is its position if it waits for nothing at all; else 0."""

    task: int
    missing: tuple[int, ...]
    awaited: tuple[int, ...] = ()
    position: int = 0


def dropped_findings(dropped: Dropped, order: Ordered, preceding: Sequence[set[int]]) -> Iterator[Finding]:
    """Yield findings for dependencies on tasks that run nowhere; tasks with the same loss share one.

    It is a warning (G052) if a task waits for nothing any more, or no longer for tasks that it awaited through these.
    Otherwise it is a notice (G053) for each task that runs nowhere. `preceding` is `Expansion.preceding_tasks()`.
    """
    losses = list(_losses(dropped, order, preceding))
    for alike in grouped(((loss.missing, bool(loss.position)), loss) for loss in losses).values():
        yield _warning(dropped, alike)
    yield from _notices(dropped, {(loss.task, missing) for loss in losses for missing in loss.missing})


def unordered_findings(expansion: Expansion, preceding: Sequence[set[int]]) -> Iterator[Finding]:
    """Yield a notice (G065) for each task that others name in `requires` or `required_for` and that runs on none of
    their nodes, if nothing else orders them: these attributes order tasks of the same node. Patterns are left out,
    because they name no task in particular. `preceding` is `Expansion.preceding_tasks()`."""
    named = list(_names_on_other_nodes(expansion))
    waits = [(other, index) if attribute in OF_SUCCESSORS else (index, other) for index, other, attribute in named]
    ordered = connected(preceding, waits)
    lost = grouped(
        ((other, attribute), index)
        for pair, (index, other, attribute) in zip(waits, named, strict=True)
        if pair not in ordered
    )
    for (other, attribute), naming in lost.items():
        name, first = expansion.tasks[other].id, expansion.tasks[naming[0]]
        verb, they_run = ("names", "it runs") if len(naming) == 1 else ("name", "they run")
        yield finding_at(
            Severity.INFO, "G065", first, attribute,
            f"{_listed(expansion, naming)} {verb} {name} in {attribute}, which orders tasks of one node, but {name} "
            f"runs on none of the nodes on which {they_run}: nothing orders them",
            f"To wait for other nodes, use {'cross-depended-by' if attribute in OF_SUCCESSORS else 'cross-depends'}.",
        )  # fmt: skip


def _names_on_other_nodes(expansion: Expansion) -> Iterator[tuple[int, int, str]]:
    """Yield (task, named task, attribute) for names in attributes for tasks of the same node, if no task of that name
    runs on a node of the first."""
    placed = expansion.placement.nodes
    disjoint = cache(lambda nodes, others: set(nodes).isdisjoint(others))  # few tasks have other nodes than the rest
    by_id = grouped(
        (task.id, index)
        for index, task in enumerate(expansion.tasks)
        if placed[index] and task.task.type not in (TaskType.STAGE, TaskType.GROUP)
    )
    for index in itertools.chain.from_iterable(by_id.values()):
        for attribute in ("requires", "required_for"):
            for name in dict.fromkeys(expansion.tasks[index].task.names(attribute)):
                others = by_id.get(name, ())
                if others and all(disjoint(placed[index], placed[other]) for other in others):
                    yield index, others[0], attribute


def _losses(dropped: Dropped, order: Ordered, preceding: Sequence[set[int]]) -> Iterator[_Loss]:
    first, placed = first_generations(dropped.expansion, order), dropped.expansion.placement.nodes
    position = {index: rank for rank, index in enumerate(execution_order(first), start=1)}
    missing = {index: tuple(dropped.missing_before(index)) for index, nodes in enumerate(placed) if nodes}
    through = {index: dropped.awaited_through(index) for index, tasks in missing.items() if tasks and first[index]}
    waits = connected(preceding, ((index, other) for index, others in through.items() for other in others))
    for index, tasks in missing.items():
        if tasks and not first[index]:
            yield _Loss(index, tasks, position=position[index])
        elif awaited := tuple(other for other in sorted(through.get(index, ())) if (index, other) not in waits):
            yield _Loss(index, tuple(sorted({through[index][other] for other in awaited})), awaited)


def _warning(dropped: Dropped, losses: Sequence[_Loss]) -> Finding:
    expansion, first, several = dropped.expansion, losses[0], len(losses) > 1
    task, attribute = expansion.tasks[first.task], dropped.naming_attribute(first.task, first.missing)
    verb = "require" if attribute else "would wait for"
    who = f"{len(losses)} tasks {verb}" if several else f"{task.id} {'requires' if attribute else verb}"
    runs = "run" if len(first.missing) > 1 else "runs"
    lost = "nothing holds {} back" if first.position else "the order is lost" if several else ""
    effects = joined(_effect(expansion, loss, several=several) for loss in losses)
    effect = ": ".join(filter(None, (lost.format("them"), effects))) if several else f"{lost.format('it')}{effects}"
    missing = joined(map(dropped.label, first.missing))
    message = f"{who} {missing}, which {runs} on no node: {effect}"
    hint = "Name what it has to wait for instead, or give a node the roles of what is missing."
    return finding_at(Severity.WARNING, "G052", task, attribute or "id", message, hint)


def _effect(expansion: Expansion, loss: _Loss, *, several: bool) -> str:
    name = expansion.tasks[loss.task].id
    if loss.position:
        stands = f"stands {ordinal(loss.position)}"
        return f"{name} {stands}" if several else f", and it {stands}"
    return f"{name if several else 'it'} no longer waits for {_listed(expansion, loss.awaited)}"


def _notices(dropped: Dropped, warned: set[tuple[int, int]]) -> Iterator[Finding]:
    about = ((each.after if each.by == each.before else each.before, each) for each in dropped.unmet)
    unmet = grouped((missing, dependency) for missing, dependency in about if (dependency.by, missing) not in warned)
    for missing, dependencies in unmet.items():
        first, tasks = dependencies[0], list(dict.fromkeys(dependency.by for dependency in dependencies))
        names = f"{_listed(dropped.expansion, tasks)} {'names' if len(tasks) == 1 else 'name'} {dropped.label(missing)}"
        message = f"{names}, which runs on no node; other dependencies keep the order"
        yield finding_at(Severity.INFO, "G053", dropped.expansion.tasks[first.by], first.attribute, message)


def _listed(expansion: Expansion, tasks: Sequence[int]) -> str:
    return joined(expansion.tasks[index].id for index in tasks)


def joined(words: Iterable[str]) -> str:
    """List names in a sentence: at most four, or three and how many more.

    >>> joined("ab"), joined("abc"), joined("abcdef")
    ('a and b', 'a, b and c', 'a, b, c and 3 more')
    """
    every = list(words)
    shown = every if len(every) <= _MAX_NAMES + 1 else [*every[:_MAX_NAMES], f"{len(every) - _MAX_NAMES} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def ordinal(number: int) -> str:
    """A position in English.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
