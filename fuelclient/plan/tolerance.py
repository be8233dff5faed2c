"""Fault tolerance: how many nodes of each group may fail before nothing more is started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuelclient.plan.place import SYNC, FaultTolerance

NO_GROUP = ""
"""The name of the group of all nodes that no group has: it tolerates nothing."""


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A group of which more nodes failed than it tolerates; `failed` are indices of nodes, ascending."""

    group: str
    tolerated: int
    failed: tuple[int, ...]


def covering(groups: Iterable[FaultTolerance], nodes: int) -> tuple[FaultTolerance, ...]:
    """The groups, and one that tolerates nothing for the nodes (of so many) that stand in none of them.

    A graph without groups therefore ends at its first failed node, as in Fuel. The master counts as a node.
    """
    found = tuple(groups)
    covered = {node for group in found for node in group.nodes}
    alone = tuple(node for node in range(nodes) if node not in covered and node != SYNC)
    return (*found, FaultTolerance(NO_GROUP, alone, 0)) if alone else found


class Casualties:
    """The failed nodes of each group. A node counts once, and only for a task that failed on it: what never ran
    because of a failure elsewhere costs its node nothing, unlike in Astute."""

    def __init__(self, groups: Sequence[FaultTolerance]) -> None:
        self._groups = groups
        self._failed: list[set[int]] = [set() for _ in groups]
        self._groups_of: dict[int, list[int]] = {}
        for index, group in enumerate(groups):
            for node in group.nodes:
                self._groups_of.setdefault(node, []).append(index)
        self.is_too_many = False

    def add(self, node: int) -> None:
        """One more node has failed."""
        for index in self._groups_of.get(node, ()):
            self._failed[index].add(node)
            self.is_too_many |= len(self._failed[index]) > self._groups[index].tolerated

    @property
    def exceeded(self) -> tuple[Exceeded, ...]:
        """The groups that tolerate less than they suffered, in their order."""
        return tuple(
            Exceeded(group.group, group.tolerated, tuple(sorted(failed)))
            for group, failed in zip(self._groups, self._failed, strict=True)
            if len(failed) > group.tolerated
        )
