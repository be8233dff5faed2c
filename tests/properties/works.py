"""Random works, and an independent scheduler that looks at everything again at each step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from fuelclient.graph.dag import neighbours
from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.place import FaultTolerance
from fuelclient.plan.work import NO_KEY, InstanceKind, Work

MOST = 14
"""The size of the largest random work."""


@st.composite
def _orders(draw: st.DrawFn, size: int) -> list[list[int]]:
    """The successors of so many instances, without a cycle, and of some barriers after them."""
    place = draw(st.permutations(range(size)))
    successors: list[list[int]] = [[] for _ in range(size)]
    if size < 2:
        return successors
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda two: two[0] != two[1])
    for two in draw(st.lists(ends, min_size=size // 2, max_size=2 * size)):
        one, other = sorted(two, key=place.__getitem__)
        if other not in successors[one]:
            successors[one].append(other)
    for cut in draw(st.lists(st.integers(1, size - 1), max_size=3)):
        earlier = [vertex for vertex in range(size) if place[vertex] < cut]
        later = [vertex for vertex in range(size) if place[vertex] >= cut]
        for vertex in draw(st.sets(st.sampled_from(earlier), min_size=1)):
            successors[vertex].append(len(successors))
        successors.append(sorted(draw(st.sets(st.sampled_from(later), min_size=1))))
    return successors


@st.composite
def works(draw: st.DrawFn) -> Work:
    """An acyclic work of some tasks on some nodes, with sync points, skips, barriers, limits and groups."""
    nodes = draw(st.integers(1, 4))
    everywhere = [(task, node) for task in range(5) for node in range(nodes + 1)]
    size = draw(st.integers(0, min(MOST, len(everywhere))))
    pairs = sorted(draw(st.permutations(everywhere))[:size])
    successors = draw(_orders(size))
    limits = draw(st.lists(st.integers(1, 2), max_size=3))
    key_of = draw(st.lists(st.integers(NO_KEY, len(limits) - 1), min_size=5, max_size=5))
    passive = draw(st.sets(st.integers(0, MOST - 1), max_size=4))
    lenient = draw(st.sets(st.integers(0, MOST - 1), max_size=3))
    groups = st.builds(
        lambda members, tolerated: FaultTolerance("g", tuple(sorted(members)), tolerated),
        st.sets(st.integers(1, nodes), min_size=1), st.integers(0, 4),
    )  # fmt: skip
    everyone = [FaultTolerance("all", tuple(range(1, nodes + 1)), 4)] if draw(st.booleans()) else []
    return Work(
        tasks=tuple("abcde"),
        nodes=("", *(f"n{node}" for node in range(1, nodes + 1))),
        task_of=[task for task, _ in pairs],
        node_of=[node for _, node in pairs],
        kinds=[
            InstanceKind.SYNC if not n else InstanceKind.SKIP if v in passive else InstanceKind.REAL
            for v, (_, n) in enumerate(pairs)
        ],
        fail_on_error=[vertex not in lenient for vertex in range(size)],
        limit_of=[key_of[task] for task, _ in pairs],
        limits=tuple(limits),
        successors=successors,
        fault_tolerance=(*draw(st.lists(groups, max_size=2)), *everyone),
        max_busy=draw(st.sampled_from([1, 2, 3, 50])),
    )


failures = st.sets(st.integers(0, MOST - 1), max_size=2) | st.sets(st.integers(0, MOST - 1), min_size=3, max_size=8)


def predecessors(work: Work) -> list[list[int]]:
    """What directly precedes every instance, barriers dissolved."""
    before: list[list[int]] = [[] for _ in range(work.size)]
    for vertex in range(work.size):
        for after in neighbours(work.successors, vertex, work.size):
            before[after].append(vertex)
    return before


class Naive:
    """The rules of a run by their letter: no counters, no heaps, no barriers; every call looks at everything."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.before = predecessors(work)
        self.passed: set[int] = set()
        self.failed: set[int] = set()
        self.lost: set[int] = set()
        self.running: set[int] = set()
        self.stopped = False
        self._settle()

    def _is_waiting(self, vertex: int) -> bool:
        return not any(vertex in one for one in (self.passed, self.failed, self.lost, self.running))

    @property
    def failed_nodes(self) -> set[int]:
        return {self.work.node_of[vertex] for vertex in self.failed}

    @property
    def braked(self) -> bool:
        grouped = {node for group in self.work.fault_tolerance for node in group.nodes}
        return (
            self.stopped
            or bool(self.failed_nodes - grouped)
            or any(len(self.failed_nodes & set(g.nodes)) > g.tolerated for g in self.work.fault_tolerance)
        )

    @property
    def done(self) -> bool:
        waiting = [vertex for vertex in range(self.work.size) if self._is_waiting(vertex)]
        return not self.running and (self.braked or not waiting)

    def _settle(self) -> None:
        known = -1
        while known != len(self.passed) + len(self.lost):
            known = len(self.passed) + len(self.lost)
            for vertex in filter(self._is_waiting, range(self.work.size)):
                bad = self.failed | self.lost
                if self.work.kinds[vertex] is InstanceKind.SYNC:
                    if not self.braked and bad | self.passed >= set(self.before[vertex]):
                        self.passed.add(vertex)
                elif self.work.node_of[vertex] in self.failed_nodes or bad & set(self.before[vertex]):
                    self.lost.add(vertex)
                elif self._could_pass(vertex):
                    self.passed.add(vertex)

    def _could_pass(self, vertex: int) -> bool:
        is_skip = self.work.kinds[vertex] is InstanceKind.SKIP
        return is_skip and not self.braked and self.passed >= set(self.before[vertex])

    def weight(self, vertex: int) -> int:
        node_of = self.work.node_of

        @cache
        def weigh(one: int) -> int:
            following = neighbours(self.work.successors, one, self.work.size)
            return sum((1 if node_of[d] == node_of[one] else 10) + weigh(d) for d in following)

        return weigh(vertex)

    def ready(self) -> list[int]:
        started = []
        for node in range(1, len(self.work.nodes)) if not self.braked else ():
            if len(self.running) >= self.work.max_busy or node in {self.work.node_of[one] for one in self.running}:
                continue
            could = [vertex for vertex in range(self.work.size) if self._could_start(vertex, node)]
            if could:
                best = max(could, key=lambda vertex: (self.weight(vertex), -vertex))
                self.running.add(best)
                started.append(best)
        return started

    def _could_start(self, vertex: int, node: int) -> bool:
        key = self.work.limit_of[vertex]
        beside = sum(self.work.limit_of[one] == key for one in self.running)
        return (
            self.work.node_of[vertex] == node
            and self.work.kinds[vertex] is InstanceKind.REAL
            and self._is_waiting(vertex)
            and self.passed >= set(self.before[vertex])
            and (key == NO_KEY or beside < self.work.limits[key])
        )

    def finish(self, vertex: int, outcome: InstanceStatus) -> None:
        self.running.discard(vertex)
        is_failure = outcome is InstanceStatus.ERROR and self.work.fail_on_error[vertex]
        (self.failed if is_failure else self.passed).add(vertex)
        self._settle()

    def never_ran(self) -> dict[int, tuple[str, int | None]]:
        """Why every instance that was not reached was not, and who is to blame."""
        return {
            vertex: self._why(vertex)
            for vertex in range(self.work.size)
            if vertex in self.lost or self._is_waiting(vertex)
        }

    def _why(self, vertex: int) -> tuple[str, int | None]:
        if vertex not in self.lost:
            return Reason.STOPPED, self._brake()
        if set(self.before[vertex]) & (self.failed | self.lost):
            return Reason.DEP_FAILED, self._root(vertex)
        return Reason.NODE_FAILED, self._root(vertex)

    def _root(self, vertex: int) -> int:
        if vertex in self.failed:
            return vertex
        bad = set(self.before[vertex]) & (self.failed | self.lost)
        if bad:
            return min(map(self._root, bad))
        (failed,) = (one for one in self.failed if self.work.node_of[one] == self.work.node_of[vertex])
        return failed

    def _brake(self) -> int | None:
        grouped = {node for group in self.work.fault_tolerance for node in group.nodes}
        alone: Sequence[set[int]] = [self.failed_nodes - grouped] if self.failed_nodes - grouped else []
        suffered = [(self.failed_nodes & set(g.nodes), g.tolerated) for g in self.work.fault_tolerance]
        exceeded = [*(failed for failed, tolerated in suffered if len(failed) > tolerated), *alone]
        if not exceeded or SYNC in exceeded[0]:
            return None
        return min(vertex for vertex in self.failed if self.work.node_of[vertex] in exceeded[0])
