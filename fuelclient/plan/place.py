"""Placement: which merged task runs where.

Stages stand on the sync point node; groups run nowhere themselves but place their tasks, even a stage, on their
nodes; everything else goes where its tags, else its roles, else its groups say.
Source: Nailgun `TransactionSerializer.expand_tasks`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fuelclient.errors import nearest
from fuelclient.graph.match import matching, pattern_error
from fuelclient.graph.references import place_of
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import TaskType
from fuelclient.plan.fleet import MASTER, PRIMARY
from fuelclient.plan.resolve import EVERY, Resolver

SYNC = 0
"""The index of the sync point node in a fleet."""


@dataclass(frozen=True, slots=True)
class FaultTolerance:
    """How many nodes of a group may fail; `nodes` are indices of the fleet."""

    group: str
    nodes: tuple[int, ...]
    tolerated: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Where each merged task runs (indices of the fleet, ascending), the groups' fault tolerance, and what was
    found on the way."""

    nodes: tuple[tuple[int, ...], ...]
    fault_tolerance: tuple[FaultTolerance, ...]
    findings: tuple[Finding, ...]


def place(tasks: Sequence[MergedTask], resolver: Resolver) -> Placement:
    """Place every task; a group on at least one node that lists an unknown task is an error finding (G043)."""
    placed: list[set[int]] = [set() for _ in tasks]
    by_id: dict[str, list[int]] = {}
    for index, task in enumerate(tasks):
        by_id.setdefault(task.id, []).append(index)
        if task.task.type == TaskType.STAGE:
            placed[index].add(SYNC)
        elif task.task.type != TaskType.GROUP:
            placed[index].update(resolver.resolve(task.task.placement[1]))
    tolerance, findings = [], []
    for group in tasks:
        nodes = resolver.resolve(group.task.placement[1]) if group.task.type == TaskType.GROUP else ()
        if not nodes:
            continue
        for name in group.task.names("tasks"):
            for index in by_id.get(name, ()):
                if tasks[index].task.type != TaskType.GROUP:
                    placed[index].update(nodes)
            if name not in by_id:
                findings.append(_unknown(group, name, by_id))
        tolerated = tolerated_failures(group.task.attributes.get("fault_tolerance"), len(nodes))
        tolerance.append(FaultTolerance(group.id, nodes, tolerated))
    findings += _variants_together(tasks, by_id, placed, resolver)
    return Placement(tuple(tuple(sorted(nodes)) for nodes in placed), tuple(tolerance), tuple(findings))


def tolerated_failures(value: object, total: int) -> int:
    """How many of `total` nodes may fail: a number, a percentage (floored), or, when negative, how many must
    succeed. Nothing, and what cannot be read, means that no number of failures is too many.

    >>> tolerated_failures("25%", 4), tolerated_failures("-1", 4), tolerated_failures(None, 4)
    (1, 3, 5)
    """
    text = str(value).strip() if value is not None else ""
    try:
        number = int(text[:-1]) * total // 100 if text.endswith("%") else int(text)
    except ValueError:
        return total + 1
    return number if number >= 0 else max(0, total + number)


def _unknown(group: MergedTask, name: str, known: Collection[str]) -> Finding:
    close = nearest(name, known)
    return Finding(
        Severity.ERROR, "G043", f"Task {name} cannot be resolved: group {group.id} lists it, no layer defines it",
        place_of(group, "tasks"), group.id, f"Did you mean {close}?" if close else "Remove it from the group.",
    )  # fmt: skip


def _variants_together(
    tasks: Sequence[MergedTask], by_id: dict[str, list[int]], placed: Sequence[set[int]], resolver: Resolver
) -> Iterator[Finding]:
    for name, indices in by_id.items():
        for position, one in enumerate(indices):
            for other in indices[position + 1 :]:
                shared = placed[one] & placed[other]
                if shared:
                    yield _clash(name, tasks[one], tasks[other], resolver.uid(min(shared)), len(shared))


def _clash(name: str, one: MergedTask, other: MergedTask, uid: object, count: int) -> Finding:
    more = f" and {count - 1} more" if count > 1 else ""
    return Finding(
        Severity.ERROR, "G044",
        f"task {name} comes from {one.owner.label} and from {other.owner.label}, and both run on node {uid}{more}",
        place_of(other, ""), name,
        "Give their roles to different nodes, disable one plugin, or define the task in the environment's graph.",
    )  # fmt: skip


def placement_findings(tasks: Sequence[MergedTask], placement: Placement, snapshot: Snapshot) -> Iterator[Finding]:
    """Findings for tasks that run nowhere, or not everywhere their author meant: no roles at all, roles that nobody
    brings (also one among good ones: a misspelt role is missed nowhere else), or that nobody has here."""
    known = _known_roles(snapshot)
    grouped = {name for task in tasks if task.task.type == TaskType.GROUP for name in task.task.names("tasks")}
    for task, nodes in zip(tasks, placement.nodes, strict=True):
        if task.task.type == TaskType.STAGE:
            continue
        attribute, names = task.task.placement
        is_group = task.task.type == TaskType.GROUP
        unknown = [name for name in names if not pattern_error(name) and not matching(name, known)]
        if not nodes and not names and (is_group or task.id not in grouped):
            yield _finding(
                task, "type", "G040", Severity.WARNING, "it has no roles and no group places it: it runs nowhere",
                "Give it roles.",
            )  # fmt: skip
        elif snapshot.roles and unknown:
            close = nearest(unknown[0], known)
            yield _finding(
                task, attribute, "G041", Severity.WARNING,
                f"neither the release nor an enabled plugin has the role {', '.join(unknown)}",
                f"Did you mean {close}?" if close else "",
            )  # fmt: skip
        elif not nodes and not is_group:
            yield _finding(task, attribute, "G042", Severity.INFO, "no node here has its roles: it runs nowhere", "")


def _known_roles(snapshot: Snapshot) -> set[str]:
    """Every word that can place a task: tags, their primaries, and roles of nodes that nobody describes."""
    tags = {tag for role in snapshot.roles.values() for tag in role.tags}
    own = {role for node in snapshot.nodes for role in node.all_roles if role not in snapshot.roles}
    return {*tags, *own, *(PRIMARY + tag for tag in tags & snapshot.primary_tags), MASTER, EVERY}


def _finding(task: MergedTask, attribute: str, code: str, severity: Severity, what: str, hint: str) -> Finding:
    return Finding(severity, code, f"task {task.id}: {what}", place_of(task, attribute), task.id, hint)
