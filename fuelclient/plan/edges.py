"""Edges between task instances, each with the reason why it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MOST_IN_CLIQUE = 100
"""Up to so many instances that all wait for one another are linked pair by pair; of more, only two are: the graph
cannot run either way."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one instance precedes another: the merged task (by index) that says so, in which attribute, and the
    word it uses for the other."""

    task: int
    attribute: str
    word: str


class Edges:
    """Directed edges between the vertices below `real` and barriers above, with their reasons.

    A set of edges from every one of many predecessors to every one of many successors is stored through one
    barrier; the order is the same.
    """

    def __init__(self, real: int) -> None:
        self.real = real
        self.vertices = real
        self.heads: list[int] = []
        self.tails: list[int] = []
        self.reasons: list[int] = []
        self._reasons: dict[Reason, int] = {}
        self._barriers: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._told_after: set[int] = set()

    def __len__(self) -> int:
        return len(self.heads)

    def add(self, before: int, after: int, reason: Reason) -> None:
        """One edge; an edge from a vertex to itself is not one."""
        if before != after:
            self.heads.append(before)
            self.tails.append(after)
            self.reasons.append(self._reasons.setdefault(reason, len(self._reasons)))

    def join(self, before: Sequence[int], after: Sequence[int], reason: Reason, shared: tuple[int, ...] = ()) -> None:
        """Edges from every vertex of `before` to every other of `after`.

        `shared` is the side (equal to `before` or `after`) that other calls repeat: they share one barrier.
        Two vertices that stand on both sides wait for one another, which is a cycle; they get direct edges, so
        that it can be reported.
        """
        inside = set(before) & set(after)
        if not inside:
            self._join_apart(before, after, reason, shared)
            return
        both = sorted(inside)
        outer = [vertex for vertex in before if vertex not in inside]
        inner = [vertex for vertex in after if vertex not in inside]
        self._join_apart(outer, both, reason)
        self._join_apart(both, inner, reason)
        self._join_apart(outer, inner, reason)
        if len(both) <= _MOST_IN_CLIQUE:
            self._direct(both, both, reason)
        else:
            self._direct(both[:2], both[:2], reason)

    def _join_apart(
        self, before: Sequence[int], after: Sequence[int], reason: Reason, shared: tuple[int, ...] = ()
    ) -> None:
        if len(before) * len(after) <= len(before) + len(after) + 1:
            self._direct(before, after, reason)
        else:
            self._through_barrier(before, after, reason, shared)

    def _direct(self, before: Sequence[int], after: Sequence[int], reason: Reason) -> None:
        for vertex in after:
            for other in before:
                self.add(other, vertex, reason)

    def _through_barrier(
        self, before: Sequence[int], after: Sequence[int], reason: Reason, shared: tuple[int, ...]
    ) -> None:
        """The shared side is linked to its barrier once, the other side by each call."""
        shares_before = bool(shared) and shared == tuple(before)
        key = (shares_before, shared)
        barrier = self._barriers.get(key) if shared else None
        is_new = barrier is None
        if barrier is None:
            barrier = self.vertices
            self.vertices += 1
            if shared:
                self._barriers[key] = barrier
            if shares_before:
                self._told_after.add(barrier)
        if is_new or not shares_before:
            for vertex in before:
                self.add(vertex, barrier, reason)
        if is_new or shares_before:
            for vertex in after:
                self.add(barrier, vertex, reason)

    def successors(self) -> list[list[int]]:
        """The successors of every vertex and barrier."""
        following: list[list[int]] = [[] for _ in range(self.vertices)]
        for head, tail in zip(self.heads, self.tails, strict=True):
            following[head].append(tail)
        return following

    def pairs(self) -> set[tuple[int, int]]:
        """Every (predecessor, successor) between real vertices, with barriers dissolved. For small graphs: this is
        what barriers avoid."""
        following = self.successors()
        return {
            (vertex, after)
            for vertex in range(self.real)
            for one in following[vertex]
            for after in ([one] if one < self.real else following[one])
            if after != vertex
        }

    def reasons_between(self, before: int, after: int) -> list[Reason]:
        """Why `before` precedes `after`, directly or through one barrier.

        A barrier that many tasks share remembers each task's reason on the side that is not shared.
        """
        into: dict[int, int] = {}
        onward: dict[int, int] = {}
        found: list[int] = []
        for head, tail, reason in zip(self.heads, self.tails, self.reasons, strict=True):
            if head == before:
                if tail == after:
                    found.append(reason)
                elif tail >= self.real:
                    into[tail] = reason
            elif tail == after and head >= self.real:
                onward[head] = reason
        found += [onward[one] if one in self._told_after else into[one] for one in into if one in onward]
        reasons = list(self._reasons)
        return [reasons[index] for index in dict.fromkeys(found)]
