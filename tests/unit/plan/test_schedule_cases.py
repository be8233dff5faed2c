"""The recorded vectors of a run (A1 to A26, H2): one file is one case, played on the virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from case_files import all_cases, case_files
from schedule_traces import skips, trace, vertex_of, work_from

from fuelclient.errors import Conflict, CycleDetected
from fuelclient.insight.forecast import simulate
from fuelclient.model.status import InstanceStatus, RunStatus, S, changed
from fuelclient.plan.place import FaultTolerance
from fuelclient.plan.result import FailedNodes, with_other_nodes
from fuelclient.plan.schedule import Change, Schedule, weights
from fuelclient.plan.work import Work, limit_from

Data = Mapping[str, Any]
WORK = ("groups", "limits", "lenient", "skip", "max_busy")


def _work(given: Data) -> Work:
    return work_from(given["nodes"], given.get("order", ()), **{key: given[key] for key in WORK if key in given})


def _simulate(given: Data) -> object:
    work = _work(given)
    at = vertex_of(work)
    durations = [given.get("durations", {}).get(work.name(vertex), 1) for vertex in range(work.size)]
    fail = {at[name] for name in given.get("fail", ())}
    try:
        simulation = simulate(work, durations, fail, stop_at=given.get("stop_at"))
    except CycleDetected as error:
        return {"error": error.message, "cycle": list(error.cycle)}
    return {
        "trace": trace(work, simulation),
        "skipped": skips(work, simulation),
        "verdict": str(simulation.result.verdict),
        "message": simulation.result.message,
        "makespan": simulation.makespan,
    }


def _weights(given: Data) -> object:
    work = _work(given)
    return {work.name(vertex): weight for vertex, weight in enumerate(weights(work))}


def _critical(given: Data) -> object:
    """Which nodes alone are too many when they fail, and which are in no group."""
    groups = [FaultTolerance(name, tuple(one["nodes"]), one["tolerated"]) for name, one in given["groups"].items()]
    covered = with_other_nodes(groups, given["nodes"] + 1)
    critical = []
    for node in range(1, given["nodes"] + 1):
        failed = FailedNodes(groups)
        failed.add(node)
        critical += [node] * failed.is_too_many
    return {"critical": critical, "alone": [list(g.nodes) for g in covered[len(groups) :]]}


def _strategy(given: Data) -> object:
    answers: list[object] = []
    for strategy in given["strategies"]:
        try:
            answers.append(limit_from(strategy))
        except ValueError as error:
            answers.append(str(error))
    return answers


def _resumed(given: Data) -> object:
    """What may start in a run of which some instances run already."""
    work = _work(given)
    at = vertex_of(work)
    schedule = Schedule(work, [Change(at[name], InstanceStatus.RUNNING) for name in given["running"]])
    return [work.name(vertex) for vertex in schedule.ready()]


def _progress(given: Data) -> object:
    """The percents before the run and after each end."""
    schedule = Schedule(_work(given))
    percents = [schedule.progress]
    while started := schedule.ready():
        for vertex in started:
            schedule.finish(vertex, InstanceStatus.READY)
            percents.append(schedule.progress)
    return percents


def _transitions(given: Data) -> object:
    """Which statuses may follow each, by trying all pairs."""
    if given["noun"] == "instance":
        return {str(one): sorted(other for other in InstanceStatus if _may(one, other)) for one in InstanceStatus}
    return {str(one): sorted(other for other in RunStatus if _may(one, other)) for one in RunStatus}


def _may(before: S, after: S) -> bool:
    try:
        return changed(before, after) is after
    except Conflict:
        return False


CHECKS: dict[str, Callable[[Data], object]] = {
    "simulate": _simulate,
    "weights": _weights,
    "critical": _critical,
    "strategy": _strategy,
    "resumed": _resumed,
    "progress": _progress,
    "transitions": _transitions,
}


@case_files("schedule", keys=("check", "input", "expected"))
def test_case(case: dict[str, Any]) -> None:
    answer, expected = CHECKS[case["check"]](case["input"]), case["expected"]

    if isinstance(answer, dict) and case["check"] == "simulate":
        assert {"trace", "verdict"} <= set(expected) or "error" in expected
        assert set(expected) <= set(answer)
        answer = {key: answer[key] for key in expected}
    assert answer == expected, case["says"]


def test_every_check_has_cases() -> None:
    assert {case["check"] for case in all_cases("schedule")} == set(CHECKS)
