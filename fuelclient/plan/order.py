"""The order of an expansion: generations and stages, or the cycles that prevent an order.

For a cycle, this finds its edges, the layer that closed it, and the dependencies whose removal breaks it, by trial.
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
from fuelclient.plan.expand import Expansion, Statement, expand
from fuelclient.plan.fleet import MASTER, PRIMARY, SYNC, Fleet, fleet_of
from fuelclient.plan.place import EVERY

_BETWEEN = "Remove one of the dependencies of the cycle."
_ON_ITSELF = "A task that waits for itself on other nodes needs the strategy one_by_one, or separate primary roles."
_MAX_CYCLES = 10
_MAX_COMPONENTS = 10_000
"""The most cycles that one error lists, and the most components that are searched for them."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """The generation of every task instance, and the last sync point before it (by vertex number, or None), which
    determines its stage."""

    generation: list[int]
    last_sync: list[int | None]

    @property
    def generations(self) -> int:
        return max(self.generation, default=-1) + 1


def cycle_error(
    names: Sequence[str], others: int = 0, findings: Sequence[Finding] = (), drawings: Sequence[str] = ()
) -> CycleDetected:
    """The error for a cycle of task instances `names`, and `others` more cycles."""
    message = f"The graph has a cycle of {len(names)} task instances: {' -> '.join((*names, names[0]))}."
    if others:
        message += f" It has {others} more cycle{'s' * (others > 1)} of other tasks."
    return CycleDetected(message, cycle=names, findings=findings, drawings=drawings)


def ordered_despite_cycles(expansion: Expansion) -> tuple[Ordered, list[list[int]]]:
    """The order of all instances, in which those that wait for one another have no order among themselves; and the
    cycles among these (see `distinct_cycles`). No cycles if the graph has an order."""
    successors = expansion.successors
    result = order(successors, expansion.size)
    if not result.stuck:
        return _ordered(expansion, successors, result), []
    cycles = distinct_cycles(expansion, successors, result.stuck)
    contracted = _contracted(successors, components(successors, result.stuck))
    return _ordered(expansion, contracted, order(contracted, expansion.size)), cycles


def _contracted(successors: Sequence[Sequence[int]], together: Sequence[Sequence[int]]) -> list[list[int]]:
    """The edges of a graph after each set in `together` was put between two barriers, and its inner edges were removed.
    Vertices before or after one of a set are then before or after all of it."""
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
    syncs: list[int] = []
    for vertex in result.topological:
        passed = last[vertex]
        if vertex < expansion.size and expansion.node_of[vertex] == SYNC:
            syncs.append(vertex)
            passed = len(syncs) - 1
            last[vertex] = passed
        if passed >= 0:
            for after in successors[vertex]:
                last[after] = max(last[after], passed)
    return Ordered(result.generation, [syncs[rank] if rank >= 0 else None for rank in last[: expansion.size]])


def first_generations(expansion: Expansion, order: Ordered) -> list[int]:
    """The generation of the first instance of each merged task; `expansion.size` for a task that runs nowhere."""
    ranks = (order.generation[own.start : own.stop] for own in expansion.instances)
    return [min(own, default=expansion.size) for own in ranks]


def execution_order(first: Sequence[int]) -> list[int]:
    """Merged tasks sorted by their first generations; those that run nowhere come last."""
    return sorted(range(len(first)), key=lambda index: (first[index], index))


def distinct_cycles(expansion: Expansion, successors: Sequence[Sequence[int]], stuck: list[int]) -> list[list[int]]:
    """A shortest cycle of the graph, and one of each strongly connected component that has no cycle of the same tasks
    yet.

    The same tasks on many nodes count as one cycle, because one correction breaks them all.
    """
    distinct = [shortest_cycle(successors, expansion.size, stuck)]
    known = {_tasks_of(expansion, distinct[0])}
    for component in components(successors, stuck)[:_MAX_COMPONENTS]:
        if len(distinct) == _MAX_CYCLES:
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
        given = expansion.statements_between(before, after)
        statements = "; ".join(f"{why.task} says {why.attribute}: {why.word} ({why.place.layer})" for why in given)
        hint = _ON_ITSELF if expansion.task_of[before] == expansion.task_of[after] else _BETWEEN
        message = f"{expansion.name(before)} runs before {expansion.name(after)}: {statements}"
        yield Finding(Severity.ERROR, "G050", message, given[0].place, given[0].task, hint)


_ANYWHERE = "(any)"
"""The role of an assumed node for the tasks that a document does not place."""

_MAX_DROPS = 10
"""The search for a fix stops after dropping this many edges."""

_MAX_TRIALS = 10
"""At most this many edges of a cycle are tried; each trial expands the graph again."""

_MAX_EXPANDED = 3000
"""All trials of a cycle together expand at most this many tasks, but at least `_MIN_TRIALS` are made."""

_MIN_TRIALS = 3


@dataclass(frozen=True, slots=True)
class CycleReport:
    """One set of tasks that wait for one another, with a shortest cycle in it.

    `edges` has a finding for each edge of the cycle, whose task instances are `names`; `tasks` counts all tasks of the
    set. If there are several layers, `closed_by` is the label of the one with which the cycle appears when they are
    added one by one; `only_with_it` is true if the others have no cycle without it. To break the cycle, remove all
    statements of one of `fixes`.
    """

    names: tuple[str, ...]
    edges: tuple[Finding, ...]
    tasks: int
    closed_by: str = ""
    only_with_it: bool = False
    fixes: tuple[tuple[Statement, ...], ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for the whole cycle, with its fixes, then one for each edge."""
        place = next((edge.place for edge in self.edges if edge.place.layer == self.closed_by), self.edges[0].place)
        return (Finding(Severity.ERROR, "G050", self.title, place, hint=self.advice), *self.edges)

    @property
    def title(self) -> str:
        """One sentence: how many instances wait for one another, the cycle, and the layer that closed it."""
        number = len(self.names)
        waits = "1 task instance waits for itself" if number == 1 else f"{number} task instances wait for one another"
        others = f", in a set of {self.tasks} tasks that wait for one another" if self.tasks > len(self.names) else ""
        closed = f"; {self.closed_by} closed the cycle" if self.closed_by else ""
        checked = ", and without it there is none" if self.only_with_it else ""
        return f"{waits}{others}: {' -> '.join((*self.names, self.names[0]))}{closed}{checked}"

    @property
    def advice(self) -> str:
        """One sentence with the fixes; empty if none was found."""
        if not self.fixes:
            return ""
        return f"To remove the cycle (verified): {'; or '.join(map(_drop_phrase, self.fixes))}."

    def drawn(self) -> str:
        """A drawing of the cycle, with the statement behind each edge, and the fixes."""
        lines = []
        for number, (name, edge) in enumerate(zip(self.names, self.edges, strict=True)):
            given = edge.message.partition(": ")[2]
            closes = "  <- closes the cycle" if edge.place.layer == self.closed_by else ""
            where = f"  {edge.place}" if edge.place.file else ""
            lines += [f"  {'|' if number else '.'}-{'-' if number else '>'} {name}", f"  |     {given}{where}{closes}"]
        lines += [
            f"  `-> {self.names[0]}",
            *(["  Any one of these removes the cycle (verified):"] if self.fixes else []),
        ]
        return "\n".join([*lines, *(f"  - {_drop_phrase(fix)}" for fix in self.fixes)])


