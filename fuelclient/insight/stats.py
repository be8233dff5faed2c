"""Figures of a graph, such as its size, depth and width, its changed tasks, and the tasks with the most neighbours; the
tasks that wait for a task; the tasks that a role adds to a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuelclient.graph.dag import distances, reachable, search
from fuelclient.grouping import grouped
from fuelclient.model.graph import MergedTask, Owner
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import MASTER, PRIMARY, FleetNode
from fuelclient.plan.place import Resolver, place
from fuelclient.plan.study import Study

_MAX_RANKED = 5


@dataclass(frozen=True, slots=True)
class Widest:
    """The generation with the most instances, and their number."""

    generation: int
    instances: int


@dataclass(frozen=True, slots=True)
class NeighbourCount:
    """A task and the number of its direct neighbours on one side."""

    task: str
    count: int


@dataclass(frozen=True, slots=True)
class Stats:
    """The figures of an ordered graph.

    `types`, `layers` and `findings` count tasks by type and layer, and findings by code. `changed` are the tasks that
    override others. `edges` are those between tasks. `longest` is a longest chain of instances, `most_before`
    and `most_after` are the tasks with the most direct neighbours.
    """

    tasks: int
    placed: int
    changed: int
    instances: int
    nodes: int
    generations: int
    edges: int
    types: Mapping[str, int]
    layers: Mapping[str, int]
    findings: Mapping[str, int]
    longest: tuple[str, ...]
    widest: Widest
    most_before: tuple[NeighbourCount, ...]
    most_after: tuple[NeighbourCount, ...]


def stats(study: Study) -> Stats:
    """Compute the figures of a study, in O(V + E)."""
    tasks = study.merged.tasks
    width = Counter(study.generation)
    widest = max(sorted(width), key=width.__getitem__, default=0)
    return Stats(
        tasks=len(tasks),
        placed=len(set(study.expansion.task_of)),
        changed=sum(bool(task.overrides) for task in tasks),
        instances=study.expansion.size,
        nodes=study.expansion.fleet.size,
        generations=len(width),
        edges=sum(map(len, study.before)),
        types=_counted(task.task.type for task in tasks),
        layers=_counted(task.owner.label for task in tasks),
        findings=_counted(finding.code for finding in study.findings),
        longest=_longest(study),
        widest=Widest(widest, width[widest]),
        most_before=_most(study, study.before),
        most_after=_most(study, study.after),
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _most(study: Study, neighbours: Sequence[frozenset[int]]) -> tuple[NeighbourCount, ...]:
    ranked = sorted(range(len(neighbours)), key=lambda index: (-len(neighbours[index]), index))
    most = [index for index in ranked[:_MAX_RANKED] if neighbours[index]]
    return tuple(NeighbourCount(study.merged.tasks[index].id, len(neighbours[index])) for index in most)


def _longest(study: Study) -> tuple[str, ...]:
    """A longest chain: from the last generation back, through an instance of each earlier generation."""
    path = list(study.order[-1:])
    while path and (before := study.held_by(path[-1])) is not None:
        path.append(before)
    return tuple(map(study.expansion.name, reversed(path)))


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """A task that waits for another one. `distance` is the fewest edges between instances of the two, `instances` the
    number of its waiting instances."""

    index: int
    task: str
    layer: Owner
    distance: int
    instances: int
    only_through: bool
    """Whether every path to it, from any task without predecessors, leads through the other task."""


@dataclass(frozen=True, slots=True)
class Impact:
    """The waiting tasks by distance and position in the merge, and the numbers of all placed tasks and instances."""

    task: str
    waiting: tuple[WaitingTask, ...]
    waiting_instances: int
    tasks: int
    instances: int


def impact(expansion: Expansion, tasks: Collection[int]) -> Impact:
    """Find the tasks that wait for merged tasks (the variants of one id), in O(V + E)."""
    successors, task_of = expansion.successors, expansion.task_of
    starts = {vertex for vertex, task in enumerate(task_of) if task in tasks}
    distance = distances(search(successors, starts, real=expansion.size), expansion.size)
    others = [vertex for vertex in distance if vertex < expansion.size and task_of[vertex] not in tasks]
    roots = [vertex for vertex, before in enumerate(expansion.predecessors) if not before and vertex not in starts]
    without = [[after for after in following if after not in starts] for following in successors]
    reached_without = reachable(without, roots)
    waiting = grouped((task_of[vertex], vertex) for vertex in sorted(others))
    rows = []
    for index, own in waiting.items():
        task, nearest = expansion.tasks[index], min(map(distance.__getitem__, own))
        rows.append(WaitingTask(index, task.id, task.owner, nearest, len(own), reached_without.isdisjoint(own)))
    rows.sort(key=lambda row: (row.distance, row.index))
    return Impact(expansion.tasks[min(tasks)].id, tuple(rows), len(others), len(set(task_of)), expansion.size)


@dataclass(frozen=True, slots=True)
class Holders:
    """The ids of the nodes that have a role: deployed, or pending until a run."""

    deployed: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(sorted({*self.deployed, *self.pending}))


def tasks_of_roles(tasks: Iterable[MergedTask], snapshot: Snapshot) -> Mapping[str, frozenset[int]]:
    """For each role, the merged tasks (by index) that run on a node because it has that role: on any holder, or on the
    primary one alone. Sync points and tasks of the master belong to no role.

    The tasks are placed on two invented nodes for each role, so that a role without nodes gets tasks too.
    """
    fleet = [FleetNode(None), FleetNode(MASTER)]
    names: list[str] = []
    for role in snapshot.roles.values():
        primary = tuple(PRIMARY + tag if tag in snapshot.primary_tags else tag for tag in role.tags)
        for tags in (role.tags, primary):
            fleet.append(FleetNode(len(fleet), tags))
            names.append(role.name)
    tasks_of: dict[str, set[int]] = {name: set() for name in snapshot.roles}
    for task, nodes in enumerate(place(tuple(tasks), Resolver(fleet)).nodes):
        for node in nodes:
            if node >= 2:
                tasks_of[names[node - 2]].add(task)
    return {name: frozenset(indices) for name, indices in tasks_of.items()}


def holders(nodes: Iterable[Node]) -> Mapping[str, Holders]:
    """The nodes of each role that a node has.

    >>> holders([Node(1, "a", roles=("web",)), Node(2, "b", pending_roles=("web",))])["web"].all
    (1, 2)
    """
    ordered = sorted(nodes, key=lambda node: node.id)
    deployed = grouped((role, node.id) for node in ordered for role in node.all_roles if role in node.roles)
    pending = grouped((role, node.id) for node in ordered for role in node.all_roles if role not in node.roles)
    return {
        role: Holders(tuple(deployed.get(role, ())), tuple(pending.get(role, ()))) for role in {**deployed, **pending}
    }
