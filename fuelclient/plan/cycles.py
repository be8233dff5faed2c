"""Cycles that are certain before a run: in one document by itself, and in an environment after a change of its graph.

Cycles are searched among task instances, because real graphs have cycles between task ids that no node has. A document
does not know its nodes; it is expanded on assumed nodes, one for each role that it names (two where it also names the
primary), so that a cycle between tasks of different roles is only found if it needs no node with both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from fuelclient.errors import CycleDetected
from fuelclient.graph.match import is_pattern
from fuelclient.graph.merge import merge_layers
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task, TaskType
from fuelclient.plan.cycle_reports import order_in
from fuelclient.plan.expand import expand
from fuelclient.plan.fleet import MASTER, PRIMARY, fleet_of
from fuelclient.plan.order import Ordered
from fuelclient.plan.place import EVERY
from fuelclient.plan.study import Facts, Study, no_facts

_ANYWHERE = "(any)"
"""The role of an assumed node for the tasks that the document does not place."""
_ALIKE = 2
"""So many nodes with the same roles show every cycle: between tasks of one node, and between those of two."""


def cycles_in(tasks: Sequence[Task]) -> tuple[Finding, ...]:
    """Return the cycles (G050) of a graph by itself, as errors. Tasks that it does not place are assumed together."""
    words = {word for task in tasks for word in task.placement[1] if not is_pattern(word)} - {MASTER, EVERY}
    roles = {word.removeprefix(PRIMARY) for word in words}
    snapshot = Snapshot(
        Cluster(0, "", 0),
        (Layer(Owner(Level.CLUSTER, 0), tuple(map(_Placing(tasks), tasks))),),
        roles={name: Role(name, (name,)) for name in sorted(roles | {_ANYWHERE})},
        primary_tags=frozenset(role for role in roles if PRIMARY + role in words),
    )
    merged = merge_layers(snapshot.layers, keep_partial=True)
    return _cycles(lambda: order_in(snapshot, expand(merged.tasks, fleet_of(snapshot))))


def cycles_of(snapshot: Snapshot, facts: Facts = no_facts) -> tuple[Finding, ...]:
    """Return the cycles (G050) of an environment's graph, as errors. Of nodes that are alike, a few are looked at."""
    alike: Counter[tuple[object, ...]] = Counter()
    nodes = []
    for node in snapshot.nodes:
        key = (node.all_roles, node.primary_tags, node.online, node.pending_deletion)
        alike[key] += 1
        if alike[key] <= _ALIKE + bool(snapshot.primary_tags):
            nodes.append(node)
    study = Study(replace(snapshot, nodes=tuple(nodes)), facts=facts)
    return _cycles(lambda: study.ordered)


class _Placing:
    """Places the tasks that neither say where they run, nor are listed by a group of the same document."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._grouped = {name for task in tasks if task.type == TaskType.GROUP for name in task.names("tasks")}

    def __call__(self, task: Task) -> Task:
        if task.placement[1] or task.type in (TaskType.STAGE, TaskType.GROUP) or task.id in self._grouped:
            return task
        return replace(task, attributes={**task.attributes, "roles": [_ANYWHERE]})


def _cycles(ordered: Callable[[], Ordered]) -> tuple[Finding, ...]:
    """Return the findings of the cycles for which a graph cannot be ordered."""
    try:
        ordered()
    except CycleDetected as error:
        return tuple(finding for finding in error.findings if isinstance(finding, Finding))
    return ()
