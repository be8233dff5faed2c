"""Laws of the schedule, over random works, outcomes and orders of events."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter

import pytest
from hash_seeds import same_answer
from hypothesis import given
from hypothesis import strategies as st
from properties.works import MOST, Naive, failures, predecessors, works

from fuelclient.insight.forecast import Simulation, simulate
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Verdict
from fuelclient.plan.schedule import Change, Schedule, weights
from fuelclient.plan.work import NO_KEY, InstanceKind, Work

seeds = st.integers(0, 2**32)
stops = st.none() | st.integers(1, 12)


def choice(seed: int, step: int) -> int:
    """A number that is scattered over the steps, the same at each call."""
    return ((seed ^ step * 0x9E3779B1) * 0x85EBCA6B >> 13) & 0xFFFF


def outcome(vertex: int, fail: set[int], seed: int) -> InstanceStatus:
    if vertex in fail:
        return InstanceStatus.ERROR
    return InstanceStatus.SKIPPED if choice(seed, vertex + 1000) % 5 == 0 else InstanceStatus.READY


class Player:
    """A run in which a seed decides who ends next, and when the schedule is asked for more."""

    def __init__(self, schedule: Schedule, fail: set[int], seed: int, stop: int | None, step: int = 0) -> None:
        self.schedule, self.fail, self.seed, self.stop, self.step = schedule, fail, seed, stop, step

    def call(self) -> tuple[str, list[int]]:
        """One call of the schedule: which, and the instances it was about."""
        number, running = choice(self.seed, self.step), self.schedule.running
        self.step += 1
        if self.stop == self.step:
            self.schedule.stop("stopped by test")
            return "stop", []
        if not running or number % 3 == 0:
            started = self.schedule.ready()
            assert started or running, "stuck"
            return "ready", started
        vertex = running[number % len(running)]
        self.schedule.finish(vertex, outcome(vertex, self.fail, self.seed))
        return "finish", [vertex]

    def play(self) -> list[list[Change]]:
        """The rest of the run: the changes of each call."""
        changes = []
        while not self.schedule.is_done:
            self.call()
            changes.append(self.schedule.changes())
        return changes


@given(works(), failures, seeds, stops)
def test_it_does_what_the_letter_of_the_rules_says(work: Work, fail: set[int], seed: int, stop: int | None) -> None:
    """Readiness, the failure closure, places, weights, limits and blame, against a scheduler without any cleverness."""
    schedule, naive = Schedule(work), Naive(work)
    player = Player(schedule, fail, seed, stop)
    assert weights(work) == [naive.weight(vertex) for vertex in range(work.size)]
    while not schedule.is_done:
        assert not naive.done
        which, vertices = player.call()
        if which == "stop":
            naive.stopped = True
        elif which == "ready":
            assert vertices == naive.ready()
        else:
            naive.finish(vertices[0], outcome(vertices[0], fail, seed))
        assert set(schedule.running) == naive.running

    assert naive.done
    last = {change.vertex: change for change in schedule.changes()}
    assert {v: (c.reason, c.because) for v, c in last.items() if c.reason in NEVER_RAN} == naive.never_ran()
    assert {v for v, change in last.items() if change.status is InstanceStatus.ERROR} == naive.failed
    assert set(schedule.result.never_ran) == set(naive.never_ran())
    assert set(schedule.result.failed) == naive.failed
    exceeded = bool(schedule.result.exceeded)
    assert exceeded == (naive.braked and (not naive.stopped or exceeded))
    expected = Verdict.ERROR if exceeded else Verdict.STOPPED if naive.stopped else Verdict.READY
    assert schedule.result.verdict is expected


@given(works(), failures, seeds, stops)
def test_every_instance_ends_and_moves_by_the_table(work: Work, fail: set[int], seed: int, stop: int | None) -> None:
    schedule = Schedule(work)
    opening = schedule.changes()
    calls = [opening, *Player(schedule, fail, seed, stop).play()]
    last = {change.vertex: change.status for call in calls for change in call}

    assert set(last) == set(range(work.size))
    assert all(status.is_final for status in last.values())
    assert [schedule.status(vertex) for vertex in range(work.size)] == [last[v] for v in range(work.size)]
    steps = Counter(change.vertex for call in calls for change in call)
    assert all(count <= 2 for count in steps.values()), "no status is written twice"
    assert schedule.progress == 100
    assert schedule.ready() == []
    schedule.stop()
    assert schedule.changes() == []


@given(works(), failures, seeds, stops, st.integers(0, 40))
def test_a_resumed_run_goes_on_as_if_nothing_had_happened(
    work: Work, fail: set[int], seed: int, stop: int | None, cut: int
) -> None:
    """After any call: the same calls give the same changes, from a schedule that was built from the history."""
    schedule = Schedule(work)
    calls = [schedule.changes(), *Player(schedule, fail, seed, stop).play()]
    done = min(cut, len(calls) - 1)

    rows = {change.vertex: change for call in calls[: done + 1] for change in call}
    was_stopped = stop is not None and stop <= done
    resumed = Schedule(work, reversed(rows.values()), stopped="stopped by test" if was_stopped else "")
    assert resumed.changes() == []
    assert Player(resumed, fail, seed, stop, step=done).play() == calls[done + 1 :]
    assert resumed.result == schedule.result


@given(works(), failures, seeds, st.integers(0, 40), st.integers(0, 10))
def test_a_run_that_broke_within_a_write_ends(work: Work, fail: set[int], seed: int, cut: int, part: int) -> None:
    """After a write of which the tail was lost everything still ends, and what had ended stays as it was."""
    schedule = Schedule(work)
    calls = [schedule.changes(), *Player(schedule, fail, seed, None).play()]
    done = min(cut, len(calls) - 1)

    whole = [change for call in calls[:done] for change in call]
    rows = {change.vertex: change for change in (*whole, *calls[done][:part])}
    resumed = Schedule(work, rows.values())
    Player(resumed, fail, seed, None, step=done).play()

    assert all(resumed.status(vertex).is_final for vertex in range(work.size))
    ran = {vertex for vertex, change in rows.items() if change.status in (InstanceStatus.READY, InstanceStatus.ERROR)}
    assert all(resumed.status(vertex) is rows[vertex].status for vertex in ran)


def dissolved(work: Work) -> Work:
    """The same order without barriers, each way an edge of its own."""
    pairs: list[list[int]] = [[] for _ in range(work.size)]
    for after, before in enumerate(predecessors(work)):
        for vertex in before:
            pairs[vertex].append(after)
    return dataclasses.replace(work, successors=pairs)


@given(works(), failures, seeds, stops)
def test_barriers_change_nothing(work: Work, fail: set[int], seed: int, stop: int | None) -> None:
    one, other = Schedule(work), Schedule(dissolved(work))
    calls = [[one.changes(), *Player(one, fail, seed, stop).play()]]
    calls.append([other.changes(), *Player(other, fail, seed, stop).play()])

    assert [sorted(call, key=str) for call in calls[0]] == [sorted(call, key=str) for call in calls[1]]
    assert one.result == other.result


durations = st.lists(st.integers(0, 5), min_size=MOST, max_size=MOST)


def spans(simulation: Simulation) -> dict[int, tuple[float, float]]:
    """When each instance that ran began and ended."""
    begun = {m.change.vertex: m.at for m in simulation.moments if m.change.status is InstanceStatus.RUNNING}
    return {
        vertex: (at, max(m.at for m in simulation.moments if m.change.vertex == vertex)) for vertex, at in begun.items()
    }


@given(works(), durations, failures)
def test_a_trace_keeps_the_order_and_the_limits(work: Work, takes: list[int], fail: set[int]) -> None:
    simulation = simulate(work, takes, fail)
    before, last = predecessors(work), simulation.last()
    running: set[int] = set()
    passed: set[int] = set()
    for moment in simulation.moments:
        change = moment.change
        if change.status is InstanceStatus.RUNNING:
            assert passed >= set(before[change.vertex])
            running.add(change.vertex)
        else:
            running.discard(change.vertex)
            if change.status is not InstanceStatus.ERROR and change.reason not in NEVER_RAN:
                passed.add(change.vertex)
        assert len({work.node_of[vertex] for vertex in running}) == len(running) <= work.max_busy
        used = Counter(work.limit_of[vertex] for vertex in running if work.limit_of[vertex] != NO_KEY)
        assert all(count <= work.limits[key] for key, count in used.items())
    assert not running
    if simulation.result.verdict is Verdict.READY:
        for vertex in range(work.size):
            if work.kinds[vertex] is InstanceKind.SYNC:
                assert vertex in passed
            elif last[vertex].reason in NEVER_RAN:
                assert simulation.result.failed


@given(works(), durations, failures)
def test_the_critical_chain_explains_the_makespan(work: Work, takes: list[int], fail: set[int]) -> None:
    simulation = simulate(work, takes, fail)
    when = spans(simulation)

    assert simulation.makespan == max((end for _, end in when.values()), default=0)
    assert sum(takes[vertex] for vertex in simulation.critical) == simulation.makespan
    for vertex, (begin, end) in when.items():
        assert end - begin == takes[vertex]
    for before, after in itertools.pairwise(simulation.critical):
        assert when[before][1] == when[after][0]
    assert bool(simulation.critical) == bool(when)


@given(works(), durations, failures, st.integers(0, 12))
def test_a_stop_at_any_time_ends(work: Work, takes: list[int], fail: set[int], at: int) -> None:
    simulation = simulate(work, takes, fail, stop_at=at)

    assert all(begin <= at for begin, _ in spans(simulation).values())
    assert set(simulation.last()) == set(range(work.size))
    free = simulate(work, takes, fail)
    if free.makespan <= at:
        assert spans(free) == spans(simulation)


_RUN = """
from hypothesis import given, seed, settings, HealthCheck
from properties.works import failures, works
from fuelclient.insight.forecast import simulate

@seed(20)
@settings(database=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(works(), failures)
def play(work, fail):
    print(work)
    print(simulate(work, [1] * work.size, fail))

play()
"""


@pytest.mark.slow
def test_hash_seeds_do_not_show() -> None:
    """The same works give the same traces, whatever order sets of texts have in a process."""
    assert len(same_answer(_RUN, seeds=2)) > 10_000