def _drop_phrase(fix: Sequence[Statement]) -> str:
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
    """The cycles (G050) of a graph by itself, as errors. Tasks that it does not place are assumed on one node.

    It is expanded on assumed nodes, one for each role that it names (two if it also names the primary). A cycle that
    exists only on a node with two roles is not found. Cycles between tasks that no node runs do not count: real graphs
    have some.
    """
    in_groups = {name for task in tasks if task.type == TaskType.GROUP for name in task.names("tasks")}

    def placed(task: Task) -> Task:
        if task.placement[1] or task.type in (TaskType.STAGE, TaskType.GROUP) or task.id in in_groups:
            return task
        return replace(task, attributes={**task.attributes, "roles": [_ANYWHERE]})

    names = {name for task in tasks for name in task.placement[1] if not is_pattern(name)} - {MASTER, EVERY}
    roles = {name.removeprefix(PRIMARY) for name in names}
    snapshot = Snapshot(
        Cluster(0, "", 0),
        (Layer(Owner(Level.CLUSTER, 0), tuple(map(placed, tasks))),),
        roles={name: Role(name, (name,)) for name in sorted(roles | {_ANYWHERE})},
        primary_tags=frozenset(role for role in roles if PRIMARY + role in names),
    )
    merged = merge_layers(snapshot.layers, keep_partial=True)
    reports = cycle_reports(snapshot, expand(merged.tasks, fleet_of(snapshot)))
    return tuple(finding for report in reports for finding in report.findings)


