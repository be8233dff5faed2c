"""Simulate whole runs on a virtual clock, without an executor: what would run when, and what never would. Also
present plans and simulated runs as rows and as pictures, for any backend.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from fuelclient.errors import NotFound
from fuelclient.graph.dag import neighbours
from fuelclient.insight.picture import quoted
from fuelclient.model.run import PlannedGraph, PlannedInstance, SimulatedGraph, SimulatedInstance, uid_of
from fuelclient.model.status import InstanceStatus, Reason, Verdict
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.plan import Plan
from fuelclient.plan.result import NOTHING, Result
from fuelclient.plan.schedule import STOPPED_BY_USER, Change, Schedule
from fuelclient.plan.work import InstanceKind, Work


@dataclass(frozen=True, slots=True)
class Moment:
    """A change and the time at which it happens, in the unit of the durations."""

    at: float
    change: Change


@dataclass(frozen=True, slots=True)
class Simulation:
    """A run that was only computed.

    `moments` has every change in order. `makespan` is the end of the last instance; `critical` is the chain of
    instances that leads to it: each started when the one before it ended, which was its last dependency, occupied its
    node, or used the last slot under a limit. The durations of the chain add up to the makespan.
    """

    moments: tuple[Moment, ...]
    result: Result
    makespan: float
    critical: tuple[int, ...]

    def last(self) -> dict[int, Change]:
        return {moment.change.vertex: moment.change for moment in self.moments}


def simulate(
    work: Work,
    durations: Sequence[float],
    fail: Collection[int] = (),
    *,
    history: Iterable[Change] = (),
    stop_at: float | None = None,
) -> Simulation:
    """Run `work` on the clock: each instance takes its duration, and those of `fail` fail when they end.

    Instances that end at the same time end in the order of their nodes, and what can start then starts at
    once. With a `history`, simulate the rest of an earlier run, as if its running instances had just begun. At
    `stop_at`, stop the run, after the instances that end at that time. Raise `CycleDetected` if the work has a cycle.
    """
    schedule = Schedule(work, history)
    now = makespan = 0.0
    last = NOTHING
    ends: list[tuple[float, int, int]] = []
    moments: list[Moment] = []
    made_possible: dict[int, int] = {}

    def begin(started: Iterable[int]) -> None:
        moments.extend(Moment(now, change) for change in schedule.changes())
        for vertex in started:
            if last != NOTHING:
                made_possible[vertex] = last
            heappush(ends, (now + durations[vertex], work.node_of[vertex], vertex))

    begin(schedule.running)
    begin(schedule.ready())
    while ends or stop_at is not None:
        if stop_at is not None and (not ends or ends[0][0] > stop_at):
            now, stop_at = max(now, stop_at), None
            schedule.stop(STOPPED_BY_USER)
            begin(())
            continue
        now, _, last = heappop(ends)
        makespan = now
        schedule.finish(last, InstanceStatus.ERROR if last in fail else InstanceStatus.READY)
        begin(schedule.ready())
    critical = [last] if last != NOTHING else []
    while critical and critical[-1] in made_possible:
        critical.append(made_possible[critical[-1]])
    return Simulation(tuple(moments), schedule.result, makespan, tuple(reversed(critical)))


ASSUMED_SECONDS = 1.0
"""How long a task instance takes in a simulation if it never succeeded before."""

Key = tuple[str, str, str]
"""The key of a task instance's duration: graph type, task and node."""

_COLOURS = {"pending": "white", "running": "blue", "ready": "green", "error": "red", "skipped": "violet"}
"""The colour of each status, except for instances that could start, and those that a failure keeps from running."""

_STARTABLE_COLOUR, _UNREACHED_COLOUR = "yellow", "orange"

_FAILURE_REASONS = frozenset({Reason.DEP_FAILED, Reason.NODE_FAILED})


def planned(plan: Plan, skips: Callable[[str, Any], bool], *, after_earlier: bool = False) -> PlannedGraph:
    """Convert a plan into a `PlannedGraph`, in execution order. `skips` says whether the executor of a node skips a
    type of tasks. With `after_earlier`, other graphs run before it."""
    work, order, tasks = plan.work, plan.order, plan.expansion.tasks
    described = [(task.id, task.task.type, task.owner.label) for task in tasks]
    instances = []
    for vertex in sorted(range(work.size), key=order.generation.__getitem__):
        task, type_, layer = described[work.task_of[vertex]]
        uid, is_real = plan.expansion.uid(vertex), work.kinds[vertex] is InstanceKind.REAL
        why = Reason.UNKNOWN if vertex in plan.unknown else "" if is_real else work.passed_because(vertex)
        why = why or (Reason.EXECUTOR if skips(type_, uid) else "")
        instances.append(
            PlannedInstance(
                task=task,
                node=uid,
                type=type_,
                layer=layer,
                generation=order.generation[vertex],
                runs=not why,
                reason=str(why),
                detail=plan.details.get(vertex, ""),
                unknown=plan.unknown.get(vertex, ""),
            )
        )
    return PlannedGraph(
        plan.graph_type, tuple(instances), plan.findings, plan.node_ids, plan.digest, order.generations, after_earlier,
        plan.is_left_out,
    )  # fmt: skip


def simulated(plans: Sequence[Plan], known: Mapping[Key, float], fail: Sequence[str]) -> tuple[SimulatedGraph, ...]:
    """Simulate runs of graphs one after another, up to the first that fails.

    `known` has durations in seconds, `fail` the instances (`task/node`) that fail. Raise `NotFound` for an instance
    that no plan has.
    """
    return tuple(_simulated(plan, known, run) for plan, run in _runs(plans, known, fail))


