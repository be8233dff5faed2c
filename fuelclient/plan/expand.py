"""Expansion: from merged tasks and a fleet to task instances and the order between them.

A vertex is a task instance `(task, node)`; every edge goes predecessor -> successor. Dependencies on the tasks of many
nodes go through barriers: hidden vertices that carry the same order with far fewer edges. An edge from an instance to
itself has no effect on the order; it is recorded because Nailgun lists it. Source: Nailgun `TransactionSerializer`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from operator import eq
from typing import NamedTuple

from fuelclient.graph.dag import reachable, reverse
from fuelclient.graph.match import Names
from fuelclient.graph.stage import chains
from fuelclient.model.finding import Place
from fuelclient.model.graph import MergedTask
from fuelclient.model.run import NodeKey
from fuelclient.model.task import RELATION_LISTS, Relation, Task, TaskType
from fuelclient.plan.fleet import SYNC, Fleet
from fuelclient.plan.place import EVERY, Choice, Placement, Resolver, TaskNames, lowest, matching_names, place

_MAX_CLIQUE_SIZE = 100
"""Up to this many instances that all wait for one another are linked pair by pair; of more, only two are linked. The
graph cannot run either way, and so many edges would exhaust the memory before the cycle is reported."""

OF_SUCCESSORS = frozenset({"required_for", "cross_depended_by"})
"""The attributes that list the successors of a task."""

Computed = Callable[[int, int], Iterable[tuple[str, Relation]]]
"""Returns the dependencies that expressions compute for a merged task on a node of the fleet (both by index), each with
its attribute. In `requires` and `required_for`, only the name is used."""


def named_dependencies(task: Task) -> Iterator[tuple[str, str, bool]]:
    """Yield the dependencies of a task, except expressions: the attribute, the name or pattern of the other task, and
    whether it applies to instances on different nodes."""
    for attribute in ("requires", "required_for"):
        for target in task.names(attribute):
            yield attribute, target, False
    for attribute in filter(task.attributes.__contains__, RELATION_LISTS):
        for relation in task.relations(attribute):
            if isinstance(relation.name, str):
                yield attribute, relation.name, relation.roles != "self"


class EdgeReason(NamedTuple):
    """Why one instance precedes another: the merged task (by index) with the dependency, the attribute, and the name or
    pattern of the other task."""

    task: int
    attribute: str
    word: str


class Edges:
    """Directed edges between the vertices below `real` and barriers above, with their reasons.

    A set of edges from every one of many predecessors to every one of many successors is stored through one
    barrier; the order is the same.
    """

    def __init__(self, real: int) -> None:
        self.real = real
        self.vertices = real
        self.heads: list[int] = []
        self.tails: list[int] = []
        self.reasons: list[int] = []
        self._reasons: dict[EdgeReason, int] = {}
        self._barriers: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._reason_after: set[int] = set()
        self._loops: tuple[set[int], set[int]] = (set(), set())
        self._at: dict[int, list[int]] = {}
        self._indexed = 0

    def __len__(self) -> int:
        return len(self.heads)

    def add(self, before: int, after: int, reason: EdgeReason) -> None:
        """Add one edge, unless it leads from a vertex to itself."""
        if before != after:
            self.link((before,), (after,), reason)

    def link(self, before: Sequence[int], after: Sequence[int], reason: EdgeReason) -> None:
        """Add an edge from each vertex of `before` to the one at the same position of `after`, which is another one."""
        self.heads += before
        self.tails += after
        self.reasons += [self._reasons.setdefault(reason, len(self._reasons))] * len(before)

    def note_loop(self, vertex: int, attribute: str) -> None:
        """Record that an instance names itself. Only `pairs_by_side` lists this; it has no effect on the order."""
        self._loops[attribute in OF_SUCCESSORS].add(vertex)

    def join(
        self, before: Sequence[int], after: Sequence[int], reason: EdgeReason, shared: tuple[int, ...] = ()
    ) -> None:
        """Add edges from every vertex of `before` to every other vertex of `after`.

        `shared` is the side (equal to `before` or `after`) that is the same in other calls: these share one barrier.
        Vertices on both sides wait for one another. They get direct edges, so that this cycle can be reported.
        """
        if not (inside := set(before) & set(after)):
            self._join_disjoint(before, after, reason, shared)
            return
        common = sorted(inside)
        outer = [vertex for vertex in before if vertex not in inside]
        inner = [vertex for vertex in after if vertex not in inside]
        self._join_disjoint(outer, common, reason)
        self._join_disjoint(common, inner, reason)
        self._join_disjoint(outer, inner, reason)
        clique = common if len(common) <= _MAX_CLIQUE_SIZE else common[:2]
        self._direct(clique, clique, reason)

    def _join_disjoint(
        self, before: Sequence[int], after: Sequence[int], reason: EdgeReason, shared: tuple[int, ...] = ()
    ) -> None:
        """Link two sides without common vertices, directly or through a barrier, whichever takes fewer edges.

        The shared side is linked to its barrier once, the other side by each call.
        """
        if len(before) * len(after) <= len(before) + len(after) + 1:
            self._direct(before, after, reason)
            return
        shares_before = bool(shared) and shared == tuple(before)
        key = (shares_before, shared)
        barrier = self._barriers.get(key) if shared else None
        is_new = barrier is None
        if barrier is None:
            barrier = self.vertices
            self.vertices += 1
            if shared:
                self._barriers[key] = barrier
            if shares_before:
                self._reason_after.add(barrier)
        if is_new or not shares_before:
            self._direct(before, (barrier,), reason)
        if is_new or shares_before:
            self._direct((barrier,), after, reason)

    def _direct(self, before: Sequence[int], after: Sequence[int], reason: EdgeReason) -> None:
        pairs = [(other, vertex) for vertex in after for other in before if other != vertex]
        self.link([other for other, _ in pairs], [vertex for _, vertex in pairs], reason)

    def successors(self) -> list[list[int]]:
        following: list[list[int]] = [[] for _ in range(self.vertices)]
        for head, tail in zip(self.heads, self.tails, strict=True):
            following[head].append(tail)
        return following

    def pairs(self) -> set[tuple[int, int]]:
        """Every (predecessor, successor) between real vertices, with barriers dissolved.

        For small graphs only: barriers exist to avoid this product.
        """
        return {(vertex, after) for pairs in self.pairs_by_side() for vertex, after in pairs if vertex != after}

    def pairs_by_side(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """Split `pairs` into those that the successor names, and those that the predecessor names (`required_for`,
        `cross_depended_by`). A pair may be in both. Instances that name themselves are added. For small graphs only."""
        names_successors = [reason.attribute in OF_SUCCESSORS for reason in self._reasons]
        following = self.successors()
        required, required_for = ({(vertex, vertex) for vertex in loops} for loops in self._loops)
        sides = (required, required_for)
        for head, tail, reason in zip(self.heads, self.tails, self.reasons, strict=True):
            if head < self.real:  # all reasons of one barrier are on the same side
                after = [tail] if tail < self.real else following[tail]
                sides[names_successors[reason]].update((head, vertex) for vertex in after if vertex != head)
        return sides

    def reasons_between(self, before: int, after: int) -> list[EdgeReason]:
        """The reasons why `before` precedes `after`, directly or through one barrier.

        A barrier that many tasks share remembers each task's reason on the side that is not shared.
        """
        into: dict[int, int] = {}
        onward: dict[int, int] = {}
        numbers: list[int] = []
        for position in range(self._indexed, len(self.heads)):  # only edges that were added since the last call
            for end in (self.heads[position], self.tails[position]):
                self._at.setdefault(end, []).append(position)
        self._indexed = len(self.heads)
        for position in sorted({*self._at.get(before, ()), *self._at.get(after, ())}):
            head, tail, reason = self.heads[position], self.tails[position], self.reasons[position]
            if head == before:
                if tail == after:
                    numbers.append(reason)
                elif tail >= self.real:
                    into[tail] = reason
            elif tail == after and head >= self.real:
                onward[head] = reason
        numbers += [
            (onward if barrier in self._reason_after else into)[barrier] for barrier in into if barrier in onward
        ]
        reasons = list(self._reasons)
        return [reasons[number] for number in dict.fromkeys(numbers)]


@dataclass(frozen=True, slots=True)
class Statement:
    """A dependency as its author wrote it: the task, its attribute, the name or pattern of the other task, and the
    place, which always has the layer."""

    task: str
    attribute: str
    word: str
    place: Place

    def __str__(self) -> str:
        return f"{self.task}.{self.attribute}: {self.word}"


@dataclass(frozen=True)
class Expansion:
    """Task instances and their order.

    `task_of` and `node_of` give each vertex's merged task and fleet node, by index. Vertices are numbered by
    (merged position, node). `edges` link vertices and barriers; barriers are numbered from `size` on.
    """

    tasks: tuple[MergedTask, ...]
    fleet: Fleet
    placement: Placement
    task_of: list[int]
    node_of: list[int]
    edges: Edges

    @property
    def size(self) -> int:
        return len(self.task_of)

    @cached_property
    def instances(self) -> list[range]:
        """The vertices of each merged task."""
        ends = list(accumulate(map(len, self.placement.nodes)))
        return [range(end - len(nodes), end) for nodes, end in zip(self.placement.nodes, ends, strict=True)]

    @cached_property
    def successors(self) -> list[list[int]]:
        return self.edges.successors()

    @cached_property
    def predecessors(self) -> list[list[int]]:
        return reverse(self.successors)

    @property
    def by_node(self) -> list[int]:
        """The instances node by node, so that an evaluation can cache the facts of one node."""
        return sorted(range(self.size), key=self.node_of.__getitem__)

    def instance(self, vertex: int) -> tuple[int, int]:
        return self.task_of[vertex], self.node_of[vertex]

    def task(self, vertex: int) -> MergedTask:
        return self.tasks[self.task_of[vertex]]

    def uid(self, vertex: int) -> NodeKey:
        return self.fleet.nodes[self.node_of[vertex]].uid

    def name(self, vertex: int) -> str:
        """The name of an instance: `task@node`, or the task alone for a sync point."""
        uid, task = self.uid(vertex), self.task(vertex).id
        return task if uid is None else f"{task}@{uid}"

    def statements_between(self, before: int, after: int) -> tuple[Statement, ...]:
        """The statements that make one instance precede another, directly or through one barrier."""
        reasons = self.edges.reasons_between(before, after)
        tasks = [self.tasks[reason.task] for reason in reasons]
        return tuple(
            Statement(task.id, reason.attribute, reason.word, task.place(reason.attribute))
            for task, reason in zip(tasks, reasons, strict=True)
        )

    def preceding_tasks(self) -> list[set[int]]:
        """For each merged task, the tasks whose instances directly precede its own, also through a barrier."""
        edges, task_of = self.edges, self.task_of
        into: dict[int, set[int]] = {}
        for head, tail in zip(edges.heads, edges.tails, strict=True):
            if tail >= edges.real:
                into.setdefault(tail, set()).add(task_of[head])
        preceding: list[set[int]] = [set() for _ in self.tasks]
        for head, tail in zip(edges.heads, edges.tails, strict=True):
            if tail >= edges.real:
                continue
            if head < edges.real:
                preceding[task_of[tail]].add(task_of[head])
            else:
                preceding[task_of[tail]] |= into.get(head, set())
        return preceding


def expand(
    tasks: Sequence[MergedTask], fleet: Fleet, *, choose: Choice = lowest, computed: Computed | None = None
) -> Expansion:
    """Place `tasks` on `fleet` and find the edges between their instances.

    Without `computed`, ignore dependencies that are expressions, as a preview does. Raise only what `computed`
    raises: a name that matches no task adds no edge, and a graph with cycles is expanded like any other
    (`plan.order.ordered_despite_cycles` finds them).
    """
    builder = _Builder(tuple(tasks), fleet, choose)
    for index, task in enumerate(builder.tasks):
        if not builder.at[index]:
            continue
        given = task.task.attributes
        for attribute in filter(given.__contains__, ("requires", "required_for")):
            builder.same_node(index, attribute, task.task.names(attribute))
        for attribute in filter(given.__contains__, RELATION_LISTS):
            for relation in task.task.relations(attribute):
                builder.cross(index, attribute, relation)
    builder.chain()
    builder.join_groups()
    if computed:
        builder.compute(computed)
    return Expansion(builder.tasks, fleet, builder.placement, builder.task_of, builder.node_of, builder.edges)


def _meetings(nodes: tuple[int, ...], others: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """The nodes on which a task meets another one, by those on which both run, and in a second list the node of the
    other: the same, or the sync point.

    >>> _meetings((1, 2), (0, 2, 3))
    ([1, 2, 2], [0, 2, 0])
    """
    there = frozenset(others)
    met = [(node, other) for node in nodes for other in dict.fromkeys((node, SYNC)) if other in there]
    return [node for node, _ in met], [other for _, other in met]


class _Builder:
    """Places the tasks, numbers their instances, and collects the edges between these."""

    def __init__(self, tasks: tuple[MergedTask, ...], fleet: Fleet, choose: Choice) -> None:
        self.tasks, self.fleet, self.choose = tasks, fleet, choose
        self.resolver = Resolver(fleet.nodes)
        self.placement = place(tasks, self.resolver)
        self.task_of: list[int] = []
        self.node_of: list[int] = []
        self.at: list[dict[int, int]] = []
        self._meetings = cache(_meetings)
        for index, nodes in enumerate(self.placement.nodes):
            start = len(self.task_of)
            self.task_of += [index] * len(nodes)
            self.node_of += nodes
            self.at.append(dict(zip(nodes, range(start, len(self.task_of)), strict=True)))
        self.edges = Edges(len(self.task_of))
        self.matching = TaskNames((index, task) for index, task in enumerate(tasks) if self.at[index])

    def same_node(self, task: int, attribute: str, names: Sequence[str], on: Mapping[int, int] | None = None) -> None:
        """Add the edges of `requires` and `required_for`: to tasks on the same node, and to sync points.

        `on` are the instances (vertices by node) with the dependency, by default all of the task.
        """
        here, nodes = (self.at[task], self.placement.nodes[task]) if on is None else (on, tuple(on))
        others = {other: target for target in reversed(names) for other in self.matching[target]}
        for other, target in others.items():
            there = self.at[other]
            own, met = self._meetings(nodes, self.placement.nodes[other])
            pair = [here[node] for node in own], [there[node] for node in met]
            self._link(attribute, *pair, EdgeReason(task, attribute, target))

    def _link(self, attribute: str, own: Sequence[int], named: Sequence[int], reason: EdgeReason) -> None:
        """Add the edges between instances with a dependency and those at the same positions that it names."""
        if any(map(eq, own, named)):
            for vertex in (vertex for vertex, other in zip(own, named, strict=True) if vertex == other):
                self.edges.note_loop(vertex, attribute)
            others = [(vertex, other) for vertex, other in zip(own, named, strict=True) if vertex != other]
            own, named = [vertex for vertex, _ in others], [other for _, other in others]
        before, after = (own, named) if attribute in OF_SUCCESSORS else (named, own)
        self.edges.link(before, after, reason)

    def cross(self, task: int, attribute: str, relation: Relation, on: Mapping[int, int] | None = None) -> None:
        """Add the edges of one entry of `cross_depends` or `cross_depended_by`, for the instances in `on`."""
        if not isinstance(relation.name, str):
            return
        here = self.at[task] if on is None else on
        others = self.matching[relation.name]
        reason = EdgeReason(task, attribute, relation.name)
        if relation.roles == "self":
            met = [(here[node], self.at[other][node]) for node in here for other in others if node in self.at[other]]
            self._link(attribute, [vertex for vertex, _ in met], [other for _, other in met], reason)
        elif relation.roles is None:
            self._join(tuple(here.values()), attribute, others, (SYNC,), reason)
        elif isinstance(relation.roles, str | tuple) and relation.roles != (EVERY,):  # in a list, * is a name
            nodes = self.resolver.resolve(relation.roles)
            if relation.policy == "any" and nodes:
                nodes = (self.choose(nodes),)
            self._join(tuple(here.values()), attribute, others, nodes, reason)

    def _join(
        self, sources: Sequence[int], attribute: str, others: Sequence[int], nodes: Sequence[int], reason: EdgeReason
    ) -> None:
        targets = tuple(self.at[other][node] for other in others for node in nodes if node in self.at[other])
        if attribute == "cross_depends":
            self.edges.join(targets, sources, reason, shared=targets)
        else:
            self.edges.join(sources, targets, reason, shared=targets)

    def compute(self, computed: Computed) -> None:
        """Add the edges of dependencies that are expressions.

        These are computed node by node, since many tasks read one node's facts. Equal dependencies share their edges.
        """
        computed_tasks = [
            index for index, task in enumerate(self.tasks) if self.at[index] and any(task.task.computed_attributes())
        ]
        given: dict[int, dict[tuple[str, Relation], dict[int, int]]] = {index: {} for index in computed_tasks}
        for node in range(len(self.fleet.nodes)):
            for index in computed_tasks:
                if (vertex := self.at[index].get(node)) is not None:
                    for dependency in computed(index, node):
                        given[index].setdefault(dependency, {})[node] = vertex
        for index, dependencies in given.items():
            for (attribute, relation), on in dependencies.items():
                if attribute in RELATION_LISTS:
                    self.cross(index, attribute, relation, on)
                elif isinstance(relation.name, str):
                    self.same_node(index, attribute, (relation.name,), on)

    def join_groups(self) -> None:
        """Add the edges between the tasks of groups marked with `joins`: the old tasks of a role begin when those of
        the roles that its group requires have ended on all of their nodes. Tasks before and after the deployment, and
        tasks that follow a stage, belong to no role. Source: Nailgun `task.legacy_tasks_adapter`."""
        if not (joining := [index for index, task in enumerate(self.tasks) if task.task.joins]):
            return
        groups = {task.id: index for index, task in enumerate(self.tasks) if task.task.type == TaskType.GROUP}
        outside = self._outside("deploy_start", onward=False) | self._outside("post_deployment_start", onward=True)
        members = {index: self._members(index, outside) for index in groups.values()}
        given: dict[int, list[tuple[int, EdgeReason]]] = {index: [] for index in members}
        for index in joining:
            group = self.tasks[index].task
            for name in filter(groups.__contains__, group.names("requires")):
                given[index].append((groups[name], EdgeReason(index, "requires", name)))
            for name in filter(groups.__contains__, group.names("required_for")):
                given[groups[name]].append((index, EdgeReason(index, "required_for", name)))
        # A group without nodes has no tasks, and passes no order on.
        awaited = [
            [earlier for earlier, _ in given.get(index, ()) if self.resolver.placed(task.task)]
            for index, task in enumerate(self.tasks)
        ]
        for later, relations in given.items():
            for earlier, reason in relations:
                before = {vertex for index in reachable(awaited, [earlier]) for vertex in members[index]}
                old = (v for v in members[later] if self.tasks[self.task_of[v]].task.version_tuple < (2, 0, 0))
                self.edges.join(sorted(before), [vertex for vertex in old if vertex not in before], reason)

    def _members(self, group: int, outside: Collection[int]) -> list[int]:
        task = self.tasks[group].task
        nodes, names = self.resolver.placed(task), set(task.names("tasks"))
        known = Names([task.id])
        return [
            self.at[index][node]
            for index, other in enumerate(self.tasks)
            if not other.task.stage
            and (other.id in names or any(matching_names(target, known) for target in other.task.placement[1]))
            for node in nodes
            if node in self.at[index] and self.at[index][node] not in outside
        ]

    def _outside(self, stage: str, *, onward: bool) -> set[int]:
        """The instances before or after (`onward`) a sync point, along the edges added so far."""
        following = self.edges.successors()
        starts = {self.at[index][SYNC] for index in self.matching.by_id.get(stage, ()) if SYNC in self.at[index]}
        return reachable(following if onward else reverse(following), starts)

    def chain(self) -> None:
        """Add the edges between the stage tasks of plugins, which run one after another, after the end of the stage and
        before the next stage. Skip entries that run nowhere."""
        for chain in chains(self.tasks):
            before = [vertex for index in chain.after for vertex in self.at[index].values()]
            after = [vertex for index in chain.before for vertex in self.at[index].values()]
            for index in chain.entries:
                if not (here := tuple(self.at[index].values())):
                    continue
                reason = EdgeReason(index, "stage", self.tasks[index].task.stage)
                self.edges.join(tuple(before), here, reason)
                self.edges.join(here, tuple(after), reason)
                before = list(here)
