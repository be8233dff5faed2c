"""Plans and simulated runs as people see them, wherever the plan was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fuelclient.errors import NotFound
from fuelclient.insight.dot import dot
from fuelclient.model.run import NodeKey, PlannedGraph, PlannedInstance, SimulatedGraph, SimulatedInstance
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.plan import Plan
from fuelclient.plan.simulate import Simulation, simulate
from fuelclient.plan.work import InstanceKind

ASSUMED_SECONDS = 1.0
"""How long a task instance takes in a simulation when it never succeeded before."""

Key = tuple[str, str, str]
"""What the duration of a task instance is known by: graph type, task and node."""


def planned(made: Plan, *, after_earlier: bool = False) -> PlannedGraph:
    """A plan for people, in execution order."""
    work, order = made.work, made.order
    found = []
    for vertex in sorted(range(work.size), key=lambda one: (order.generation[one], one)):
        task, uid = made.at(vertex)
        runs = work.kinds[vertex] is InstanceKind.REAL
        found.append(
            PlannedInstance(
                task=task.id,
                node=uid,
                type=task.task.type,
                layer=task.owner.label,
                generation=order.generation[vertex],
                runs=runs,
                reason="" if runs else str(work.passed_because(vertex)),
                detail=made.details.get(vertex, ""),
            )
        )
    return PlannedGraph(
        made.graph_type, tuple(found), made.findings, made.node_ids, made.digest, order.generations, after_earlier,
        made.is_left_out,
    )  # fmt: skip


def simulated(plans: Sequence[Plan], known: Mapping[Key, float], fail: Sequence[str]) -> tuple[SimulatedGraph, ...]:
    """Runs of graphs one after another, that were only computed; none follows one that fails."""
    return tuple(_simulated(made, known, run) for made, run in _runs(plans, known, fail))


def pictured(plans: Sequence[Plan], known: Mapping[Key, float], fail: Sequence[str]) -> str:
    """The same runs as drawings, one after another."""
    return "".join(dot(made.work, run.last().values()) for made, run in _runs(plans, known, fail))


def _runs(plans: Sequence[Plan], known: Mapping[Key, float], fail: Sequence[str]) -> Iterator[tuple[Plan, Simulation]]:
    """The plans with their runs, up to the first that fails. `NotFound` for an instance that no plan has."""
    named: list[set[int]] = [set() for _ in plans]
    for text in fail:
        problem: NotFound | None = None
        for made, failing in zip(plans, named, strict=True):
            try:
                failing.add(task_instance(made, text))
            except NotFound as error:
                problem = problem or error
        if problem is not None and not any(named):
            raise problem
    for made, failing in zip(plans, named, strict=True):
        run = simulate(made.work, [known.get(key, ASSUMED_SECONDS) for key in _keys(made)], failing)
        yield made, run
        if run.result.verdict != "ready":
            return


def _keys(made: Plan) -> list[Key]:
    """What the durations of earlier runs are known by, instance by instance."""
    kind = made.graph_type
    return [(kind, made.at(vertex)[0].id, _text(made.uid(vertex))) for vertex in range(made.work.size)]


def _simulated(made: Plan, known: Mapping[Key, float], run: Simulation) -> SimulatedGraph:
    work, keys = made.work, _keys(made)
    return SimulatedGraph(
        graph_type=made.graph_type,
        instances=_instances(made, run),
        verdict=str(run.result.verdict),
        message=run.result.message,
        makespan=run.makespan,
        critical=tuple(work.name(vertex) for vertex in run.critical),
        known=sum(key in known for key, kind in zip(keys, work.kinds, strict=True) if kind is InstanceKind.REAL),
        assumed_seconds=ASSUMED_SECONDS,
        findings=made.findings,
    )


def _instances(made: Plan, run: Simulation) -> tuple[SimulatedInstance, ...]:
    start: dict[int, float] = {}
    end: dict[int, float] = {}
    for moment in run.moments:
        running = moment.change.status is InstanceStatus.RUNNING
        (start if running else end)[moment.change.vertex] = moment.at
    found = []
    for vertex, change in sorted(run.last().items()):
        task, uid = made.at(vertex)
        because = "" if change.because is None else made.work.name(change.because)
        ran = start.get(vertex)
        found.append(
            SimulatedInstance(
                task.id, uid, change.status, change.reason, because, ran, end.get(vertex) if ran is not None else None
            )
        )
    return tuple(found)


def task_instance(made: Plan, text: str) -> int:
    """The instance that `task/node` (or `task@node`, or a task alone that stands on one place) names.

    `NotFound` when there is none.
    """
    known = {made.work.name(vertex): vertex for vertex in range(made.work.size)}
    task, slash, node = text.rpartition("/")
    for name in (f"{task}@{node}" if slash else text, text):
        if name in known:
            return known[name]
    places = [vertex for name, vertex in known.items() if name.rpartition("@")[0] == text]
    if len(places) == 1:
        return places[0]
    raise NotFound("task instance", text, known=[name.replace("@", "/") for name in known])


def _text(node: NodeKey) -> str:
    """A node as histories have it; the sync points are on "null"."""
    return "null" if node is None else str(node)