def cycle_reports(snapshot: Snapshot, expansion: Expansion) -> list[CycleReport]:
    """A report for each set of tasks whose instances wait for one another; the first has a shortest cycle."""
    successors = expansion.successors
    if not (stuck := order(successors, expansion.size).stuck):
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
    """The layer with which a cycle of `ids` appears, and whether the other layers have no cycle without it."""
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
    return bool(_cyclic_vertices(expand(_relevant_tasks(tasks, ids), fleet), ids))


def _relevant_tasks(tasks: Sequence[MergedTask], ids: Set[str]) -> list[MergedTask]:
    """The tasks `ids`, and the groups and stages that may place or order them."""
    return [task for task in tasks if task.id in ids or task.task.type in (TaskType.GROUP, TaskType.STAGE)]


def _cyclic_vertices(expansion: Expansion, ids: Set[str]) -> list[int]:
    """The vertices of a component that contains only instances of `ids`; empty if there is none."""
    successors = expansion.successors
    for component in components(successors, order(successors, expansion.size).stuck):
        if {expansion.tasks[expansion.task_of[vertex]].id for vertex in component if vertex < expansion.size} <= ids:
            return component
    return []


def _fixes(expansion: Expansion, ids: Set[str], layer: str, cycle: Sequence[int]) -> Iterator[tuple[Statement, ...]]:
    """Yield the statements of each edge whose removal breaks the cycle, or else one larger fix. If there are too many
    edges, those of `layer` are tried first, and some not at all.

    Trials ignore dependencies that are expressions; a cycle that needs them has no fix.
    """
    relevant = _relevant_tasks(expansion.tasks, ids)
    if not _is_cyclic(relevant, expansion.fleet, ids):
        return
    suffices = False
    edges = list(pairwise((*cycle, cycle[0])))
    trials = max(_MIN_TRIALS, min(_MAX_TRIALS, _MAX_EXPANDED // len(relevant)))
    if len(edges) > trials:
        layers = {edge: {each.place.layer for each in expansion.statements_between(*edge)} for edge in edges}
        edges = sorted(edges, key=lambda edge: layer not in layers[edge])[:trials]
    for edge in edges:
        drops, changed = _without_edge(relevant, expansion, edge)
        if drops and not _is_cyclic(changed, expansion.fleet, ids):
            suffices = True
            yield drops
    if not suffices:
        yield from _larger_fix(relevant, expansion.fleet, ids)


def _larger_fix(tasks: Sequence[MergedTask], fleet: Fleet, ids: Set[str]) -> Iterator[tuple[Statement, ...]]:
    """Yield a minimal set of dependencies whose removal breaks the cycle."""
    dropped: list[tuple[Statement, ...]] = []
    changed = tasks
    while len(dropped) < _MAX_DROPS:
        expansion = expand(changed, fleet)
        if not (stuck := _cyclic_vertices(expansion, ids)):
            break
        cycle = shortest_cycle(expansion.successors, expansion.size, stuck)
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
) -> tuple[tuple[Statement, ...], Sequence[MergedTask]]:
    """The statements of an edge and the tasks without them; no statements if one of them cannot be dropped."""
    drops = expansion.statements_between(*edge)
    changed = without(tasks, [drops])
    return ((), tasks) if any(drop.attribute == "stage" for drop in drops) or changed == tasks else (drops, changed)


def without(tasks: Sequence[MergedTask], dropped: Iterable[tuple[Statement, ...]]) -> Sequence[MergedTask]:
    by_task = grouped((drop.task, drop) for drops in dropped for drop in drops)
    return [_task_without(task, by_task.get(task.id, ())) for task in tasks]


def _task_without(merged: MergedTask, drops: Iterable[Statement]) -> MergedTask:
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
