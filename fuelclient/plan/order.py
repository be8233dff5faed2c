"""The order of an expansion: generations and stages, or the cycles that keep it from having one. What a cycle is made
of, edge by edge, which layer closed it, and which dependencies would have to go: all of it tried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from fuelclient.errors import CycleDetected
from fuelclient.graph.dag import Order, components, order, shortest_cycle
from fuelclient.graph.match import is_pattern
from fuelclient.graph.merge import merge_layers
from fuelclient.grouping import grouped
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import Layer, Level, MergedTask, Owner
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import RELATION_LISTS, Task, TaskType
from fuelclient.plan.expand import Expansion, Word, expand
from fuelclient.plan.fleet import MASTER, PRIMARY, SYNC, Fleet, fleet_of
from fuelclient.plan.place import EVERY

_BETWEEN = "Remove one of the dependencies of the cycle."
_ON_ITSELF = "A task that waits for itself on other nodes needs the strategy one_by_one, or separate primary roles."
_MOST_CYCLES = 10
_MOST_COMPONENTS = 10_000
"""The most cycles that one error lists, and the most components that are searched for them."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """The generation of every task instance, and the sync point that most recently precedes it (by vertex number, or
    None), from which its stage follows."""

    generation: list[int]
    last_sync: list[int | None]

    @property
    def generations(self) -> int:
        return max(self.generation, default=-1) + 1


def cycle_error(
    names: Sequence[str], others: int = 0, findings: Sequence[Finding] = (), drawings: Sequence[str] = ()
) -> CycleDetected:
    """The error for a cycle of task instances, and a number of `others`."""
    message = f"The graph has a cycle of {len(names)} task instances: {' -> '.join((*names, names[0]))}."
    if others:
        message += f" It has {others} more cycle{'s' * (others > 1)} of other tasks."
    return CycleDetected(message, cycle=names, findings=findings, drawings=drawings)


def ordered_despite_cycles(expansion: Expansion) -> tuple[Ordered, list[list[int]]]:
    """An order in which instances that wait for one another are unordered among themselves, and a shortest cycle of
    each such set. There are no cycles if the graph has an order."""
    successors = expansion.edges.successors()
    result = order(successors, expansion.size)
    if not result.stuck:
        return _ordered(expansion, successors, result), []
    cycles = distinct_cycles(expansion, successors, result.stuck)
    contracted = _contracted(successors, components(successors, result.stuck))
    return _ordered(expansion, contracted, order(contracted, expansion.size)), cycles


def _contracted(successors: Sequence[Sequence[int]], together: Sequence[Sequence[int]]) -> list[list[int]]:
    """The edges of a graph in which each of some sets of vertices lies between two barriers, without edges inside. So
    what precedes one of a set precedes all of it, and what follows one follows all."""
    home = {vertex: number for number, component in enumerate(together) for vertex in component}
    first = len(successors)
    into = [first + 2 * number for number in range(len(together))]

    def targets(vertices: Iterable[int], own: int | None) -> list[int]:
        outside = (vertex for vertex in vertices if own is None or home.get(vertex) != own)
        return list(dict.fromkeys(into[home[vertex]] if vertex in home else vertex for vertex in outside))

    edges = [
        [into[home[vertex]] + 1] if vertex in home else targets(following, None)
        for vertex, following in enumerate(successors)
    ]
    for number, component in enumerate(together):
        edges.append(list(component))
        edges.append(targets((after for vertex in component for after in successors[vertex]), number))
    return edges


def _ordered(expansion: Expansion, successors: Sequence[Sequence[int]], result: Order) -> Ordered:
    last: list[int] = [-1] * len(successors)
    sync_rank: list[int] = []
    for vertex in result.topological:
        passed = last[vertex]
        if vertex < expansion.size and expansion.node_of[vertex] == SYNC:
            sync_rank.append(vertex)
            passed = len(sync_rank) - 1
            last[vertex] = passed
        if passed >= 0:
            for after in successors[vertex]:
                last[after] = max(last[after], passed)
    last_sync = [sync_rank[rank] if rank >= 0 else None for rank in last[: expansion.size]]
    return Ordered(result.generation, last_sync)


def first_generations(expansion: Expansion, order: Ordered) -> list[int]:
    """The generation of the first instance of each merged task; `expansion.size` for a task that runs nowhere."""
    first = [expansion.size] * len(expansion.tasks)
    for vertex, task in enumerate(expansion.task_of):
        first[task] = min(first[task], order.generation[vertex])
    return first


def execution_order(first: Sequence[int]) -> list[int]:
    """Merged tasks sorted by their first generations; those that run nowhere come last."""
    return sorted(range(len(first)), key=lambda index: (first[index], index))


def distinct_cycles(expansion: Expansion, successors: Sequence[Sequence[int]], stuck: list[int]) -> list[list[int]]:
    """A shortest cycle, and one of every strongly connected component with other tasks.

    The same tasks on many nodes count as one cycle, because one correction removes them all.
    """
    distinct = [shortest_cycle(successors, expansion.size, stuck)]
    known = {_tasks_of(expansion, distinct[0])}
    for component in components(successors, stuck)[:_MOST_COMPONENTS]:
        if len(distinct) == _MOST_CYCLES:
            break
        tasks = _tasks_of(expansion, component)
        if any(tasks >= cycle for cycle in known):
            continue
        cycle = shortest_cycle(successors, expansion.size, component)
        known |= {tasks, _tasks_of(expansion, cycle)}
        distinct.append(cycle)
    return distinct


def _tasks_of(expansion: Expansion, vertices: Iterable[int]) -> frozenset[int]:
    return frozenset(expansion.task_of[vertex] for vertex in vertices if vertex < expansion.size)


def edges_of(expansion: Expansion, cycle: Sequence[int]) -> Iterator[Finding]:
    """Yield the finding (G050) of each edge of a cycle."""
    for before, after in pairwise((*cycle, cycle[0])):
        words = expansion.words_between(before, after)
        statements = "; ".join(f"{each.task} says {each.attribute}: {each.word} ({each.place.layer})" for each in words)
        hint = _ON_ITSELF if expansion.task_of[before] == expansion.task_of[after] else _BETWEEN
        message = f"{expansion.name(before)} runs before {expansion.name(after)}: {statements}"
        yield Finding(Severity.ERROR, "G050", message, words[0].place, words[0].task, hint)


_ANYWHERE = "(any)"
"""The role of an assumed node for the tasks that a document does not place."""

_MOST_DROPS = 10
"""A fix that would have to drop more than this is not looked for."""

_MOST_TRIALS = 10
"""Of a longer cycle, so many edges are tried; each trial expands the graph again."""

_MOST_EXPANDED = 3000
"""All trials of a cycle together expand so many tasks, unless fewer than `_LEAST_TRIALS` would be left."""

_LEAST_TRIALS = 3


@dataclass(frozen=True, slots=True)
class CycleReport:
    """One set of tasks that wait for one another, by a shortest cycle of it.

    `edges` has a finding for each edge of the cycle, whose task instances are `names`; `tasks` counts all tasks of the
    set. `closed_by` is the layer (by label) with which the cycle appears when layers are added one by one, if there
    are several, and `only_with_it` whether the others have none without it. It is enough to remove all words of
    one of `fixes`.
    """

    names: tuple[str, ...]
    edges: tuple[Finding, ...]
    tasks: int
    closed_by: str = ""
    only_with_it: bool = False
    fixes: tuple[tuple[Word, ...], ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for the whole cycle, with what removes it, then one for each edge."""
        place = next((edge.place for edge in self.edges if edge.place.layer == self.closed_by), self.edges[0].place)
        return (Finding(Severity.ERROR, "G050", self.title, place, hint=self.advice), *self.edges)

    @property
    def title(self) -> str:
        """One sentence: how many instances wait for one another, the cycle, and the layer that closed it."""
        number = len(self.names)
        waits = "1 task instance waits for itself" if number == 1 else f"{number} task instances wait for one another"
        others = f", in a set of {self.tasks} tasks that do" if self.tasks > len(self.names) else ""
        closed = f"; {self.closed_by} closed the cycle" if self.closed_by else ""
        checked = ", and without it there is none" if self.only_with_it else ""
        return f"{waits}{others}: {' -> '.join((*self.names, self.names[0]))}{closed}{checked}"

    @property
    def advice(self) -> str:
        """One sentence about what removes the cycle; empty if no fix was found."""
        if not self.fixes:
            return ""
        return f"What removes it (checked): {'; or '.join(map(_removed, self.fixes))}."

    def drawn(self) -> str:
        """The cycle as a drawing, with the statement that makes each edge, and what removes it."""
        lines = []
        for number, (name, edge) in enumerate(zip(self.names, self.edges, strict=True)):
            given = edge.message.partition(": ")[2]
            closes = "  <- closes the cycle" if edge.place.layer == self.closed_by else ""
            where = f"  {edge.place}" if edge.place.file else ""
            lines += [f"  {'|' if number else '.'}-{'-' if number else '>'} {name}", f"  |     {given}{where}{closes}"]
        lines += [
            f"  `-> {self.names[0]}",
            *(["  Any one of these removes the cycle (checked):"] if self.fixes else []),
        ]
        return "\n".join([*lines, *(f"  - {_removed(fix)}" for fix in self.fixes)])


