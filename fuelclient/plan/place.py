"""Placement: which merged task runs on which nodes.

Stages run on the sync points. Groups do not run themselves but place their tasks, even stages, on their nodes. Every
other task runs on the nodes of its tags, or else of its roles, or else of its groups.
Source: Nailgun `TransactionSerializer.expand_tasks` and `TagResolver`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from fuelclient.graph.match import Names, pattern_error
from fuelclient.grouping import grouped
from fuelclient.model.finding import Finding, Severity, finding_at, task_finding
from fuelclient.model.graph import MergedTask
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task, TaskType, tolerance_from
from fuelclient.plan.fleet import MASTER, PRIMARY, SYNC, Fleet, FleetNode
from fuelclient.similar import Similar

EVERY = "*"


class Resolver:
    """Resolves role specifications to indices of `nodes`, and caches the results.

    `*` means every node that has a tag, never the master; `master` means the master; anything else is a tag or a
    pattern over tags. Next to other names in a list, `*` is an ordinary name, as upstream unwraps only a lone one.
    """

    def __init__(self, nodes: Sequence[FleetNode]) -> None:
        self.nodes = nodes
        self._nodes_with = grouped((tag, index) for index, node in enumerate(nodes) for tag in node.tags)
        self._tags = Names(self._nodes_with)
        self._resolved = cache(self._resolve)

    def resolve(self, roles: Sequence[str] | str) -> tuple[int, ...]:
        """The nodes that `roles` match, in the order of the fleet. A broken pattern matches none.

        >>> fleet = [FleetNode(None), FleetNode("master"), FleetNode(1, ("db", "web")), FleetNode(2, ("db2",))]
        >>> Resolver(fleet).resolve(["/db/", "master"])
        (1, 2, 3)
        """
        return self._resolved((roles,) if isinstance(roles, str) else tuple(roles))

    def placed(self, task: Task) -> tuple[int, ...]:
        return () if task.is_placed_by_star else self.resolve(task.placement[1])

    def _resolve(self, names: tuple[str, ...]) -> tuple[int, ...]:
        if names == (EVERY,):
            return tuple(index for index, node in enumerate(self.nodes) if node.tags)
        indices: set[int] = set()
        for name in names:
            if name == MASTER:
                indices.update(index for index, node in enumerate(self.nodes) if node.uid == MASTER)
            else:
                indices.update(index for tag in matching_names(name, self._tags) for index in self._nodes_with[tag])
        return tuple(sorted(indices))


def matching_names(word: str, known: Names) -> tuple[str, ...]:
    """The names in `known` that a name or a pattern matches; none for a broken pattern.

    >>> known = Names(["a", "ab"])
    >>> matching_names("a", known), matching_names("/^a/", known), matching_names("/(/", known)
    (('a',), ('a', 'ab'), ())
    """
    if word in known:
        return (word,)
    return () if pattern_error(word) else known.matching(word)


class TaskNames(dict[str, tuple[int, ...]]):
    """The merged tasks (by index) that each name or pattern matches, computed on first use. A broken pattern matches
    none.

    Entries that follow their stage are left out: a master gives them ids that no pattern expects.
    """

    def __init__(self, tasks: Iterable[tuple[int, MergedTask]]) -> None:
        self.by_id = grouped((task.id, index) for index, task in tasks if not task.task.follows_stage)
        self._ids = Names(self.by_id)

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = self[word] = tuple(index for name in matching_names(word, self._ids) for index in self.by_id[name])
        return found


Choice = Callable[[Sequence[int]], int]
"""Picks one of several nodes (by index) for `policy: any`."""


def lowest(candidates: Sequence[int]) -> int:
    """The first node in the order of the fleet, with the lowest id. (Nailgun picks an arbitrary one.)"""
    return candidates[0]


@dataclass(frozen=True, slots=True)
class FaultTolerance:
    """The number of nodes of a group that may fail. `nodes` are indices of the fleet."""

    group: str
    nodes: tuple[int, ...]
    tolerated: int


def tolerated_failures(value: object, total: int) -> int:
    """The number of `total` nodes that may fail.

    `value` is a number, a percentage (rounded down) or, if negative, the number of nodes that must succeed. If it is
    missing or cannot be read, any number of nodes may fail.

    >>> tolerated_failures("25%", 4), tolerated_failures("-1", 4), tolerated_failures(None, 4)
    (1, 3, 5)
    """
    if (read := tolerance_from(value)) is None:
        return total + 1
    number = read[0] * total // 100 if read[1] else read[0]
    return number if number >= 0 else max(0, total + number)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where each merged task runs (indices of the fleet, ascending), the groups' fault tolerance, and findings."""

    nodes: tuple[tuple[int, ...], ...]
    fault_tolerance: tuple[FaultTolerance, ...]
    findings: tuple[Finding, ...]


