"""Fault tolerance: how many nodes of a group may fail, and whether more of them did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuelclient.grouping import grouped
from fuelclient.model.task import tolerance_from
from fuelclient.plan.fleet import SYNC

NO_GROUP = ""
"""The name of the group of all nodes that are in no other group. It tolerates nothing."""


@dataclass(frozen=True, slots=True)
class FaultTolerance:
    """How many nodes of a group may fail. `nodes` are indices of the fleet."""

    group: str
    nodes: tuple[int, ...]
    tolerated: int


def tolerated_failures(value: object, total: int) -> int:
    """Return how many of `total` nodes may fail.

    `value` is a number, a percentage (rounded down) or, if negative, the number of nodes that must succeed. Without a
    value, or with one that cannot be read, any number of failures is tolerated.

    >>> tolerated_failures("25%", 4), tolerated_failures("-1", 4), tolerated_failures(None, 4)
    (1, 3, 5)
    """
    read = tolerance_from(value)
    if read is None:
        return total + 1
    number = read[0] * total // 100 if read[1] else read[0]
    return number if number >= 0 else max(0, total + number)


@dataclass(frozen=True, slots=True)
class ExceededGroup:
    """A group of which more nodes failed than it tolerates. `failed` are indices of nodes, ascending."""

    group: str
    tolerated: int
    failed: tuple[int, ...]


def with_other_nodes(groups: Iterable[FaultTolerance], nodes: int) -> tuple[FaultTolerance, ...]:
    """Return the groups, and one that tolerates nothing for those of so many `nodes` that are in no group.

    A graph without groups therefore ends at its first failed node, as in Fuel. The master counts as a node.

    >>> with_other_nodes([FaultTolerance("db", (1, 2), 1)], 4)[1:]
    (FaultTolerance(group='', nodes=(3,), tolerated=0),)
    """
    stated = tuple(groups)
    covered = {node for group in stated for node in group.nodes}
    alone = tuple(node for node in range(nodes) if node not in covered and node != SYNC)
    return (*stated, FaultTolerance(NO_GROUP, alone, 0)) if alone else stated


class FailedNodes:
    """The failed nodes of each group.

    A node counts once, and only for a task that failed on it: what never ran because of a failure elsewhere costs its
    node nothing, unlike in Astute.
    """

    def __init__(self, groups: Sequence[FaultTolerance]) -> None:
        self._groups = groups
        self._failed: list[set[int]] = [set() for _ in groups]
        self._groups_of = grouped((node, index) for index, group in enumerate(groups) for node in group.nodes)
        self.is_too_many = False

    def add(self, node: int) -> None:
        """Count one more failed node."""
        for index in self._groups_of.get(node, ()):
            self._failed[index].add(node)
            self.is_too_many |= len(self._failed[index]) > self._groups[index].tolerated

    @property
    def exceeded(self) -> tuple[ExceededGroup, ...]:
        """The groups of which too many nodes failed, in their order."""
        return tuple(
            ExceededGroup(group.group, group.tolerated, tuple(sorted(failed)))
            for group, failed in zip(self._groups, self._failed, strict=True)
            if len(failed) > group.tolerated
        )