def _removed(fix: Sequence[Word]) -> str:
    return " and ".join(
        f"drop {each.word} from {each.attribute} of {each.task}{f' ({each.place})' if each.place.file else ''}"
        for each in fix
    )


def explained(snapshot: Snapshot, expansion: Expansion, cycles: Sequence[Sequence[int]]) -> CycleDetected:
    """The error for the cycles of an expansion of a snapshot, with the findings and drawings of all reports."""
    reports = cycle_reports(snapshot, expansion)
    findings = [finding for report in reports for finding in report.findings]
    names = list(map(expansion.name, cycles[0]))
    return cycle_error(names, len(cycles) - 1, findings, [report.drawn() for report in reports])


def cycles_in(tasks: Sequence[Task]) -> tuple[Finding, ...]:
    """The cycles (G050) of a graph by itself, as errors. Tasks that it does not place are assumed together.

    A document has no nodes; it is expanded on assumed nodes, one for each role that it names (two where it
    also names the primary), so that a cycle between tasks of different roles is only found if it needs no node with
    both. Cycles between task ids that no node has are none: real graphs have some.
    """
    in_groups = {name for task in tasks if task.type == TaskType.GROUP for name in task.names("tasks")}

    def placed(task: Task) -> Task:
        if task.placement[1] or task.type in (TaskType.STAGE, TaskType.GROUP) or task.id in in_groups:
            return task
        return replace(task, attributes={**task.attributes, "roles": [_ANYWHERE]})

    words = {word for task in tasks for word in task.placement[1] if not is_pattern(word)} - {MASTER, EVERY}
    roles = {word.removeprefix(PRIMARY) for word in words}
    snapshot = Snapshot(
        Cluster(0, "", 0),
        (Layer(Owner(Level.CLUSTER, 0), tuple(map(placed, tasks))),),
        roles={name: Role(name, (name,)) for name in sorted(roles | {_ANYWHERE})},
        primary_tags=frozenset(role for role in roles if PRIMARY + role in words),
    )
    merged = merge_layers(snapshot.layers, keep_partial=True)
    reports = cycle_reports(snapshot, expand(merged.tasks, fleet_of(snapshot)))
    return tuple(finding for report in reports for finding in report.findings)