def place(tasks: Sequence[MergedTask], resolver: Resolver) -> Placement:
    """Place every task. An unknown task in a group that has nodes is an error finding (G043)."""
    placed: list[set[int]] = [set() for _ in tasks]
    by_id = grouped((task.id, index) for index, task in enumerate(tasks))
    for index, task in enumerate(tasks):
        if task.task.type == TaskType.STAGE:
            placed[index].add(SYNC)
        elif task.task.type != TaskType.GROUP:
            placed[index].update(resolver.placed(task.task))
    tolerance, findings = [], []
    similar = Similar(by_id)
    for group in tasks:
        nodes = resolver.placed(group.task) if group.task.type == TaskType.GROUP else ()
        if not nodes:
            continue
        for name in group.task.names("tasks"):
            for index in by_id.get(name, ()):
                if tasks[index].task.type != TaskType.GROUP:
                    placed[index].update(nodes)
            if name not in by_id:
                close = similar.nearest(name)
                what = f"task {name} does not exist: group {group.id} lists it, but no layer defines it"
                hint = f"Did you mean {close}?" if close else "Remove it from the group."
                findings.append(finding_at(Severity.ERROR, "G043", group, "tasks", what, hint))
        tolerated = tolerated_failures(group.task.attributes.get("fault_tolerance"), len(nodes))
        tolerance.append(FaultTolerance(group.id, nodes, tolerated))
    findings += _clashing_variants(tasks, by_id, placed, resolver)
    return Placement(tuple(tuple(sorted(nodes)) for nodes in placed), tuple(tolerance), tuple(findings))


def _clashing_variants(
    tasks: Sequence[MergedTask], by_id: dict[str, list[int]], placed: Sequence[set[int]], resolver: Resolver
) -> Iterator[Finding]:
    for name, indices in by_id.items():
        for first, second in combinations(indices, 2):
            if not (shared := placed[first] & placed[second]):
                continue
            more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
            yield finding_at(
                Severity.ERROR, "G044", tasks[second], "",
                f"task {name} comes from {tasks[first].owner.label} and from {tasks[second].owner.label}, and both "
                f"would run on node {resolver.nodes[min(shared)].uid}{more}",
                "Give their roles to different nodes, disable one plugin, or define the task in the environment's"
                " graph.",
            )  # fmt: skip


def only_primary(names: Iterable[str], nodes: Sequence[FleetNode]) -> str:
    """The first tag that `names` match and that only its primary node has, as `primary-TAG`; else empty.

    >>> alone = [FleetNode(1, ("primary-db", "web"))]
    >>> only_primary(["db"], alone), only_primary(["db"], [*alone, FleetNode(2, ("db",))]), only_primary(["web"], alone)
    ('db', '', '')
    """
    carried = {tag for node in nodes for tag in node.tags}
    alone = Names(sorted({tag.removeprefix(PRIMARY) for tag in carried if tag.startswith(PRIMARY)} - carried))
    return next((tag for name in names for tag in matching_names(name, alone)), "")


def placement_findings(
    tasks: Sequence[MergedTask], placement: Placement, snapshot: Snapshot, fleet: Fleet
) -> Iterator[Finding]:
    """Yield findings for tasks that run nowhere, or not everywhere their author meant.

    A task may have no roles at all (G040), roles that nothing defines (G041, even next to valid roles, since no other
    check notices a misspelt one), or roles that no node has (G042).
    """
    tags = {tag for role in snapshot.roles.values() for tag in role.tags}
    own = {role for node in snapshot.nodes for role in node.all_roles if role not in snapshot.roles}
    known = Names(sorted({*tags, *own, *(PRIMARY + tag for tag in tags & snapshot.primary_tags), MASTER, EVERY}))
    similar = Similar(known)
    in_groups = {name for task in tasks if task.task.type == TaskType.GROUP for name in task.task.names("tasks")}
    unknown_of: dict[tuple[str, ...], list[str]] = {}
    for task, nodes in zip(tasks, placement.nodes, strict=True):
        if task.task.type == TaskType.STAGE:
            continue
        attribute, names = task.task.placement
        is_group = task.task.type == TaskType.GROUP
        if names not in unknown_of:  # many tasks have the same
            unknown_of[names] = [name for name in names if not pattern_error(name) and not known.matching(name)]
        unknown = unknown_of[names]
        if not nodes and not names and (is_group or task.id not in in_groups):
            what = f"task {task.id} runs nowhere: it has no roles, and no group lists it"
            yield finding_at(Severity.WARNING, "G040", task, "type", what, "Give it roles.")
        elif snapshot.roles and unknown:
            close = similar.nearest(unknown[0])
            problem = f"neither the release nor an enabled plugin has the role {', '.join(unknown)}"
            hint = f"Did you mean {close}?" if close else ""
            yield task_finding(Severity.WARNING, "G041", task, attribute, problem, hint)
        elif not nodes and not is_group:
            what, hint = f"task {task.id} runs nowhere: no node has its roles", ""
            if primary := only_primary(names, fleet.nodes):
                what = (
                    f"task {task.id} runs nowhere: the only {primary} is {PRIMARY}{primary}, and this is another role"
                )
                hint = f"Add {PRIMARY}{primary} to its {attribute} if it is to run there."
            yield finding_at(Severity.INFO, "G042", task, attribute, what, hint)