def pictured(plans: Sequence[Plan], known: Mapping[Key, float], fail: Sequence[str]) -> str:
    """Draw the runs that `simulated` computes, in the language of Graphviz, one after another."""
    return "".join(dot(plan.work, run.last().values()) for plan, run in _runs(plans, known, fail))


def _runs(plans: Sequence[Plan], known: Mapping[Key, float], fail: Sequence[str]) -> Iterator[tuple[Plan, Simulation]]:
    """Yield the plans with their simulations, up to the first that fails."""
    failures: list[set[int]] = [set() for _ in plans]
    for text in fail:
        errors = []
        for plan, failing in zip(plans, failures, strict=True):
            try:
                failing.add(task_instance(plan, text))
            except NotFound as error:
                errors.append(error)
        if errors and len(errors) == len(plans):
            raise errors[0]
    for plan, failing in zip(plans, failures, strict=True):
        run = simulate(plan.work, [known.get(key, ASSUMED_SECONDS) for key in _keys(plan)], failing)
        yield plan, run
        if run.result.verdict is not Verdict.READY:
            return


def _keys(plan: Plan) -> list[Key]:
    """The key of each instance's duration. In histories, the node of a sync point is "null"."""
    return [(plan.graph_type, task.id, uid_of(uid)) for task, uid in map(plan.at, range(plan.work.size))]


def _simulated(plan: Plan, known: Mapping[Key, float], run: Simulation) -> SimulatedGraph:
    work, keys = plan.work, _keys(plan)
    start = {each.change.vertex: each.at for each in run.moments if each.change.status is InstanceStatus.RUNNING}
    end = {each.change.vertex: each.at for each in run.moments if each.change.status is not InstanceStatus.RUNNING}
    instances = []
    for vertex, change in sorted(run.last().items()):
        task, uid = plan.at(vertex)
        because = "" if change.because is None else work.name(change.because)
        begun, path = start.get(vertex), plan.unknown.get(vertex, "")
        ended = None if begun is None else end.get(vertex)
        reason = change.reason or (f"unknown: {path}" if path else "")
        instances.append(SimulatedInstance(task.id, uid, change.status, reason, because, begun, ended, path))
    return SimulatedGraph(
        graph_type=plan.graph_type,
        instances=tuple(instances),
        verdict=str(run.result.verdict),
        message=run.result.message,
        makespan=run.makespan,
        critical=tuple(work.name(vertex) for vertex in run.critical),
        known=sum(keys[vertex] in known for vertex in start),
        assumed_seconds=ASSUMED_SECONDS,
        findings=plan.findings,
    )


def task_instance(plan: Plan, text: str) -> int:
    """Find the instance named `task/node` or `task@node`, or by its task alone if that has only one instance.

    Raise `NotFound` if there is no such instance.
    """
    vertex_of = {plan.work.name(vertex): vertex for vertex in range(plan.work.size)}
    task, slash, node = text.rpartition("/")
    for name in (f"{task}@{node}" if slash else text, text):
        if name in vertex_of:
            return vertex_of[name]
    instances = [vertex for name, vertex in vertex_of.items() if name.rpartition("@")[0] == text]
    if len(instances) == 1:
        return instances[0]
    raise NotFound("task instance", text, known=[name.replace("@", "/") for name in vertex_of])


def dot(work: Work, history: Iterable[Change] = ()) -> str:
    """Draw a run in the language of Graphviz, with names and colours as in Astute's drawings of dry runs.

    `history` has the newest change of each instance that is not pending, in any order. Barriers are dissolved, so the
    text grows with the product of predecessors and successors: it is meant for small runs.

    >>> from fuelclient.plan.work import NO_KEY
    >>> work = Work(("a",), ("", "n1"), [0], [1], [InstanceKind.REAL], [True], [NO_KEY], (), [[]])
    >>> print(dot(work, [Change(0, InstanceStatus.READY)]), end="")
    digraph {
      "Task[a/n1]" [label="a/n1", style=filled, fillcolor=green];
    }
    """
    newest = {change.vertex: change for change in history}
    names = [
        f"{work.tasks[task]}/{'null' if node == SYNC else work.nodes[node]}"
        for task, node in zip(work.task_of, work.node_of, strict=True)
    ]
    after = [sorted(set(neighbours(work.successors, vertex, work.size))) for vertex in range(work.size)]
    waits = _waiting(work, newest, after)
    lines = [
        f"  {quoted(f'Task[{name}]')} [label={quoted(name)}, style=filled, "
        f"fillcolor={_colour(newest.get(vertex), vertex in waits)}];"
        for vertex, name in enumerate(names)
    ]
    lines += [
        f"  {quoted(f'Task[{names[vertex]}]')} -> {quoted(f'Task[{names[other]}]')};"
        for vertex in range(work.size)
        for other in after[vertex]
    ]
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _colour(change: Change | None, waits: bool) -> str:
    if change is None:
        return _COLOURS["pending"] if waits else _STARTABLE_COLOUR
    return _UNREACHED_COLOUR if change.reason in _FAILURE_REASONS else _COLOURS[change.status]


def _waiting(work: Work, newest: Mapping[int, Change], after: list[list[int]]) -> set[int]:
    """The instances held up by a predecessor that has not ended or, except for sync points, by one that failed."""
    waiting: set[int] = set()
    for vertex, following in enumerate(after):
        if (change := newest.get(vertex)) is None or not change.status.is_final:
            waiting.update(following)
        elif change.status is InstanceStatus.ERROR or change.reason in _FAILURE_REASONS:
            waiting.update(other for other in following if work.kinds[other] is not InstanceKind.SYNC)
    return waiting