def cycle_reports(snapshot: Snapshot, expansion: Expansion) -> list[CycleReport]:
    """A report for each set of tasks whose instances wait for one another; the first has a shortest cycle."""
    successors = expansion.edges.successors()
    stuck = order(successors, expansion.size).stuck
    if not stuck:
        return []
    within = components(successors, stuck)
    reports = []
    for cycle in distinct_cycles(expansion, successors, stuck):
        tasks = _tasks_of(expansion, next(inside for inside in within if cycle[0] in inside))
        ids = {expansion.tasks[task].id for task in tasks}
        closed_by, only = _closing(snapshot, expansion, ids)
        names, edges = tuple(map(expansion.name, cycle)), tuple(edges_of(expansion, cycle))
        fixes = tuple(_fixes(expansion, ids, closed_by, cycle))
        reports.append(CycleReport(names, edges, len(ids), closed_by, only, fixes))
    return reports


def _closing(snapshot: Snapshot, expansion: Expansion, ids: Set[str]) -> tuple[str, bool]:
    """The layer with which a cycle of these tasks appears, and whether it takes part in every such cycle."""
    layers = [layer for layer in snapshot.layers if layer.tasks]

    def is_cyclic(some: Sequence[Layer]) -> bool:
        return _is_cyclic(merge_layers(some, keep_partial=True).tasks, expansion.fleet, ids)

    if len(layers) < 2:
        return "", False
    for number, layer in enumerate(layers):
        if is_cyclic(layers[: number + 1]):
            return layer.owner.label, not is_cyclic([other for other in layers if other is not layer])
    return "", False


def _is_cyclic(tasks: Sequence[MergedTask], fleet: Fleet, ids: Set[str]) -> bool:
    return bool(_stuck(expand(_few(tasks, ids), fleet), ids))


