"""Expansion: from merged tasks and a fleet to task instances and the order between them.

A vertex is a task instance `(task, node)`. Dependencies on the tasks of many nodes go through barriers, hidden
vertices that carry the same order with far fewer edges. An edge from an instance to itself is
ignored. Source: Nailgun `TransactionSerializer`; every edge goes predecessor -> successor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuelclient.graph.match import matcher
from fuelclient.graph.stage import chains
from fuelclient.model.graph import MergedTask
from fuelclient.model.task import RELATION_LISTS, Relation, Task
from fuelclient.plan.edges import Edges, Reason
from fuelclient.plan.fleet import Fleet
from fuelclient.plan.place import SYNC, Placement, place
from fuelclient.plan.resolve import Choice, Resolver, lowest

Computed = Callable[[int, int], Iterable[tuple[str, Relation]]]
"""The dependencies that expressions state for a merged task on a node of the fleet (by indices), each with its
attribute; in `requires` and `required_for` only the name counts."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Task instances and their order.

    `task_of` and `node_of` give each vertex's merged task and fleet node, by index; vertices are numbered by
    (merged position, node). `edges` are between vertices and barriers; a barrier's number is not below
    `len(task_of)`.
    """

    tasks: tuple[MergedTask, ...]
    fleet: Fleet
    placement: Placement
    task_of: list[int]
    node_of: list[int]
    edges: Edges

    @property
    def size(self) -> int:
        """The number of task instances."""
        return len(self.task_of)

    def name(self, vertex: int) -> str:
        """An instance for people: `task@node`, a sync point by its task alone."""
        uid = self.fleet.nodes[self.node_of[vertex]].uid
        task = self.tasks[self.task_of[vertex]].id
        return task if uid is None else f"{task}@{uid}"


def expand(
    tasks: Sequence[MergedTask], fleet: Fleet, *, choose: Choice = lowest, computed: Computed | None = None
) -> Expansion:
    """Place `tasks` on `fleet` and find the edges between their instances.

    Without `computed`, dependencies that are expressions are left out, as in a preview. Nothing is raised, but for
    what `computed` raises: names that match nothing make no edge, and a graph with cycles is expanded like any
    other (`graph.dag.order` finds them).
    """
    builder = _Builder(tuple(tasks), fleet, choose)
    for index, task in enumerate(builder.tasks):
        if not builder.at[index]:
            continue
        for attribute in ("requires", "required_for"):
            builder.same_node(index, attribute, task.task.names(attribute))
        for attribute in ("cross_depends", "cross_depended_by"):
            for relation in task.task.relations(attribute):
                builder.cross(index, attribute, relation)
    builder.chain()
    if computed:
        builder.compute(computed)
    return builder.expansion()


def needs_facts(task: Task) -> bool:
    """Whether expressions state dependencies of the task."""
    return any(any(task.expressions(name)) for name in ("requires", "required_for", *RELATION_LISTS)) or any(
        not isinstance(relation.name, str) or not isinstance(relation.roles, str | tuple | None)
        for name in RELATION_LISTS
        for relation in task.relations(name)
    )


class _Builder:
    """The vertices by task and node, and the edges found so far."""

    def __init__(self, tasks: tuple[MergedTask, ...], fleet: Fleet, choose: Choice) -> None:
        self.tasks, self.fleet, self.choose = tasks, fleet, choose
        self.resolver = Resolver(fleet.nodes)
        self.placement = place(tasks, self.resolver)
        self.task_of: list[int] = []
        self.node_of: list[int] = []
        self.at: list[dict[int, int]] = []
        for index, nodes in enumerate(self.placement.nodes):
            start = len(self.task_of)
            self.at.append({node: start + offset for offset, node in enumerate(nodes)})
            self.task_of.extend([index] * len(nodes))
            self.node_of.extend(nodes)
        self.edges = Edges(len(self.task_of))
        self._named: dict[str, tuple[int, ...]] = {}
        self._by_id: dict[str, list[int]] = {}
        for index, nodes in enumerate(self.placement.nodes):
            if nodes:
                self._by_id.setdefault(tasks[index].id, []).append(index)

    def named(self, word: str) -> tuple[int, ...]:
        """The placed tasks that a name or pattern means; a broken pattern means none."""
        if word not in self._named:
            names = [word] if word in self._by_id else self._matching(word)
            self._named[word] = tuple(index for name in names for index in self._by_id[name])
        return self._named[word]

    def _matching(self, word: str) -> list[str]:
        try:
            return list(filter(matcher(word), self._by_id))
        except re.error:
            return []

    def same_node(self, task: int, attribute: str, words: Sequence[str], on: Mapping[int, int] | None = None) -> None:
        """Edges of `requires` and `required_for`: tasks of the same node, and sync points.

        `on` are the instances (vertices by node) that state them, all of the task unless told otherwise.
        """
        here = self.at[task] if on is None else on
        others = {other: word for word in reversed(words) for other in self.named(word)}
        for other, word in others.items():
            reason = Reason(task, attribute, word)
            there = self.at[other]
            sync = there.get(SYNC)
            for node, vertex in here.items():
                if node in there:
                    self._edge(attribute, vertex, there[node], reason)
                if sync is not None and node != SYNC:
                    self._edge(attribute, vertex, sync, reason)

    def _edge(self, attribute: str, vertex: int, other: int, reason: Reason) -> None:
        if attribute in ("requires", "cross_depends"):
            self.edges.add(other, vertex, reason)
        else:
            self.edges.add(vertex, other, reason)

    def cross(self, task: int, attribute: str, relation: Relation, on: Mapping[int, int] | None = None) -> None:
        """Edges of one entry of `cross_depends` or `cross_depended_by`, stated by the instances in `on`."""
        if not isinstance(relation.name, str):
            return
        here = self.at[task] if on is None else on
        others = self.named(relation.name)
        reason = Reason(task, attribute, relation.name)
        if relation.roles == "self":
            for node, vertex in here.items():
                for other in others:
                    if node in self.at[other]:
                        self._edge(attribute, vertex, self.at[other][node], reason)
        elif relation.roles is None:
            self._join(tuple(here.values()), attribute, others, (SYNC,), reason)
        elif isinstance(relation.roles, str | tuple):
            nodes = self.resolver.resolve(relation.roles)
            if relation.policy == "any" and nodes:
                nodes = (self.choose(nodes),)
            self._join(tuple(here.values()), attribute, others, nodes, reason)

    def _join(
        self, sources: Sequence[int], attribute: str, others: Sequence[int], nodes: Sequence[int], reason: Reason
    ) -> None:
        targets = tuple(self.at[other][node] for other in others for node in nodes if node in self.at[other])
        if attribute == "cross_depends":
            self.edges.join(targets, sources, reason, shared=targets)
        else:
            self.edges.join(sources, targets, reason, shared=targets)

    def compute(self, computed: Computed) -> None:
        """Edges of the dependencies that expressions state.

        Nodes are asked one after another, since one node's facts serve many tasks; instances that state the same
        share their edges.
        """
        stating = [index for index, task in enumerate(self.tasks) if self.at[index] and needs_facts(task.task)]
        found: dict[int, dict[tuple[str, Relation], dict[int, int]]] = {index: {} for index in stating}
        for node in range(len(self.fleet.nodes)):
            for index in stating:
                vertex = self.at[index].get(node)
                for stated in computed(index, node) if vertex is not None else ():
                    found[index].setdefault(stated, {})[node] = self.at[index][node]
        for index, relations in found.items():
            for (attribute, relation), on in relations.items():
                if attribute in RELATION_LISTS:
                    self.cross(index, attribute, relation, on)
                elif isinstance(relation.name, str):
                    self.same_node(index, attribute, (relation.name,), on)

    def chain(self) -> None:
        """Edges between the stage tasks of plugins: after the stage's end, one after another, before the next
        stage; entries that run nowhere are passed over."""
        for chain in chains(self.tasks):
            before: list[int] = []
            for index in chain.after:
                before += self.at[index].values()
            after = [vertex for index in chain.before for vertex in self.at[index].values()]
            for index in chain.entries:
                here = tuple(self.at[index].values())
                if not here:
                    continue
                reason = Reason(index, "stage", self.tasks[index].task.stage)
                self.edges.join(tuple(before), here, reason)
                self.edges.join(here, tuple(after), reason)
                before = list(here)

    def expansion(self) -> Expansion:
        return Expansion(self.tasks, self.fleet, self.placement, self.task_of, self.node_of, self.edges)
