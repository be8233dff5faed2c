"""The schedule from an expansion, its refusals, its messages, and its behaviour on works that are large or deep."""

from __future__ import annotations

import dataclasses

import pytest
from building import fleet, merged, task
from call_count import calls
from refusals import refused
from schedule_traces import skips, vertex_of, work_from

from fuelclient.errors import Conflict, CycleDetected, InvalidGraph
from fuelclient.insight.forecast import simulate
from fuelclient.model.status import InstanceStatus, Reason, RunStatus, Verdict
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.place import FaultTolerance
from fuelclient.plan.schedule import CEILING, STOPPED_BY_USER, Change, Schedule, most_urgent_first, weights
from fuelclient.plan.work import NO_KEY, InstanceKind, Work, work_of

NODES = {1: ["db"], 2: ["web"], 3: ["web"]}


def _expansion(**strategies: object) -> Expansion:
    return expand(
        merged(
            task("start", type="stage"),
            task("group", type="group", roles=["web"], tasks=["pass"], fault_tolerance=1, parameters={"strategy": {
                "type": "one_by_one"}}),
            task("pass", type="skipped", roles=["db"]),
            task("install", type="puppet", roles=["web"], requires=["start"], parameters={"strategy": strategies}),
            task("report", type="shell", roles=["master"], fail_on_error=False, cross_depends=[{"name": "install"}]),
        ),
        fleet(NODES),
    )  # fmt: skip


def test_the_work_of_an_expansion() -> None:
    work = work_of(_expansion(type="parallel", amount=2))
    at = vertex_of(work)

    assert set(at) == {"start", "pass@1", "pass@2", "pass@3", "install@2", "install@3", "report@master"}
    assert [work.kinds[at[name]] for name in ("start", "pass@2", "install@2")] == [
        InstanceKind.SYNC,
        InstanceKind.SKIP,
        InstanceKind.REAL,
    ]
    assert work.passed_because(at["start"]) == Reason.SYNC_POINT
    assert work.passed_because(at["pass@1"]) == Reason.TYPE
    assert work.fault_tolerance == (FaultTolerance("group", (3, 4), 1),)
    assert [work.fail_on_error[at[name]] for name in ("install@2", "report@master")] == [True, False]
    assert work.limits == (2,), "the strategy of a group limits nothing"
    assert {name for name, vertex in at.items() if work.limit_of[vertex] != NO_KEY} == {"install@2", "install@3"}
    assert sorted(work.successors[at["start"]]) == [at["install@2"], at["install@3"]]


def test_decisions_count_before_the_tasks_own_words() -> None:
    expansion = _expansion(type="parallel", amount={"yaql_exp": "$.amount"})
    at = vertex_of(work_of(expansion))
    work = work_of(
        expansion,
        skipped={at["install@2"]: Reason.CONDITION},
        strategies={
            at["install@2"]: {"type": "one_by_one"},
            at["install@3"]: {"type": "parallel", "amount": 3},
        },
        fail_on_error={at["report@master"]: True, at["install@3"]: False},
    )

    assert work.kinds[at["install@2"]] is InstanceKind.SKIP
    assert work.passed_because(at["install@2"]) == Reason.CONDITION
    assert work.limits == (3,), "what is skipped limits nothing"
    assert [work.fail_on_error[at[name]] for name in ("install@3", "report@master")] == [False, True]
    assert work_of(expansion).limits == ()


@pytest.mark.parametrize("amounts", [(5, 2), (2, 5), (2, 0)])
def test_the_smallest_amount_of_a_task_counts(amounts: tuple[int, int]) -> None:
    expansion = _expansion(type="parallel")
    at = vertex_of(work_of(expansion))
    pairs = zip(("install@2", "install@3"), amounts, strict=True)

    work = work_of(expansion, strategies={at[name]: {"type": "parallel", "amount": amount} for name, amount in pairs})
    assert work.limits == (2,)