def _few(tasks: Sequence[MergedTask], ids: Set[str]) -> list[MergedTask]:
    """The tasks that can make a cycle of `ids`: these, and the groups that place them."""
    return [task for task in tasks if task.id in ids or task.task.type in (TaskType.GROUP, TaskType.STAGE)]


def _stuck(expansion: Expansion, ids: Set[str]) -> list[int]:
    """The vertices of a set of `ids` whose instances wait for one another, or nothing."""
    successors = expansion.edges.successors()
    for component in components(successors, order(successors, expansion.size).stuck):
        if {expansion.tasks[expansion.task_of[vertex]].id for vertex in component if vertex < expansion.size} <= ids:
            return component
    return []


def _fixes(expansion: Expansion, ids: Set[str], closed_by: str, cycle: Sequence[int]) -> Iterator[tuple[Word, ...]]:
    """Yield the statements of each edge of a cycle whose removal suffices, or else one larger fix. Of many edges, only
    some are tried, first those of the layer that closed the cycle.

    Dependencies that facts compute are left out of the trials; if a cycle needs them, there is no fix.
    """
    few = _few(expansion.tasks, ids)
    if not _is_cyclic(few, expansion.fleet, ids):
        return
    suffices = False
    edges = list(pairwise((*cycle, cycle[0])))
    most = max(_LEAST_TRIALS, min(_MOST_TRIALS, _MOST_EXPANDED // len(few)))
    if len(edges) > most:
        layers = {edge: {word.place.layer for word in expansion.words_between(*edge)} for edge in edges}
        edges = sorted(edges, key=lambda edge: closed_by not in layers[edge])[:most]
    for edge in edges:
        drops, changed = _without_edge(few, expansion, edge)
        if drops and not _is_cyclic(changed, expansion.fleet, ids):
            suffices = True
            yield drops
    if not suffices:
        yield from _larger_fix(few, expansion.fleet, ids)


def _larger_fix(tasks: Sequence[MergedTask], fleet: Fleet, ids: Set[str]) -> Iterator[tuple[Word, ...]]:
    """Yield a minimal set of dependencies whose removal breaks the cycle."""
    dropped: list[tuple[Word, ...]] = []
    changed = tasks
    while len(dropped) < _MOST_DROPS:
        expansion = expand(changed, fleet)
        stuck = _stuck(expansion, ids)
        if not stuck:
            break
        cycle = shortest_cycle(expansion.edges.successors(), expansion.size, stuck)
        tried = (_without_edge(changed, expansion, edge) for edge in pairwise((*cycle, cycle[0])))
        drops, changed = next((one for one in tried if one[0]), ((), changed))
        if not drops:
            return
        dropped.append(drops)
    for drops in tuple(dropped):
        rest = [other for other in dropped if other is not drops]
        if not _is_cyclic(without(tasks, rest), fleet, ids):
            dropped = rest
    if not _is_cyclic(without(tasks, dropped), fleet, ids):
        yield tuple(drop for drops in dropped for drop in drops)


def _without_edge(
    tasks: Sequence[MergedTask], expansion: Expansion, edge: tuple[int, int]
) -> tuple[tuple[Word, ...], Sequence[MergedTask]]:
    """The statements of an edge and the tasks without them; no statements if one of them cannot be dropped."""
    drops = expansion.words_between(*edge)
    changed = without(tasks, [drops])
    return ((), tasks) if any(drop.attribute == "stage" for drop in drops) or changed == tasks else (drops, changed)


def without(tasks: Sequence[MergedTask], dropped: Iterable[tuple[Word, ...]]) -> Sequence[MergedTask]:
    by_task = grouped((drop.task, drop) for drops in dropped for drop in drops)
    return [_task_without(task, by_task.get(task.id, ())) for task in tasks]


def _task_without(merged: MergedTask, drops: Iterable[Word]) -> MergedTask:
    attributes = dict(merged.task.attributes)
    for drop in drops:
        given = attributes.get(drop.attribute)
        key = "name" if drop.attribute in RELATION_LISTS else ""
        if isinstance(given, list):
            attributes[drop.attribute] = [
                item for item in given if (item.get(key) if key and isinstance(item, dict) else item) != drop.word
            ]
        elif given == drop.word:
            attributes[drop.attribute] = []
    if attributes == merged.task.attributes:
        return merged
    return replace(merged, task=replace(merged.task, attributes=attributes))
