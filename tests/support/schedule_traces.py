"""Small schedules, and traces of what they did. Instances are written `task@node`, sync points by name alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuelclient.insight.forecast import Simulation
from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.plan.place import FaultTolerance
from fuelclient.plan.work import NO_KEY, InstanceKind, Work

SYNC_NAME = "sync"
_SIGNS = {InstanceStatus.RUNNING: "+", InstanceStatus.READY: "=", InstanceStatus.ERROR: "!"}


def work_from(
    nodes: Mapping[str, Sequence[str]],
    order: Iterable[str] = (),
    *,
    groups: Mapping[str, Mapping[str, Any]] | None = None,
    limits: Mapping[str, int] | None = None,
    lenient: Iterable[str] = (),
    skip: Mapping[str, str] | None = None,
    max_busy: int = 50,
) -> Work:
    """Return the work of the tasks listed for each node, ordered by their first appearance; `order` has entries
    such as `a@n1 -> b@n2`."""
    names = ("", *(name for name in nodes if name != SYNC_NAME))
    tasks = tuple(dict.fromkeys(task for listed in nodes.values() for task in listed))
    where = {name: index for index, name in enumerate(names)} | {SYNC_NAME: 0}
    pairs = sorted((tasks.index(task), where[node]) for node, listed in nodes.items() for task in listed)
    at = {tasks[task] if not node else f"{tasks[task]}@{names[node]}": v for v, (task, node) in enumerate(pairs)}
    successors: list[list[int]] = [[] for _ in pairs]
    for edge in order:
        before, _, after = edge.partition(" -> ")
        successors[at[before]].append(at[after])
    skipped = {at[name]: reason for name, reason in (skip or {}).items()}
    keys = {task: key for key, task in enumerate(limits or {})}
    return Work(
        tasks=tasks,
        nodes=names,
        task_of=[task for task, _ in pairs],
        node_of=[node for _, node in pairs],
        kinds=[
            InstanceKind.SYNC if not n else InstanceKind.SKIP if v in skipped else InstanceKind.REAL
            for v, (_, n) in enumerate(pairs)
        ],
        fail_on_error=[name not in set(lenient) for name in at],
        limit_of=[keys.get(tasks[task], NO_KEY) for task, _ in pairs],
        limits=tuple((limits or {}).values()),
        successors=successors,
        fault_tolerance=tuple(
            FaultTolerance(name, tuple(where[node] for node in group["nodes"]), group["tolerated"])
            for name, group in (groups or {}).items()
        ),
        skipped=skipped,
        max_busy=max_busy,
    )


def vertex_of(work: Work) -> dict[str, int]:
    return {work.name(vertex): vertex for vertex in range(work.size)}


def trace(work: Work, simulation: Simulation) -> str:
    """Return in order what started (`+`), succeeded (`=`), failed (`!`), and was skipped after it had started (`~`)."""
    told, running = [], set()
    for moment in simulation.moments:
        change = moment.change
        if change.status in _SIGNS:
            told.append(_SIGNS[change.status] + work.name(change.vertex))
        elif change.vertex in running:
            told.append("~" + work.name(change.vertex))
        if change.status is InstanceStatus.RUNNING:
            running.add(change.vertex)
    return " ".join(told)


def skips(work: Work, simulation: Simulation) -> dict[str, str]:
    """Return why each instance was skipped, and because of which other; passed sync points are left out."""
    told = {}
    for vertex, change in sorted(simulation.last().items()):
        if change.status is InstanceStatus.SKIPPED and change.reason != Reason.SYNC_POINT:
            blamed = "" if change.because is None else f" {work.name(change.because)}"
            told[work.name(vertex)] = f"{change.reason}{blamed}"
    return told