def test_a_dependency_that_is_stated_twice_is_one() -> None:
    again = [{"name": "a", "role": "self"}]
    tasks = merged(
        task("a", type="shell", roles=["db"]),
        task("b", type="shell", roles=["db"], requires=["a"], cross_depends=again),
    )
    work = work_of(expand(tasks, fleet(NODES)))

    assert work.successors == [[1], []]
    assert weights(work) == [1, 0]


def test_every_strategy_that_cannot_be_used_is_told() -> None:
    tasks = merged(
        task("a", type="shell", roles=["web"], parameters={"strategy": {"type": "parallel", "amount": -4}}),
        task("b", type="shell", roles=["db"], parameters={"strategy": "sometimes"}),
    )
    with pytest.raises(InvalidGraph) as caught:
        work_of(expand(tasks, fleet(NODES)))

    assert "task a: the amount of a strategy is a whole number of at least 0, not -4" in caught.value.message
    assert "task b: a strategy is parallel or one_by_one, not 'sometimes'" in caught.value.message
    assert [finding.task for finding in caught.value.findings] == ["a", "b"]


def test_what_is_not_running_cannot_end() -> None:
    work = work_from({"n1": ["a", "b"]}, ["a@n1 -> b@n1"], skip={"b@n1": "condition"})
    schedule = Schedule(work)
    for vertex in (0, 1):
        with refused(Conflict, work.name(vertex), "pending"):
            schedule.finish(vertex, InstanceStatus.SKIPPED)
    with refused(Conflict, "result"):
        _ = schedule.result

    assert schedule.ready() == [0]
    schedule.finish(0, InstanceStatus.READY, "retried")
    with refused(Conflict, "a@n1", "ready"):
        schedule.finish(0, InstanceStatus.READY)
    assert schedule.changes() == [
        Change(0, InstanceStatus.RUNNING),
        Change(0, InstanceStatus.READY, "retried"),
        Change(1, InstanceStatus.SKIPPED, "condition"),
    ]
    assert schedule.changes() == []


def test_an_executor_may_skip_and_may_say_why() -> None:
    schedule = Schedule(work_from({"n1": ["a", "b"], "n2": ["c"]}, ["a@n1 -> b@n1"]))
    assert schedule.ready() == [0, 2]
    schedule.finish(0, InstanceStatus.SKIPPED)
    schedule.finish(2, InstanceStatus.ERROR, Reason.INTERRUPTED)
    ended = [change for change in schedule.changes() if change.status is not InstanceStatus.RUNNING]

    assert ended == [
        Change(0, InstanceStatus.SKIPPED, "executor"),
        Change(2, InstanceStatus.ERROR, "interrupted"),
        Change(1, InstanceStatus.SKIPPED, "stopped", because=2),
    ]
    assert schedule.result.verdict is Verdict.ERROR
    assert schedule.result.verdict.status is RunStatus.ERROR


def test_what_is_interrupted_in_a_stopped_run_is_no_failure() -> None:
    """A schedule that is made of what this one wrote down says the same."""
    work = work_from({"n1": ["a", "b"], "n2": ["c"], "n3": ["d"]}, ["a@n1 -> b@n1", "d@n3 -> b@n1"])
    schedule = Schedule(work)
    assert schedule.ready() == [0, 2, 3]
    schedule.finish(2, InstanceStatus.READY)
    schedule.stop()
    schedule.finish(0, InstanceStatus.ERROR, Reason.INTERRUPTED)
    assert not schedule.is_done
    written = {change.vertex: change for change in schedule.changes()}
    again = Schedule(work, written.values(), stopped=STOPPED_BY_USER)
    for either in (schedule, again):
        either.finish(3, InstanceStatus.ERROR, Reason.INTERRUPTED)

    assert again.result == schedule.result
    assert (schedule.result.verdict, schedule.result.failed, schedule.result.exceeded) == (Verdict.STOPPED, (), ())
    assert schedule.result.message == "Stopped by user. Interrupted: a@n1, d@n3. Not run: b@n1."
    assert (
        schedule.changes()
        == again.changes()
        == [
            Change(3, InstanceStatus.ERROR, "interrupted"),
            Change(1, InstanceStatus.SKIPPED, "stopped"),
        ]
    )


def test_an_interrupted_instance_is_no_ignored_failure_either() -> None:
    work = work_from({"n1": ["a", "b"]}, ["a@n1 -> b@n1"], lenient=["a@n1"])
    schedule = Schedule(work)
    (running,) = schedule.ready()
    schedule.stop()
    schedule.finish(running, InstanceStatus.ERROR, Reason.INTERRUPTED)

    assert (schedule.status(0), schedule.result.ignored) == (InstanceStatus.ERROR, ())


def test_a_failure_beside_what_is_interrupted_is_one() -> None:
    schedule = Schedule(work_from({"n1": ["a"], "n2": ["b"]}))
    assert schedule.ready() == [0, 1]
    schedule.finish(0, InstanceStatus.ERROR)
    schedule.stop()
    schedule.finish(1, InstanceStatus.ERROR, Reason.INTERRUPTED)

    assert (schedule.result.verdict, schedule.result.failed, schedule.result.interrupted) == (Verdict.ERROR, (0,), (1,))


def test_a_stop_before_anything_runs_ends_at_once() -> None:
    schedule = Schedule(work_from({"n1": ["a"]}))
    schedule.stop("stopped by a test")
    schedule.stop("too late")

    assert schedule.is_done
    assert schedule.ready() == []
    assert schedule.result.message == "Stopped by a test. Not run: a@n1."
    assert schedule.result.verdict is Verdict.STOPPED


def test_the_first_reason_to_stop_counts() -> None:
    schedule = Schedule(work_from({"n1": ["a", "b"]}))
    (running,) = schedule.ready()
    schedule.stop("stopped by a test")
    schedule.stop("stopped again")
    assert not schedule.is_done
    schedule.finish(running, InstanceStatus.READY)

    assert schedule.result.stopped == "stopped by a test"


def test_a_failure_passes_a_barrier_at_once() -> None:
    """What waits for a and b through a barrier is lost when a fails; the sync point behind it need not wait for b."""
    plain = work_from({"n1": ["a"], "n2": ["b"], "n3": ["c", "z"], "sync": ["stage"]}, groups={
        "all": {"nodes": ["n1"], "tolerated": 1}})  # fmt: skip
    at = vertex_of(plain)
    barrier = plain.size
    successors: list[list[int]] = [[] for _ in range(barrier + 1)]
    for before, after in (("a@n1", barrier), ("b@n2", barrier), ("c@n3", at["stage"]), ("stage", at["z@n3"])):
        successors[at[before]].append(after)
    successors[barrier].append(at["c@n3"])
    schedule = Schedule(dataclasses.replace(plain, successors=successors))
    assert schedule.ready() == [at["a@n1"], at["b@n2"]]
    schedule.finish(at["a@n1"], InstanceStatus.ERROR)

    assert schedule.ready() == [at["z@n3"]]


def test_a_stop_after_the_end_changes_nothing() -> None:
    schedule = Schedule(work_from({"n1": ["a"]}))
    (only,) = schedule.ready()
    schedule.finish(only, InstanceStatus.READY)
    schedule.stop()

    assert schedule.result.verdict is Verdict.READY
    assert schedule.result.verdict.status is RunStatus.READY


def test_messages_of_large_failures_stay_short() -> None:
    nodes = {f"n{number}": ["a", "b"] for number in range(1, 31)}
    work = work_from(nodes, groups={"compute": {"nodes": list(nodes), "tolerated": 20}})
    result = simulate(work, [1] * work.size, fail=range(25)).result

    first = ", ".join(f"a@n{number}" for number in range(1, 11))
    assert result.message.startswith(
        f"Failed: {first} and 15 more. Group compute tolerates 20 failed nodes, and 25 failed:"
    )
    assert len(result.failed) == 25
    assert len(result.message) < 500


def test_a_run_stopped_while_it_was_written_down_stays_stopped() -> None:
    """Of the skips that end a stopped run only the first was written: the rest must not start."""
    work = work_from({"n1": ["a"], "n2": ["a"]})
    resumed = Schedule(work, [Change(0, InstanceStatus.SKIPPED, Reason.STOPPED)])

    assert resumed.is_done
    assert resumed.changes() == [Change(1, InstanceStatus.SKIPPED, Reason.STOPPED)]


def test_what_ran_when_the_runner_died_may_still_end() -> None:
    work = work_from({"n1": ["a", "b"], "n2": ["a"]}, ["a@n1 -> b@n1"], max_busy=1)
    resumed = Schedule(work, [Change(0, InstanceStatus.RUNNING)])

    assert resumed.running == [0]
    assert resumed.ready() == []
    resumed.finish(0, InstanceStatus.READY)
    assert resumed.ready() == [2]


def _chain(length: int, width: int = 1) -> Work:
    """Sync points in a row, or steps of `width` of them of which each precedes the whole next step."""
    size = length * width
    successors = [
        list(range((vertex // width + 1) * width, min((vertex // width + 2) * width, size))) for vertex in range(size)
    ]
    return Work(
        ("a",),
        ("", "n1"),
        [0] * size,
        [0] * size,
        [InstanceKind.SYNC] * size,
        [True] * size,
        [NO_KEY] * size,
        (),
        successors,
    )


def test_long_chain_of_sync_points_needs_no_recursion() -> None:
    schedule = Schedule(_chain(50_000))

    assert schedule.is_done
    assert [change.vertex for change in schedule.changes()] == list(range(50_000))


def test_weights_stay_bounded_where_ways_explode() -> None:
    """Four ways at each of 2000 steps are a number of 4000 bits; the order stays total."""
    work = _chain(2000, width=4)
    weight = weights(work)

    assert max(weight) == CEILING
    assert sorted(weight, reverse=True) == weight
    assert most_urgent_first(work) == list(range(work.size))


def test_a_cycle_is_told_before_anything_runs() -> None:
    with refused(CycleDetected, "a@n1 -> b@n1 -> a@n1"):
        Schedule(work_from({"n1": ["a", "b"]}, ["a@n1 -> b@n1", "b@n1 -> a@n1"]))


def _calls(nodes: int) -> int:
    """How many calls a run takes in which every node does two tasks one by one and two more freely."""
    names = {f"n{number}": ["x", "one", "y", "two"] for number in range(1, nodes + 1)}
    work = work_from(names, limits={"one": 1, "two": 1})
    verdicts: list[Verdict] = []
    count = calls(lambda: verdicts.append(simulate(work, [1] * work.size).result.verdict))
    assert verdicts == [Verdict.READY]
    return count


def test_waiting_for_a_limit_costs_no_scans() -> None:
    """Thousands of nodes wait for two tasks that run one by one: eight times the nodes is not 64 times the work."""
    assert _calls(1000) < _calls(125) * 16


def test_a_failure_is_told_behind_a_barrier_that_nobody_reaches() -> None:
    """What waits for it is lost at once: another of the barrier's predecessors may never end."""
    plain = work_from({"n1": ["a"], "n2": ["d", "b"], "n3": ["c"]}, ["d@n2 -> b@n2"])
    at = vertex_of(plain)
    successors = [list(following) for following in plain.successors]
    for vertex in (at["a@n1"], at["b@n2"]):
        successors[vertex].append(plain.size)
    work = dataclasses.replace(plain, successors=[*successors, [at["c@n3"]]])

    simulation = simulate(work, [1] * work.size, {at["a@n1"]})

    assert skips(work, simulation) == {"b@n2": "stopped a@n1", "c@n3": "dep_failed a@n1"}
